package ir

// Cloner copies trees. Variables found in Vars are replaced by their images;
// all others are shared. Labels are always copied.
type Cloner struct {
	Vars   map[*Local]*Local
	labels map[*Label]*Label
}

// CloneExpr copies an expression; variables are shared with the original.
func CloneExpr(e Expr) Expr { return (&Cloner{}).Expr(e) }

// ClonePlace copies a place; variables are shared with the original.
func ClonePlace(p Place) Place { return (&Cloner{}).Place(p) }

// CloneKernel copies a kernel with a function of its own: locals and bodies are
// new, functions that it calls, shared variables and tables are not.
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

func (c *Cloner) label(l *Label) *Label {
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

// Body copies a statement list. A Break or Continue to a label outside the
// list, in this or an earlier call, would get a label of its own: copy whole
// regions, or use Keep first.
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

// Keep makes copies refer to the label itself.
func (c *Cloner) Keep(l *Label) {
	if c.labels == nil {
		c.labels = map[*Label]*Label{}
	}
	c.labels[l] = l
}

func (c *Cloner) stmt(s Stmt) Stmt {
	switch s := s.(type) {
	case *Assign:
		return &Assign{c.Place(s.Dst), c.Expr(s.Src), s.Pos}
	case *If:
		return &If{c.Expr(s.Cond), c.Body(s.Then), c.Body(s.Else), s.Pos}
	case *Loop:
		return &Loop{c.label(s.Label), c.Body(s.Pre), c.Expr(s.Cond), c.Body(s.Body), c.Body(s.Post), s.Pos, s.Unroll, s.Long}
	case *Block:
		return &Block{c.label(s.Label), c.Body(s.Body)}
	case *Break:
		return &Break{c.label(s.Label)}
	case *Continue:
		return &Continue{c.label(s.Label)}
	case *Return:
		return &Return{c.exprs(s.Results), s.Pos}
	case *Call:
		dst := make([]*Local, len(s.Dst))
		for i, v := range s.Dst {
			if v != nil {
				dst[i] = c.local(v)
			}
		}
		return &Call{dst, s.Func, c.exprs(s.Args), s.Pos}
	case *Atomic:
		t := *s
		if s.Dst != nil {
			t.Dst = c.local(s.Dst)
		}
		t.Place = c.Place(s.Place)
		t.Args = c.exprs(s.Args)
		return &t
	case *Warp:
		return c.warp(s)
	case *Effect:
		return c.effect(s)
	case *Memory:
		return c.memory(s)
	case *Check:
		return &Check{c.Place(s.Place)}
	case *LoadVector:
		dst := make([]*Local, len(s.Dst))
		for i, v := range s.Dst {
			if v != nil {
				dst[i] = c.local(v)
			}
		}
		return &LoadVector{dst, c.Place(s.Place), s.Pos}
	case *StoreVector:
		return &StoreVector{c.Place(s.Place), c.exprs(s.Src), s.Pos}
	case *Barrier:
		t := *s
		return &t
	case *Fence:
		t := *s
		return &t
	case *Panic:
		t := *s
		return &t
	}
	panic("ir: unknown statement")
}

func (c *Cloner) exprs(list []Expr) []Expr {
	if list == nil {
		return nil
	}
	out := make([]Expr, len(list))
	for i, e := range list {
		out[i] = c.Expr(e)
	}
	return out
}

// Expr copies an expression; nil stays nil.
func (c *Cloner) Expr(e Expr) Expr {
	switch e := e.(type) {
	case nil:
		return nil
	case *Const:
		t := *e
		return &t
	case *Zero:
		return &Zero{e.T}
	case *Load:
		return &Load{c.Place(e.Place)}
	case *Unary:
		return &Unary{e.Op, c.Expr(e.X)}
	case *Binary:
		t := *e
		t.X, t.Y = c.Expr(e.X), c.Expr(e.Y)
		return &t
	case *Convert:
		return &Convert{e.T, c.Expr(e.X), e.InRange}
	case *Len:
		return &Len{c.Expr(e.X)}
	case *Cap:
		return &Cap{c.Expr(e.X)}
	case *SliceExpr:
		t := *e
		t.X = c.Expr(e.X)
		if e.Array != nil {
			t.Array = c.Place(e.Array)
		}
		t.Lo, t.Hi, t.Max = c.Expr(e.Lo), c.Expr(e.Hi), c.Expr(e.Max)
		return &t
	case *Addr:
		return &Addr{e.T, c.Place(e.Place)}
	case *ThreadValue:
		return &ThreadValue{e.Op}
	case *Intrinsic:
		return &Intrinsic{e.Op, e.T, c.exprs(e.Args), e.Strict, e.Pos}
	case *Composite:
		return &Composite{e.T, c.exprs(e.Elems)}
	case *Select:
		return &Select{c.Expr(e.Cond), c.Expr(e.X), c.Expr(e.Y)}
	}
	panic("ir: unknown expression")
}

// Place copies a place.
func (c *Cloner) Place(p Place) Place {
	switch p := p.(type) {
	case *VarPlace:
		return &VarPlace{c.local(p.Var)}
	case *SharedPlace:
		return &SharedPlace{p.Var}
	case *TablePlace:
		return &TablePlace{p.Table}
	case *DerefPlace:
		return &DerefPlace{c.Expr(p.Ptr), p.Pos}
	case *FieldPlace:
		return &FieldPlace{c.Place(p.X), p.Field}
	case *IndexPlace:
		t := *p
		t.X, t.Index = c.Place(p.X), c.Expr(p.Index)
		return &t
	case *ArrayPlace:
		t := *p
		t.Slice = c.Expr(p.Slice)
		return &t
	case *ElemPlace:
		t := *p
		t.Slice, t.Index = c.Expr(p.Slice), c.Expr(p.Index)
		return &t
	}
	panic("ir: unknown place")
}
