// Package conformance holds kernels that exercise the kernel language, and a test that
// runs each one on every device of the machine with random inputs. It compares the results
// with the same function run as plain Go by kernel.Each.
//
// A case is a kernel with an input and an output slice. Both executions start with the
// same bytes. Integer results must be equal. Floating-point results must be equal bit for
// bit on the simulator, and within a bound per case elsewhere, because Go's own math
// functions differ between processors.
package conformance

//go:generate go tool quern gen
