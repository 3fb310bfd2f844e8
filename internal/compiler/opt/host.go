package opt

import (
	"slices"

	"quern.dev/internal/compiler/ir"
)

// Host prepares a kernel, as the front end built it, for the Go back end. It does not
// change k.
func Host(k *ir.Kernel) *ir.Kernel {
	out := *k
	_ = Config{}.run(&out, of(forGo), target{}) // these passes report no errors
	return &out
}

// inlineForGo returns a kernel with calls inlined that the Go compiler could not inline
// as well: calls of functions that use the thread or may run long, and of formulas. A
// function of another package that may run long is called if it uses unexported names.
func inlineForGo(k *ir.Kernel) *ir.Kernel {
	known := lengths{}
	names := NewTruncations(k.Func.Go.Package)
	return inlineIf(k, func(call *ir.Call) bool {
		f := call.Func
		return f.UsesThread || isFormula(f) || isArrayFormula(f) || k.Func.Go.Package == f.Go.Package && passesArrays(f) || known.of(call).long && names.canWrite(f)
	})
}

// unrollForGo unrolls short loops of plain assignments with constant bounds, and loops
// with calls or barriers that the programmer wants unrolled: a variable of the block,
// which the Go compiler cannot see through, becomes a constant in each copy.
func unrollForGo(k *ir.Kernel) {
	u := newUnroller(k.Func)
	hinted := false
	u.wanted = func(s *ir.Loop, c *counted) bool {
		if s.Unroll != ir.UnrollAll || !leaves(s.Body, isCallOrCollective) || size(s.Body)*len(c.values) > hintedBudget {
			return u.short(s, c)
		}
		hinted = true
		return true
	}
	u.findKnown()
	k.Func.Body = withoutSelfAssignments(u.list(k.Func.Body))
	if hinted {
		u.settle()
	}
}

func isCallOrCollective(s ir.Stmt) bool {
	switch s.(type) {
	case *ir.Call, *ir.Barrier:
		return true
	}
	return IsWarp(s)
}

// settle replaces the constant variables of copies of loop bodies, and removes code that
// does not run.
func (u *unroller) settle() {
	u.uses = countUses(u.f)
	s := &simplifier{f: u.f}
	find := func() int {
		u.findKnown()
		for v := range u.known {
			if !u.copies[v] {
				delete(u.known, v)
			}
		}
		return len(u.known)
	}
	for s.again = true; s.again; {
		s.again = false
		before := find()
		r := ir.Rewriter{
			Expr: func(e ir.Expr) ir.Expr {
				if v, ok := ir.Variable(e); ok && u.known[v] != nil {
					c := *u.known[v]
					return &c
				}
				return simplifyExpr(e)
			},
			Stmt: func(st ir.Stmt) []ir.Stmt {
				switch st := st.(type) {
				case *ir.If:
					return s.ifStmt(st)
				case *ir.Block:
					st.Body = s.trim(st.Body)
					return dissolve(st)
				}
				return []ir.Stmt{st}
			},
		}
		u.f.Body = s.trim(r.Body(u.f.Body))
		s.again = find() > before || s.again
	}
}

