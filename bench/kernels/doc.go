// Package kernels holds the kernels that the benchmarks measure. Each exists
// with bounds checks and, marked unchecked, without; both share one body.
//
// The CUDA C of the same algorithms, for the comparison, is bench/kernels.cu.
package kernels

//go:generate go tool quern gen
