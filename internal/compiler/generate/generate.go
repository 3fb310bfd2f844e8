package generate

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"fmt"
	"go/ast"
	"go/format"
	"go/scanner"
	"go/types"
	"runtime"
	"strings"
	"sync"
	"sync/atomic"

	"quern.dev/gpu/compiled"
	"quern.dev/internal/archive"
	"quern.dev/internal/compiler"
	"quern.dev/internal/compiler/frontend"
	"quern.dev/internal/compiler/gohost"
	"quern.dev/internal/compiler/ir"
)

// Output holds the generated files of a package. Without kernels it is empty.
type Output struct {
	Kernels []*compiler.Kernel
	Go      []byte // quern_gen.go
	Archive []byte // quern_gen.zip
}

// Packages that generated code imports.
const (
	gpuPath      = "quern.dev/gpu"
	compiledPath = "quern.dev/gpu/compiled"
)

// Variables of the generated file: the GPU code and its archive.
const (
	codeName    = "quernPTX"
	archiveName = "quern_gen_zip"
)

// Package compiles all kernels of a package and generates its files. Errors in kernels
// are returned as frontend.Diagnostics, all at once. If the compiler itself fails, the
// error is or wraps a *frontend.Fault per kernel.
func Package(p *frontend.Package) (_ *Output, err error) {
	defer frontend.Catch(&err, p.Path, "")
	if diags := append(hidden(p), p.Misplaced...); len(diags) > 0 {
		return nil, diags
	}
	prog, err := p.Lower()
	if err != nil {
		return nil, err
	}
	out := &Output{}
	var diags frontend.Diagnostics
	var faults []error
	kernels, errs := compileAll(prog.Kernels)
	for i, err := range errs {
		var fault *frontend.Fault
		switch {
		case errors.As(err, &fault):
			faults = append(faults, fault)
		case err != nil:
			diags = append(diags, p.Diagnose(prog.Kernels[i].Name, err)...)
		default:
			out.Kernels = append(out.Kernels, kernels[i])
		}
	}
	if len(diags) > 0 {
		faults = append(faults, diags)
	}
	if len(faults) > 0 {
		return nil, errors.Join(faults...)
	}
	if len(out.Kernels) == 0 {
		return out, nil
	}
	var modules []archive.Module
	for _, k := range out.Kernels {
		modules = append(modules, k.Modules()...)
	}
	if out.Archive, err = archive.Write(descriptions(p, out.Kernels), modules); err != nil {
		return nil, err
	}
	code, err := archive.Open(string(out.Archive))
	if err != nil {
		return nil, err
	}
	out.Go, err = goFile(p, out.Kernels, code.Sum())
	return out, err
}

// compileAll compiles kernels on all cores. The kernels share only read-only data.
func compileAll(kernels []*ir.Kernel) ([]*compiler.Kernel, []error) {
	compiled, errs := make([]*compiler.Kernel, len(kernels)), make([]error, len(kernels))
	var next atomic.Int64
	var workers sync.WaitGroup
	for range min(runtime.GOMAXPROCS(0), len(kernels)) {
		workers.Go(func() {
			for i := int(next.Add(1)) - 1; i < len(kernels); i = int(next.Add(1)) - 1 {
				compiled[i], errs[i] = compiler.Compile(context.Background(), kernels[i])
			}
		})
	}
	workers.Wait()
	return compiled, errs
}

