package frontend

import (
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"go/types"
	"os"
	"path"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
)

// Verbs of the directives of an operator, and of the functions that become its kernels.
const (
	operatorVerb = "op"
	templateVerb = "template"
)

// templateDir is where a library keeps the templates of the kernels of its operators.
const templateDir = "/internal/template"

// operatorOptions are the options of a //quern:op directive after the kind.
var operatorOptions = []string{"instantiate", "fastmath"}

// Operator is a function marked //quern:op. A library makes kernels of it. The
// library has one template per kernel: a function that takes the operator as its second
// parameter. A file with these kernels is added to the operator's package.
type Operator struct {
	Func    string // name of the function
	Kind    string // type of the operator in the library, such as Combine
	Package string // import path of the library
	Kernels []OperatorKernel

	// Args are the positions in the function's parameters at which the types of the
	// kind's type parameters are found. The position of the result is the number of
	// parameters.
	Args []int

	// Bound is the number of parameters, the last ones, that are bound when the
	// operator is passed to the library.
	Bound int

	pos token.Pos // of the function's name
}

// OperatorKernel is a kernel of an operator.
type OperatorKernel struct {
	Template string // name of the template
	Kernel   string

	options string
}

// OperatorName returns the name of the variable or function that the generated file
// declares for an operator.
func OperatorName(function string) string { return "Op" + capitalised(function) }

// isOperator reports whether name may be declared by [OperatorName].
func isOperator(name string) bool {
	return strings.HasPrefix(name, "Op") && len(name) > 2 && strings.ToUpper(name[2:3]) == name[2:3]
}

// Operators returns the operators of the package.
func (p *Package) Operators() []Operator { return p.operators }

// OperatorOf returns the operator of a kernel, with or without type arguments. It is nil
// for other kernels.
func (p *Package) OperatorOf(kernel string) *Operator {
	kernel, _, _ = strings.Cut(kernel, "[")
	for i := range p.operators {
		if slices.ContainsFunc(p.operators[i].Kernels, func(k OperatorKernel) bool { return k.Kernel == kernel }) {
			return &p.operators[i]
		}
	}
	return nil
}

var mentionsOperator = regexp.MustCompile(`(?m)^//quern:op[ \t]+(?:(\w+)\.)?\w+`)

// operatorImports returns the packages that the operators of a package need.
func (l *listed) operatorImports() ([]string, error) {
	var list []string
	for _, name := range l.GoFiles {
		text, err := os.ReadFile(filepath.Join(l.Dir, name))
		if err != nil {
			return nil, err
		}
		for _, m := range mentionsOperator.FindAllSubmatch(text, -1) {
			library := l.library(string(m[1]))
			if library != l.ImportPath {
				list = append(list, library)
			}
			list = append(list, library+templateDir)
		}
	}
	return list, nil
}

// library returns the import path of the package that an operator's directive names.
func (l *listed) library(name string) string {
	if name == "" {
		return l.ImportPath
	}
	for _, p := range l.Imports {
		if path.Base(p) == name {
			return p
		}
	}
	return "quern.dev/" + name
}

// operatorDirective returns the directive of an operator, or false.
func operatorDirective(fd *ast.FuncDecl) (directive, bool) {
	for _, dir := range directives(fd.Doc) {
		if dir.verb == operatorVerb {
			return dir, true
		}
	}
	return directive{}, false
}

// misuse is an error in the declaration of an operator.
type misuse struct {
	pos      token.Pos
	function string
	msg      string
}

// withOperators adds to the files of a package one file per operator, with its kernels.
// Errors are reported when the package is lowered.
func (w *World) withOperators(importPath string, files []*ast.File) ([]*ast.File, []Operator, []misuse, error) {
	var operators []Operator
	var wrong []misuse
	all := files
	for _, f := range files {
		for _, d := range f.Decls {
			fd, ok := d.(*ast.FuncDecl)
			if !ok {
				continue
			}
			dir, ok := operatorDirective(fd)
			if !ok {
				continue
			}
			o, text, bad := w.operator(w.listed[importPath], f, fd, dir)
			if bad != nil {
				wrong = append(wrong, *bad)
				continue
			}
			added, err := parser.ParseFile(w.Fset, GeneratedFile, text, parser.ParseComments|parser.SkipObjectResolution)
			if err != nil {
				return nil, nil, nil, fmt.Errorf("kernels of operator %s: %w", o.Func, err)
			}
			w.handlers[w.Fset.File(added.Package)] = o.pos
			all, operators = append(all, added), append(operators, o)
		}
	}
	return all, operators, wrong, nil
}