// declared replaces values known from a declared block by constants. These are the X
// coordinate of the only thread of a row, and expressions of the block's dimensions
// alone, unless they are an index or a bound: Go would treat that as a constant too,
// and reject it if it overflows or is out of range.
func declared(k *ir.Kernel) {
	block := k.Options.Block
	if block == [3]int{} {
		return
	}
	isDim := func(e ir.Expr) bool {
		t, ok := e.(*ir.ThreadValue)
		return ok && t.Op >= ir.BlockDimX && t.Op <= ir.BlockDimZ
	}
	value := func(e ir.Expr) *ir.Const {
		if isDim(e) {
			return ir.IntConst(ir.TInt, int64(block[e.(*ir.ThreadValue).Op-ir.BlockDimX]))
		}
		return asConst(e)
	}
	limit := func(e ir.Expr) ir.Expr {
		if isDim(e) {
			return value(e)
		}
		return e
	}
	uses := countUses(k.Func)
	names := map[*ir.Local]ir.Expr{} // of dimensions
	var r ir.Rewriter
	r.Expr = func(e ir.Expr) ir.Expr {
		var c *ir.Const
		switch e := e.(type) {
		case *ir.Load:
			if p, ok := e.Place.(*ir.VarPlace); ok && names[p.Var] != nil {
				return names[p.Var]
			}
		case *ir.SliceExpr:
			e.Lo, e.Hi, e.Max = limit(e.Lo), limit(e.Hi), limit(e.Max)
		case *ir.ThreadValue:
			if e.Op == ir.ThreadIdxX && block[0] == 1 {
				return ir.IntConst(ir.TInt, 0)
			}
		case *ir.Unary:
			if x := value(e.X); x != nil {
				c = constUnary(e.Op, x)
			}
		case *ir.Convert:
			if x := value(e.X); x != nil {
				c = constConvert(e.T, x)
			}
		case *ir.Binary:
			if x, y := value(e.X), value(e.Y); x != nil && y != nil {
				c = constBinary(e.Op, x, y)
			}
		case *ir.Intrinsic:
			args := make([]*ir.Const, len(e.Args))
			for i, a := range e.Args {
				if args[i] = value(a); args[i] == nil {
					return e
				}
			}
			c = constIntrinsic(e, args)
		}
		if c == nil {
			return e
		}
		return c
	}
	r.Place = func(p ir.Place) ir.Place {
		if p, ok := p.(*ir.IndexPlace); ok {
			p.Index = limit(p.Index)
		}
		return p
	}
	r.Stmt = func(s ir.Stmt) []ir.Stmt {
		if a, ok := s.(*ir.Assign); ok && isDim(a.Src) {
			if dst, ok := a.Dst.(*ir.VarPlace); ok && uses[dst.Var] != nil && uses[dst.Var].once() {
				names[dst.Var] = a.Src
			}
		}
		return []ir.Stmt{s}
	}
	k.Func.Body = r.Body(k.Func.Body)
}

// findKnown finds the variables that hold one constant, such as the parameters of a
// special form. They stay variables because Go rejects a constant index out of range.
func (u *unroller) findKnown() {
	u.known = map[*ir.Local]*ir.Const{}
	leaves(u.f.Body, func(s ir.Stmt) bool {
		if a, ok := s.(*ir.Assign); ok {
			if dst, ok := a.Dst.(*ir.VarPlace); ok && u.uses[dst.Var].once() {
				if c := asConst(u.withKnown(a.Src)); c != nil {
					u.known[dst.Var] = c
				}
			}
		}
		return false
	})
}

// withKnown replaces the known variables in an expression by their constants.
func (u *unroller) withKnown(e ir.Expr) ir.Expr {
	if len(u.known) == 0 || e == nil {
		return e
	}
	r := ir.Rewriter{Expr: func(e ir.Expr) ir.Expr {
		if v, ok := ir.Variable(e); ok && u.known[v] != nil {
			c := *u.known[v]
			return &c
		}
		return simplifyExpr(e)
	}}
	return r.Value(ir.CloneExpr(e))
}

// withoutSelfAssignments drops what remains of v += 0*v in a copy.
func withoutSelfAssignments(body []ir.Stmt) []ir.Stmt {
	r := ir.Rewriter{Stmt: func(s ir.Stmt) []ir.Stmt {
		if a, ok := s.(*ir.Assign); ok && isCopyOf(a.Src, a.Dst) {
			return nil
		}
		return []ir.Stmt{s}
	}}
	return r.Body(body)
}

