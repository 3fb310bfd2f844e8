// Package bench compares Quern with its peers. It is programs and scripts:
//
//	bench/build       builds all that a GPU machine needs into .gpu/
//	bench/run         runs it there, beside CuPy, numba-cuda and CUDA C, and
//	                  prints one table; needs Python with CuPy and numba-cuda,
//	                  but no Go
//	go run ./bench/cpu
//	                  compares the CPU device with parallel Go by hand
//
// The generated files of the kernels are not in the repository. bench/build generates
// them; before go run, write them once with
//
//	go run ./internal/overlay/cmd -write
//
// Package parity compares many kernels of different kinds with CUDA C, and its
// program cpu with Go by hand.
//
// The kernels are in bench/kernels, the same algorithms in CUDA C in
// bench/kernels.cu. Every result is checked before it is timed: inputs are
// random, outputs are poisoned, and the reference is computed in float64.
package bench
