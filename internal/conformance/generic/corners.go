package generic

import (
	"math"

	"quern.dev/kernel"
)

// vector has methods with value and pointer receivers.
type vector struct{ x, y int32 }

func (v vector) dot(w vector) int32 { return v.x*w.x + v.y*w.y }

func (v *vector) scale(by int32) { v.x, v.y = v.x*by, v.y*by }

// lengths has several named results, one of which a function literal assigns.
func lengths(v vector, norm func(int32) int32) (a, b int32, ok bool) {
	set := func(w int32) { b = norm(w) }
	a = norm(v.x)
	set(v.y)
	if a > b {
		return b, a, true
	}
	ok = a != 0
	return
}

// chain calls function values in the condition and post statement of a loop.
func chain(n int32, more func(int32) bool, next func(int32) int32) (steps int32) {
	for v := n; more(v); v = next(v) {
		if steps++; steps == 20 {
			return -1
		}
	}
	return steps
}

// corners uses function values in difficult places: in conditions, in loops that declare
// them, under other names, and in other literals.
//
//quern:kernel
func corners(t kernel.Thread, x []int32) {
	i := t.Global()
	if i >= len(x) {
		return
	}
	v := x[i]
	if f := square[int32]; f(v) > 100 && func() bool { v++; return v%2 == 0 }() {
		v -= f(3)
	}
	for j := range int32(3) {
		k := j * 2
		add := func(w int32) int32 { k += w; return k + j }
		v += add(v) - add(1)
		if add(0) > 50 {
			continue
		}
		v += k
	}
	v = chain(v&63, func(w int32) bool { return w != 1 && w > 0 }, func(w int32) int32 {
		if w%2 == 0 {
			return w / 2
		}
		return 3*w + 1
	})*10 + v%7

	inner := func(f func(int32) int32) func(int32) int32 {
		times := v & 3
		return func(w int32) int32 {
			for range times {
				w = f(w)
			}
			return w
		}
	}
	f := inner(func(w int32) int32 { return w + v })
	g := inner(f)
	v += f(1) + g(2)

	a, b, ok := lengths(vector{v % 10, -v % 7}, func(w int32) int32 {
		switch {
		case w < 0:
			return -w
		case w > 5:
			return 5
		}
		return w
	})
	if ok {
		v += a*3 - b
	}
	list := [3]vector{{1, 2}, {3, v}, {v & 7, 1}}
	at := 0
	dot, scale := list[at].dot, list[at+1].scale
	at, list[0] = 2, vector{9, 9}
	scale(2)
	v += dot(list[at]) + list[1].x*list[1].y

	var same unary[int32] = func(w int32) int32 { return w }
	v = unary[int32](same)(v)
	_ = same
	v, w := func(a, b int32) (int32, int32) { return b, a + b }(v, v/2)
	x[i] = v*31 + w
}

// pointers passes functions that write through pointers, slices, and functions of package
// math.
//
//quern:kernel
func pointers(t kernel.Thread, x []int32) {
	bump := func(p *int32, by int32) { *p += by }
	each := func(part []int32, f func(p *int32)) {
		for i := range part {
			f(&part[i])
		}
	}
	for i := 2 * t.Global(); i+1 < len(x); i += 2 * t.Stride() {
		part := x[i : i+2]
		each(part, func(p *int32) { bump(p, int32(i)) })
		total := int32(0)
		each(part, func(p *int32) { bump(&total, *p) })
		root := func(f func(float64) float64) int32 { return int32(f(float64(total&255) / 4)) }
		part[0] += root(math.Sqrt) + root(math.Floor) + root(func(v float64) float64 { return math.Abs(v - 100) })
		kernel.AtomicAdd(&x[i+1], func() int32 { total++; return total }())
	}
}

// shuffled has warp operations and an early return in function values.
//
//quern:kernel block=64
func shuffled(t kernel.Thread, x []int32) {
	sum := func(v int32, f func(a, b int32) int32) int32 {
		for d := 16; d > 0; d /= 2 {
			v = f(v, kernel.ShuffleXor(t, v, d))
		}
		return v
	}
	i := t.Global()
	v := x[i]
	most := sum(v, func(a, b int32) int32 {
		if a > b {
			return a
		}
		return b
	})
	x[i] = most*1000 + sum(v, func(a, b int32) int32 { return a + b })
}
