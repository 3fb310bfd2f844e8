package frontend

import (
	"go/ast"
	"go/token"
	"go/types"
	"strconv"
	"strings"
)

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
