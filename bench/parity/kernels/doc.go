// Package kernels has the kernels that package parity compares with CUDA C, each with and
// without bounds checks. Saxpy and the matrix products are in bench/kernels.
//
// The kernels of grid.go, paths.go, linear.go, particles.go, mining.go and fft256.go are of
// the kinds found in Rodinia and PolyBench. They are written plainly and must stay that way:
// they measure what the compiler does with kernels that nobody tuned for it.
package kernels

//go:generate go tool quern gen
