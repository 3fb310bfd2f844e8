package opt

import "quern.dev/internal/compiler/ir"

// group is the set of threads whose values are compared.
type group uint8

const (
	ofBlock group = iota
	ofWarp
	ofBlocks // several: of a cluster or the grid
)

// AnalyseWarp finds the values of a kernel that are the same for all threads of a warp.
func AnalyseWarp(k *ir.Kernel) *Uniformity { return analyse(k, ofWarp) }

// uniformWarps returns an error for each warp operation under control flow that
// may differ between the threads of a warp.
func uniformWarps(k *ir.Kernel) Errors {
	if !leaves(k.Func.Body, IsWarp) {
		return nil
	}
	u := AnalyseWarp(k)
	var list Errors
	for _, b := range u.barriers {
		list = append(list, &Error{Pos: b.pos, Kernel: k.Name, Msg: b.op + " is not reached by all threads of the warp together: " + u.explain(b.why) +
			"; move it out and give threads that have nothing to add a neutral value, or make the condition the same for the whole warp (t.Warp(), a vote)"})
	}
	return list
}

// Together reports whether all threads of the group reach a warp operation.
func (u *Uniformity) Together(s *ir.Warp) bool { return !u.apart[s] }

// IsWarp reports whether a statement is a warp operation.
func IsWarp(s ir.Stmt) bool {
	_, ok := s.(*ir.Warp)
	return ok
}

// variesInWarp reports whether a coordinate differs between the threads of a warp.
// Threads of a warp are consecutive in their linear order, with X running fastest.
func (u *Uniformity) variesInWarp(op ir.ThreadOp) bool {
	b := u.options.Block
	y, z := max(b[1], 1), max(b[2], 1)
	switch op {
	case ir.ThreadIdxX:
		return b[0] != 1
	case ir.ThreadIdxY:
		return b[0] == 0 || y != 1 && b[0]%ir.WarpSize != 0
	case ir.ThreadIdxZ:
		return b[0] == 0 || z != 1 && b[0]*y%ir.WarpSize != 0
	case ir.LaneID:
		return true
	}
	return false
}

// warpResult is the start of the cause for a result of a warp operation.
const warpResult = "the result of kernel."

// warp records a warp operation and what is known about its results.
func (d *divergence) warp(s *ir.Warp) {
	if why := d.current(); why != nil {
		d.apart[s] = true
		if d.u.group == ofWarp {
			d.barriers = append(d.barriers, divergentBarrier{pos: s.Pos, why: why, op: s.Op.GoName()})
		}
	}
	result := "the result of " + s.Op.GoName()
	what := result
	if d.sameForAll(s) {
		what = ""
	}
	for i, v := range s.Dst {
		if i > 0 && s.Op.IsShuffle() { // whether the lane exists
			d.define(v, nil, result, s.Pos)
			continue
		}
		d.define(v, nil, what, s.Pos)
	}
}

// sameForAll reports whether all threads of the scope get the same result.
func (d *divergence) sameForAll(s *ir.Warp) bool {
	if s.Op.IsShuffle() && d.u.UniformExpr(s.Args[0]) {
		return true
	}
	if d.u.group == ofBlock && !d.u.options.OneWarp() {
		return (s.Op == ir.WarpAny || s.Op == ir.WarpAll) && d.u.UniformExpr(s.Args[0])
	}
	switch s.Op {
	case ir.WarpShuffle:
		// If the source lane does not exist, each thread gets its own value.
		c, ok := s.Args[1].(*ir.Const)
		first := ok && c.Bits%ir.WarpSize == 0
		return first || d.u.options.FullWarps() && d.u.UniformExpr(s.Args[1])
	case ir.WarpBallot, ir.WarpAny, ir.WarpAll, ir.WarpMatchAll:
		return true
	}
	return s.Op.IsReduction()
}
