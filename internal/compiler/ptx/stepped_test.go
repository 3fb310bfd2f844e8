package ptx

import (
	"fmt"
	"math"
	"strings"
	"testing"

	"quern.dev/internal/compiler/ir"
	"quern.dev/internal/compiler/ir/irtest"
)

// rowKernel builds a kernel whose body reads elements y*w+x of in, and adds them to sum.
type rowKernel struct {
	in, out           *ir.Local
	w, x, y, odd, sum *ir.Local
	index             *ir.Type
	check             bool
}

func newRowKernel(index *ir.Type, check bool) *rowKernel {
	return &rowKernel{
		in: irtest.Local("in", ir.SliceOf(ir.TInt32)), out: irtest.Local("out", ir.SliceOf(ir.TInt32)),
		w: irtest.Local("w", index), x: irtest.Local("x", index), y: irtest.Local("y", index),
		odd: irtest.Local("odd", ir.TBool), sum: irtest.Local("sum", ir.TInt32),
		index: index, check: check,
	}
}

// at returns in[(y+dy)*w+x+dx].
func (k *rowKernel) at(dy, dx int64) ir.Expr {
	row := ir.Get(k.y)
	if dy != 0 {
		row = irtest.Add(row, ir.IntConst(k.index, dy))
	}
	i := irtest.Add(irtest.Mul(row, ir.Get(k.w)), ir.Get(k.x))
	if dx != 0 {
		i = irtest.Add(i, ir.IntConst(k.index, dx))
	}
	return irtest.Load(&ir.ElemPlace{Slice: ir.Get(k.in), Index: i, Check: k.check})
}

// add reads an element, and makes the sum depend on the order.
func (k *rowKernel) add(e ir.Expr) ir.Stmt {
	return irtest.Set(k.sum, irtest.Add(irtest.Mul(ir.Get(k.sum), ir.IntConst(ir.TInt32, 3)), e))
}

func (k *rowKernel) increment(v *ir.Local) ir.Stmt {
	return irtest.Set(v, irtest.Add(ir.Get(v), ir.IntConst(v.Type, 1)))
}

// kernel starts with x = thread, y = 1 and odd = thread%2 == 1.
func (k *rowKernel) kernel(body ...any) *ir.Kernel {
	thread := func() ir.Expr { return irtest.Thread(ir.ThreadIdxX) }
	return irtest.Kernel("rows", []*ir.Local{k.in, k.w, k.out}, []*ir.Local{k.x, k.y, k.odd, k.sum}, irtest.Body(
		irtest.Set(k.x, irtest.To(k.index, thread())),
		irtest.Set(k.y, ir.IntConst(k.index, 1)),
		irtest.Set(k.odd, irtest.Op(irtest.Op(thread(), ir.And, irtest.Int(1)), ir.Eq, irtest.Int(1))),
		irtest.Set(k.sum, ir.IntConst(ir.TInt32, 0)),
		irtest.Body(body...),
		irtest.SetPlace(irtest.Elem(k.out, thread()), ir.Get(k.sum)))...)
}

