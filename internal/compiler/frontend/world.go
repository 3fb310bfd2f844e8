package frontend

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"go/ast"
	"go/build"
	"go/importer"
	"go/parser"
	"go/token"
	"go/types"
	"io"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"sync"

	"quern.dev"
	"quern.dev/internal/compiler/devicemath"
	"quern.dev/internal/compiler/ir"
)

// Import paths the compiler knows.
const (
	kernelPath     = "quern.dev/kernel"
	devicemathPath = "quern.dev/internal/compiler/devicemath"
)

// World is a set of packages that kernels can use.
type World struct {
	Fset *token.FileSet

	mu sync.Mutex // held while a package that is not a text is lowered

	listed map[string]*listed // from the go command, by import path
	gc     types.Importer     // reads export data
	goroot string

	importing sync.Mutex                // guards the next fields
	types     map[string]*types.Package // for importing: exported API only; nil while being checked
	sources   map[string]*Package       // with bodies
	compiled  map[string]bool           // exported, by import path

	paths    sync.Map                  // import paths by directory, of parsed files
	handlers map[*token.File]token.Pos // of generated files for actors, with the position of their handlers
}

// Package is a type-checked package with its syntax.
type Package struct {
	Path  string
	Name  string
	Dir   string
	Files []*ast.File
	Types *types.Package
	Info  *types.Info

	// Misplaced lists errors about kernels in files that are not compiled, or not on
	// every platform.
	Misplaced Diagnostics

	actors    []Actor
	operators []Operator
	misuses   []misuse // of operators
	world     *World
	instances map[string][]types.Type // type arguments by kernel, once lowered
	hints     map[ast.Stmt]directive  // of loops, once collected
	hinting   map[token.Pos]bool      // comments that are hints
	standard  bool
	ctx       context.Context          // cancels the compilation of a text; nil for other packages
	measurer  *measurer                // of a text
	unchecked bool                     // type checking ended early, at too many errors
	written   map[types.Object]bool    // see changed
	funcs     map[string]*ast.FuncDecl // by "Name" or "Recv.Name"
	errors    []types.Error
}

// listed is the output of `go list -json` for a package.
type listed struct {
	ImportPath string
	Name       string
	Dir        string
	GoFiles    []string
	Imports    []string
	ImportMap  map[string]string
	Export     string
	Standard   bool

	// Files that are not compiled, or not in every build.
	CgoFiles, IgnoredGoFiles, TestGoFiles, XTestGoFiles []string

	Error *struct {
		ImportStack []string
		Pos, Err    string
	}
}

func newWorld() *World {
	w := &World{
		Fset:     token.NewFileSet(),
		listed:   map[string]*listed{},
		types:    map[string]*types.Package{},
		sources:  map[string]*Package{},
		compiled: map[string]bool{},
		goroot:   goroot(),
		handlers: map[*token.File]token.Pos{},
	}
	w.gc = importer.ForCompiler(w.Fset, "gc", func(path string) (io.ReadCloser, error) {
		if l := w.listed[path]; l != nil && l.Export != "" {
			return os.Open(l.Export)
		}
		return nil, fmt.Errorf("no export data for %s", path)
	})
	return w
}

// goroot returns the Go installation whose standard library can be compiled.
func goroot() string {
	if dir := os.Getenv("GOROOT"); dir != "" {
		return dir
	}
	for _, dir := range []string{build.Default.GOROOT, runtimeGOROOT()} {
		if dir != "" {
			if _, err := os.Stat(filepath.Join(dir, "src", "math")); err == nil {
				return dir
			}
		}
	}
	return ""
}

// noStandard says that the source of the standard library is missing.
const noStandard = "the Go standard library's source was not found; install Go or set GOROOT, or compile the kernel ahead of time with quern gen"

// hasStandard reports whether the source of package math was found.
func (w *World) hasStandard() bool {
	if w.goroot == "" {
		return false
	}
	_, err := os.Stat(filepath.Join(w.goroot, "src", "math"))
	return err == nil
}

