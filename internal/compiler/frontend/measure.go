package frontend

import (
	"errors"
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"go/types"
	"strconv"
	"strings"
)

// Limits of what the type checker is given. It computes constant strings and compares,
// hashes and prints types in full, and it cannot be interrupted. A few lines of source
// can double a string or a type many times.
const (
	maxStrings = 4 << 20  // bytes of the text's constant strings
	maxType    = 64 << 10 // bytes of one type, written out with the types of its fields
	maxTypes   = 64 << 20 // bytes of the types of all expressions that the type checker compares or hashes
	maxMethods = 4096     // of all types, which are compared with each other
	maxCases   = 1000     // types of a type switch, which are compared with each other
	maxForward = 1000     // length of a chain of declarations that each use the next one
)

// Limits of numeric constants, which are fractions of up to 4096 bits.
const (
	maxDigits = 1300
	maxEffort = 1e10 // products of the numbers of digits of operands, in all: a second
)

// maxFields is the maximum number of fields of a type argument, including those of its
// fields' types.
const maxFields = 1024

// maxNodes is the maximum number of nodes of the syntax that are checked, where the
// values of a constant declaration count once per name that repeats them.
const maxNodes = 4 << 20

// size is an upper bound on the size in bytes of an expression's type, written out with
// the types of its fields.
type size struct {
	written bound
	args    bound   // of the type arguments of the type and of its parts
	text    float64 // bytes of the value, of a constant string
	digits  float64 // of the value, of a constant number
	generic bool    // a function or type without its type arguments
	result  *size   // of a call, of a generic function
}

// bound is an upper bound on a number of bytes. In a declaration with type parameters
// it is base + perArg*n, where n is the size of the largest type argument.
type bound struct{ base, perArg float64 }

// huge is beyond all limits. Sums and products of it are finite.
const huge = 1e15

func (b bound) plus(o bound) bound {
	return bound{min(b.base+o.base, huge), min(b.perArg+o.perArg, huge)}
}

func (b bound) or(o bound) bound { return bound{max(b.base, o.base), max(b.perArg, o.perArg)} }

func (b bound) of(args bound) bound {
	return bound{min(b.base+b.perArg*args.base, huge), min(b.perArg*args.perArg, huge)}
}

// sized returns the size of a type that is written with n bytes.
func sized(n int) size { return size{written: bound{base: float64(n)}} }

// parameter is the size of a type parameter.
var parameter = size{written: bound{perArg: 1}, args: bound{perArg: 1}}

func (s size) plus(o size) size {
	return size{written: s.written.plus(o.written), args: s.args.or(o.args)}
}

func (s size) times(n int) size {
	f := float64(n)
	return size{written: bound{min(s.written.base*f, huge), min(s.written.perArg*f, huge)}, args: s.args}
}

// or returns the size of what may be either.
func (s size) or(o size) size {
	return size{written: s.written.or(o.written), args: s.args.or(o.args), text: max(s.text, o.text), digits: max(s.digits, o.digits)}
}

// of returns the size of an instance with type arguments of at most the given size.
func (s size) of(args bound) size { return size{written: s.written.of(args), args: s.args.of(args)} }

// typ returns the size without what belongs to a value.
func (s size) typ() size { return size{written: s.written, args: s.args} }

// total returns the number of bytes where type parameters stand for themselves.
func (s size) total() float64 { return s.written.base + s.written.perArg }

// declared is a name of the source and what is known about it.
type declared struct {
	size    size
	measure func() size // of a package-level name that was not measured yet
	pending bool        // being measured
}

// measurer computes bounds on the sizes of types and of constant strings from the
// syntax of a file.
type measurer struct {
	poll    func()
	fset    *token.FileSet
	imports map[string]*types.Package // by the name in the file; nil if not known
	top     map[string]*declared      // package-level names
	local   map[string][]*declared    // other names, innermost last
	opened  []string                  // names of local, in order
	members map[string]size           // fields and methods by name, per size of the operand
	later   []func()                  // bodies of functions, once all package-level names are known
	bodies  bool                      // they are being measured
	depth   int                       // package-level names being measured
	strings float64                   // bytes so far
	total   float64                   // bytes so far
	effort  float64                   // spent on numeric constants
	nodes   int
	err     error // Diagnostics
}

