package endless

//lint:file-ignore SA5002,SA4003 kernels that do not end are what the package is for

import (
	"math"
	"slices"

	"quern.dev/kernel"
)

//quern:kernel
func forever(t kernel.Thread, x []int32) {
	if t.Global() == 3 {
		for {
			x[0]++ // forever
		}
	}
}

// whileTrue waits for an element that never changes.
//
//quern:kernel
func whileTrue(t kernel.Thread, x []int32) {
	for x[0] == 0 { // whileTrue
	}
	x[1] = 1
}

//quern:kernel
func ordered(t kernel.Thread, x []int32) {
	for kernel.LoadAcquire(&x[0]) == 0 { // ordered
	}
}

// manyIterations would take centuries.
//
//quern:kernel
func manyIterations(t kernel.Thread, n int, x []int32) {
	for i := 0; i < n; i++ { // manyIterations
		x[i&1] += int32(i)
	}
}

// wraps has a counter that wraps around before it reaches its bound.
//
//quern:kernel
func wraps(t kernel.Thread, x []int32) {
	for i := uint8(0); i <= 255; i++ { // wraps
		x[0] += int32(i)
	}
}

// nested has many short nested loops.
//
//quern:kernel
func nested(t kernel.Thread, x []int32) {
	for a := range len(x) { // nested
		for b := range len(x) { // nested
			for c := range len(x) { // nested
				for d := range len(x) {
					x[0] += int32(a ^ b ^ c ^ d) // nested
				}
			}
		}
	}
}

// collatz is a function without a thread parameter, which generated Go could call
// directly.
func collatz(n uint64) (steps int) {
	for n != 1 { // inFunction
		if n%2 == 0 { // inFunction
			n /= 2 // inFunction
		} else {
			n = 3*n + 1
		}
		steps++ // inFunction
	}
	return steps
}

func deeper(n uint64) int { return 1 + collatz(n) }

//quern:kernel
func inFunction(t kernel.Thread, x []int32) {
	x[t.Global()] = int32(deeper(uint64(x[t.Global()]))) // of 0 it never ends
}

// total is a loop that is short by itself.
func total(x []int32) (sum int32) {
	for _, v := range x { // inCalls
		sum += v // inCalls
	}
	return sum
}

func totals(x []int32) (sum int32) {
	for range x { // inCalls
		sum += total(x) // inCalls
	}
	return sum
}

// inCalls has short loops in functions that call each other.
//
//quern:kernel
func inCalls(t kernel.Thread, x []int32) {
	for range x { // inCalls
		for range x { // inCalls
			x[0] += totals(x) // inCalls
		}
	}
}

// inClosure passes the condition of a loop as a function.
//
//quern:kernel
func inClosure(t kernel.Thread, x []int32) {
	until(func() bool { return x[0] > 0 }) // inClosure
}

func until(done func() bool) {
	for !done() { // inClosure
	}
}

//quern:kernel block=64
func withBarriers(t kernel.Thread, x []int32) {
	sum := kernel.Shared[int32](t)
	if t.ThreadIdx.X == 0 {
		*sum = 0
	}
	for {
		if t.ThreadIdx.X == 0 { // withBarriers
			*sum++ // withBarriers
		}
		t.Sync() // withBarriers
		if *sum < 0 {
			x[0] = *sum
			return
		}
		t.Sync() // withBarriers
	}
}

//quern:kernel block=32
func withWarps(t kernel.Thread, x []int32) {
	for !kernel.All(t, x[0] != 0) { // withWarps
	}
}

//quern:kernel block=32
func gridWaits(t kernel.Thread, x []int32) {
	if t.BlockIdx.X == 0 {
		for x[0] == 0 { // gridWaits
		}
	}
	t.SyncGrid() // gridWaits
	x[1] = 1
}

// add is launched to check the device after a canceled launch.
//
//quern:kernel
func add(t kernel.Thread, x []int32) {
	if i := t.Global(); i < len(x) {
		x[i]++
	}
}

// still keeps a condition true.
//
//quern:kernel
func still(t kernel.Thread, going []uint32) { going[0] = 1 }

// besselFirst and besselSecond call functions of package math that count to their first
// argument. They write the bits of the results.
//
//quern:kernel
func besselFirst(t kernel.Thread, n int, v float64, x []int32) {
	bits := math.Float64bits(math.Jn(n, v)) // besselFirst
	x[0], x[1] = int32(bits), int32(bits>>32)
}

//quern:kernel
func besselSecond(t kernel.Thread, n int, v float64, x []int32) {
	bits := math.Float64bits(math.Yn(n, v)) // besselSecond
	x[0], x[1] = int32(bits), int32(bits>>32)
}

// longMath has short loops around functions of package math that take long.
//
//quern:kernel
func longMath(t kernel.Thread, v float64, x []int32) {
	for range x { // longMath
		for range 1000 {
			for range 1000 {
				v += math.Mod(math.MaxFloat64, v) // longMath
				v = math.Gamma(-150.5) + math.Pow(v, 0x1p40) + 1
			}
		}
	}
	x[0] = int32(v)
}

// searches has a loop that is short by itself around a function of the standard library
// with another one.
//
//quern:kernel
func searches(t kernel.Thread, x []int32) {
	for range x { // searches
		for i := range x {
			if slices.Contains(x[i:], 1) { // searches
				x[0]++ // searches
			}
		}
	}
}