// isFormula reports whether a function is a formula of package kernel, such as Clamp:
// inlined, it can be hoisted out of loops. Formulas on structs are excluded: they would
// name fields that need not be exported.
func isFormula(f *ir.Func) bool {
	if f.Go.Package != kernelPackage || len(f.Body) != 1 || len(f.Results) != 1 {
		return false
	}
	for _, v := range slices.Concat(f.Params, f.Results) {
		if !v.Type.IsScalar() {
			return false
		}
	}
	_, ok := f.Body[0].(*ir.Return)
	return ok
}

// isArrayFormula reports whether a function of package kernel computes short arrays of
// scalars from other arrays, such as Philox: inlined, the arrays become variables.
func isArrayFormula(f *ir.Func) bool {
	if f.Go.Package != kernelPackage || len(f.Results) != 1 || !isShortArray(f.Results[0].Type) {
		return false
	}
	for _, v := range f.Params {
		if !v.Type.IsInteger() && !isShortArray(v.Type) {
			return false
		}
	}
	return true
}

// maxPassing is the maximum size in nodes of a function that is inlined for its arrays.
const maxPassing = 200

// passesArrays reports whether a function without control flow has short arrays as
// parameters or results, which the Go compiler passes in memory.
func passesArrays(f *ir.Func) bool {
	isArray := func(v *ir.Local) bool { return isShortArray(v.Type) }
	return slices.ContainsFunc(slices.Concat(f.Params, f.Results), isArray) && size(f.Body) <= maxPassing &&
		!leaves(f.Body, func(s ir.Stmt) bool {
			switch s.(type) {
			case *ir.Assign, *ir.Call:
				return false
			}
			return s != f.Body[len(f.Body)-1]
		})
}

// indexesArray reports whether a body indexes a short array of the thread with an index
// that depends on v.
func indexesArray(body []ir.Stmt, v *ir.Local) bool {
	found := false
	derived := map[*ir.Local]bool{v: true}
	visitor := ir.Visitor{Place: func(p ir.Place) bool {
		if at, ok := p.(*ir.IndexPlace); ok {
			_, own := at.X.(*ir.VarPlace)
			found = found || own && isShortArray(at.X.Type()) && follows(at.Index, derived)
		}
		return !found
	}}
	visitor.Body(body)
	return found
}

// Limits of loops that Host unrolls.
const (
	hostTrips    = 16
	hostBudget   = 1400 // nodes
	hintedBudget = 4000 // if the programmer wants it
)

// short reports whether a loop is to be unrolled in Go: it has few iterations of
// assignments whose copies remain valid Go. A constant index out of range, or a
// constant divisor of zero, would be an error of the Go compiler instead of a fault of
// the thread.
func (u *unroller) short(s *ir.Loop, c *counted) bool {
	if len(c.values) > hostTrips {
		return false
	}
	if len(s.Body) == 1 {
		if _, guarded := s.Body[0].(*ir.If); guarded && !indexesArray(s.Body, c.v) {
			return false // the row of threads may run it in lockstep
		}
	}
	derived := map[*ir.Local]bool{c.v: true}
	nodes, plain := 0, true
	v := ir.Visitor{
		Stmt: func(s ir.Stmt) bool {
			nodes++
			switch s.(type) {
			case *ir.Assign, *ir.If:
			default:
				plain = false
			}
			return plain
		},
		Expr: func(e ir.Expr) bool {
			nodes++
			if b, ok := e.(*ir.Binary); ok && (b.Op == ir.Div || b.Op == ir.Rem || b.Op.IsShift()) && follows(b.Y, derived) {
				plain = false
			}
			if _, ok := e.(*ir.SliceExpr); ok {
				plain = false
			}
			return plain
		},
		Place: func(p ir.Place) bool {
			nodes++
			at, ok := p.(*ir.IndexPlace)
			if !ok || !follows(at.Index, derived) {
				return plain
			}
			for _, value := range c.values {
				if i := evaluate(at.Index, c.v, value); i != nil && (i.Int64() < 0 || i.Int64() >= at.X.Type().Len) {
					plain = false
				}
			}
			return plain
		},
	}
	v.Body(s.Body)
	return plain && nodes*len(c.values) <= hostBudget
}
