package ptx

import (
	"strings"
	"testing"

	"quern.dev/internal/compiler/ir"
	. "quern.dev/internal/compiler/ir/irtest"
)

// TestWhatARegisterHoldsIsNotComputedAgain counts the products of i and n, which several
// statements need.
func TestWhatARegisterHoldsIsNotComputedAgain(t *testing.T) {
	out, i, n, j, sum := Local("out", ir.SliceOf(ir.TInt)), Local("i", ir.TInt), Local("n", ir.TInt), Local("j", ir.TInt), Local("sum", ir.TInt)
	label, loop := &ir.Label{Name: "block"}, &ir.Label{Name: "loop"}
	product := func(v *ir.Local) ir.Expr { return Op(ir.Get(i), ir.Mul, ir.Get(v)) }
	// add makes the sum depend on what is added, and in which order.
	add := func(v *ir.Local) ir.Stmt {
		return Set(sum, Op(Op(ir.Get(sum), ir.Shl, Int(1)), ir.Xor, product(v)))
	}
	increment := func(v *ir.Local) ir.Stmt { return Set(v, Add(ir.Get(v), Int(1))) }
	odd := func() ir.Expr { return Op(Op(ir.Get(i), ir.And, Int(1)), ir.Eq, Int(1)) }
	for _, test := range []struct {
		name string
		want int
		body []ir.Stmt
	}{
		{"twice in a row", 1, Body(add(n), add(n))},
		{"not if an operand has changed", 2, Body(add(j), increment(j), add(j))},
		{"not if an operand may have changed", 2, Body(add(j), If(odd(), increment(j)), add(j))},
		{"in both branches of an if", 1, Body(add(n), Else(If(odd(), add(n)), increment(sum), add(n)), add(n))},
		{"in both branches of an if that changes another variable", 1, Body(add(n), Else(If(odd(), add(n), increment(j)), increment(sum), add(n)), add(n))},
		{"not after an if that may not compute it", 2, Body(If(odd(), add(n)), add(n))},
		{"not in the other branch", 2, Body(Else(If(odd(), add(n)), increment(sum), add(n)))},
		{"not behind a break", 2, Body(&ir.Block{Label: label, Body: Body(If(odd(), &ir.Break{Label: label}), add(n))}, add(n))},
		{"in a loop, computed before it", 1, Body(add(n), For(j, Int(0), Int(3), add(n)), add(n))},
		{"not in a loop that changes an operand at its end", 2, Body(Set(j, Int(5)), add(j), &ir.Loop{Label: loop, Cond: Lt(ir.Get(j), Int(9)), Body: Body(add(j), increment(j), increment(j))})},
		{"not after a loop that changes an operand", 3, Body(Set(j, Int(5)), add(j), &ir.Loop{Label: loop, Cond: Lt(ir.Get(j), Int(9)), Body: Body(add(j), increment(j), increment(j))}, add(j))},
		{"not after a loop that changes an operand in some iterations", 2, Body(Set(sum, Int(1)), add(n), &ir.Loop{Label: loop, Cond: Lt(ir.Get(j), Int(9)), Body: Body(increment(j), If(odd(), increment(n)))}, add(n))},
	} {
		t.Run(test.name, func(t *testing.T) {
			body := Body(tid(i), Set(sum, Int(0)), Set(j, Op(ir.Get(n), ir.And, Int(3))), test.body, SetPlace(Elem(out, ir.Get(i)), ir.Get(sum)))
			k := Kernel("repeats", []*ir.Local{out, n}, []*ir.Local{i, j, sum}, body...)
			same(t, k, 8, SliceValue(ir.TInt, 8), IntValue(7))
			text := emit(t, k).Text
			if got := strings.Count(text, "\tmul.lo.s64"); got != test.want {
				t.Errorf("%d products, want %d\n%s", got, test.want, text)
			}
		})
	}
}

// TestAReportReadsTheRegistersThatAreLeft fails at an index that has been computed before.
func TestAReportReadsTheRegistersThatAreLeft(t *testing.T) {
	out, i, sum := Local("out", ir.SliceOf(ir.TInt)), Local("i", ir.TInt), Local("sum", ir.TInt)
	index := func() ir.Expr { return Op(ir.Get(i), ir.Mul, Op(ir.Get(i), ir.Xor, Int(3))) }
	k := Kernel("report", []*ir.Local{out}, []*ir.Local{i, sum}, Body(tid(i),
		Set(sum, Add(index(), Int(1))),
		If(Op(ir.Get(i), ir.Eq, Int(9)), SetPlace(Elem(out, index()), ir.Get(sum))))...)
	same(t, k, 10, SliceValue(ir.TInt, 20))
}

// TestFewRegistersAreKeptForRepetitions computes 64 products twice. Most are computed again, since
// the registers for all of them would be missing in between.
func TestFewRegistersAreKeptForRepetitions(t *testing.T) {
	const products = 64
	out, i, n, sum := Local("out", ir.SliceOf(ir.TInt)), Local("i", ir.TInt), Local("n", ir.TInt), Local("sum", ir.TInt)
	var twice []ir.Stmt
	for range 2 {
		for k := range products {
			product := Op(ir.Get(n), ir.Mul, Op(ir.Get(i), ir.Xor, Int(int64(1000+k))))
			twice = append(twice, Set(sum, Op(Op(ir.Get(sum), ir.Shl, Int(1)), ir.Xor, product)))
		}
	}
	body := Body(tid(i), Set(sum, Int(0)), twice, SetPlace(Elem(out, ir.Get(i)), ir.Get(sum)))
	k := Kernel("many", []*ir.Local{out, n}, []*ir.Local{i, sum}, body...)
	same(t, k, 8, SliceValue(ir.TInt, 8), IntValue(7))
	got := strings.Count(emit(t, k).Text, "\tmul.lo.s64")
	if kept := 2*products - got; kept == 0 || kept > mostKept/2 {
		t.Errorf("%d of %d products are kept, want 1 to %d", kept, products, mostKept/2)
	}
}
