package generic

import (
	"math/bits"
	"slices"
	"sort"

	"quern.dev/kernel"
)

// unary is a function of one value.
type unary[T any] func(T) T

func apply[T any](x T, f func(T) T) T { return f(x) }

func twice[T any](x T, f unary[T]) T { return f(f(x)) }

func double(v int32) int32 { return 2 * v }

func square[T kernel.Number](v T) T { return v * v }

func fold[T, A any](x []T, a A, f func(A, T) A) A {
	for _, v := range x {
		a = f(a, v)
	}
	return a
}

// adder returns a function that captures a parameter.
func adder(n int32) func(int32) int32 {
	return func(v int32) int32 { return v + n }
}

// bothWays returns two functions and a number.
func bothWays(n int32) (up, down func(int32) int32, by int32) {
	by = 3 * n
	return adder(by), func(v int32) int32 { return v - by }, by
}

// firstOf returns from within its loop.
func firstOf(x []int32, ok func(v int32) bool) (int, bool) {
	for i, v := range x {
		if ok(v) {
			return i, true
		}
	}
	return -1, false
}

// counter has methods that are used as values.
type counter struct{ n, step int32 }

func (c counter) plus(v int32) int32 { return c.n + c.step*v }

func (c *counter) advance(v int32) int32 {
	c.n += v
	return c.n
}

// holder embeds a type with methods.
type holder struct {
	scale int32
	counter
}

// number is a type with a method that generic code uses as a value.
type number int32

func (n number) Twice() number { return 2 * n }

type twicer[T any] interface {
	~int32
	Twice() T
}

func twiceOf[T twicer[T]](v T) T {
	f := T.Twice
	return f(v) + apply(v, func(v T) T { return v.Twice() })
}

// literals calls function literals that capture and change variables.
//
//quern:kernel
func literals(t kernel.Thread, x []int32) {
	i := t.Global()
	if i >= len(x) {
		return
	}
	a, calls := int32(3), int32(0)
	f := func(v int32) int32 {
		calls++
		if v%2 == 0 {
			return a * v
		}
		a++
		return v - a
	}
	sum := int32(0)
	for j := range int32(4) {
		sum += f(x[i] + j)
	}
	a = 10
	func() { sum += f(x[i]) }()
	x[i] = sum*100 + a + calls
}

// passed passes functions to functions: literals, declared and generic functions,
// functions of package kernel, and functions through several levels.
//
//quern:kernel
func passed(t kernel.Thread, x []int32) {
	i := t.Global()
	if i >= len(x) {
		return
	}
	k := x[i]
	v := apply(k, func(v int32) int32 { return v*k + 1 })
	v += apply(k, double) + twice(k, square[int32]) + twice(k, square)
	v += twice(3, func(v int32) int32 {
		return apply(v, func(w int32) int32 { k++; return v + w*k })
	})
	v += int32(apply(float32(k*k), kernel.Sqrt[float32]))
	v += k
	x[i] = v
}

// returned calls functions returned by functions.
//
//quern:kernel
func returned(t kernel.Thread, x []int32) {
	i := t.Global()
	if i >= len(x) {
		return
	}
	add := adder(x[i])
	more := adder(add(1))
	up, down, by := bothWays(int32(i))
	x[i] = add(more(5)) + adder(7)(1) + up(100)*down(10) + by
}

// methods uses methods as values, bound and unbound.
//
//quern:kernel
func methods(t kernel.Thread, x []int32) {
	global := t.Global
	stride := kernel.Thread.Stride
	for i := global(); i < len(x); i += stride(t) {
		c := counter{x[i], 2}
		plus, advance := c.plus, c.advance
		c.n = 1000 // plus has a copy; advance has the variable
		v := plus(1) + advance(5) + advance(6) + c.n
		v += counter.plus(c, 3) + (*counter).advance(&c, 4)
		h := holder{3, counter{x[i], 7}}
		v += apply(2, h.plus) + apply(h.scale, h.advance) + holder.plus(h, 1)
		f := (*counter).plus
		v += f(&h.counter, 1) + int32(twiceOf(number(v)))
		x[i] = v
	}
}

// searches passes literals to functions of the standard library and to functions with
// several returns.
//
//quern:kernel
func searches(t kernel.Thread, x []int32) {
	i := t.Global()
	if i >= len(x)/2 {
		return
	}
	sorted := x[len(x)/2:]
	want := x[i]
	at := sort.Search(len(sorted), func(j int) bool { return sorted[j] >= want })
	first, found := firstOf(sorted, func(v int32) bool { return v > want/2 })
	v := int32(at*1000 + first)
	if found {
		v++
	}
	v += int32(slices.IndexFunc(sorted, func(v int32) bool { return v == want }))
	v += fold(sorted, int32(1), func(a, v int32) int32 { return a*3 + v%7 })
	x[i] = v
}

// together passes functions that wait at barriers and use shared memory.
//
//quern:kernel block=64
func together(t kernel.Thread, x []int32) {
	tile := kernel.Shared[[64]int32](t)
	i := t.Global()
	reduce := func(v int32, f func(a, b int32) int32) int32 {
		tile[t.ThreadIdx.X] = v
		t.Sync()
		for n := 32; n > 0; n /= 2 {
			if t.ThreadIdx.X < n {
				tile[t.ThreadIdx.X] = f(tile[t.ThreadIdx.X], tile[t.ThreadIdx.X+n])
			}
			t.Sync()
		}
		out := tile[0]
		t.Sync()
		return out
	}
	v := x[i]
	sum := reduce(v, func(a, b int32) int32 { return a + b })
	most := reduce(v, func(a, b int32) int32 { return max(a, b) })
	x[i] = sum - most*v
}

func applyAny[F ~func(T) T, T any](x T, f F) T { return f(x) }

//quern:ptx not.b32 $result, $v;
func inverted(v uint32) (result uint32) { return ^v }

// instructions passes functions that compile to instructions: methods of 16-bit floats,
// functions of math/bits, and inline PTX, also through a type parameter.
//
//quern:kernel
func instructions(t kernel.Thread, x []int32) {
	if i := t.Global(); i < len(x) {
		v := uint32(x[i])
		v += applyAny(v, bits.Reverse32) + applyAny(v, inverted)
		half := kernel.ToFloat16(float32(v % 100))
		wide, raw := half.Float32, kernel.Float16.Bits
		x[i] = int32(v) + int32(wide()) + int32(raw(half)) + applyAny(x[i], func(w int32) int32 { return w * 3 })
	}
}

// mapped is generic in the types of a function.
//
//quern:kernel instantiate=int32,int64
func mapped[T kernel.Integer](t kernel.Thread, x []T) {
	if i := 4 * t.Global(); i < len(x) {
		f := square[T]
		x[i] = fold(x[i:min(i+4, len(x))], 0, func(a, v T) T { return a + f(v) })
	}
}
