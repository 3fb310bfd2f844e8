package ir

// Rewriter rebuilds trees bottom-up and in place: children first, then the
// function for the node, whose result replaces it. Nil functions keep nodes.
type Rewriter struct {
	Expr  func(Expr) Expr
	Place func(Place) Place
	Stmt  func(Stmt) []Stmt // the statements that replace the argument
}

// Body rewrites a statement list.
func (r *Rewriter) Body(body []Stmt) []Stmt {
	out := make([]Stmt, 0, len(body))
	for _, s := range body {
		out = append(out, r.statement(s)...)
	}
	return out
}

func (r *Rewriter) statement(s Stmt) []Stmt {
	switch s := s.(type) {
	case *Assign:
		s.Src = r.Value(s.Src)
		s.Dst = r.Target(s.Dst)
	case *If:
		s.Cond = r.Value(s.Cond)
		s.Then = r.Body(s.Then)
		s.Else = r.Body(s.Else)
	case *Loop:
		s.Pre = r.Body(s.Pre)
		s.Cond = r.Value(s.Cond)
		s.Body = r.Body(s.Body)
		s.Post = r.Body(s.Post)
	case *Block:
		s.Body = r.Body(s.Body)
	case *Return:
		r.values(s.Results)
	case *Call:
		r.values(s.Args)
	case *Atomic:
		s.Place = r.Target(s.Place)
		r.values(s.Args)
	case *Memory:
		r.memory(s)
	case *Warp:
		r.values(s.Args)
	case *Effect:
		r.values(s.Args)
	case *Check:
		s.Place = r.Target(s.Place)
	case *LoadVector:
		s.Place = r.Target(s.Place)
	case *StoreVector:
		r.values(s.Src)
		s.Place = r.Target(s.Place)
	}
	if r.Stmt == nil {
		return []Stmt{s}
	}
	return r.Stmt(s)
}

func (r *Rewriter) values(list []Expr) {
	for i := range list {
		list[i] = r.Value(list[i])
	}
}

// Value rewrites an expression; nil stays nil.
func (r *Rewriter) Value(e Expr) Expr {
	switch e := e.(type) {
	case nil:
		return nil
	case *Load:
		e.Place = r.Target(e.Place)
	case *Unary:
		e.X = r.Value(e.X)
	case *Binary:
		e.X = r.Value(e.X)
		e.Y = r.Value(e.Y)
	case *Convert:
		e.X = r.Value(e.X)
	case *Len:
		e.X = r.Value(e.X)
	case *Cap:
		e.X = r.Value(e.X)
	case *SliceExpr:
		e.X = r.Value(e.X)
		if e.Array != nil {
			e.Array = r.Target(e.Array)
		}
		e.Lo, e.Hi, e.Max = r.Value(e.Lo), r.Value(e.Hi), r.Value(e.Max)
	case *Addr:
		e.Place = r.Target(e.Place)
	case *Intrinsic:
		r.values(e.Args)
	case *Composite:
		r.values(e.Elems)
	case *Select:
		e.Cond, e.X, e.Y = r.Value(e.Cond), r.Value(e.X), r.Value(e.Y)
	}
	if r.Expr == nil {
		return e
	}
	return r.Expr(e)
}

// Target rewrites a place.
func (r *Rewriter) Target(p Place) Place {
	switch p := p.(type) {
	case *DerefPlace:
		p.Ptr = r.Value(p.Ptr)
	case *FieldPlace:
		p.X = r.Target(p.X)
	case *IndexPlace:
		p.X = r.Target(p.X)
		p.Index = r.Value(p.Index)
	case *ElemPlace:
		p.Slice = r.Value(p.Slice)
		p.Index = r.Value(p.Index)
	case *ArrayPlace:
		p.Slice = r.Value(p.Slice)
	}
	if r.Place == nil {
		return p
	}
	return r.Place(p)
}

// Visitor sees every node of a tree, parents before children. A function that
// returns false keeps its node's children from being visited.
type Visitor struct {
	Expr  func(Expr) bool
	Place func(Place) bool
	Stmt  func(Stmt) bool
}

// Body visits a statement list.
func (v *Visitor) Body(body []Stmt) {
	for _, s := range body {
		v.statement(s)
	}
}

func (v *Visitor) statement(s Stmt) {
	if v.Stmt != nil && !v.Stmt(s) {
		return
	}
	switch s := s.(type) {
	case *Assign:
		v.Value(s.Src)
		v.Target(s.Dst)
	case *If:
		v.Value(s.Cond)
		v.Body(s.Then)
		v.Body(s.Else)
	case *Loop:
		v.Body(s.Pre)
		v.Value(s.Cond)
		v.Body(s.Body)
		v.Body(s.Post)
	case *Block:
		v.Body(s.Body)
	case *Return:
		v.values(s.Results)
	case *Call:
		v.values(s.Args)
	case *Atomic:
		v.Target(s.Place)
		v.values(s.Args)
	case *Memory:
		v.memory(s)
	case *Warp:
		v.values(s.Args)
	case *Effect:
		v.values(s.Args)
	case *Check:
		v.Target(s.Place)
	case *LoadVector:
		v.Target(s.Place)
	case *StoreVector:
		v.values(s.Src)
		v.Target(s.Place)
	}
}

func (v *Visitor) values(list []Expr) {
	for _, e := range list {
		v.Value(e)
	}
}

// Value visits an expression; nil is allowed.
func (v *Visitor) Value(e Expr) {
	if e == nil || v.Expr != nil && !v.Expr(e) {
		return
	}
	switch e := e.(type) {
	case *Load:
		v.Target(e.Place)
	case *Unary:
		v.Value(e.X)
	case *Binary:
		v.Value(e.X)
		v.Value(e.Y)
	case *Convert:
		v.Value(e.X)
	case *Len:
		v.Value(e.X)
	case *Cap:
		v.Value(e.X)
	case *SliceExpr:
		v.Value(e.X)
		if e.Array != nil {
			v.Target(e.Array)
		}
		v.Value(e.Lo)
		v.Value(e.Hi)
		v.Value(e.Max)
	case *Addr:
		v.Target(e.Place)
	case *Intrinsic:
		v.values(e.Args)
	case *Composite:
		v.values(e.Elems)
	case *Select:
		v.Value(e.Cond)
		v.Value(e.X)
		v.Value(e.Y)
	}
}

// Target visits a place.
func (v *Visitor) Target(p Place) {
	if v.Place != nil && !v.Place(p) {
		return
	}
	switch p := p.(type) {
	case *DerefPlace:
		v.Value(p.Ptr)
	case *FieldPlace:
		v.Target(p.X)
	case *IndexPlace:
		v.Target(p.X)
		v.Value(p.Index)
	case *ElemPlace:
		v.Value(p.Slice)
		v.Value(p.Index)
	case *ArrayPlace:
		v.Value(p.Slice)
	}
}
