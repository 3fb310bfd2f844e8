package limits

import (
	"errors"
	"math"
	"math/big"
	"math/rand/v2"
	"testing"
)

func TestHold(t *testing.T) {
	dim := [6]int64{100, 20, 3, 256, 4, 2}
	for _, test := range []struct {
		name string
		p    Program
		args []int64
		want bool
	}{
		{"the empty program holds", nil, nil, true},
		{"a value at the bound holds", Program{Arg, 0, AtMost, 7}, []int64{7}, true},
		{"a value above the bound fails", Program{Arg, 0, AtMost, 7}, []int64{8}, false},
		{"every condition must hold", Program{Arg, 0, AtMost, 7, Arg, 1, AtMost, 7}, []int64{7, 8}, false},
		{"a product of dimensions", Program{Dim, 0, Dim, 3, Mul, AtMost, 25600}, nil, true},
		{"a difference keeps its order", Program{Dim, 0, Const, 1, Sub, AtMost, 99}, nil, true},
		{"min and max", Program{Dim, 0, Dim, 3, Min, Dim, 1, Max, AtMost, 100}, nil, true},
		{"division truncates", Program{Const, 0, Const, 7, Const, 2, Div, Sub, AtMost, -3}, nil, true},
		{"division by zero gives zero", Program{Const, 7, Arg, 0, Div, AtMost, 0}, []int64{0}, true},
		{"a sum that overflows fails", Program{Arg, 0, Arg, 0, Add, AtMost, 7}, []int64{math.MinInt64}, false},
		{"a difference that overflows fails", Program{Arg, 0, Const, 1, Sub, AtMost, 7}, []int64{math.MinInt64}, false},
		{"a product that overflows fails", Program{Arg, 0, Arg, 1, Mul, AtMost, 7}, []int64{math.MaxInt64, -3}, false},
		{"a quotient that overflows fails", Program{Arg, 0, Const, -1, Div, AtMost, math.MaxInt64}, []int64{math.MinInt64}, false},
		{"a missing argument fails", Program{Arg, 2, AtMost, 7}, []int64{1, 1}, false},
		{"a negative argument index fails", Program{Arg, -1, AtMost, 7}, []int64{1, 1}, false},
		{"an unknown dimension fails", Program{Dim, 6, AtMost, 1 << 40}, nil, false},
		{"a truncated program fails", Program{Const}, nil, false},
		{"a value that nothing compares fails", Program{Const, 1}, nil, false},
		{"an operation without operands fails", Program{Add}, nil, false},
		{"a comparison without a value fails", Program{AtMost, 3}, nil, false},
		{"an unknown operation fails", Program{Const, 1, Const, 1, 77, AtMost, 3}, nil, false},
		{"a negative operation fails", Program{-1, 0, AtMost, 3}, nil, false},
	} {
		t.Run(test.name, func(t *testing.T) {
			if got := test.p.Hold(test.args, &dim); got != test.want {
				t.Errorf("Hold = %v, want %v", got, test.want)
			}
		})
	}
}

func TestConditionsOnAddresses(t *testing.T) {
	p := Program{Address, 0, Address, 2, Add, AtMost, 0}
	args, dim := make([]int64, 3), new([6]int64)
	for _, test := range []struct {
		name      string
		addresses []uint64
		want      bool
	}{
		{"multiples of 16", []uint64{1 << 40, 3, 1<<63 + 16}, true},
		{"one that is not", []uint64{1 << 40, 0, 1<<40 + 4}, false},
		{"none are given", nil, true},
	} {
		t.Run(test.name, func(t *testing.T) {
			if got := p.HoldAt(args, test.addresses, dim); got != test.want {
				t.Errorf("HoldAt = %v, want %v", got, test.want)
			}
		})
	}
	if got := p.String(); got != "&arg0%16 + &arg2%16 <= 0" {
		t.Errorf("String = %q", got)
	}
	if (Program{Address, 3, AtMost, 0}).HoldAt(args, []uint64{0, 0, 0}, dim) {
		t.Error("an address that does not exist is accepted")
	}
}

