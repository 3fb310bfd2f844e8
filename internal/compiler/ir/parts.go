package ir

import (
	"iter"
	"slices"
)

// node is what expressions, places and statements have in common: a node passes its
// parts, one after the other, to the code that traverses a tree. Walking, rewriting,
// cloning, verifying and relocating are implementations of parts, so none of them lists
// the kinds of nodes.
type node interface{ parts(parts) }

// parts receives pointers to the parts of a node, in evaluation order. Storing to a
// pointer replaces the part. An optional part is skipped if it is nil, except a result.
type parts interface {
	value(e *Expr)       // an operand
	place(p *Place)      // read, or only addressed
	target(p *Place)     // possibly changed, or its address is taken
	variable(v **Local)  // of a place
	result(v **Local)    // assigned; nil if dropped
	body(list *[]Stmt)   // runs as part of the statement
	label(label **Label) // of the statement, or its target
	pos(pos *Pos)
}

// Args yields the expressions that a statement evaluates directly, excluding those of
// its places and nested statements. Storing to a pointer replaces the expression.
func Args(s Stmt) iter.Seq[*Expr] {
	return func(yield func(*Expr) bool) { s.parts(&argsOf{yield: yield}) }
}

// Places yields the places that a statement uses.
func Places(s Stmt) iter.Seq[*Place] {
	return func(yield func(*Place) bool) { s.parts(&placesOf{yield: yield}) }
}

// Targets yields the places that a statement may change or whose address it takes.
func Targets(s Stmt) iter.Seq[*Place] {
	return func(yield func(*Place) bool) { s.parts(&placesOf{yield: yield, targets: true}) }
}

// Results yields the variables that a statement other than an Assign assigns, excluding
// dropped results. Storing nil drops a result.
func Results(s Stmt) iter.Seq[**Local] {
	if !hasResults(s) {
		return func(func(**Local) bool) {}
	}
	return func(yield func(**Local) bool) { s.parts(&resultsOf{yield: yield}) }
}

// Defined yields the variables that Results yields, for reading only.
func Defined(s Stmt) iter.Seq[*Local] {
	if !hasResults(s) {
		return func(func(*Local) bool) {}
	}
	return func(yield func(*Local) bool) {
		for v := range Results(s) {
			if !yield(*v) {
				return
			}
		}
	}
}

// Defines reports whether a statement other than an Assign assigns v.
func Defines(s Stmt, v *Local) bool {
	if !hasResults(s) {
		return false
	}
	f := finder{v: v}
	s.parts(&f)
	return f.found
}

// hasResults is a cheap test that excludes most statements.
func hasResults(s Stmt) bool {
	switch s.(type) {
	case *Assign, *If, *Loop, *Block, *Break, *Continue, *Check:
		return false
	}
	return true
}

type finder struct {
	ignore
	v     *Local
	found bool
}

func (f *finder) result(v **Local) { f.found = f.found || *v == f.v }

// operation is a statement that works on places and variables and is more than an
// Assign: an Atomic, a Memory, a Warp, an Effect, a LoadVector or a StoreVector. Each
// kind is in a separate file, with its printing and verification.
type operation interface {
	Stmt
	print(p *printer)
	verify(v *verifier) // its parts are already checked
}

// IsOperation reports whether a statement is an operation: not an Assign, a Call,
// control flow, a Barrier, a Fence or a Check.
func IsOperation(s Stmt) bool {
	_, ok := s.(operation)
	return ok
}

// ignore does nothing with all parts.
type ignore struct{}

func (ignore) value(*Expr)      {}
func (ignore) place(*Place)     {}
func (ignore) target(*Place)    {}
func (ignore) variable(**Local) {}
func (ignore) result(**Local)   {}
func (ignore) body(*[]Stmt)     {}
func (ignore) label(**Label)    {}
func (ignore) pos(*Pos)         {}

type argsOf struct {
	ignore
	yield func(*Expr) bool
	done  bool
}

func (a *argsOf) value(e *Expr) { a.done = a.done || !a.yield(e) }

type placesOf struct {
	ignore
	yield         func(*Place) bool
	targets, done bool
}

func (a *placesOf) target(p *Place) { a.done = a.done || !a.yield(p) }
func (a *placesOf) place(p *Place)  { a.done = a.done || !a.targets && !a.yield(p) }

type resultsOf struct {
	ignore
	yield func(**Local) bool
	done  bool
}