// goFile writes quern_gen.go.
func goFile(p *frontend.Package, kernels []*compiler.Kernel, sum string) ([]byte, error) {
	reserved := p.Types.Scope().Names()
	for _, k := range kernels {
		reserved = append(reserved, frontend.LauncherName(declaredName(k)), infoName(k.IR.Name), hostName(k.IR.Name))
		reserved = append(reserved, typeParameters(p, k)...)
		if a := p.ActorOf(k.IR.Name); a != nil {
			reserved = append(reserved, actorNames(a)...)
		}
		if o := p.OperatorOf(k.IR.Name); o != nil {
			reserved = append(reserved, frontend.OperatorName(o.Func), o.Func)
			for t := range operatorFunction(p, o).Signature().TypeParams().TypeParams() {
				reserved = append(reserved, t.Obj().Name())
			}
		}
	}
	reserved = append(reserved, codeName, archiveName, "l", "err", "s", "g")
	imports := gohost.NewImports(p.Path, reserved...)

	codes, err := hostCodes(p, kernels, imports)
	if err != nil {
		return nil, err
	}
	hosts, expressions := merge(codes)

	var launchers bytes.Buffer
	checked := newAssertions(p, imports)
	for i, k := range kernels {
		writeDeclaration(&launchers, p, k, imports, expressions)
		if a := p.ActorOf(k.IR.Name); a != nil {
			writeActor(&launchers, p, k, a, imports)
			checked.handler(a)
			continue
		}
		o := p.OperatorOf(k.IR.Name)
		switch {
		case o != nil:
			if declaredName(k) == o.Kernels[0].Kernel {
				checked.operator(k, o)
			}
		case len(p.Instance(k.IR.Name)) == 0:
			params := launcherParameters(k, signatureOf(p, k), imports.Name(gpuPath), qualifier(p, imports))
			writeLauncher(&launchers, p, k, params, imports)
			checked.function(k)
		default:
			if i+1 == len(kernels) || declaredName(kernels[i+1]) != declaredName(k) {
				writeGenericLauncher(&launchers, p, instancesOf(k, kernels), imports)
			}
			checked.function(k)
		}
	}
	for i := range p.Operators() {
		writeOperator(&launchers, p, &p.Operators()[i], kernels, imports)
	}

	var b bytes.Buffer
	fmt.Fprintf(&b, "%s\n\npackage %s\n\nimport (\n\t_ \"embed\"\n\n", header, p.Name)
	for _, spec := range imports.Specs() {
		fmt.Fprintf(&b, "\t%s\n", spec)
	}
	fmt.Fprintf(&b, ")\n\n//go:embed %s\nvar %s string\n", ArchiveFile, archiveName)
	fmt.Fprintf(&b, "\nvar %s = %s.Code{\nPackage: %q,\nArchive: &%s,\nSum: %q,\n}\n", codeName, imports.Name(compiledPath), p.Path, archiveName, sum)
	checked.write(&b)
	b.Write(launchers.Bytes())
	b.WriteString(hosts)
	text, err := format.Source(b.Bytes())
	if err != nil {
		return nil, fmt.Errorf("package %s: the compiler wrote code that does not parse, which is a bug in the compiler: %w%s", p.Path, err, excerpt(b.String(), err))
	}
	return format.Source(separate(text)) // a directive within a struct ends the alignment of its fields
}

// hostCodes returns the Go forms of all kernels.
func hostCodes(p *frontend.Package, kernels []*compiler.Kernel, imports *gohost.Imports) (codes []hostCode, err error) {
	for _, k := range kernels {
		var b bytes.Buffer
		if a := p.ActorOf(k.IR.Name); a != nil {
			if err := writeHandler(&b, p, k, a, imports); err != nil {
				return nil, err
			}
			codes = append(codes, hostCode{kernel: k.IR.Name, text: b.String()})
			continue
		}
		if k.IR.Options.Only == "gpu" {
			continue
		}
		if p.OperatorOf(k.IR.Name) == nil {
			writePlain(&b, p, k, imports)
			codes = append(codes, hostCode{k.IR.Name, "Plain", b.String()})
		}
		text, err := emit(p, k.IR, imports, gohost.Emit)
		if err != nil {
			return nil, err
		}
		codes = append(codes, hostCode{k.IR.Name, "Host", text})
		for _, form := range k.Special {
			if text, err = emit(p, form.IR, imports, gohost.Emit); err != nil {
				return nil, err
			}
			codes = append(codes, hostCode{form.IR.Name, "Host", text})
		}
	}
	return codes, nil
}