// operator returns the operator that a function declares, and the source of its kernels.
func (w *World) operator(in *listed, f *ast.File, fd *ast.FuncDecl, dir directive) (o Operator, text string, _ *misuse) {
	name := fd.Name.Name
	fail := func(pos token.Pos, format string, args ...any) (Operator, string, *misuse) {
		return Operator{}, "", &misuse{pos, name, fmt.Sprintf(format, args...)}
	}
	if len(dir.args) == 0 {
		return fail(dir.pos, "//quern:op needs the kind of the operator, as in //quern:op algo.Combine")
	}
	kind := dir.args[0]
	library, name2, qualified := strings.Cut(kind.text, ".")
	if !qualified {
		library, name2 = "", kind.text
	}
	o = Operator{Func: name, Kind: name2, Package: in.library(library), pos: fd.Name.Pos()}
	options := ""
	for _, arg := range dir.args[1:] {
		option, _, _ := strings.Cut(arg.text, "=")
		if !slices.Contains(operatorOptions, option) {
			return fail(arg.pos, "unknown op option %q; the options are %s", arg.text, strings.Join(operatorOptions, " and "))
		}
		options += " " + arg.text
	}
	switch {
	case fd.Recv != nil:
		return fail(fd.Name.Pos(), "an operator cannot be a method; write a function")
	case fd.Type.TypeParams != nil && !strings.Contains(options, " instantiate="):
		return fail(fd.Name.Pos(), "a generic operator needs the types to compile it for; add instantiate=float32,float64 to its directive")
	}
	templates, err := w.source(o.Package + templateDir)
	if err != nil {
		return fail(kind.pos, "package %s has no kinds of operators: %v", o.Package, err)
	}
	var b strings.Builder
	fmt.Fprintf(&b, "package %s\n\nimport (\n\tquernkernel %q\n\tquerntemplate %q\n", f.Name.Name, kernelPath, o.Package+templateDir)
	for _, spec := range f.Imports {
		local := ""
		if spec.Name != nil {
			local = spec.Name.Name + " "
		}
		if local != "_ " {
			fmt.Fprintf(&b, "\t%s%s\n", local, spec.Path.Value)
		}
	}
	b.WriteString(")\n")
	var kinds []string
	for _, tf := range templates.Files {
		for _, d := range tf.Decls {
			td, ok := d.(*ast.FuncDecl)
			if !ok {
				continue
			}
			for _, t := range directives(td.Doc) {
				if t.verb != templateVerb || len(t.args) == 0 {
					continue
				}
				of := strings.Split(t.args[0].text, ",")
				kinds = append(kinds, of...)
				if !slices.Contains(of, o.Kind) {
					continue
				}
				k := OperatorKernel{Template: td.Name.Name, Kernel: name + td.Name.Name}
				if wrong := o.match(td, fd); wrong != "" {
					return fail(fd.Name.Pos(), "%s", wrong)
				}
				for _, arg := range t.args[1:] {
					k.options += " " + arg.text
				}
				b.WriteString(o.kernelSource(td, fd, k, k.options+options))
				o.Kernels = append(o.Kernels, k)
			}
		}
	}
	if len(o.Kernels) == 0 {
		slices.Sort(kinds)
		return fail(kind.pos, "package %s has no operators of kind %s; its kinds are %s", o.Package, o.Kind, strings.Join(slices.Compact(kinds), ", "))
	}
	return o, b.String(), nil
}

// match compares an operator with the function that a template takes, and notes where the
// types of the kind's type parameters are. It returns what is wrong, or "".
func (o *Operator) match(template, fd *ast.FuncDecl) string {
	form := handlerParams(template)[1].(*ast.FuncType)
	wanted := func() string {
		return fmt.Sprintf("an operator of kind %s is declared as %s%s; parameters after these are bound when it is used", o.Kind, o.Func, strings.TrimPrefix(types.ExprString(form), "func"))
	}
	list := func(f *ast.FuncType) []ast.Expr {
		all := handlerParams(&ast.FuncDecl{Type: f})
		if f.Results != nil {
			for _, r := range f.Results.List {
				all = append(all, r.Type)
			}
		}
		return all
	}
	want, have := list(form), list(fd.Type)
	n := form.Params.NumFields()
	o.Bound = fd.Type.Params.NumFields() - n
	if o.Bound < 0 || len(want)-n != len(have)-n-o.Bound {
		return wanted()
	}
	have = slices.Delete(have, n, n+o.Bound)
	types_ := map[string]string{} // of the template's type parameters
	o.Args = nil
	var params []string
	for _, field := range template.Type.TypeParams.List {
		for _, id := range field.Names {
			params = append(params, id.Name)
		}
	}
	for i, t := range want {
		text, found := types.ExprString(t), types.ExprString(have[i])
		if !slices.Contains(params, text) {
			if text != found {
				return wanted()
			}
			continue
		}
		if known, ok := types_[text]; ok && known != found {
			return wanted()
		}
		types_[text] = found
	}
	for _, p := range params {
		at := slices.IndexFunc(want, func(t ast.Expr) bool { return types.ExprString(t) == p })
		if at >= n {
			at += o.Bound
		}
		o.Args = append(o.Args, at)
	}
	return ""
}

