package main

import "quern.dev/kernel"

//go:generate go tool quern gen

const (
	chains = 8  // of multiply-adds that do not depend on each other
	links  = 16 // of each chain in a round
)

// multiplyAdd does nothing but fused multiply-adds.
//
//quern:kernel block=256 unchecked only=gpu
func multiplyAdd(t kernel.Thread, rounds int, f float32, out []float32) {
	var x [chains]float32
	for k := range chains {
		x[k] = float32(t.ThreadIdx.X + k)
	}
	for range rounds {
		for range links {
			//quern:unroll
			for k := range chains {
				x[k] = kernel.FMA(x[k], f, 1)
			}
		}
	}
	sum := float32(0)
	for _, v := range x {
		sum += v
	}
	out[t.Global()] = sum
}
