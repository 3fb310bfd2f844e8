// Package kernels holds the kernels that the benchmarks measure. Each exists with bounds
// checks and, with the suffix Unchecked, without. Both share one body.
//
// The same algorithms in CUDA C, for comparison, are in bench/kernels.cu.
package kernels

//go:generate go tool quern gen
