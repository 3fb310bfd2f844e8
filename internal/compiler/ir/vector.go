package ir

// LoadVector reads 2, 4, 8 or 16 scalars that are adjacent in memory, starting at
// Place, into Dst; a nil Dst drops one. Its creator guarantees that all of them are in
// range, and that the address of the first is a multiple of their size together, up to
// VectorBytes. Only passes create it, in final form.
type LoadVector struct {
	Dst   []*Local
	Place Place
	Pos   Pos
}

// StoreVector writes adjacent scalars; see LoadVector.
type StoreVector struct {
	Place Place
	Src   []Expr
	Pos   Pos
}

// VectorBytes is the maximum number of bytes that one access moves.
const VectorBytes = 16

func (s *LoadVector) parts(p parts) {
	p.pos(&s.Pos)
	p.place(&s.Place)
	results(p, &s.Dst)
}

func (s *StoreVector) parts(p parts) {
	p.pos(&s.Pos)
	values(p, &s.Src)
	p.target(&s.Place)
}

func (s *LoadVector) print(p *printer) { p.line("%svector %s", p.gives(s.Dst), p.place(s.Place)) }

func (s *StoreVector) print(p *printer) {
	p.line("vector %s = %s", p.place(s.Place), p.exprs(s.Src))
}

// vector checks what LoadVector and StoreVector have in common.
func (v *verifier) vector(p Place, n int) {
	if v.stage < StageFinal {
		v.fail("vector access before the final form")
	}
	if n != 2 && n != 4 && n != 8 && n != 16 {
		v.fail("vector access of %d scalars", n)
	}
	if t := p.Type(); !t.IsScalar() || t.Kind == Bool || t.Kind == Pointer {
		v.fail("vector access of type %s", t)
	}
}

func (s *LoadVector) verify(v *verifier) {
	v.vector(s.Place, len(s.Dst))
	for _, d := range s.Dst {
		v.destination(d, s.Place.Type(), "vector load")
	}
}

func (s *StoreVector) verify(v *verifier) {
	v.vector(s.Place, len(s.Src))
	for _, e := range s.Src {
		v.typed(e, s.Place.Type(), "vector store")
	}
}
