// Package kernels has the kernels that package parity compares with CUDA C, one
// file a kernel, and each a second time without bounds checks. Saxpy and the
// matrix products are those of bench/kernels.
package kernels

//go:generate go tool quern gen