// sizes are the sizes of every target: 64-bit.
var sizes = types.SizesFor("gc", "amd64")

// portable selects the standard library's files for a machine without assembly in
// package math.
func (w *World) portable() *build.Context {
	ctx := build.Default
	ctx.GOROOT, ctx.GOOS, ctx.GOARCH, ctx.CgoEnabled = w.goroot, "linux", "mips64le", false
	ctx.BuildTags, ctx.ToolTags = nil, nil
	return &ctx
}

// api returns a package's types for importing.
func (w *World) api(path string) (*types.Package, error) {
	w.importing.Lock()
	defer w.importing.Unlock()
	return w.load(path, func() {})
}

// load is api for a caller that holds w.importing. It calls poll for each package that
// it loads, which may end the goroutine.
func (w *World) load(path string, poll func()) (*types.Package, error) {
	if path == "unsafe" {
		return types.Unsafe, nil
	}
	if p, ok := w.types[path]; p != nil {
		return p, nil
	} else if ok {
		return nil, fmt.Errorf("package %s imports itself through others", path)
	}
	if p := w.sources[path]; p != nil {
		return p.Types, nil
	}
	if w.exported(path) {
		if p, err := w.gc.Import(path); err == nil {
			w.types[path] = p
			return p, nil
		}
	}
	if l := w.listed[path]; l != nil {
		if err := l.cycle(); err != nil {
			return nil, err
		}
	}
	poll()
	files, _, err := w.files(path)
	if err != nil {
		return nil, err
	}
	w.types[path] = nil
	defer func() {
		if w.types[path] == nil {
			delete(w.types, path)
		}
	}()
	conf := types.Config{
		Importer:         w.importerFor(path, func(dep string) (*types.Package, error) { return w.load(dep, poll) }),
		Sizes:            sizes,
		IgnoreFuncBodies: true,
		FakeImportC:      true,
		Error:            func(error) {}, // errors in a dependency matter only where the broken code is used
	}
	p, _ := conf.Check(path, w.Fset, files, nil)
	w.types[path] = p
	return p, nil
}

// exported reports whether a package is imported as compiled by the go command. A
// compiled package has copies of the types of its imports. If one of these is
// type-checked from source, which creates separate types, so is the package.
func (w *World) exported(path string) bool {
	if path == "unsafe" {
		return true
	}
	l := w.listed[path]
	if l == nil || l.Export == "" { // or kernels are looked for in it
		return false
	}
	if l.Standard {
		return true
	}
	known, ok := w.compiled[path]
	if !ok {
		known = !slices.ContainsFunc(l.Imports, func(dep string) bool {
			return !w.exported(cmp.Or(l.ImportMap[dep], dep))
		})
		w.compiled[path] = known
	}
	return known
}

// importerFor resolves the imports of one package. It skips packages that the executor
// in package kernel imports and no kernel needs. It calls api or load.
func (w *World) importerFor(importing string, load func(path string) (*types.Package, error)) types.Importer {
	return importerFunc(func(dep string) (*types.Package, error) {
		if importing == kernelPath && dep != "math" && dep != "math/bits" && dep != "unsafe" {
			return nil, fmt.Errorf("package %s is not for kernels", dep)
		}
		if l := w.listed[importing]; l != nil && l.ImportMap[dep] != "" {
			dep = l.ImportMap[dep]
		}
		return load(dep)
	})
}

// source returns a package with the bodies of its functions.
func (w *World) source(path string) (*Package, error) {
	w.importing.Lock()
	defer w.importing.Unlock()
	if p := w.sources[path]; p != nil {
		return p, nil
	}
	files, standard, err := w.files(path)
	if err != nil {
		return nil, err
	}
	p := w.check(&Package{Path: path, Files: files, standard: standard}, func(dep string) (*types.Package, error) { return w.load(dep, func() {}) })
	// Several texts may use it at a time: nothing is left to be filled in.
	p.index()
	p.loopHints()
	p.changed()
	w.sources[path] = p
	return p, nil
}

