// Parity compares Quern's kernels with the same algorithms in CUDA C, compiled by NVRTC
// with default options, on one GPU in one process:
//
//	sh bench/build      # where Go is; writes .gpu/
//	.gpu/run-parity     # where the GPU and NVRTC are
//
// Every kernel is checked first: at a small size against hand-written Go, and at the
// measured size against the CUDA C. Then the three versions (CUDA C, checked, unchecked)
// take turns on the same arrays with the same blocks.
//
// Package kernels has the kernels, package twins the CUDA C, package byhand the
// hand-written Go, and package suite the launches. The program cpu compares the CPU device
// with the hand-written Go.
package main