// checkSizes returns an error if the type checker would need much memory or time for
// the constant strings or types of a text.
func (p *Package) checkSizes(api func(path string) (*types.Package, error)) error {
	f := p.Files[0]
	m := &measurer{poll: p.poll, fset: p.world.Fset, imports: map[string]*types.Package{}, top: map[string]*declared{}, local: map[string][]*declared{}, members: map[string]size{}}
	for _, spec := range f.Imports {
		path, _ := strconv.Unquote(spec.Path.Value)
		pkg, err := api(path)
		if err != nil {
			continue // the type checker reports it
		}
		name := pkg.Name()
		if spec.Name != nil {
			name = spec.Name.Name
		}
		m.imports[name] = pkg
	}
	methods := 0
	var order [3][]*declared // types, functions, constants and variables
	add := func(kind int, id *ast.Ident, generic bool, measure func() size) {
		d := &declared{measure: measure, size: sized(16)}
		if generic {
			d.size = sized(16).plus(parameter)
			d.size.generic = true
		}
		order[kind] = append(order[kind], d)
		if id != nil && id.Name != "_" {
			m.top[id.Name] = d
		}
	}
	for _, d := range f.Decls {
		switch d := d.(type) {
		case *ast.FuncDecl:
			if d.Recv != nil {
				if methods++; methods > maxMethods {
					m.fail(d, "the text declares more than %d methods; use functions", maxMethods)
				}
				add(1, nil, false, func() size { return m.funcDecl(d) })
			} else {
				add(1, d.Name, false, func() size { return m.funcDecl(d) })
			}
		case *ast.GenDecl:
			var repeated *ast.ValueSpec
			for _, s := range d.Specs {
				switch s := s.(type) {
				case *ast.TypeSpec:
					add(0, s.Name, s.TypeParams != nil, func() size { return m.typeSpec(s) })
				case *ast.ValueSpec:
					of := m.repeats(d.Tok, s, &repeated)
					for i, name := range s.Names {
						add(2, name, false, func() size { return m.value(of, i) })
					}
				}
			}
		}
	}
	for _, list := range order {
		for _, d := range list {
			m.measure(d, nil)
		}
	}
	m.bodies = true
	m.rest()
	p.measurer = m
	return m.err
}

// rest measures what was postponed.
func (m *measurer) rest() {
	for len(m.later) > 0 && m.err == nil {
		next := m.later[0]
		m.later = m.later[1:]
		next()
	}
}

// checkOption is checkSizes for an expression or type in an option of a directive, or in
// the name of an instance.
func (p *Package) checkOption(text string) error {
	e, err := parser.ParseExpr(text)
	if p.measurer == nil || err != nil { // the type checker reports it
		return nil
	}
	m := p.measurer
	m.checked(e, m.expr(e))
	m.rest()
	if m.err != nil {
		return errors.New(m.err.(Diagnostics)[0].Msg)
	}
	return nil
}

func (m *measurer) fail(n ast.Node, format string, args ...any) {
	if m.err == nil {
		m.err = Diagnostics{{Pos: m.fset.Position(n.Pos()), Msg: fmt.Sprintf(format, args...)}}
	}
}

// measure returns the size of a package-level name, used by n.
func (m *measurer) measure(d *declared, n ast.Node) size {
	if d.pending || d.measure == nil {
		return d.size
	}
	if m.depth++; m.depth > maxForward && n != nil {
		m.fail(n, "a chain of more than %d declarations use each other; declare names before their uses", maxForward)
	}
	saved, opened := m.local, m.opened
	m.local, m.opened = map[string][]*declared{}, nil
	d.pending = true
	if m.err == nil {
		d.size = d.measure()
	}
	d.pending, d.measure = false, nil
	m.local, m.opened = saved, opened
	m.depth--
	return d.size
}

// declare adds a local name.
func (m *measurer) declare(id *ast.Ident, s size) *declared {
	d := &declared{size: s}
	if id != nil && id.Name != "_" {
		m.local[id.Name] = append(m.local[id.Name], d)
		m.opened = append(m.opened, id.Name)
	}
	return d
}

// scope runs f, whose local names end with it.
func (m *measurer) scope(f func()) {
	n := len(m.opened)
	f()
	for _, name := range m.opened[n:] {
		m.local[name] = m.local[name][:len(m.local[name])-1]
	}
	m.opened = m.opened[:n]
}

