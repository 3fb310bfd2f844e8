package main

import "quern.dev/kernel"

//go:generate go tool quern gen

// mix stores a mix of x's numbers in y.
//
//quern:kernel
func mix(t kernel.Thread, seed uint32, x, y []uint32) {
	if i := t.Global(); i < len(y) {
		y[i] = mixed(x[i], seed, i)
	}
}

// reverse stores the numbers of x in y in reverse order.
//
//quern:kernel
func reverse(t kernel.Thread, x, y []uint32) {
	if i := t.Global(); i < len(y) {
		y[i] = x[len(x)-1-i]
	}
}

// mixed returns a number that depends on every bit of v and on its index.
func mixed(v, seed uint32, i int) uint32 {
	v = (v ^ seed) * 0x9e3779b1
	return v ^ v>>15 + uint32(i)
}
