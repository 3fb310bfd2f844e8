package ir

// Place is a storage location: a variable or a part of one.
type Place interface {
	node
	Type() *Type
	copyPlace() Place
}

// VarPlace is a local variable or parameter.
type VarPlace struct{ Var *Local }

// SharedPlace is a shared variable of the block.
type SharedPlace struct{ Var *SharedVar }

// TablePlace is a package-level variable that kernels only read.
type TablePlace struct{ Table *Table }

// DerefPlace is what a pointer points to.
type DerefPlace struct {
	Ptr   Expr
	Check bool // stop the thread if the pointer is nil
	Pos   Pos
}

// FieldPlace is a field of a struct place.
type FieldPlace struct {
	X     Place
	Field int
}

// IndexPlace is an element of an array place.
type IndexPlace struct {
	X     Place
	Index Expr // of any integer type
	Check bool // stop the thread unless 0 <= Index < Len
	Pos   Pos
}

// ElemPlace is an element of a slice value.
type ElemPlace struct {
	Slice Expr
	Index Expr // of any integer type
	Check bool
	Pos   Pos
}

// ArrayPlace is the array at the start of a slice: the array that the conversion
// (*[n]T)(slice) points to.
type ArrayPlace struct {
	T     *Type // the array type
	Slice Expr
	Check bool // stop the thread unless the slice has at least as many elements
	Pos   Pos
}

func (p *VarPlace) Type() *Type    { return p.Var.Type }
func (p *SharedPlace) Type() *Type { return p.Var.Type }
func (p *TablePlace) Type() *Type  { return p.Table.Type }
func (p *DerefPlace) Type() *Type  { return p.Ptr.Type().Elem }
func (p *FieldPlace) Type() *Type  { return p.X.Type().Fields[p.Field].Type }
func (p *IndexPlace) Type() *Type  { return p.X.Type().Elem }
func (p *ElemPlace) Type() *Type   { return p.Slice.Type().Elem }

func (p *ArrayPlace) Type() *Type { return p.T }

// Root returns the place at the bottom of a chain of fields and indices.
func Root(p Place) Place {
	for {
		switch q := p.(type) {
		case *FieldPlace:
			p = q.X
		case *IndexPlace:
			p = q.X
		default:
			return p
		}
	}
}

// Get returns an expression that reads variable v.
func Get(v *Local) Expr { return &Load{&VarPlace{v}} }

// Variable returns the variable whose whole value an expression reads.
func Variable(e Expr) (*Local, bool) {
	l, ok := e.(*Load)
	if !ok {
		return nil, false
	}
	p, ok := l.Place.(*VarPlace)
	if !ok {
		return nil, false
	}
	return p.Var, true
}
