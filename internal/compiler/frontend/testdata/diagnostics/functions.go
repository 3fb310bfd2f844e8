package p

import (
	"slices"
	"sort"

	"quern.dev/kernel"
)

func double(v int32) int32 { return 2 * v }

func half(v int32) int32 { return v / 2 }

func apply(f func(int32) int32, v int32) int32 { return f(v) }

//quern:kernel
func chosenAtRunTime(t kernel.Thread, out []int32) {
	f := double
	if out[0] > 0 {
		f = half
	}
	out[1] = f(out[0])
}

//quern:kernel
func declaredFirst(t kernel.Thread, out []int32) {
	var f func(n int32) int32
	f = func(n int32) int32 { return f(n - 1) }
	out[0] = f(3)
}

func forever(f func(int32) int32, v int32) int32 {
	return forever(func(w int32) int32 { return f(w) + 1 }, v)
}

//quern:kernel
func recursive(t kernel.Thread, out []int32) { out[0] = forever(double, out[1]) }

var table = [2]func(int32) int32{double, half}

var operation = double

type operator struct{ apply func(int32) int32 }

//quern:kernel
func stored(t kernel.Thread, out []int32) {
	out[0] = table[out[1]](out[2]) + operation(3)
	o := operator{apply: double}
	out[1] = o.apply(4)
	var list [2]func(int32) int32
	out[2] = list[0](1)
}

//quern:kernel
func inParameter(t kernel.Thread, f func(int32) int32, out []int32) { out[0] = f(out[1]) }

//quern:kernel
func compared(t kernel.Thread, out []int32) {
	f := double
	if f != nil {
		out[0] = apply(nil, 3)
	}
	p := &f
	out[1] = (*p)(4)
}

func either(up bool) func(int32) int32 {
	if up {
		return double
	}
	return half
}

func named() (f func(int32) int32) {
	return
}

func reassigns(f func(int32) int32) int32 {
	f = half
	return f(1)
}

//quern:kernel
func returned(t kernel.Thread, out []int32) {
	out[0] = either(out[1] > 0)(3)
	out[1] = named()(4)
	out[2] = reassigns(double)
}

//quern:kernel
func variadic(t kernel.Thread, out []int32) {
	f := func(values ...int32) int32 { return values[0] }
	out[0] = f(1, 2)
}

//quern:kernel
func insideLiteral(t kernel.Thread, out []int32) {
	f := func(v int32) int32 {
		m := map[int32]int32{}
		return m[v]
	}
	out[0] = apply(f, 2)
}

//quern:kernel
func rangeOverFunction(t kernel.Thread, out []int32) {
	for i := range func(yield func(int) bool) { yield(1) } {
		out[i] = 1
	}
}

type byValue []int32

func (b byValue) Len() int           { return len(b) }
func (b byValue) Less(i, j int) bool { return b[i] < b[j] }
func (b byValue) Swap(i, j int)      { b[i], b[j] = b[j], b[i] }

//quern:kernel
func library(t kernel.Thread, out []int32) {
	sort.Sort(byValue(out))
	slices.SortFunc(out, func(a, b int32) int { return int(a - b) })
}

type shape interface{ area() float32 }

//quern:kernel
func methodOfInterface(t kernel.Thread, out []float32) {
	var s shape
	area := s.area
	out[0] = area()
}
