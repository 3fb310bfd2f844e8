package opt

import (
	"slices"

	"quern.dev/internal/compiler/ir"
)

// memory records that another thread may have written what an operation reads.
func (d *divergence) memory(s *ir.Memory) {
	if why := d.current(); why != nil && s.Op.IsBulk() && d.u.group == ofBlock {
		d.barriers = append(d.barriers, divergentBarrier{pos: s.Pos, why: why, op: s.Op.GoName()})
	}
	d.define(s.Dst, nil, "the result of "+s.Op.GoName(), s.Pos)
	for _, p := range s.Places {
		d.assign(p, nil, s.Pos)
	}
}

// differingArguments returns an error for each block-wide operation whose arguments may
// differ between the block's threads.
func differingArguments(k *ir.Kernel, u *Uniformity) Errors {
	var list Errors
	leaves(k.Func.Body, func(s ir.Stmt) bool {
		m, ok := s.(*ir.Memory)
		if !ok || !m.Op.IsBulk() || slices.ContainsFunc(u.barriers, func(b divergentBarrier) bool { return b.pos == m.Pos }) {
			return false
		}
		for _, e := range append(slices.Clone(m.Args), &ir.Load{Place: m.Places[0]}) {
			if node := u.source(e); node != nil {
				list = append(list, &Error{Pos: m.Pos, Kernel: k.Name, Msg: "an argument of " + m.Op.GoName() + " differs between the threads of the block, which call it together: it depends on " + u.dependence(node)})
			}
		}
		return false
	})
	return list
}

// copyAtOnce turns asynchronous copies into assignments and removes the waits for them.
// The first thread of the block does all of a bulk copy; the wait for it is a barrier.
// A copy of a slice becomes Go's copy.
func copyAtOnce(k *ir.Kernel) {
	r := ir.Rewriter{Stmt: func(s ir.Stmt) []ir.Stmt {
		m, ok := s.(*ir.Memory)
		if !ok {
			return []ir.Stmt{s}
		}
		switch m.Op {
		case ir.AsyncCopy:
			return []ir.Stmt{&ir.Assign{Dst: m.Places[0], Src: &ir.Load{Place: m.Places[1]}, Pos: m.Pos}}
		case ir.AsyncCommit, ir.AsyncWait, ir.GroupWait, ir.MapTiles:
			return nil
		case ir.BulkCopy, ir.BulkCopyTile:
			return []ir.Stmt{&ir.If{Cond: isFirst(), Then: []ir.Stmt{m}, Pos: m.Pos}}
		case ir.BulkWait:
			return []ir.Stmt{&ir.Barrier{Pos: m.Pos}}
		case ir.SliceCopy:
			m.Args = m.Args[:2] // Go's copy counts the elements
		}
		return []ir.Stmt{s}
	}}
	k.Func.Body = r.Body(k.Func.Body)
}

// isFirst returns the condition that the thread is the first of its block.
func isFirst() ir.Expr {
	var all ir.Expr
	for op := ir.ThreadIdxX; op <= ir.ThreadIdxZ; op++ {
		x := ir.Expr(&ir.Binary{Op: ir.Eq, X: &ir.ThreadValue{Op: op}, Y: ir.IntConst(ir.TInt, 0)})
		if all != nil {
			x = &ir.Binary{Op: ir.LAnd, X: all, Y: x}
		}
		all = x
	}
	return all
}