// repeats returns the specification with the values of s: the previous one if s, of
// constants, has none.
func (m *measurer) repeats(tok token.Token, s *ast.ValueSpec, previous **ast.ValueSpec) *ast.ValueSpec {
	if tok == token.CONST && len(s.Values) == 0 && s.Type == nil && *previous != nil {
		return *previous
	}
	*previous = s
	return s
}

// value returns the size of the i-th name of a specification.
func (m *measurer) value(s *ast.ValueSpec, i int) size {
	var out size
	if len(s.Values) > 0 {
		out = m.expr(s.Values[min(i, len(s.Values)-1)])
	}
	if s.Type != nil {
		t := m.expr(s.Type)
		t.text, t.digits = out.text, out.digits
		return t
	}
	return out
}

// typeSpec returns the size of a type.
func (m *measurer) typeSpec(s *ast.TypeSpec) (out size) {
	m.scope(func() {
		m.typeParams(s.TypeParams)
		out = m.expr(s.Type).plus(sized(len(s.Name.Name)))
	})
	out.generic = s.TypeParams != nil
	m.checkType(s, out, "type "+s.Name.Name)
	return out
}

// checkType reports a type that is too large.
func (m *measurer) checkType(n ast.Node, s size, what string) {
	if s.total() > maxType {
		m.fail(n, "%s is too large: with the types of its fields and its type arguments it takes more than %d bytes to write; use arrays, or fewer fields", what, maxType)
	}
}

// checked counts a type that the type checker works through.
func (m *measurer) checked(n ast.Node, s size) size {
	m.checkType(n, s, "this type")
	if m.total += s.total(); m.total > maxTypes {
		m.fail(n, "the types in the text are too large: those of its expressions take more than %d bytes to write in all; use smaller types, or split the text", maxTypes)
	}
	return s
}

// typeParams declares type parameters. A type argument is given, inferred from the
// arguments, or inferred from a constraint.
func (m *measurer) typeParams(list *ast.FieldList) {
	if list == nil {
		return
	}
	var params []*declared
	for _, f := range list.List {
		for _, name := range f.Names {
			params = append(params, m.declare(name, parameter))
		}
	}
	// Constraints may use parameters that follow: each round adds one level.
	for range min(len(params), 8) {
		i := 0
		for _, f := range list.List {
			s := m.expr(f.Type)
			for range f.Names {
				params[i].size = params[i].size.or(s)
				i++
			}
		}
	}
	if len(params) > 8 {
		m.fail(list, "%d type parameters are more than the 8 that a declaration may have; use a type parameter for a struct of them", len(params))
	}
}

// fields returns the size of parameters or of a struct's fields, and declares them.
func (m *measurer) fields(list *ast.FieldList, declare func(id *ast.Ident, s size)) (out size) {
	if list == nil {
		return out
	}
	for _, f := range list.List {
		s := m.expr(f.Type)
		if f.Tag != nil {
			out = out.plus(sized(len(f.Tag.Value)))
		}
		out = out.plus(s.times(max(1, len(f.Names))))
		for _, name := range f.Names {
			out = out.plus(sized(len(name.Name) + 2))
			if declare != nil {
				declare(name, s)
			}
		}
		if len(f.Names) == 0 && declare != nil {
			if id := embeddedName(f.Type); id != nil {
				declare(id, s)
			}
		}
	}
	return out
}

// embeddedName returns the name of an embedded field.
func embeddedName(t ast.Expr) *ast.Ident {
	if s, ok := ast.Unparen(t).(*ast.StarExpr); ok {
		t = s.X
	}
	return calleeIdent(ast.Unparen(t))
}

// member records a field or method.
func (m *measurer) member(id *ast.Ident, s size) {
	m.members[id.Name] = m.members[id.Name].or(s)
}

// funcDecl returns the size of a function's type. Its body is measured later.
func (m *measurer) funcDecl(d *ast.FuncDecl) (out size) {
	var result size
	m.scope(func() {
		out = m.signature(d, nil)
		if d.Type.TypeParams != nil {
			result = m.fields(d.Type.Results, nil)
		}
	})
	if d.Recv != nil {
		m.member(d.Name, out)
	}
	if d.Type.TypeParams != nil {
		out.generic, out.result = true, &result
	}
	m.later = append(m.later, func() {
		m.scope(func() {
			m.signature(d, func(id *ast.Ident, s size) { m.declare(id, s) })
			if d.Body != nil {
				m.stmt(d.Body)
			}
		})
	})
	return out
}

