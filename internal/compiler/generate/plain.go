package generate

import (
	"bytes"
	"fmt"
	"quern.dev/gpu/compiled"
	"strings"

	"quern.dev/internal/compiler"
	"quern.dev/internal/compiler/frontend"
	"quern.dev/internal/compiler/gohost"
)

const hostPath = "quern.dev/kernel/host"

// plainName returns the name of the function that runs a kernel as a plain Go function.
func plainName(kernel string) string {
	return "quernPlain" + strings.TrimPrefix(hostName(kernel), "quernHost")
}

// writePlain writes that function. The name of the variable that it calls appears in the
// error of a stale file; an instance is called by its own name, because its function may be merged
// with others.
func writePlain(b *bytes.Buffer, p *frontend.Package, k *compiler.Kernel, imports *gohost.Imports) {
	qualify := qualifier(p, imports)
	function := functionVariable(k.IR.Name)
	if len(p.Instance(k.IR.Name)) > 0 {
		function = k.IR.Func.Go.Name + typeArguments(p, k, qualify)
	}
	params := launcherParameters(k, signatureOf(p, k), imports.Name(gpuPath), qualify)
	host, kernel := imports.Name(hostPath), imports.Name(kernelPath)
	r, t := imports.Local("r"), imports.Local("t")
	args, values := []string{t}, []string(nil)
	for i, par := range params {
		get := "Value"
		if par.kind == compiled.Slice {
			get = "Slice"
		}
		args = append(args, imports.Local(fmt.Sprintf("v%d", i)))
		values = append(values, fmt.Sprintf("%s.%s[%s](%s, %d)", host, get, par.held, r, i))
	}
	fmt.Fprintf(b, "\nfunc %s(%s *%s.Run) {\n", plainName(k.IR.Name), r, host)
	if len(values) > 0 {
		fmt.Fprintf(b, "%s := %s\n", strings.Join(args[1:], ", "), strings.Join(values, ", "))
	}
	fmt.Fprintf(b, "%s.Plain(%s, func(%s %s.Thread) { %s(%s) })\n}\n", host, r, t, kernel, function, strings.Join(args, ", "))
}