// emit writes the CPU version of a kernel.
func emit(p *frontend.Package, k *ir.Kernel, imports *gohost.Imports, write func(*ir.Kernel, *gohost.Imports) (string, error)) (_ string, err error) {
	defer frontend.Catch(&err, p.Path, k.Name)
	return write(k, imports)
}

// excerpt returns the lines around a syntax error in generated code.
func excerpt(text string, err error) string {
	var list scanner.ErrorList
	if !errors.As(err, &list) || len(list) == 0 {
		return ""
	}
	lines := strings.Split(text, "\n")
	at := list[0].Pos.Line
	var b strings.Builder
	for i := max(1, at-3); i <= min(len(lines), at+3); i++ {
		fmt.Fprintf(&b, "\n%4d %s", i, lines[i-1])
	}
	return b.String()
}

func infoName(kernel string) string {
	return "quern" + strings.ToUpper(kernel[:1]) + ir.Identifier(kernel)[1:]
}

func hostName(kernel string) string { return gohost.FuncName(kernel) }

// parameter is a parameter of a kernel and of its launcher.
type parameter struct {
	declared string // name in the kernel
	name     string // in the launcher
	typ      string // in the launcher's signature
	kind     compiled.ParamKind
	shown    string // Go type of the value or of the elements, with package paths
	layout   string // layout of that type; see ir.Type.Layout
	held     string // the same type, as generated code refers to it
	size     int64  // of the value or of an element
	readOnly bool   // a slice that the kernel does not write
}

// shown formats a type with package paths, as package reflect knows it.
func shown(t types.Type) string {
	return types.TypeString(t, func(p *types.Package) string {
		if p.Name() == "main" {
			return "main"
		}
		return p.Path()
	})
}

// parameters returns the parameters of a kernel except the thread. sig is the signature
// whose type parameters are used to print types. Names that are taken get an
// underscore.
func parameters(k *compiler.Kernel, sig *types.Signature, gpu string, qualify types.Qualifier, taken map[string]bool) []parameter {
	var list []parameter
	for i := 1; i < sig.Params().Len(); i++ {
		v := sig.Params().At(i)
		t := k.IR.Func.Params[i-1].Type
		par := parameter{declared: v.Name(), name: v.Name(), typ: types.TypeString(v.Type(), qualify), kind: compiled.Scalar, shown: t.Kind.String(), size: t.Size()}
		par.held = par.typ
		switch {
		case t.Kind == ir.Slice:
			elem := v.Type().Underlying().(*types.Slice).Elem()
			par.kind, par.shown, par.layout, par.size = compiled.Slice, shown(elem), t.Elem.Layout(), t.Elem.Size()
			par.readOnly = !k.Written[i-1]
			par.held = types.TypeString(elem, qualify)
			par.typ = fmt.Sprintf("*%s.Buffer[%s]", gpu, par.held)
		case frontend.TextureElem(v.Type()) != nil:
			par.kind, par.shown = compiled.Texture, shown(frontend.TextureElem(v.Type()))
			par.typ = fmt.Sprintf("*%s.Texture2D[%s]", gpu, types.TypeString(frontend.TextureElem(v.Type()), qualify))
		case t.IsAggregate() || t.IsHalf():
			par.kind, par.shown, par.layout = compiled.Struct, shown(v.Type()), t.Layout()
		}
		if par.name == "" || par.name == "_" {
			par.name = fmt.Sprintf("arg%d", i-1)
		}
		par.name = fresh(par.name, taken)
		list = append(list, par)
	}
	return list
}

// launcherParameters returns the parameters as those of a launcher of its own.
func launcherParameters(k *compiler.Kernel, sig *types.Signature, gpu string, qualify types.Qualifier) []parameter {
	taken := map[string]bool{gpu: true, infoName(k.IR.Name): true, "l": true, "err": true, "s": true, "g": true, "nil": true}
	return parameters(k, sig, gpu, qualify, taken)
}

// fresh returns an unused name and reserves it.
func fresh(name string, taken map[string]bool) string {
	for taken[name] {
		name += "_"
	}
	taken[name] = true
	return name
}

