// Package cpu is the device that runs kernels on all CPU cores.
//
// Its memory is Go memory. Package kernel/host runs kernels that were compiled to Go;
// kernels that exist only as PTX are interpreted, with no checks except their own.
//
// Streams do their work in the calling goroutine: a call returns when the work is done.
// A fault ends its launch and is kept for the next wait. Calls on one stream from
// several goroutines run one at a time.
//
// The limits on grids and blocks are those of CUDA, so a launch that is valid here is
// valid on a GPU.
package cpu
