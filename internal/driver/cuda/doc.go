// Package cuda is the device driver for NVIDIA GPUs. It calls NVIDIA's driver
// library, which is opened at run time: libcuda.so.1 on Linux, nvcuda.dll on
// Windows. There is none on other systems, and no part of the CUDA toolkit is
// needed.
//
// A device implements every capability of package driver but those of streams that
// work in their caller (driver.Interrupter, driver.InlineLauncher). What an older
// driver or GPU lacks is an error or has a slower form; the file of each subject looks
// up the functions that it can do without.
//
// # Calls
//
// The library is a [Library], a table of functions by name, so that tests can
// put one of their own in its place (package fakecuda). The functions that the package
// cannot do without are looked up when the library is opened.
//
// CUDA keeps the current context for each operating-system thread, and
// goroutines move between threads. So a call locks its goroutine to the thread,
// makes the device's context current (about 0.1 us), calls, and unlocks. A launch
// does so only if the driver asks for it, which today's do not. A launch never
// crosses to another thread or goroutine. A wait that can be cancelled polls for a
// short time and then waits in a goroutine, which outlives a cancelled wait until the
// work is done.
//
// The context is the device's primary one, which CUDA's runtime library and
// PyTorch use too.
//
// # Pointers to Go memory
//
// The driver sees three kinds of Go memory, and Go neither moves nor frees any of them
// while the driver can. Arguments of api.call and device.call are converted to uintptr in
// the argument list, so the compiler moves them to the heap and keeps them alive until the
// call returns. What a call finds through a table of words (options of the JIT, parameters of
// nodes) is pinned with a runtime.Pinner for as long. A launch's arguments are in a
// driver.Frame on the heap, which is kept alive until the launch call has copied them.
// The driver keeps no pointer to Go memory after a call returns, except to memory that
// RegisterHost was given: its owner in package gpu holds it until UnregisterHost.
// Everything else that outlives a call (fault records, event words, staging memory) is
// allocated by the driver.
//
// # Memory
//
// Copies from and to Go memory are those of pageable memory: CUDA stages them
// through pinned memory of its own. A copy to the device returns once the source
// is staged, except where the GPU reads pageable memory itself, where it waits
// for the copy. Package gpu stages large copies itself, in page-locked memory of
// cuMemHostAlloc; that and memory of cuMemHostRegister can be used in all contexts.
//
// Pools are the driver's stream-ordered allocator (CUDA 11.2; pool.go); older drivers
// have pools over cuMemAlloc and cuMemFree. Managed memory and hints about it are in
// managed.go. GPUs that can reach each other's memory copy directly (peer.go), and
// other processes open memory by its handle (ipc.go).
//
// Every stream has a control block in device memory and a fault record in
// pinned memory that the device writes and the host reads without a copy; see
// package driver. They are kept for later streams when the stream is closed.
//
// # Persistent kernels
//
// Some driver functions wait until no kernel runs in the context. The package ends
// persistent kernels around these (persistent.go), and makes streams and room for
// local memory in advance, which also would wait.
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
package cuda