// signature returns the size of a function's type, and declares its parameters.
func (m *measurer) signature(d *ast.FuncDecl, declare func(id *ast.Ident, s size)) size {
	var out size
	if d.Recv != nil {
		for _, f := range d.Recv.List {
			m.receiverParams(f.Type)
		}
		out = out.plus(m.fields(d.Recv, declare))
	}
	m.typeParams(d.Type.TypeParams)
	return out.plus(m.fields(d.Type.Params, declare)).plus(m.fields(d.Type.Results, declare)).plus(sized(4))
}

// receiverParams declares the type parameters of a receiver such as P[T].
func (m *measurer) receiverParams(t ast.Expr) {
	var args []ast.Expr
	switch t := ast.Unparen(t).(type) {
	case *ast.StarExpr:
		m.receiverParams(t.X)
	case *ast.IndexExpr:
		args = []ast.Expr{t.Index}
	case *ast.IndexListExpr:
		args = t.Indices
	}
	for _, a := range args {
		if id, ok := a.(*ast.Ident); ok {
			m.declare(id, parameter)
		}
	}
}

// expr returns the size of an expression's type, or of a type.
func (m *measurer) expr(e ast.Expr) size {
	s := m.operand(e)
	if b, ok := ast.Unparen(e).(*ast.BinaryExpr); ok && b.Op == token.ADD {
		if m.strings += s.text; m.strings > maxStrings {
			m.fail(e, "the constant strings of the text take more than %d bytes; use shorter strings, or pass them as slices", maxStrings)
		}
	}
	return s
}

// operand is expr for an operand of +: only the whole sum is computed.
func (m *measurer) operand(e ast.Expr) size {
	if e == nil || m.err != nil {
		return size{}
	}
	m.poll()
	if m.nodes++; m.nodes > maxNodes {
		m.fail(e, "the text has more than %d expressions, counting the values of a constant declaration for each name that repeats them; use shorter expressions", maxNodes)
	}
	switch e := e.(type) {
	case *ast.Ident:
		return m.ident(e)
	case *ast.BasicLit:
		if e.Kind == token.STRING {
			return size{written: bound{base: 6}, text: float64(len(e.Value))}
		}
		out := sized(10)
		out.digits = m.number(e)
		return out
	case *ast.ParenExpr:
		return m.operand(e.X)
	case *ast.StarExpr:
		return m.expr(e.X).plus(sized(1))
	case *ast.UnaryExpr:
		x := m.expr(e.X)
		out := x.plus(sized(1))
		out.digits = x.digits
		return out
	case *ast.BinaryExpr:
		return m.binary(e)
	case *ast.SelectorExpr:
		return m.selector(e)
	case *ast.IndexExpr:
		return m.index(e, e.X, e.Index)
	case *ast.IndexListExpr:
		return m.index(e, e.X, e.Indices...)
	case *ast.SliceExpr:
		m.exprs(e.Low, e.High, e.Max)
		s := m.expr(e.X).plus(sized(2))
		s.text = 0
		return s
	case *ast.TypeAssertExpr:
		x := m.expr(e.X)
		if e.Type == nil {
			return x
		}
		return m.checked(e, m.expr(e.Type))
	case *ast.CallExpr:
		return m.call(e)
	case *ast.CompositeLit:
		s := m.expr(e.Type)
		for _, el := range e.Elts {
			m.expr(el)
		}
		return s
	case *ast.KeyValueExpr:
		m.exprs(e.Key, e.Value)
		return size{}
	case *ast.FuncLit:
		return m.funcLit(e)
	case *ast.ArrayType:
		if e.Len != nil {
			m.expr(e.Len)
			if !m.bodies { // fields and methods may not be known yet
				m.later = append(m.later, func() { m.expr(e.Len) })
			}
		}
		return m.checked(e, m.expr(e.Elt).plus(sized(22)))
	case *ast.StructType:
		return m.checked(e, m.fields(e.Fields, m.member).plus(sized(8)))
	case *ast.FuncType:
		return m.checked(e, m.fields(e.Params, nil).plus(m.fields(e.Results, nil)).plus(sized(4)))
	case *ast.InterfaceType:
		return m.checked(e, m.fields(e.Methods, m.member).plus(sized(11)))
	case *ast.MapType:
		return m.checked(e, m.expr(e.Key).plus(m.expr(e.Value)).plus(sized(5)))
	case *ast.ChanType:
		return m.checked(e, m.expr(e.Value).plus(sized(5)))
	case *ast.Ellipsis:
		if e.Elt == nil {
			return size{}
		}
		return m.expr(e.Elt).plus(sized(3))
	}
	return size{}
}

