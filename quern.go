// Package quern is the root of Quern: GPU computing for Go.
//
// Write a kernel as a Go function, let quern gen compile it, and run the same
// binary on an NVIDIA GPU, on all CPU cores, or on a simulator that finds data
// races and out-of-bounds accesses. Programs import two packages:
//
//   - quern.dev/kernel: what a kernel may use;
//   - quern.dev/gpu: devices, streams, buffers and launches.
//
// The command quern.dev/cmd/quern generates, checks and diagnoses.
package quern

import "embed"

// KernelSource is the source of package kernel, against which the compiler
// type-checks kernels, also where no Go installation is at hand.
//
//go:embed kernel/*.go
var KernelSource embed.FS
