// Package kernels has the kernels that package parity compares with CUDA C, one file per
// kernel, each with and without bounds checks. Saxpy and the matrix products are in
// bench/kernels.
package kernels

//go:generate go tool quern gen
