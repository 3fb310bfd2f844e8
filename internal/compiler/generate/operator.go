package generate

import (
	"bytes"
	"fmt"
	"go/types"
	"strings"

	"quern.dev/internal/compiler"
	"quern.dev/internal/compiler/frontend"
	"quern.dev/internal/compiler/gohost"
	"quern.dev/internal/compiler/ir"
)

// kernelsVariable returns the name of the variable that holds the kernels of an operator,
// or of its instance with the given type arguments.
func kernelsVariable(o *frontend.Operator, typeArgs string) string {
	return "quern" + frontend.OperatorName(o.Func) + strings.TrimPrefix(ir.Identifier("x"+typeArgs), "x")
}

// operatorFunction returns the Go function of an operator.
func operatorFunction(p *frontend.Package, o *frontend.Operator) *types.Func {
	return p.Types.Scope().Lookup(o.Func).(*types.Func)
}

// instancesOfOperator returns the first kernel of each instance of an operator.
func instancesOfOperator(o *frontend.Operator, kernels []*compiler.Kernel) []*compiler.Kernel {
	var list []*compiler.Kernel
	for _, k := range kernels {
		if declaredName(k) == o.Kernels[0].Kernel {
			list = append(list, k)
		}
	}
	return list
}

// operatorType prints the type of an operator, such as algo.Combine[float32]. sig is the
// signature of its function.
func operatorType(o *frontend.Operator, sig *types.Signature, imports *gohost.Imports, p *frontend.Package) string {
	qualify := qualifier(p, imports)
	var args []string
	for _, at := range o.Args {
		t := sig.Results()
		if at < sig.Params().Len() {
			t = types.NewTuple(sig.Params().At(at))
		}
		args = append(args, types.TypeString(t.At(0).Type(), qualify))
	}
	return libraryName(o, imports, p) + o.Kind + "[" + strings.Join(args, ", ") + "]"
}

// libraryName returns the qualifier of the library's names, with a dot.
func libraryName(o *frontend.Operator, imports *gohost.Imports, p *frontend.Package) string {
	if o.Package == p.Path {
		return ""
	}
	return imports.Name(o.Package) + "."
}

// writeOperator writes the variable or the function that a program passes to the library:
// OpLarger for the operator larger.
func writeOperator(b *bytes.Buffer, p *frontend.Package, o *frontend.Operator, kernels []*compiler.Kernel, imports *gohost.Imports) {
	qualify := qualifier(p, imports)
	fn := operatorFunction(p, o)
	sig := fn.Signature()
	instances := instancesOfOperator(o, kernels)
	suffix := func(k *compiler.Kernel) string {
		_, args, _ := strings.Cut(k.IR.Name, "[")
		if args != "" {
			args = "[" + args
		}
		return args
	}
	for _, k := range instances {
		var fields []string
		for _, of := range o.Kernels {
			fields = append(fields, of.Template+": "+infoName(of.Kernel+suffix(k)))
		}
		fmt.Fprintf(b, "\nvar %s = %s%sKernels{%s}\n", kernelsVariable(o, suffix(k)), libraryName(o, imports, p), o.Kind, strings.Join(fields, ", "))
	}

	name := frontend.OperatorName(o.Func)
	fmt.Fprintf(b, "\n// %s is %s as an operator.\n", name, o.Func)
	if doc := docOf(p, o.Func); doc != "" {
		b.WriteString("//\n" + doc)
	}
	generic := sig.TypeParams().Len() > 0
	typ := operatorType(o, sig, imports, p)
	if !generic && o.Bound == 0 {
		fmt.Fprintf(b, "var %s = %s{Kernels: &%s}\n", name, typ, kernelsVariable(o, ""))
		return
	}
	gpu := imports.Name(gpuPath)
	var params, args []string
	for i := sig.Params().Len() - o.Bound; i < sig.Params().Len(); i++ {
		v := sig.Params().At(i)
		params = append(params, v.Name()+" "+types.TypeString(v.Type(), qualify))
		args = append(args, fmt.Sprintf("%s.Arg(l, %s)\n", gpu, v.Name()))
	}
	bind := ""
	if o.Bound > 0 {
		bind = fmt.Sprintf(", Bind: func(l *%s.Launch) {\n%s}", gpu, strings.Join(args, ""))
	}
	if !generic {
		fmt.Fprintf(b, "func %s(%s) %s {\nreturn %s{Kernels: &%s%s}\n}\n", name, strings.Join(params, ", "), typ, typ, kernelsVariable(o, ""), bind)
		return
	}
	constraints, _ := constraintsOf(p, sig.TypeParams(), instances, qualify)
	var names []string
	for t := range sig.TypeParams().TypeParams() {
		names = append(names, t.Obj().Name())
	}
	form := "*%s"
	if len(names) > 1 {
		form = "func(%s)"
	}
	library := libraryName(o, imports, p)
	fmt.Fprintf(b, "func %s[%s](%s) %s {\nvar k *%s%sKernels\n", name, constraints, strings.Join(params, ", "), typ, library, o.Kind)
	fmt.Fprintf(b, "switch interface{}(("+form+")(nil)).(type) {\n", strings.Join(names, ", "))
	for _, k := range instances {
		fmt.Fprintf(b, "case "+form+":\nk = &%s\n", typeList(p.Instance(k.IR.Name), qualify), kernelsVariable(o, suffix(k)))
	}
	fmt.Fprintf(b, "}\nreturn %s{Kernels: k%s}\n}\n", typ, bind)
}

// operator asserts the type of an operator's function, and of its parameters.
func (a *assertions) operator(k *compiler.Kernel, o *frontend.Operator) {
	fn := operatorFunction(a.pkg, o)
	sig := fn.Signature()
	name := o.Func + typeArguments(a.pkg, k, a.qualify)
	if args := a.pkg.Instance(k.IR.Name); len(args) > 0 {
		if t, err := types.Instantiate(nil, sig, args, false); err == nil {
			sig = t.(*types.Signature)
		}
	}
	typ := a.declare(ir.Identifier("op_"+k.IR.Name), a.spell(sig))
	fmt.Fprintf(&a.values, "var _ %s = %s\n", typ, name)
	for v := range sig.Params().Variables() {
		a.layout(v.Type())
	}
}
