// Parity compares Quern's kernels with the same algorithms in CUDA C, compiled
// by NVRTC with default options, on one GPU in one process:
//
//	sh bench/build      # where Go is; writes .gpu/
//	.gpu/run-parity     # where the GPU and NVRTC are
//
// Every kernel is checked first: at a small size against hand-written Go, at the
// measured size against the CUDA C. Then the three (CUDA C, checked, unchecked)
// take turns on the same arrays with the same blocks.
//
// The kernels are in package kernels, CUDA C in package twins, hand-written Go
// in package byhand, what is launched in package suite. The program cpu compares
// the CPU device with the hand-written Go.
package main