func TestValidateReportsTheError(t *testing.T) {
	deep := Program{}
	for range Depth + 1 {
		deep = append(deep, Const, 1)
	}
	for _, test := range []struct {
		name string
		p    Program
		want string
	}{
		{"unknown operation", Program{Const, 1, 42}, "limits: damaged program at 2: unknown operation 42"},
		{"operand missing", Program{Const}, "limits: damaged program at 0: operand missing"},
		{"address out of range", Program{Address, 2, AtMost, 1}, "limits: damaged program at 0: argument 2 of 2"},
		{"argument out of range", Program{Arg, 3, AtMost, 1}, "limits: damaged program at 0: argument 3 of 2"},
		{"dimension out of range", Program{Dim, 6, AtMost, 1}, "limits: damaged program at 0: dimension 6 of 6"},
		{"stack underflow", Program{Const, 1, Add}, "limits: damaged program at 2: stack underflow"},
		{"stack overflow", deep, "limits: damaged program at 32: stack overflow"},
		{"values left at a comparison", Program{Const, 1, Const, 2, AtMost, 1}, "limits: damaged program at 4: a condition compares one value"},
		{"values left at the end", Program{Const, 1}, "limits: damaged program at 2: value without a condition"},
	} {
		t.Run(test.name, func(t *testing.T) {
			err := test.p.Validate(2)
			var perr *ProgramError
			if !errors.As(err, &perr) || err.Error() != test.want {
				t.Errorf("Validate = %v, want %s", err, test.want)
			}
			if test.p.Hold(make([]int64, 2), new([6]int64)) {
				t.Error("Hold accepts it")
			}
		})
	}
}

func TestArithmeticIsExactOrFails(t *testing.T) {
	rnd := rand.New(rand.NewPCG(1, 2))
	edge := []int64{0, 1, -1, 2, -2, math.MaxInt32, math.MinInt32, 1 << 32, math.MaxInt64, math.MinInt64, math.MaxInt64 - 1, math.MinInt64 + 1}
	pick := func() int64 {
		if rnd.IntN(2) == 0 {
			return edge[rnd.IntN(len(edge))]
		}
		return rnd.Int64() >> rnd.IntN(64)
	}
	exact := map[int64]func(z, x, y *big.Int) *big.Int{Add: (*big.Int).Add, Sub: (*big.Int).Sub, Mul: (*big.Int).Mul, Div: (*big.Int).Quo}
	for range 20000 {
		x, y := pick(), pick()
		for op, f := range exact {
			if op == Div && y == 0 {
				continue
			}
			want := f(new(big.Int), big.NewInt(x), big.NewInt(y))
			got, ok := apply(op, x, y)
			if ok != want.IsInt64() || ok && got != want.Int64() {
				t.Fatalf("op %d of %d and %d = %d, %v; want %s", op, x, y, got, ok, want)
			}
		}
	}
}

func TestString(t *testing.T) {
	p := Program{
		Arg, 0, Dim, 1, Const, 1, Sub, Mul, Arg, 2, Add, AtMost, 9,
		Arg, 0, Const, 0, Max, Dim, 3, Const, 2, Div, Min, AtMost, 5,
	}
	want := "arg0*(GridDim.Y - 1) + arg2 <= 9\nmin(max(arg0, 0), BlockDim.X/2) <= 5"
	if got := p.String(); got != want {
		t.Errorf("got\n%s\nwant\n%s", got, want)
	}
	if got := (Program{Add}).String(); got != "limits: damaged program at 0: stack underflow" {
		t.Errorf("damaged program: %s", got)
	}
}

func TestHoldDoesNotAllocate(t *testing.T) {
	p := Program{Arg, 0, Dim, 1, Mul, Arg, 1, Add, AtMost, math.MaxInt32}
	args, dim := []int64{3, 4}, &[6]int64{1, 1, 1, 1, 1, 1}
	if n := testing.AllocsPerRun(100, func() {
		if !p.Hold(args, dim) {
			t.Fatal("does not hold")
		}
	}); n != 0 {
		t.Errorf("%v allocations", n)
	}
}

func FuzzValidateDecidesWhetherHoldIsDefined(f *testing.F) {
	f.Add([]byte{1, 0, 9, 7})
	f.Add([]byte{2, 0, 2, 3, 5, 9, 100})
	f.Fuzz(func(t *testing.T, data []byte) {
		p := make(Program, len(data))
		for i, b := range data {
			p[i] = int64(int8(b))
		}
		holds := p.Hold(make([]int64, 3), new([6]int64))
		if holds && p.Validate(3) != nil {
			t.Errorf("%v holds though %v", []int64(p), p.Validate(3))
		}
		_ = p.String()
	})
}

func BenchmarkHold(b *testing.B) {
	p := Program{Arg, 0, AtMost, math.MaxInt32, Arg, 1, AtMost, math.MaxInt32, Arg, 0, Arg, 1, Mul, Dim, 0, Dim, 3, Mul, Add, AtMost, math.MaxInt32}
	args, dim := []int64{3, 4}, &[6]int64{1, 1, 1, 1, 1, 1}
	b.ReportAllocs()
	for b.Loop() {
		p.Hold(args, dim)
	}
	b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N)/12, "ns/op-code")
}
