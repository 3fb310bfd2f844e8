package ranges

import "quern.dev/internal/compiler/ir"

// memory walks the operands of an operation on memory one by one; see atomic.
func (w *walker) memory(s *ir.Memory) {
	for _, e := range s.Args {
		w.apart(func() { w.visit(e) })
	}
	for _, p := range s.Places {
		w.apart(func() { w.place(p) })
	}
	if i, ok := w.index[s.Dst]; ok {
		w.env.bind(i, binding{})
	}
}

// memory rewrites the operands of an operation on memory.
func (n *narrower) memory(s *ir.Memory) {
	n.all(s.Args)
	for i := range s.Places {
		s.Places[i] = n.place(s.Places[i])
	}
}

// effect walks the arguments of an effect. What it results in is not known.
func (w *walker) effect(s *ir.Effect) {
	for _, e := range s.Args {
		w.apart(func() { w.visit(e) })
	}
	for _, v := range s.Dst {
		if i, ok := w.index[v]; ok {
			w.env.bind(i, binding{})
		}
	}
}

// warp walks the arguments of a warp operation. A value that another lane hands
// over is one that the argument can have.
func (w *walker) warp(s *ir.Warp) {
	for _, e := range s.Args {
		w.apart(func() { w.visit(e) })
	}
	for _, v := range s.Dst {
		if i, ok := w.index[v]; ok {
			w.env.bind(i, binding{})
		}
	}
}
