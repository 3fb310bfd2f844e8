// Package conformance holds kernels that exercise the kernel language, and a
// test that runs each on every device of the machine with random inputs and
// compares with the same function run as plain Go by kernel.Each.
//
// A case is a kernel with an input and an output slice; both executions start
// from the same bytes. Integer results must agree to the bit. Floating-point
// results must agree to the bit on the simulator and within a bound per case
// elsewhere, because Go's own mathematics differs between processors.
package conformance

//go:generate go tool quern gen