// kernelSource returns the declaration of a kernel.
func (o *Operator) kernelSource(template, fd *ast.FuncDecl, k OperatorKernel, options string) string {
	form := handlerParams(template)[1].(*ast.FuncType)
	taken := map[string]bool{o.Func: true, "quernt": true}
	ast.Inspect(fd.Type, func(n ast.Node) bool {
		if id, ok := n.(*ast.Ident); ok {
			taken[id.Name] = true
		}
		return true
	})
	// The types of the template's type parameters, as the operator's file spells them.
	all := handlerParams(fd)
	if fd.Type.Results != nil {
		all = append(all, fd.Type.Results.List[0].Type)
	}
	subst := map[string]string{}
	i := 0
	for _, field := range template.Type.TypeParams.List {
		for _, id := range field.Names {
			subst[id.Name] = types.ExprString(all[o.Args[i]])
			i++
		}
	}
	var spell func(e ast.Expr) string
	spell = func(e ast.Expr) string {
		switch e := e.(type) {
		case *ast.Ident:
			if s, ok := subst[e.Name]; ok {
				return s
			}
		case *ast.ArrayType:
			if e.Len == nil {
				return "[]" + spell(e.Elt)
			}
			return "[" + types.ExprString(e.Len) + "]" + spell(e.Elt)
		case *ast.SelectorExpr:
			return "quern" + types.ExprString(e)
		}
		return types.ExprString(e)
	}
	typeParams, typeArgs := "", ""
	if fd.Type.TypeParams != nil {
		var decls, names []string
		for _, field := range fd.Type.TypeParams.List {
			for _, id := range field.Names {
				decls = append(decls, id.Name+" "+types.ExprString(field.Type))
				names = append(names, id.Name)
			}
		}
		typeParams, typeArgs = "["+strings.Join(decls, ", ")+"]", "["+strings.Join(names, ", ")+"]"
	}
	var params, args []string
	add := func(name, typ string) string {
		for taken[name] || name == "_" {
			name += "_"
		}
		taken[name] = true
		params = append(params, name+" "+typ)
		return name
	}
	operator := o.Func + typeArgs
	if o.Bound > 0 {
		var inner, values, bound []string
		n := len(handlerParams(fd)) - o.Bound
		for i, t := range handlerParams(fd) {
			if i < n {
				inner = append(inner, fmt.Sprintf("quernv%d %s", i, types.ExprString(t)))
				values = append(values, fmt.Sprintf("quernv%d", i))
			} else {
				bound = append(bound, add(fmt.Sprintf("quernbound%d", i-n), types.ExprString(t)))
			}
		}
		operator = fmt.Sprintf("func(%s) %s { return %s(%s) }", strings.Join(inner, ", "), spell(form.Results.List[0].Type), operator, strings.Join(append(values, bound...), ", "))
	}
	i = 0
	for _, field := range template.Type.Params.List {
		for _, id := range field.Names {
			if i > 1 {
				args = append(args, add(id.Name, spell(field.Type)))
			}
			i++
		}
	}
	return fmt.Sprintf("\n//quern:kernel%s\nfunc %s%s(quernt quernkernel.Thread, %s) {\n\tquerntemplate.%s(quernt, %s, %s)\n}\n",
		options, k.Kernel, typeParams, strings.Join(params, ", "), k.Template, operator, strings.Join(args, ", "))
}

// checkOperators reports the errors of the package's operators and records the names
// declared for them.
func (l *lowering) checkOperators(generated map[string]bool) {
	for _, m := range l.pkg.misuses {
		l.errorAt(m.pos, m.function, "%s", m.msg)
	}
	for _, f := range l.pkg.Files {
		for _, d := range f.Decls {
			fd, ok := d.(*ast.FuncDecl)
			if !ok {
				continue
			}
			if dir, ok := operatorDirective(fd); ok {
				generated[OperatorName(fd.Name.Name)] = true
				if l.world.listed[l.pkg.Path] == nil {
					l.errorAt(dir.pos, fd.Name.Name, "an operator is compiled ahead of time; run quern gen on its package")
				}
			}
		}
	}
}

// operatorNames returns the names that the generated file declares for an operator.
func operatorNames(function string) []string {
	return []string{OperatorName(function), "quern" + OperatorName(function)}
}
