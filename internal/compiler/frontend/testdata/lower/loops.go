package p

import "quern.dev/kernel"

// A for loop with a condition tests it before each iteration and runs its post statement after a continue.
//
//quern:kernel
func forClauses(t kernel.Thread, n int, out []int32) {
	for i := 0; i < n; i += 2 {
		if out[i] < 0 {
			continue
		}
		out[i]++
	}
}

// A for loop without a condition ends only by break.
//
//quern:kernel
func forever(t kernel.Thread, out []int32) {
	for {
		out[0]++
		if out[0] > 9 {
			break
		}
	}
}

// A condition that needs statements runs them before each test.
//
//quern:kernel
func conditionCalls(t kernel.Thread, out []int32) {
	for halve(out, 0) > 1 {
		out[1]++
	}
}

func halve(x []int32, i int) int32 {
	x[i] /= 2
	return x[i]
}

// Labels select the loop that break and continue refer to.
//
//quern:kernel
func labels(t kernel.Thread, out []int32) {
rows:
	for y := 0; y < 4; y++ {
		for x := 0; ; x++ {
			if x == y {
				continue rows
			}
			if x > 2 {
				break rows
			}
			out[x]++
		}
	}
}

// Range over an integer counts from zero and evaluates the integer once.
//
//quern:kernel
func rangeInt(t kernel.Thread, n int, out []int32) {
	for i := range n {
		n = 0
		out[i] = 1
	}
}

// Range over a constant takes the type of its variable.
//
//quern:kernel
func rangeConstant(t kernel.Thread, out []uint8) {
	var b uint8
	for b = range 7 {
		out[b] = b
	}
}

// Range over an integer without a variable only repeats.
//
//quern:kernel
func rangeRepeat(t kernel.Thread, out []int32) {
	for range 3 {
		out[0] *= 2
	}
}

// A range variable that the body changes is a copy in each iteration.
//
//quern:kernel
func rangeCopy(t kernel.Thread, out []int32) {
	for i := range 8 {
		i *= 2
		out[i] = int32(i)
	}
}

// Range over a slice has the length it had before the loop.
//
//quern:kernel
func rangeSlice(t kernel.Thread, in, out []float32) {
	for i, v := range in {
		out[i] = v
	}
	for i := range out {
		out = out[1:]
		out[0] = float32(i)
	}
}

// Range over an array by value copies it when the body changes it.
//
//quern:kernel
func rangeArray(t kernel.Thread, out []int32) {
	a := [4]int32{1, 2, 3, 4}
	for _, v := range a {
		out[v] = v
	}
	for i, v := range a {
		a[3] = v
		out[i] = v
	}
}

// Range over an array that a pointer can change copies it.
//
//quern:kernel
func rangePointed(t kernel.Thread, out []int32) {
	var a [4]int32
	p := &a
	for i, v := range a {
		p[3] = 7
		out[i] = v
	}
}

// Range over a pointer to an array reads the elements as they are.
//
//quern:kernel
func rangePointer(t kernel.Thread, out []int32) {
	tile := kernel.Shared[[4]int32](t)
	for i, v := range tile {
		tile[3] = v
		out[i] = v
	}
	for i := range tile {
		out[i]++
	}
}

// Range assigns to variables that exist.
//
//quern:kernel
func rangeAssigns(t kernel.Thread, in, out []int32) {
	var i int
	for i, out[1] = range in {
	}
	out[0] = int32(i)
}
