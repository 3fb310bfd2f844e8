package ir

// LoadVector reads 2, 4, 8 or 16 scalars that lie side by side in memory, the
// first at Place, into Dst; a nil Dst drops one. Who makes it promises that all
// of them are in range, and that the address of the first is a multiple of
// VectorAlign bytes. Passes make it, in final form.
type LoadVector struct {
	Dst   []*Local
	Place Place
	Pos   Pos
}

// StoreVector writes what LoadVector reads.
type StoreVector struct {
	Place Place
	Src   []Expr
	Pos   Pos
}

// VectorBytes is the most bytes that one access moves.
const VectorBytes = 16

// VectorAlign is the alignment in bytes that n scalars of type t, which an
// access or several of them move, must have.
func VectorAlign(t *Type, n int) int64 { return min(int64(n)*t.Size(), VectorBytes) }

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

// vector checks what a LoadVector and a StoreVector have in common.
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