func TestAddressesAreSteppedFromEarlierOnes(t *testing.T) {
	const w, h, threads = 11, 7, 8
	label := &ir.Label{Name: "block"}
	tests := []struct {
		name     string
		products int // computed for indices
		body     func(k *rowKernel) []any
	}{
		{"rows", 2, func(k *rowKernel) []any {
			return []any{k.add(k.at(0, 0)), k.add(k.at(1, 0)), k.add(k.at(-1, 0)), k.add(k.at(0, 1)), k.add(k.at(2, 0))}
		}},
		{"columns", 2, func(k *rowKernel) []any { // of row 1, only the left element is known
			return []any{k.add(k.at(0, 1)), k.add(k.at(1, -1)), k.add(k.at(1, 1))}
		}},
		{"x changes", 2, func(k *rowKernel) []any {
			return []any{k.add(k.at(0, 0)), k.increment(k.x), k.add(k.at(1, 0))}
		}},
		{"y changes", 2, func(k *rowKernel) []any {
			return []any{k.add(k.at(0, 0)), k.increment(k.y), k.add(k.at(1, 0))}
		}},
		{"slice changes", 2, func(k *rowKernel) []any {
			shorter := &ir.SliceExpr{T: k.in.Type, X: ir.Get(k.in), Lo: irtest.Int(1), Check: true}
			return []any{k.add(k.at(0, 0)), irtest.Set(k.in, shorter), k.add(k.at(1, 0))}
		}},
		{"after an if", 2, func(k *rowKernel) []any {
			return []any{irtest.If(ir.Get(k.odd), k.add(k.at(0, 0))), k.add(k.at(1, 0))}
		}},
		{"in an if", 1, func(k *rowKernel) []any {
			return []any{k.add(k.at(0, 0)), irtest.Else(irtest.If(ir.Get(k.odd), k.add(k.at(1, 0))), k.add(k.at(-1, 0)))}
		}},
		{"other branch", 2, func(k *rowKernel) []any {
			return []any{irtest.Else(irtest.If(ir.Get(k.odd), k.add(k.at(0, 0))), k.add(k.at(1, 0)))}
		}},
		{"x changes in an if", 2, func(k *rowKernel) []any {
			return []any{k.add(k.at(0, 0)), irtest.If(ir.Get(k.odd), k.increment(k.x)), k.add(k.at(1, 0))}
		}},
		{"reset in an if", 2, func(k *rowKernel) []any {
			return []any{k.add(k.at(0, 0)), irtest.If(ir.Get(k.odd), irtest.Set(k.x, ir.IntConst(k.index, 2))), k.add(k.at(1, 0))}
		}},
		{"right side", 2, func(k *rowKernel) []any {
			positive := irtest.Op(k.at(0, 0), ir.Gt, ir.IntConst(ir.TInt32, 50))
			return []any{irtest.Set(k.odd, irtest.Op(ir.Get(k.odd), ir.LAnd, positive)), k.add(k.at(1, 0)),
				irtest.If(ir.Get(k.odd), k.increment(k.sum))}
		}},
		{"right side of a branch", 3, func(k *rowKernel) []any {
			positive := func(dy int64) ir.Expr { return irtest.Op(k.at(dy, 0), ir.Gt, ir.IntConst(ir.TInt32, 50)) }
			return []any{irtest.If(irtest.Op(ir.Get(k.odd), ir.LAnd, positive(0)), k.increment(k.sum)), k.add(k.at(1, 0)), k.increment(k.y),
				irtest.If(irtest.Op(ir.Get(k.odd), ir.LOr, positive(0)), k.increment(k.sum))}
		}},
		{"behind a break", 2, func(k *rowKernel) []any {
			return []any{&ir.Block{Label: label, Body: []ir.Stmt{irtest.If(ir.Get(k.odd), &ir.Break{Label: label}), k.add(k.at(0, 0))}}, k.add(k.at(1, 0))}
		}},
		{"loop", 4, func(k *rowKernel) []any {
			return []any{k.add(k.at(0, 0)), irtest.For(k.y, ir.IntConst(k.index, 1), ir.IntConst(k.index, 4),
				k.add(k.at(-1, 0)), irtest.If(ir.Get(k.odd), k.increment(k.x)), k.add(k.at(1, 0))), k.add(k.at(-2, 0))}
		}},
	}
	for _, index := range []*ir.Type{ir.TInt32, ir.TInt64, ir.TInt, ir.TUint32} {
		for _, check := range []bool{false, true} {
			for _, test := range tests {
				t.Run(fmt.Sprintf("%s/%t/%s", index, check, test.name), func(t *testing.T) {
					k := newRowKernel(index, check)
					kernel := k.kernel(test.body(k)...)
					in := int32s(w*h, func(i int) int64 { return int64(i*i%97 + 1) })
					same(t, kernel, threads, in, irtest.IntValue(w), irtest.SliceValue(ir.TInt32, threads))
					if check || !index.IsSigned() {
						return
					}
					m, err := Emit(kernel, Options{})
					if err != nil {
						t.Fatal(err)
					}
					text := m.Text
					n := products(text)
					if test.name == "columns" && index.Size() == 8 {
						n++ // all differences of 64 bits are exact
					}
					if test.name == "rows" && !check {
						n++ // the second element of a row has the product of the first
					}
					if n != test.products {
						t.Errorf("%d products, want %d\n%s", n, test.products, text)
					}
				})
			}
		}
	}
}