func (a *resultsOf) result(v **Local) { a.done = a.done || *v != nil && !a.yield(v) }

// values passes on a list of operands, and results a list of destinations. The copy of
// a node gets a new list.
func values(p parts, list *[]Expr) {
	if _, copies := p.(*Cloner); copies {
		*list = slices.Clone(*list)
	}
	for i := range *list {
		if (*list)[i] != nil { // an element of a Composite
			p.value(&(*list)[i])
		}
	}
}

func results(p parts, list *[]*Local) {
	if _, copies := p.(*Cloner); copies {
		*list = slices.Clone(*list)
	}
	for i := range *list {
		p.result(&(*list)[i])
	}
}

func targets(p parts, list *[]Place) {
	if _, copies := p.(*Cloner); copies {
		*list = slices.Clone(*list)
	}
	for i := range *list {
		p.target(&(*list)[i])
	}
}

// optional passes on an operand unless it is nil.
func optional(p parts, e *Expr) {
	if *e != nil {
		p.value(e)
	}
}

// Expressions.

func (*Const) parts(parts)       {}
func (*Zero) parts(parts)        {}
func (*ThreadValue) parts(parts) {}
func (x *Load) parts(p parts)    { p.place(&x.Place) }
func (x *Unary) parts(p parts)   { p.value(&x.X) }
func (x *Convert) parts(p parts) { p.value(&x.X) }
func (x *Len) parts(p parts)     { p.value(&x.X) }
func (x *Cap) parts(p parts)     { p.value(&x.X) }
func (x *Addr) parts(p parts)    { p.target(&x.Place) }

func (x *Binary) parts(p parts) {
	p.pos(&x.Pos)
	p.value(&x.X)
	p.value(&x.Y)
}

func (x *SliceExpr) parts(p parts) {
	p.pos(&x.Pos)
	optional(p, &x.X)
	if x.Array != nil {
		p.target(&x.Array)
	}
	optional(p, &x.Lo)
	optional(p, &x.Hi)
	optional(p, &x.Max)
}

func (x *Composite) parts(p parts) { values(p, &x.Elems) }

func (x *Select) parts(p parts) {
	p.value(&x.Cond)
	p.value(&x.X)
	p.value(&x.Y)
}

// Places.

func (p *VarPlace) parts(to parts)   { to.variable(&p.Var) }
func (*SharedPlace) parts(parts)     {}
func (*TablePlace) parts(parts)      {}
func (p *DerefPlace) parts(to parts) { to.pos(&p.Pos); to.value(&p.Ptr) }
func (p *FieldPlace) parts(to parts) { to.place(&p.X) }
func (p *ArrayPlace) parts(to parts) { to.pos(&p.Pos); to.value(&p.Slice) }

func (p *IndexPlace) parts(to parts) {
	to.pos(&p.Pos)
	to.place(&p.X)
	to.value(&p.Index)
}

func (p *ElemPlace) parts(to parts) {
	to.pos(&p.Pos)
	to.value(&p.Slice)
	to.value(&p.Index)
}

// Statements.

func (s *Assign) parts(p parts) {
	p.pos(&s.Pos)
	p.value(&s.Src)
	p.target(&s.Dst)
}

func (s *If) parts(p parts) {
	p.pos(&s.Pos)
	p.value(&s.Cond)
	p.body(&s.Then)
	p.body(&s.Else)
}

func (s *Loop) parts(p parts) {
	p.pos(&s.Pos)
	p.label(&s.Label)
	p.body(&s.Pre)
	optional(p, &s.Cond)
	p.body(&s.Body)
	p.body(&s.Post)
}

func (s *Block) parts(p parts) {
	p.label(&s.Label)
	p.body(&s.Body)
}

func (s *Call) parts(p parts) {
	p.pos(&s.Pos)
	values(p, &s.Args)
	results(p, &s.Dst)
}

func (s *Return) parts(p parts)   { p.pos(&s.Pos); values(p, &s.Results) }
func (s *Check) parts(p parts)    { p.place(&s.Place) }
func (s *Break) parts(p parts)    { p.label(&s.Label) }
func (s *Continue) parts(p parts) { p.label(&s.Label) }
func (s *Barrier) parts(p parts)  { p.pos(&s.Pos) }
func (s *Fence) parts(p parts)    { p.pos(&s.Pos) }
func (s *Panic) parts(p parts)    { p.pos(&s.Pos) }
