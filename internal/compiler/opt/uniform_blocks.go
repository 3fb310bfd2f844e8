package opt

import "quern.dev/internal/compiler/ir"

// uniformBlocks returns an error for each barrier of a cluster or the grid that not all
// blocks reach, though the threads of each block reach it together.
func uniformBlocks(k *ir.Kernel) Errors {
	if !leaves(k.Func.Body, isWide) {
		return nil
	}
	within := map[ir.Pos]bool{} // already reported for the block
	for _, b := range Analyse(k).barriers {
		within[b.pos] = true
	}
	u := analyse(k, ofBlocks)
	var list Errors
	for _, b := range u.barriers {
		if !within[b.pos] {
			list = append(list, &Error{Pos: b.pos, Kernel: k.Name, Msg: b.op + " is not reached by all blocks together: " + u.explain(b.why) +
				"; guard the work around " + b.op + ", not " + b.op + " itself"})
		}
	}
	return list
}

// isWide reports whether a statement is a barrier across blocks.
func isWide(s ir.Stmt) bool {
	b, ok := s.(*ir.Barrier)
	return ok && b.Of != ir.OfBlock
}
