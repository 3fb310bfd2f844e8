package ir

// Cloner copies trees. Variables in Vars are replaced by their images; all others are
// shared. Labels are always copied.
type Cloner struct {
	Vars   map[*Local]*Local
	labels map[*Label]*Label
}

// CloneExpr copies an expression; variables are shared with the original.
func CloneExpr(e Expr) Expr { return (&Cloner{}).Expr(e) }

// ClonePlace copies a place; variables are shared with the original.
func ClonePlace(p Place) Place { return (&Cloner{}).Place(p) }

// CloneKernel copies a kernel and its function. Locals and bodies are new; called
// functions, shared variables and tables are shared.
func CloneKernel(k *Kernel) *Kernel {
	out := *k
	c := &Cloner{Vars: map[*Local]*Local{}}
	out.Func = c.function(k.Func)
	if k.Coarse != nil {
		coarse := *k.Coarse
		coarse.Number = c.local(coarse.Number)
		out.Coarse = &coarse
	}
	return &out
}

// CloneFunc copies a function and its locals.
func CloneFunc(f *Func) *Func { return (&Cloner{Vars: map[*Local]*Local{}}).function(f) }

func (c *Cloner) function(f *Func) *Func {
	out := *f
	out.Params, out.Results, out.Locals = c.locals(f.Params), c.locals(f.Results), c.locals(f.Locals)
	out.Body = c.Body(f.Body)
	return &out
}

func (c *Cloner) locals(list []*Local) []*Local {
	out := make([]*Local, len(list))
	for i, v := range list {
		w := *v
		out[i] = &w
		c.Vars[v] = &w
	}
	return out
}

func (c *Cloner) local(v *Local) *Local {
	if w, ok := c.Vars[v]; ok {
		return w
	}
	return v
}

func (c *Cloner) labelOf(l *Label) *Label {
	if l == nil {
		return nil
	}
	if m, ok := c.labels[l]; ok {
		return m
	}
	if c.labels == nil {
		c.labels = map[*Label]*Label{}
	}
	m := &Label{l.Name}
	c.labels[l] = m
	return m
}

// Body copies a statement list. A Break or Continue to a label outside the list, in
// this or an earlier call, would get a separate label: copy whole regions, or call Keep
// first.
func (c *Cloner) Body(body []Stmt) []Stmt {
	if body == nil {
		return nil
	}
	out := make([]Stmt, len(body))
	for i, s := range body {
		out[i] = c.stmt(s)
	}
	return out
}

// Keep makes copies use the label itself.
func (c *Cloner) Keep(l *Label) {
	if c.labels == nil {
		c.labels = map[*Label]*Label{}
	}
	c.labels[l] = l
}

func (c *Cloner) stmt(s Stmt) Stmt {
	if s == nil {
		panic("ir: nil statement")
	}
	t := s.copyStmt()
	t.parts(c)
	return t
}

// Expr copies an expression; nil stays nil.
func (c *Cloner) Expr(e Expr) Expr {
	if e == nil {
		return nil
	}
	t := e.copyExpr()
	t.parts(c)
	return t
}

// Place copies a place.
func (c *Cloner) Place(p Place) Place {
	t := p.copyPlace()
	t.parts(c)
	return t
}

// A Cloner replaces the parts of a copied node by copies.
func (c *Cloner) value(e *Expr)      { *e = c.Expr(*e) }
func (c *Cloner) place(p *Place)     { *p = c.Place(*p) }
func (c *Cloner) target(p *Place)    { *p = c.Place(*p) }
func (c *Cloner) variable(v **Local) { *v = c.local(*v) }
func (c *Cloner) result(v **Local)   { *v = c.local(*v) }
func (c *Cloner) body(list *[]Stmt)  { *list = c.Body(*list) }
func (c *Cloner) label(l **Label)    { *l = c.labelOf(*l) }
func (c *Cloner) pos(*Pos)           {}

// shallow copies one node.
func shallow[T any](n *T) *T {
	t := *n
	return &t
}

func (x *Const) copyExpr() Expr       { return shallow(x) }
func (x *Zero) copyExpr() Expr        { return shallow(x) }
func (x *Load) copyExpr() Expr        { return shallow(x) }
func (x *Unary) copyExpr() Expr       { return shallow(x) }
func (x *Binary) copyExpr() Expr      { return shallow(x) }
func (x *Convert) copyExpr() Expr     { return shallow(x) }
func (x *Len) copyExpr() Expr         { return shallow(x) }
func (x *Cap) copyExpr() Expr         { return shallow(x) }
func (x *SliceExpr) copyExpr() Expr   { return shallow(x) }
func (x *Addr) copyExpr() Expr        { return shallow(x) }
func (x *ThreadValue) copyExpr() Expr { return shallow(x) }
func (x *Select) copyExpr() Expr      { return shallow(x) }
func (x *Composite) copyExpr() Expr   { return shallow(x) }

func (p *VarPlace) copyPlace() Place    { return shallow(p) }
func (p *SharedPlace) copyPlace() Place { return shallow(p) }
func (p *TablePlace) copyPlace() Place  { return shallow(p) }
func (p *DerefPlace) copyPlace() Place  { return shallow(p) }
func (p *FieldPlace) copyPlace() Place  { return shallow(p) }
func (p *IndexPlace) copyPlace() Place  { return shallow(p) }
func (p *ArrayPlace) copyPlace() Place  { return shallow(p) }
func (p *ElemPlace) copyPlace() Place   { return shallow(p) }

func (s *Assign) copyStmt() Stmt      { return shallow(s) }
func (s *If) copyStmt() Stmt          { return shallow(s) }
func (s *Loop) copyStmt() Stmt        { return shallow(s) }
func (s *Block) copyStmt() Stmt       { return shallow(s) }
func (s *Break) copyStmt() Stmt       { return shallow(s) }
func (s *Continue) copyStmt() Stmt    { return shallow(s) }
func (s *Check) copyStmt() Stmt       { return shallow(s) }
func (s *Barrier) copyStmt() Stmt     { return shallow(s) }
func (s *Fence) copyStmt() Stmt       { return shallow(s) }
func (s *Panic) copyStmt() Stmt       { return shallow(s) }
func (s *Return) copyStmt() Stmt      { return shallow(s) }
func (s *Call) copyStmt() Stmt        { return shallow(s) }
func (s *Atomic) copyStmt() Stmt      { return shallow(s) }
func (s *Memory) copyStmt() Stmt      { return shallow(s) }
func (s *Warp) copyStmt() Stmt        { return shallow(s) }
func (s *Effect) copyStmt() Stmt      { return shallow(s) }
func (s *LoadVector) copyStmt() Stmt  { return shallow(s) }
func (s *StoreVector) copyStmt() Stmt { return shallow(s) }
