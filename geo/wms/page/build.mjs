// Writes ../page.html.gz: the page with its script and style in one file.
import { build } from 'esbuild';
import { readFileSync, writeFileSync } from 'node:fs';
import { gzipSync } from 'node:zlib';

const result = await build({
  entryPoints: ['app.js'], bundle: true, minify: true, format: 'iife', target: 'es2020',
  write: false, legalComments: 'none', metafile: true, outdir: 'out',
});
const script = result.outputFiles.find((f) => f.path.endsWith('.js')).text;
const style = await build({ entryPoints: ['style.css'], minify: true, bundle: true, write: false, outdir: 'out' });
const html = readFileSync('index.html', 'utf8')
  .replace('/*STYLE*/', () => style.outputFiles[0].text)
  .replace('/*SCRIPT*/', () => script.replaceAll('</script', '<\\/script'));
// No date and no name in the gzip header: the file depends on nothing but its sources.
const packed = gzipSync(html, { level: 9 });
writeFileSync('../page.html.gz', packed);
const packages = new Set(Object.keys(result.metafile.inputs).map((n) => /node_modules\/((?:@[^/]+\/)?[^/]+)/.exec(n)?.[1]).filter(Boolean));
console.log(`page.html.gz: ${packed.length} bytes, of ${html.length}; packages: ${[...packages].join(', ')}`);
