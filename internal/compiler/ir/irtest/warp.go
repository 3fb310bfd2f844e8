package irtest

import (
	"fmt"

	"quern.dev/internal/compiler/ir"
)

// exchange is a warp operation that a thread has reached: its arguments and, once all
// threads of the warp have reached it, its results.
type exchange struct {
	op      ir.WarpOp
	t       *ir.Type // of the first argument
	args    []Value
	results []Value
}

// warp waits for the other threads of the warp and stores the operation's results.
func (m *machine) warp(s *ir.Warp) {
	x := &exchange{op: s.Op}
	for _, a := range m.list(s.Args) {
		x.args = append(x.args, a[0])
	}
	if len(s.Args) > 0 {
		x.t = s.Args[0].Type()
	}
	if m.meet == nil {
		panic(fmt.Sprintf("irtest: warp operation %s without a warp", s.Op))
	}
	m.meet(x)
	for i, d := range s.Dst {
		if d != nil {
			m.variable(d).Cells[0] = x.results[i]
		}
	}
}

// perform computes a warp operation. Missing lanes are nil.
func perform(lanes []*exchange) {
	for lane, x := range lanes {
		if x != nil {
			x.results = x.result(lanes, lane)
		}
	}
}

func (x *exchange) result(lanes []*exchange, lane int) []Value {
	switch x.op {
	case ir.WarpShuffle:
		return x.from(lanes, int(x.args[1].Bits)&(warpSize-1))
	case ir.WarpShuffleUp:
		return x.from(lanes, lane-int(x.args[1].Bits)&(warpSize-1))
	case ir.WarpShuffleDown:
		return x.from(lanes, lane+int(x.args[1].Bits)&(warpSize-1))
	case ir.WarpShuffleXor:
		return x.from(lanes, lane^int(x.args[1].Bits)&(warpSize-1))
	case ir.WarpSync:
		return nil
	}
	var members, votes, equal uint64
	for i, y := range lanes {
		if y == nil {
			continue
		}
		members |= 1 << i
		if x.op == ir.WarpBallot || x.op == ir.WarpAny || x.op == ir.WarpAll {
			votes |= y.args[0].Bits << i
		} else if toBits(x.t, y.args[0]) == toBits(x.t, x.args[0]) {
			equal |= 1 << i
		}
	}
	switch x.op {
	case ir.WarpBallot:
		return []Value{{Bits: votes}}
	case ir.WarpAny:
		return []Value{boolValue(votes != 0)}
	case ir.WarpAll:
		return []Value{boolValue(votes == members)}
	case ir.WarpMatchAny:
		return []Value{{Bits: equal}}
	case ir.WarpMatchAll:
		if equal == members {
			return []Value{{Bits: members}, boolValue(true)}
		}
		return []Value{{}, boolValue(false)}
	case ir.WarpScanAdd, ir.WarpScanExclusive:
		return []Value{x.scan(lanes, lane)}
	}
	return []Value{x.reduce(lanes)}
}

// from returns a lane's value and whether the lane exists.
func (x *exchange) from(lanes []*exchange, lane int) []Value {
	if lane < 0 || lane >= len(lanes) || lanes[lane] == nil {
		return []Value{x.args[0], boolValue(false)}
	}
	return []Value{lanes[lane].args[0], boolValue(true)}
}

// values returns the lanes' first arguments, and which lanes exist.
func values(lanes []*exchange) (v [warpSize]Value, there [warpSize]bool) {
	for i, y := range lanes {
		if y != nil {
			v[i], there[i] = y.args[0], true
		}
	}
	return v, there
}

func (x *exchange) reduce(lanes []*exchange) Value {
	v, there := values(lanes)
	for d := warpSize / 2; d > 0; d /= 2 {
		for i := range d {
			if there[i+d] {
				v[i], there[i] = x.combine(v[i], v[i+d]), true
			}
		}
	}
	return v[0]
}

func (x *exchange) combine(a, b Value) Value {
	switch x.op {
	case ir.WarpReduceMin:
		return minmax(x.t, false, a, b)
	case ir.WarpReduceMax:
		return minmax(x.t, true, a, b)
	case ir.WarpReduceAnd:
		return arith(x.t, ir.And, a, b)
	case ir.WarpReduceOr:
		return arith(x.t, ir.Or, a, b)
	case ir.WarpReduceXor:
		return arith(x.t, ir.Xor, a, b)
	case ir.WarpReduceAdd, ir.WarpScanAdd, ir.WarpScanExclusive:
		return arith(x.t, ir.Add, a, b)
	}
	panic(fmt.Sprintf("irtest: warp operation %s", x.op))
}

func (x *exchange) scan(lanes []*exchange, lane int) Value {
	v, _ := values(lanes)
	for d := 1; d < warpSize; d *= 2 {
		for i := len(lanes) - 1; i >= d; i-- {
			v[i] = x.combine(v[i], v[i-d])
		}
	}
	if x.op == ir.WarpScanAdd {
		return v[lane]
	}
	if lane == 0 {
		return Value{}
	}
	return v[lane-1]
}
