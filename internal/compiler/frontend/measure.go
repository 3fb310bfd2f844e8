package frontend

import (
	"errors"
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"go/types"
	"strconv"
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
