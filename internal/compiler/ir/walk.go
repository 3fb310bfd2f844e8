package ir

// Rewriter rebuilds trees bottom-up and in place: children first, then the function for
// the node, whose result replaces the node. A nil function keeps nodes.
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
	s.parts(r)
	if r.Stmt == nil {
		return []Stmt{s}
	}
	return r.Stmt(s)
}

// Value rewrites an expression; nil stays nil.
func (r *Rewriter) Value(e Expr) Expr {
	if e == nil {
		return nil
	}
	e.parts(r)
	if r.Expr == nil {
		return e
	}
	return r.Expr(e)
}

// Target rewrites a place.
func (r *Rewriter) Target(p Place) Place {
	p.parts(r)
	if r.Place == nil {
		return p
	}
	return r.Place(p)
}

func (r *Rewriter) value(e *Expr)     { *e = r.Value(*e) }
func (r *Rewriter) place(p *Place)    { *p = r.Target(*p) }
func (r *Rewriter) target(p *Place)   { *p = r.Target(*p) }
func (r *Rewriter) body(list *[]Stmt) { *list = r.Body(*list) }
func (r *Rewriter) variable(**Local)  {}
func (r *Rewriter) result(**Local)    {}
func (r *Rewriter) label(**Label)     {}
func (r *Rewriter) pos(*Pos)          {}

// Visitor visits every node of a tree, parents before children. A function returns
// false to skip a node's children.
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
	if v.Stmt == nil || v.Stmt(s) {
		s.parts(v)
	}
}

// Value visits an expression; nil is allowed.
func (v *Visitor) Value(e Expr) {
	if e != nil && (v.Expr == nil || v.Expr(e)) {
		e.parts(v)
	}
}

// Target visits a place.
func (v *Visitor) Target(p Place) {
	if v.Place == nil || v.Place(p) {
		p.parts(v)
	}
}

func (v *Visitor) value(e *Expr)     { v.Value(*e) }
func (v *Visitor) place(p *Place)    { v.Target(*p) }
func (v *Visitor) target(p *Place)   { v.Target(*p) }
func (v *Visitor) body(list *[]Stmt) { v.Body(*list) }
func (v *Visitor) variable(**Local)  {}
func (v *Visitor) result(**Local)    {}
func (v *Visitor) label(**Label)     {}
func (v *Visitor) pos(*Pos)          {}
