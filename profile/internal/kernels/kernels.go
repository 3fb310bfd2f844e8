// Package kernels has the kernels of package profile.
package kernels

import "quern.dev/kernel"

//go:generate go tool quern gen

// spin keeps its threads busy for the given ticks of kernel.Clock: cycles on a GPU,
// nanoseconds on the CPU.
//
//quern:kernel
func spin(t kernel.Thread, ticks int64) {
	for begin := kernel.Clock(); kernel.Clock()-begin < ticks; {
	}
}

// chains is the number of independent multiplications and additions of a thread, which hide
// the latency of each other.
const chains = 8

// rounds is how often a step continues the chains, so that loops take little of the time.
const rounds = 16

// Operations is the number of floating-point operations of a thread of fma32 and fma64 in one
// step.
const Operations = 2 * chains * rounds

// fma32 computes steps of multiplications and additions in registers.
//
//quern:kernel
func fma32(t kernel.Thread, steps int, a float32, out []float32) {
	var x [chains]float32
	for i := range x {
		x[i] = float32(t.ThreadIdx.X + i) // so that each thread computes
	}
	for range steps {
		for range rounds {
			for i := range x {
				x[i] = x[i]*a + a
			}
		}
	}
	sum := float32(0)
	for i := range x {
		sum += x[i]
	}
	if sum == a { // practically never, but the compiler cannot know that
		out[0] = sum
	}
}

// fma64 is fma32 in double precision.
//
//quern:kernel
func fma64(t kernel.Thread, steps int, a float64, out []float64) {
	var x [chains]float64
	for i := range x {
		x[i] = float64(t.ThreadIdx.X + i)
	}
	for range steps {
		for range rounds {
			for i := range x {
				x[i] = x[i]*a + a
			}
		}
	}
	sum := float64(0)
	for i := range x {
		sum += x[i]
	}
	if sum == a {
		out[0] = sum
	}
}

// clockRate measures the clock of a multiprocessor: at[0] is cycles, and at[1] the
// nanoseconds that they took, at least the given number.
//
//quern:kernel
func clockRate(t kernel.Thread, nanoseconds int64, at []int64) {
	if t.Global() > 0 {
		return
	}
	begin, cycles := kernel.GlobalTimer(), kernel.Clock()
	now := begin
	for now-begin < nanoseconds {
		now = kernel.GlobalTimer()
	}
	at[0], at[1] = kernel.Clock()-cycles, now-begin
}
