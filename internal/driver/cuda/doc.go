// Package cuda is the device driver for NVIDIA GPUs. It calls NVIDIA's driver
// library, which is opened at run time: libcuda.so.1 on Linux, nvcuda.dll on
// Windows. There is none on other systems, and no part of the CUDA toolkit is
// needed.
//
// # Calls
//
// The library is a [Library], a table of functions by name, so that tests can
// put one of their own in its place. The functions that the package cannot do
// without are looked up when the library is opened.
//
// CUDA keeps the current context for each operating-system thread, and
// goroutines move between threads. So a call locks its goroutine to the thread,
// makes the device's context current (about 0.1 us), calls, and unlocks. A launch
// does so only if the driver asks for it, which today's do not. There is no
// thread or goroutine of the package's own in the way of a launch. A wait that
// can be cancelled polls for a short time and then waits in a goroutine, which
// outlives a cancelled wait until the work is done.
//
// The context is the device's primary one, which CUDA's runtime library and
// PyTorch use too.
//
// # Memory
//
// Copies from and to Go memory are those of pageable memory: CUDA stages them
// through pinned memory of its own. A copy to the device returns once the source
// is staged, except where the GPU reads pageable memory itself, where it waits
// for the copy. Package gpu stages large copies itself, in page-locked memory of
// cuMemHostAlloc; that and memory of cuMemHostRegister can be used in all contexts.
//
// Every stream has a control block in device memory and a fault record in
// pinned memory that the device writes and the host reads without a copy; see
// package driver. They are kept for later streams when the stream is closed.
//
// # Graphs
//
// A graph is made with the driver's functions for nodes, not by capturing a
// stream, so that it does not matter what other threads do meanwhile. Its kernels
// report to a control block of the graph's own, whose fault and output the streams
// look at that have run it. Cooperative launches share the counter in it, so they
// follow each other, each behind a node that clears it. What a graph writes from
// Go memory is in device memory of the graph's. Conditions are set by a kernel
// that calls the driver's device function cudaGraphSetConditional, which the
// driver links when it compiles the PTX; the kernel sets them to zero once a
// kernel of the graph has failed.
//
// # What it does not do
//
// There are no memory pools, peer access or managed memory.
package cuda
