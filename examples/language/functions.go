package language

import (
	"sort"

	"quern.dev/kernel"
)

// meters is a number with a method.
type meters float32

func (m meters) feet() meters { return m / 0.3048 }

// clampAll is compiled for three types. LaunchClampAll takes any of them.
//
//quern:kernel instantiate=float32,int32,meters
func clampAll[T kernel.Number](t kernel.Thread, lo, hi T, x []T) {
	if i := t.Global(); i < len(x) {
		x[i] = min(max(x[i], lo), hi)
	}
}

// convertAll has two type parameters: colons separate the types of an instance.
//
//quern:kernel instantiate=float32:int16,float64:int32
func convertAll[From kernel.Float, To kernel.Integer](t kernel.Thread, scale From, from []From, to []To) {
	if i := t.Global(); i < len(to) {
		to[i] = To(scale * from[i])
	}
}

// reduce combines elements with the function f.
func reduce[T any](x []T, first T, f func(a, b T) T) T {
	for _, v := range x {
		first = f(first, v)
	}
	return first
}

// extremes passes two function literals to a function: one that calls a built-in,
// and one that captures and changes a variable.
//
//quern:kernel
func extremes(t kernel.Thread, width int, x []int32, most, negatives []int32) {
	row := t.Global()
	if row >= len(most) {
		return
	}
	values := x[row*width : (row+1)*width]
	most[row] = reduce(values, values[0], func(a, b int32) int32 { return max(a, b) })
	count := int32(0)
	reduce(values, 0, func(_, v int32) int32 {
		if v < 0 {
			count++
		}
		return v
	})
	negatives[row] = count
}

// power returns a function that captures n.
func power(n int) func(float32) float32 {
	return func(x float32) float32 {
		y := float32(1)
		for range n {
			y *= x
		}
		return y
	}
}

// returnedFunctions calls functions that a function returns.
//
//quern:kernel
func returnedFunctions(t kernel.Thread, x []float32) {
	square, cube := power(2), power(3)
	if i := t.Global(); i < len(x) {
		x[i] = square(x[i]) + cube(x[i])
	}
}

// methodValues uses a method value and a method expression.
//
//quern:kernel
func methodValues(t kernel.Thread, x []meters) {
	number, convert := t.Global, meters.feet
	if i := number(); i < len(x) {
		x[i] = convert(x[i])
	}
}

// positions searches a sorted slice with a standard library function.
//
//quern:kernel
func positions(t kernel.Thread, sorted, x []float32, at []int32) {
	if i := t.Global(); i < len(x) {
		at[i] = int32(sort.Search(len(sorted), func(j int) bool { return sorted[j] >= x[i] }))
	}
}

// boxBlur is compiled once for any radius, and once each for the radii 1, 2 and 3,
// where the loop has a constant number of iterations.
//
//quern:kernel specialise=radius:1,2,3
func boxBlur(t kernel.Thread, radius int, in, out []float32) {
	i := t.Global()
	if i < radius || i+radius >= len(in) {
		return
	}
	sum := float32(0)
	for j := -radius; j <= radius; j++ {
		sum += in[i+j]
	}
	out[i] = sum / float32(2*radius+1)
}
