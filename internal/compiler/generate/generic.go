package generate

import (
	"bytes"
	"fmt"
	"go/types"
	"slices"
	"strings"

	"quern.dev/internal/compiler"
	"quern.dev/internal/compiler/frontend"
	"quern.dev/internal/compiler/gohost"
)

// qualifier returns a function that prints the names of packages as imported by the
// generated file.
func qualifier(p *frontend.Package, imports *gohost.Imports) types.Qualifier {
	return func(other *types.Package) string {
		if other == p.Types {
			return ""
		}
		return imports.Name(other.Path())
	}
}

// functionOf returns the Go function of a kernel.
func functionOf(p *frontend.Package, k *compiler.Kernel) *types.Func {
	return p.Types.Scope().Lookup(k.IR.Func.Go.Name).(*types.Func)
}

// declaredName returns the name of a kernel without type arguments: the name of its
// function, or the one derived by also=unchecked.
func declaredName(k *compiler.Kernel) string {
	name, _, _ := strings.Cut(k.IR.Name, "[")
	return name
}

// withoutChecks returns the doc text for the launcher of the kernel created by
// also=unchecked.
func withoutChecks(k *compiler.Kernel) string {
	if declaredName(k) == k.IR.Func.Go.Name {
		return ""
	}
	return ", without the checks of indices"
}

// signatureOf returns a kernel's signature; for an instance, with its type arguments.
func signatureOf(p *frontend.Package, k *compiler.Kernel) *types.Signature {
	sig := functionOf(p, k).Signature()
	if args := p.Instance(k.IR.Name); len(args) > 0 {
		if t, err := types.Instantiate(nil, sig, args, false); err == nil {
			return t.(*types.Signature)
		}
	}
	return sig
}

// typeArguments returns "[float32]" for an instance, otherwise "".
func typeArguments(p *frontend.Package, k *compiler.Kernel, qualify types.Qualifier) string {
	args := p.Instance(k.IR.Name)
	if len(args) == 0 {
		return ""
	}
	return "[" + typeList(args, qualify) + "]"
}

func typeList(list []types.Type, qualify types.Qualifier) string {
	texts := make([]string, len(list))
	for i, t := range list {
		texts[i] = types.TypeString(t, qualify)
	}
	return strings.Join(texts, ", ")
}

// typeParameters returns the names of a generic kernel's type parameters.
func typeParameters(p *frontend.Package, k *compiler.Kernel) []string {
	var names []string
	for t := range functionOf(p, k).Signature().TypeParams().TypeParams() {
		names = append(names, t.Obj().Name())
	}
	return names
}

// instancesOf returns the kernels that are instances of the same kernel as k.
func instancesOf(k *compiler.Kernel, kernels []*compiler.Kernel) []*compiler.Kernel {
	var list []*compiler.Kernel
	for _, other := range kernels {
		if declaredName(other) == declaredName(k) {
			list = append(list, other)
		}
	}
	return list
}

// writeGenericLauncher writes the function that launches the instance of a generic
// kernel selected by its type arguments.
func writeGenericLauncher(b *bytes.Buffer, p *frontend.Package, instances []*compiler.Kernel, imports *gohost.Imports) {
	gpu := imports.Name(gpuPath)
	qualify := qualifier(p, imports)
	fn := functionOf(p, instances[0])
	compiled := imports.Name(compiledPath)
	taken := map[string]bool{gpu: true, compiled: true, "nil": true}
	for _, k := range instances {
		taken[infoName(k.IR.Name)] = true
	}
	names := typeParameters(p, instances[0])
	for _, name := range names {
		taken[name] = true
	}
	s, g, kernel, l, err := fresh("s", taken), fresh("g", taken), fresh("k", taken), fresh("l", taken), fresh("err", taken)
	params := parameters(instances[0], fn.Signature(), gpu, qualify, taken)

	launcher := frontend.LauncherName(declaredName(instances[0]))
	fmt.Fprintf(b, "\n// %s runs %s on the grid %s%s.\n", launcher, fn.Name(), g, withoutChecks(instances[0]))
	if doc := docOf(p, fn.Name()); doc != "" {
		b.WriteString("//\n" + doc)
	}
	constraints, all := constraintsOf(p, fn.Signature().TypeParams(), instances, qualify)
	fmt.Fprintf(b, "func %s[%s](%s *%s.Stream, %s %s.Grid%s) error {\n", launcher, constraints, s, gpu, g, gpu, signature(params))

	// A nil pointer or function passes types without an allocation.
	form := "*%s"
	if len(names) > 1 {
		form = "func(%s)"
	}
	nothing := fmt.Sprintf("("+form+")(nil)", strings.Join(names, ", "))
	fmt.Fprintf(b, "var %s *%s.Kernel\nswitch interface{}(%s).(type) {\n", kernel, gpu, nothing)
	for _, k := range instances {
		fmt.Fprintf(b, "case "+form+":\n%s = %s\n", typeList(p.Instance(k.IR.Name), qualify), kernel, infoName(k.IR.Name))
	}
	if !all {
		fmt.Fprintf(b, "default:\nreturn %s.NoInstance(%q, %s)\n", compiled, fn.Name(), nothing)
	}
	fmt.Fprintf(b, "}\n%s, %s := %s.Begin(%s, %s)\n", l, err, kernel, s, g)
	writeArguments(b, gpu, l, params)
	fmt.Fprintf(b, "return %s.EndBegun(%s)\n}\n", l, err)
}

// constraintsOf prints the type parameters of a launcher, each with the union of its
// arguments in the instances. It also returns whether there is an instance for each
// combination of them.
func constraintsOf(p *frontend.Package, params *types.TypeParamList, instances []*compiler.Kernel, qualify types.Qualifier) (text string, all bool) {
	var list []string
	combinations := 1
	for i := range params.Len() {
		var terms []string
		for _, k := range instances {
			if t := types.TypeString(p.Instance(k.IR.Name)[i], qualify); !slices.Contains(terms, t) {
				terms = append(terms, t)
			}
		}
		combinations *= len(terms)
		union := strings.Join(terms, " | ")
		constraint := params.At(i).Constraint()
		if under, ok := constraint.Underlying().(*types.Interface); ok && under.NumMethods() > 0 {
			union = fmt.Sprintf("interface { %s; %s }", types.TypeString(constraint, qualify), union)
		}
		list = append(list, params.At(i).Obj().Name()+" "+union)
	}
	return strings.Join(list, ", "), combinations == len(instances)
}
