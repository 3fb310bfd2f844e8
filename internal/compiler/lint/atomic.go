package lint

import (
	"fmt"
	"math/bits"

	"quern.dev/internal/compiler/ir"
)

// reductions maps an atomic operation to the function that reduces over a warp.
// would.
var reductions = map[ir.AtomicOp]string{
	ir.AtomicAdd: "WarpReduceAdd", ir.AtomicSub: "WarpReduceAdd", ir.AtomicMin: "WarpReduceMin", ir.AtomicMax: "WarpReduceMax",
	ir.AtomicAnd: "WarpReduceAnd", ir.AtomicOr: "WarpReduceOr", ir.AtomicXor: "WarpReduceXor",
}

// contention reports atomic operations of all threads on one address.
func (c *checker) contention(list []atomic) {
	for _, a := range list {
		if bits.OnesCount32(a.active) < fewLanes || !a.at.uniform() {
			continue
		}
		t := a.s.Place.Type()
		reduce, reducible := reductions[a.s.Op]
		// ptxas combines those of a warp on one address.
		joined := reducible && t.IsInteger() && t.Size() == 4
		what := c.argument(a.s.Pos, 0)
		if what == "" {
			what = "one element of " + c.name(a.object)
		}
		advice := "spread them over several elements, or let one thread of each block do it"
		switch {
		case reducible && a.s.Dst == nil:
			advice = fmt.Sprintf("combine the values of a block first, with kernel.%s or in shared memory, and let one of its threads change %s", reduce, what)
		case reducible:
			advice = fmt.Sprintf("let one thread of each warp or block change %s for all, and hand its result out, with kernel.Shuffle or in shared memory", what)
		}
		if _, shared := a.object.(*ir.SharedVar); shared {
			if !joined {
				c.report(a.s.Pos, "contention", advice, "all threads of a block change %s, one after another", what)
			}
			continue
		}
		if a.at.block {
			continue
		}
		number, how := "n", ""
		if joined {
			number, how = "n/32", ", after the driver's compiler has joined those of each warp"
		}
		c.report(a.s.Pos, "contention", advice, "all threads change %s: n threads make %s atomic operations on one address, one after another%s", what, number, how)
	}
}