func (m *measurer) exprs(list ...ast.Expr) {
	for _, e := range list {
		if e != nil {
			m.expr(e)
		}
	}
}

func (m *measurer) ident(id *ast.Ident) size {
	if list := m.local[id.Name]; len(list) > 0 {
		return list[len(list)-1].size
	}
	if d := m.top[id.Name]; d != nil {
		return m.measure(d, id)
	}
	return sized(len(id.Name))
}

// number returns the number of digits of a numeric constant.
func (m *measurer) number(e *ast.BasicLit) float64 {
	n := float64(len(e.Value))
	m.compute(e, n, n)
	if e.Kind != token.FLOAT && e.Kind != token.IMAG {
		return n
	}
	mark := "eE"
	if strings.HasPrefix(strings.ToLower(e.Value), "0x") {
		mark = "pP"
	}
	if i := strings.IndexAny(e.Value, mark); i >= 0 {
		exponent, err := strconv.Atoi(strings.Trim(e.Value[i+1:], "+-i"))
		if n += float64(exponent); err != nil || n > maxDigits {
			n = maxDigits
			m.compute(e, n, n)
		}
	}
	return n
}

// compute counts an operation on constants with so many digits.
func (m *measurer) compute(e ast.Node, x, y float64) {
	if m.effort += x * y; m.effort > maxEffort {
		m.fail(e, "the constant expressions of the text take long to compute; use numbers with fewer digits")
	}
}

func (m *measurer) binary(e *ast.BinaryExpr) size {
	switch e.Op {
	case token.ADD:
		x, y := m.operand(e.X), m.operand(e.Y)
		out := x.or(y)
		out.text = min(x.text+y.text, huge)
		out.digits = min(x.digits+y.digits, maxDigits)
		m.compute(e, x.digits, y.digits)
		return out
	case token.OR: // of constraints, or of numbers
		return m.operand(e.X).or(m.operand(e.Y)).plus(sized(1))
	case token.EQL, token.NEQ, token.LSS, token.LEQ, token.GTR, token.GEQ:
		m.checked(e, m.expr(e.X).or(m.expr(e.Y)))
		return sized(4)
	case token.SHL, token.SHR:
		m.expr(e.Y)
		return m.expr(e.X)
	}
	x, y := m.expr(e.X), m.expr(e.Y)
	out := x.or(y)
	out.text, out.digits = 0, min(x.digits+y.digits, maxDigits)
	m.compute(e, x.digits, y.digits)
	return out
}

func (m *measurer) selector(e *ast.SelectorExpr) size {
	x := m.expr(e.X)
	if m.imported(e) {
		out := sized(64)
		out.text, out.digits = 8, 330 // if it is a constant; package math has the longest
		return out
	}
	if s, ok := m.members[e.Sel.Name]; ok {
		return s.of(x.args)
	}
	return x.typ()
}

// index returns the size of an element or of an instance.
func (m *measurer) index(e, x ast.Expr, indices ...ast.Expr) size {
	s := m.expr(x)
	var largest, all size
	for _, i := range indices {
		arg := m.expr(i)
		largest, all = largest.or(arg), all.plus(arg)
	}
	switch {
	case s.generic:
		s = s.of(largest.written).plus(all)
	case m.imported(x):
		s = s.plus(all).plus(all)
	default:
		return s.typ()
	}
	s.args = s.args.or(largest.written)
	return m.checked(e, s)
}

// imported reports whether an expression names something of another package, or
// something predeclared.
func (m *measurer) imported(e ast.Expr) bool {
	e = ast.Unparen(e)
	if sel, ok := e.(*ast.SelectorExpr); ok {
		e = sel.X
	}
	id, ok := e.(*ast.Ident)
	return ok && m.predeclared(id)
}

