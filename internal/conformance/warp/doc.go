// Package warp has kernels whose threads work together beyond their block's
// barriers: warp operations of all kinds on all types, in all shapes of control
// flow that they can stand in. Its tests run them on every device of the machine
// and compare what they leave in memory with kernel.Each.
package warp

//go:generate go tool quern gen