// check type-checks a package of which only the path and files are known. Errors are
// kept in the package. Imports are resolved with api or load. For a text, check may end
// the goroutine: at too many errors, or when the context ends.
func (w *World) check(p *Package, load func(path string) (*types.Package, error)) *Package {
	p.world = w
	p.Info = &types.Info{
		Types:      map[ast.Expr]types.TypeAndValue{},
		Defs:       map[*ast.Ident]types.Object{},
		Uses:       map[*ast.Ident]types.Object{},
		Implicits:  map[ast.Node]types.Object{},
		Instances:  map[*ast.Ident]types.Instance{},
		Selections: map[*ast.SelectorExpr]*types.Selection{},
	}
	if len(p.Files) > 0 {
		p.Name = p.Files[0].Name.Name
	}
	conf := types.Config{
		Importer:    w.importerFor(p.Path, load),
		Sizes:       polledSizes{sizes, p},
		FakeImportC: true,
		Error: func(err error) {
			p.exitIfEnded()
			var te types.Error
			if !errors.As(err, &te) {
				return
			}
			if len(p.errors) < maxErrors {
				p.errors = append(p.errors, te)
			} else if p.isText() {
				p.unchecked = true
				runtime.Goexit()
			}
		},
	}
	p.Types = types.NewPackage(p.Path, p.Name)
	_ = types.NewChecker(&conf, w.Fset, p.Types, p.Info).Files(p.Files) // errors are in p.errors
	return p
}

// polledSizes makes the type checker poll: it asks for sizes as it checks constants.
type polledSizes struct {
	types.Sizes
	p *Package
}

func (s polledSizes) Sizeof(t types.Type) int64 {
	s.p.exitIfEnded()
	return s.Sizes.Sizeof(t)
}

// isText reports whether the package is from Text.
func (p *Package) isText() bool { return p.ctx != nil }

// poll calls [ir.Poll] for a text.
func (p *Package) poll() { ir.Poll(p.ctx) }

// exitIfEnded ends the goroutine, which is that of parse, if the context of a text has
// ended. The type checker cannot be stopped otherwise: it prints what a
// panic passes through.
func (p *Package) exitIfEnded() {
	if p.ctx != nil && p.ctx.Err() != nil {
		runtime.Goexit()
	}
}

// files parses the sources of a package.
func (w *World) files(path string) (files []*ast.File, standard bool, err error) {
	switch path {
	case kernelPath:
		files, err = w.parseFS(path, quern.KernelSource, "kernel", "kernel")
		return files, false, err
	case devicemathPath:
		files, err = w.parseFS(path, devicemath.Source, ".", "internal/compiler/devicemath")
		return files, false, err
	}
	if l := w.listed[path]; l != nil && !l.Standard {
		if l.Dir == "" {
			return nil, false, fmt.Errorf("package %s: its source was not found", path)
		}
		files, err = w.parseFiles(path, l.Dir, slices.Concat(l.GoFiles, l.CgoFiles))
		return files, false, err
	}
	if len(w.listed) == 0 && strings.Contains(strings.Split(path, "/")[0], ".") {
		return nil, false, errors.New("only package kernel and the standard library can be imported here")
	}
	if text, ok := declarations[path]; ok && !w.hasStandard() {
		f, err := parser.ParseFile(w.Fset, path, text, parser.SkipObjectResolution)
		return []*ast.File{f}, true, err
	}
	if w.goroot == "" {
		return nil, true, fmt.Errorf("package %s: %s", path, noStandard)
	}
	dir := filepath.Join(w.goroot, "src", filepath.FromSlash(path))
	bp, err := w.portable().ImportDir(dir, 0)
	if err != nil {
		return nil, true, fmt.Errorf("package %s: %w", path, err)
	}
	files, err = w.parseFiles(path, dir, bp.GoFiles)
	return files, true, err
}

