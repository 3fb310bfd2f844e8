// Package cpu is the device that runs kernels on all cores of the processor.
//
// Its memory is Go's. A kernel that was compiled to Go is run by package
// kernel/host; one that exists as PTX alone is interpreted, without checks other
// than its own.
//
// Streams do their work at once, in the goroutine that asks for it: a call
// returns when the work is done, and a fault, which ends its launch, is kept for
// the next wait. Work on one stream from several goroutines is done in turn.
//
// The limits on grids and blocks are those of CUDA, so that a launch that is
// valid here is valid on a GPU.
package cpu
