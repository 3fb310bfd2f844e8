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
// for the copy.
//
// Every stream has a control block in device memory and a fault record in
// pinned memory that the device writes and the host reads without a copy; see
// package driver. They are kept for later streams when the stream is closed.
//
// # What it does not do
//
// There are no memory pools, graphs, peer access or managed memory.
package cuda