func (w *World) parseFiles(path, dir string, names []string) ([]*ast.File, error) {
	w.paths.Store(dir, path)
	var files []*ast.File
	for _, name := range names {
		f, err := parser.ParseFile(w.Fset, filepath.Join(dir, name), nil, parser.ParseComments|parser.SkipObjectResolution)
		if err != nil {
			return nil, err
		}
		files = append(files, f)
	}
	return files, nil
}

// position returns where something was written. For code generated for an actor, this
// is the position of its handler.
func (w *World) position(pos token.Pos) token.Position {
	if handler, ok := w.handlers[w.Fset.File(pos)]; ok {
		pos = handler
	}
	return w.Fset.Position(pos)
}

func (w *World) parseFS(importPath string, fsys fs.FS, dir, shown string) ([]*ast.File, error) {
	w.paths.Store(shown, importPath)
	entries, err := fs.ReadDir(fsys, dir)
	if err != nil {
		return nil, err
	}
	var files []*ast.File
	for _, e := range entries {
		if !strings.HasSuffix(e.Name(), ".go") || strings.HasSuffix(e.Name(), "_test.go") {
			continue
		}
		text, err := fs.ReadFile(fsys, path.Join(dir, e.Name()))
		if err != nil {
			return nil, err
		}
		f, err := parser.ParseFile(w.Fset, path.Join(shown, e.Name()), text, parser.ParseComments|parser.SkipObjectResolution)
		if err != nil {
			return nil, err
		}
		files = append(files, f)
	}
	return files, nil
}

// texts is the World of all source texts in the process: their imports are type-checked
// once.
var texts = sync.OnceValue(newWorld)

// Text type-checks one Go source file, which may import package kernel and the standard
// library. The name is used in positions. When ctx ends, Text and Lower of the package
// soon return its cause. Close releases the package. Packages may be used concurrently.
func Text(ctx context.Context, name, src string) (_ *Package, err error) {
	p := &Package{Path: "main", ctx: ctx, world: texts()}
	ended := true
	done := make(chan struct{})
	go func() {
		defer close(done)
		defer Catch(&err, name, "")
		err = p.parse(name, src)
		ended = false
	}()
	<-done
	if err == nil && ended && !p.unchecked {
		err = context.Cause(ctx)
	}
	if err != nil {
		p.Close()
		return nil, err
	}
	return p, nil
}

// parse parses and type-checks a text, in a goroutine that it may end, see check.
func (p *Package) parse(name, src string) error {
	w := p.world
	p.exitIfEnded()
	f, err := parser.ParseFile(w.Fset, name, src, parser.ParseComments|parser.SkipObjectResolution)
	p.Files = []*ast.File{f}
	if err != nil {
		return err
	}
	if err := checkText(w.Fset, f); err != nil {
		return err
	}
	api := func(path string) (*types.Package, error) {
		w.importing.Lock()
		defer w.importing.Unlock()
		return w.load(path, p.exitIfEnded)
	}
	if err := p.checkSizes(api); err != nil {
		return err
	}
	w.check(p, api)
	return nil
}

// Close removes the positions of a text, which are otherwise kept for ever. The package
// cannot be used any more; errors and kernels can.
func (p *Package) Close() {
	for _, f := range p.Files {
		p.world.Fset.RemoveFile(p.world.Fset.File(f.FileStart))
	}
}

type importerFunc func(path string) (*types.Package, error)

func (f importerFunc) Import(path string) (*types.Package, error) { return f(path) }

// runtimeGOROOT finds the installation of the go command on PATH without running it.
func runtimeGOROOT() string {
	name := "go"
	if runtime.GOOS == "windows" {
		name = "go.exe"
	}
	for _, dir := range filepath.SplitList(os.Getenv("PATH")) {
		file, err := filepath.EvalSymlinks(filepath.Join(dir, name))
		if err == nil && filepath.Base(filepath.Dir(file)) == "bin" {
			return filepath.Dir(filepath.Dir(file))
		}
	}
	return ""
}