// call returns the size of the results of a call, or of a conversion.
func (m *measurer) call(e *ast.CallExpr) size {
	// Type arguments may be partly given.
	base, fun := ast.Unparen(e.Fun), size{}
	var args size
	switch f := base.(type) {
	case *ast.IndexExpr:
		if fun = m.expr(f.X); fun.generic {
			args = m.expr(f.Index)
		} else {
			fun = m.expr(f)
		}
	case *ast.IndexListExpr:
		if fun = m.expr(f.X); fun.generic {
			for _, i := range f.Indices {
				args = args.or(m.expr(i))
			}
		} else {
			fun = m.expr(f)
		}
	default:
		fun = m.expr(f)
	}
	var functions []size // generic functions as arguments: their results may be the type arguments of others
	for _, a := range e.Args {
		s := m.expr(a)
		if s.result != nil {
			functions = append(functions, *s.result)
			continue
		}
		m.checked(a, s)
		args = args.or(s)
	}
	for _, f := range functions {
		args = args.or(f.of(args.written))
	}
	out := fun.typ()
	switch {
	case fun.result != nil:
		out = m.checked(e, fun.result.of(args.written))
		out.args = out.args.or(args.args)
	case m.imported(base):
		out = m.importedCall(base, out, args.typ())
	}
	if id, ok := base.(*ast.Ident); len(e.Args) > 0 && !(ok && m.predeclared(id) && id.Name != "string" && id.Name != "min" && id.Name != "max") {
		out.text = max(args.text, 4) // of a constant that is converted
	}
	out.digits = args.digits
	return out
}

// importedCall returns the size of the results of an imported or predeclared function.
func (m *measurer) importedCall(fun ast.Expr, of, args size) size {
	grown := of.plus(args).plus(args)
	grown.args = grown.args.or(args.written)
	switch f := fun.(type) {
	case *ast.Ident:
		if m.predeclared(f) {
			return of.or(args)
		}
	case *ast.SelectorExpr:
		pkg := m.imports[f.X.(*ast.Ident).Name]
		if pkg == nil {
			return grown
		}
		obj, ok := pkg.Scope().Lookup(f.Sel.Name).(*types.Func)
		if !ok || obj.Signature().TypeParams().Len() == 0 {
			return of
		}
		results := obj.Signature().Results()
		for i := range results.Len() {
			t := results.At(i).Type()
			if p, ok := t.(*types.Pointer); ok {
				t = p.Elem()
			}
			if _, ok := t.(*types.TypeParam); !ok && results.Len() == 1 {
				return m.checked(fun, grown)
			}
		}
		return of.or(args)
	}
	return grown
}

// predeclared reports whether a name is not declared in the file.
func (m *measurer) predeclared(id *ast.Ident) bool {
	return len(m.local[id.Name]) == 0 && m.top[id.Name] == nil
}

func (m *measurer) funcLit(e *ast.FuncLit) (out size) {
	if !m.bodies { // of a package-level variable
		m.later = append(m.later, func() { m.funcLit(e) })
		return m.fields(e.Type.Params, nil).plus(m.fields(e.Type.Results, nil)).plus(sized(4))
	}
	m.scope(func() {
		declare := func(id *ast.Ident, s size) { m.declare(id, s) }
		out = m.fields(e.Type.Params, declare).plus(m.fields(e.Type.Results, declare)).plus(sized(4))
		m.stmt(e.Body)
	})
	return m.checked(e, out)
}

func (m *measurer) stmts(list []ast.Stmt) {
	for _, s := range list {
		m.stmt(s)
	}
}