// writeDeclaration writes the variable of a kernel.
func writeDeclaration(b *bytes.Buffer, p *frontend.Package, k *compiler.Kernel, imports *gohost.Imports, expressions map[string]string) {
	name := k.IR.Name
	if !bytes.HasSuffix(b.Bytes(), []byte("}}\n")) { // not after another declaration
		b.WriteByte('\n')
	}
	fmt.Fprintf(b, "var %s = &%s.Kernel{Declared: %s.Declaration{Name: %q, Code: &%s", infoName(name), imports.Name(gpuPath), imports.Name(compiledPath), name, codeName)
	if k.IR.Options.Only != "gpu" {
		expression := func(function string) string { return cmp.Or(expressions[function], function) }
		host, plain := expression(hostName(name)), expression(plainName(name))
		if a := p.ActorOf(name); a != nil {
			loop := loopOf(a, imports)
			host, plain = loop+"("+hostName(a.Handler)+")", loop+"("+plainName(a.Handler)+")"
		}
		fmt.Fprintf(b, ", Host: %s", host)
		if p.OperatorOf(name) == nil {
			fmt.Fprintf(b, ", Plain: %s", plain)
		}
		var forms []string
		for _, f := range k.Special {
			forms = append(forms, expression(hostName(f.IR.Name)))
		}
		if len(forms) > 0 {
			fmt.Fprintf(b, ", Special: []%s.Func{%s}", imports.Name(hostPath), strings.Join(forms, ", "))
		}
	}
	b.WriteString("}}\n")
}

// writeLauncher writes the function that launches a kernel.
func writeLauncher(b *bytes.Buffer, p *frontend.Package, k *compiler.Kernel, params []parameter, imports *gohost.Imports) {
	name := k.IR.Name
	gpu := imports.Name(gpuPath)
	launcher := frontend.LauncherName(name)
	fmt.Fprintf(b, "\n// %s runs %s on the grid g%s.\n", launcher, k.IR.Func.Go.Name, withoutChecks(k))
	if doc := docOf(p, k.IR.Func.Go.Name); doc != "" {
		b.WriteString("//\n" + doc)
	}
	fmt.Fprintf(b, "func %s(s *%s.Stream, g %s.Grid%s) error {\n", launcher, gpu, gpu, signature(params))
	fmt.Fprintf(b, "l, err := %s.Begin(s, g)\n", infoName(name))
	writeArguments(b, gpu, "l", params)
	b.WriteString("return l.EndBegun(err)\n}\n")
}

// writeArguments passes the launcher's parameters to the launch l.
func writeArguments(b *bytes.Buffer, gpu, l string, params []parameter) {
	for _, par := range params {
		set := map[compiled.ParamKind]string{compiled.Slice: "SliceArg", compiled.Texture: "TextureArg"}[par.kind]
		fmt.Fprintf(b, "%s.%s(%s, %s)\n", gpu, cmp.Or(set, "Arg"), l, par.name)
	}
}

// signature prints parameters like Go, grouped by type.
func signature(params []parameter) string {
	var b strings.Builder
	for i, p := range params {
		b.WriteString(", " + p.name)
		if i+1 == len(params) || params[i+1].typ != p.typ {
			b.WriteString(" " + p.typ)
		}
	}
	return b.String()
}

// docOf returns the kernel's doc comment without directives, as comment lines.
func docOf(p *frontend.Package, kernel string) string {
	for _, f := range p.Files {
		for _, d := range f.Decls {
			fd, ok := d.(*ast.FuncDecl)
			if !ok || fd.Recv != nil || fd.Name.Name != kernel || fd.Doc == nil {
				continue
			}
			var b strings.Builder
			for line := range strings.Lines(fd.Doc.Text()) {
				b.WriteString(strings.TrimRight("// "+strings.TrimRight(line, "\n"), " ") + "\n")
			}
			return b.String()
		}
	}
	return ""
}
