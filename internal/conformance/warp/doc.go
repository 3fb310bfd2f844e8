// Package warp has kernels whose threads cooperate by more than the barriers of their
// block: all warp operations, on all types and in all kinds of control flow, and grid and
// cluster barriers. Its tests run them on every device of the machine and compare the
// resulting memory with that of kernel.Each.
package warp

//go:generate go tool quern gen