// products counts the products of two registers.
func products(text string) (n int) {
	for line := range strings.Lines(text) {
		f := strings.Fields(line)
		if len(f) > 3 && (strings.HasPrefix(f[0], "mad.lo.") || strings.HasPrefix(f[0], "mul.lo.")) && f[3][0] == '%' {
			n++
		}
	}
	return n
}

// An index of 32 bits that is widened before a constant is added is at least -constant: that
// of the last element of a long slice may exceed it by 1<<31 or more.
func TestAddressesAreNotSteppedByMoreThan32Bits(t *testing.T) {
	for _, test := range []struct {
		constant, most int64
		want           int
	}{
		{5, math.MaxInt64, 2},
		{5, math.MaxInt32, 1},
		{-5, math.MaxInt64, 1},
	} {
		k := newRowKernel(ir.TInt32, false)
		at := func(dy int64) ir.Expr {
			e := k.at(dy, 0).(*ir.Load)
			p := e.Place.(*ir.ElemPlace)
			p.Index = irtest.Add(irtest.To(ir.TInt64, p.Index), ir.IntConst(ir.TInt64, test.constant))
			return e
		}
		kernel := k.kernel(k.add(at(0)), k.add(at(1)))
		kernel.Limits = ir.Limits{{X: &ir.Sym{Op: ir.SymArg}, Max: test.most}}
		text := emit(t, kernel).Text
		if n := products(text); n != test.want {
			t.Errorf("constant %d, at most %d elements: %d products, want %d\n%s", test.constant, test.most, n, test.want, text)
		}
	}
}

// 1<<7 is 128 as a uint8, and -128 as an int8.
func TestAddressesOfEqualConstantsOfDifferentTypesDiffer(t *testing.T) {
	k := newRowKernel(ir.TInt64, false)
	at := func(one *ir.Type, more ir.Expr) ir.Expr {
		bit := irtest.To(ir.TInt64, irtest.Op(ir.IntConst(one, 1), ir.Shl, irtest.To(ir.TUint32, ir.Get(k.w))))
		return irtest.Load(&ir.ElemPlace{Slice: ir.Get(k.in), Index: irtest.Add(irtest.Add(bit, irtest.Mul(ir.Get(k.w), ir.IntConst(ir.TInt64, 20))), more)})
	}
	kernel := k.kernel(k.add(at(ir.TUint8, ir.Get(k.x))), k.add(at(ir.TInt8, irtest.Add(ir.Get(k.w), ir.Get(k.x)))), k.add(at(ir.TUint8, irtest.Add(ir.Get(k.w), ir.Get(k.x)))))
	same(t, kernel, 8, int32s(300, func(i int) int64 { return int64(i) }), irtest.IntValue(7), irtest.SliceValue(ir.TInt32, 8))
}

// An index of 32 bits that is not used may wrap where that of the next row does not.
func TestAddressesAreNotSteppedFromElementsThatAreNotRead(t *testing.T) {
	for _, check := range []bool{false, true} {
		k := newRowKernel(ir.TInt32, check)
		never := irtest.Op(ir.Get(k.w), ir.Eq, ir.IntConst(ir.TInt32, 5))
		kernel := k.kernel(irtest.If(never, k.add(k.at(0, 0))), k.add(k.at(1, 0))) // 2*w is 0
		in := int32s(8, func(i int) int64 { return int64(i + 1) })
		same(t, kernel, 8, in, irtest.IntValue(math.MinInt32), irtest.SliceValue(ir.TInt32, 8))

		// A stride that is added four times wraps to 0: only single steps are exact.
		k = newRowKernel(ir.TInt32, check)
		kernel = k.kernel(k.add(k.at(-1, 0)), k.add(k.at(3, 0)), k.add(k.at(7, 1)))
		in = int32s(9, func(i int) int64 { return int64(i + 1) })
		same(t, kernel, 8, in, irtest.IntValue(1<<30), irtest.SliceValue(ir.TInt32, 8))

		// The row before is read with another constant, without which it wraps.
		k = newRowKernel(ir.TInt32, check)
		kernel = k.kernel(k.add(k.at(0, 5)), k.add(k.at(1, 1<<20)))
		in = int32s(1<<20+16, func(i int) int64 { return int64(i % 1000) })
		same(t, kernel, 8, in, irtest.IntValue(-5), irtest.SliceValue(ir.TInt32, 8))
	}
}
