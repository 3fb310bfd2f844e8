package opt

import "quern.dev/internal/compiler/ir"

// touches reports whether an operation on memory works on v or a part of it.
func touches(s *ir.Memory, v *ir.Local) bool {
	for _, p := range s.Places {
		if root, ok := ir.Root(p).(*ir.VarPlace); ok && root.Var == v {
			return true
		}
	}
	return false
}

// keepMemory drops a result that nothing reads. The operation stays: its order
// counts.
func (r *reaper) keepMemory(s *ir.Memory) {
	if s.Dst != nil && r.unread(s.Dst) {
		s.Dst = nil
	}
	r.later = nil
}

func (c *counter) memory(s *ir.Memory) {
	for _, e := range s.Args {
		c.visitor.Value(e)
	}
	for _, p := range s.Places {
		c.write(p)
	}
	c.define(s.Dst)
}

// memory substitutes in the operands of an operation on memory.
func (r *substitution) memory(s *ir.Memory) {
	for i := range s.Args {
		s.Args[i] = r.value(s.Args[i])
	}
	for i := range s.Places {
		s.Places[i] = r.target(s.Places[i])
	}
}

// memory notes that another thread may have written what an operation reads.
func (d *divergence) memory(s *ir.Memory) {
	d.define(s.Dst, nil, "the result of "+s.Op.GoName(), s.Pos)
	for _, p := range s.Places {
		d.assign(p, nil, s.Pos)
	}
}

// memory walks the operands of an operation on memory one by one; see atomic.
func (w *rangeWalk) memory(s *ir.Memory) {
	for _, e := range s.Args {
		w.apart(func() { w.visit(e) })
	}
	for _, p := range s.Places {
		w.apart(func() { w.place(p) })
	}
	if i, ok := w.index[s.Dst]; ok {
		w.env[i] = binding{}
	}
}

// memory rewrites the operands of an operation on memory.
func (n *narrower) memory(s *ir.Memory) {
	n.all(s.Args)
	for i := range s.Places {
		s.Places[i] = n.place(s.Places[i])
	}
}

// copyAtOnce makes asynchronous copies into assignments, and leaves out the
// waits for them.
func copyAtOnce(k *ir.Kernel) {
	r := ir.Rewriter{Stmt: func(s ir.Stmt) []ir.Stmt {
		m, ok := s.(*ir.Memory)
		if !ok {
			return []ir.Stmt{s}
		}
		switch m.Op {
		case ir.AsyncCopy:
			return []ir.Stmt{&ir.Assign{Dst: m.Places[0], Src: &ir.Load{Place: m.Places[1]}, Pos: m.Pos}}
		case ir.AsyncCommit, ir.AsyncWait:
			return nil
		}
		return []ir.Stmt{s}
	}}
	k.Func.Body = r.Body(k.Func.Body)
}