func (m *measurer) stmt(s ast.Stmt) {
	if s == nil || m.err != nil {
		return
	}
	switch s := s.(type) {
	case *ast.BlockStmt:
		m.scope(func() { m.stmts(s.List) })
	case *ast.ExprStmt:
		m.expr(s.X)
	case *ast.SendStmt:
		m.exprs(s.Chan, s.Value)
	case *ast.IncDecStmt:
		m.expr(s.X)
	case *ast.AssignStmt:
		m.assign(s)
	case *ast.GoStmt:
		m.expr(s.Call)
	case *ast.DeferStmt:
		m.expr(s.Call)
	case *ast.ReturnStmt:
		for _, e := range s.Results {
			m.checked(e, m.expr(e))
		}
	case *ast.LabeledStmt:
		m.stmt(s.Stmt)
	case *ast.IfStmt:
		m.scope(func() {
			m.stmt(s.Init)
			m.expr(s.Cond)
			m.stmt(s.Body)
			m.stmt(s.Else)
		})
	case *ast.ForStmt:
		m.scope(func() {
			m.stmt(s.Init)
			m.expr(s.Cond)
			m.stmt(s.Post)
			m.stmt(s.Body)
		})
	case *ast.RangeStmt:
		m.scope(func() {
			x := m.expr(s.X)
			x = x.typ()
			for _, e := range []ast.Expr{s.Key, s.Value} {
				if id, ok := e.(*ast.Ident); ok && s.Tok == token.DEFINE {
					m.declare(id, x)
				} else {
					m.exprs(e)
				}
			}
			m.stmt(s.Body)
		})
	case *ast.SwitchStmt:
		m.scope(func() {
			m.stmt(s.Init)
			m.checked(s, m.expr(s.Tag))
			m.clauses(s.Body, nil, size{})
		})
	case *ast.TypeSwitchStmt:
		m.scope(func() {
			m.stmt(s.Init)
			types := 0
			for _, c := range s.Body.List {
				if types += len(c.(*ast.CaseClause).List); types > maxCases {
					m.fail(c, "the type switch has more than %d types", maxCases)
				}
			}
			if a, ok := s.Assign.(*ast.AssignStmt); ok && len(a.Lhs) == 1 && len(a.Rhs) == 1 {
				id, _ := a.Lhs[0].(*ast.Ident)
				m.clauses(s.Body, id, m.expr(a.Rhs[0]))
				return
			}
			m.stmt(s.Assign)
			m.clauses(s.Body, nil, size{})
		})
	case *ast.SelectStmt:
		m.clauses(s.Body, nil, size{})
	case *ast.DeclStmt:
		m.decl(s.Decl)
	}
}

// clauses measures the cases of a switch, in which bound has the type of the operand or
// of the case.
func (m *measurer) clauses(body *ast.BlockStmt, bound *ast.Ident, operand size) {
	for _, c := range body.List {
		m.scope(func() {
			switch c := c.(type) {
			case *ast.CaseClause:
				s := operand
				for _, e := range c.List {
					s = s.or(m.checked(e, m.expr(e)))
				}
				s = s.typ()
				if bound != nil {
					m.declare(bound, s)
				}
				m.stmts(c.Body)
			case *ast.CommClause:
				m.stmt(c.Comm)
				m.stmts(c.Body)
			}
		})
	}
}

func (m *measurer) assign(s *ast.AssignStmt) {
	sizes := make([]size, len(s.Rhs))
	for i, e := range s.Rhs {
		sizes[i] = m.checked(e, m.expr(e)).typ()
	}
	for i, e := range s.Lhs {
		id, ok := e.(*ast.Ident)
		switch {
		case !ok:
			m.expr(e)
		case s.Tok == token.DEFINE && len(sizes) > 0:
			m.declare(id, sizes[min(i, len(sizes)-1)])
		}
	}
}

// decl measures a declaration in a function.
func (m *measurer) decl(d ast.Decl) {
	g, ok := d.(*ast.GenDecl)
	if !ok {
		return
	}
	var repeated *ast.ValueSpec
	for _, s := range g.Specs {
		switch s := s.(type) {
		case *ast.TypeSpec:
			d := m.declare(s.Name, sized(len(s.Name.Name)))
			if s.TypeParams != nil {
				d.size = d.size.plus(parameter)
				d.size.generic = true
			}
			d.size = m.typeSpec(s)
		case *ast.ValueSpec:
			of := m.repeats(g.Tok, s, &repeated)
			sizes := make([]size, len(s.Names))
			for i := range s.Names {
				sizes[i] = m.value(of, i)
				m.checked(s, sizes[i])
			}
			for i, name := range s.Names {
				if g.Tok == token.VAR {
					sizes[i].text, sizes[i].digits = 0, 0
				}
				m.declare(name, sizes[i])
			}
		}
	}
}
