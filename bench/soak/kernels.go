package main

import "quern.dev/kernel"

//go:generate go tool quern gen

// mix makes other numbers of x's.
//
//quern:kernel
func mix(t kernel.Thread, seed uint32, x, y []uint32) {
	if i := t.Global(); i < len(y) {
		y[i] = mixed(x[i], seed, i)
	}
}

// reverse puts the numbers of x into y from the last to the first.
//
//quern:kernel
func reverse(t kernel.Thread, x, y []uint32) {
	if i := t.Global(); i < len(y) {
		y[i] = x[len(x)-1-i]
	}
}

// mixed depends on every bit of the number and on its place.
func mixed(v, seed uint32, i int) uint32 {
	v = (v ^ seed) * 0x9e3779b1
	return v ^ v>>15 + uint32(i)
}
