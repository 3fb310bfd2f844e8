// Package cuda is the device driver for NVIDIA GPUs. It calls NVIDIA's driver library,
// which it opens at run time: libcuda.so.1 on Linux, nvcuda.dll on Windows. Other
// systems are not supported. No part of the CUDA toolkit is needed.
//
// A device implements every capability of package driver except driver.Forgetter, since
// a GPU does not track what was written, and those of streams that work in the calling
// goroutine (driver.Interrupter, driver.InlineLauncher). A feature that an older driver
// or GPU lacks returns an error or has a slower implementation. Each file looks up the
// optional functions of its subject.
//
// # Calls
//
// The library is a [Library], a table of functions by name, so that tests can
// substitute their own (package fakecuda). Required functions are looked up when the
// library is opened.
//
// CUDA keeps the current context per operating-system thread, and goroutines move
// between threads. So a call locks its goroutine to the thread, makes the device's
// context current (about 0.1 us), calls the function, and unlocks. A launch does so
// only if the driver asks for it, which current drivers do not. A launch never crosses
// to another thread or goroutine. A cancellable wait polls briefly and then waits in a
// goroutine. After a cancelled wait, this goroutine runs until the work is done.
//
// The context is the device's primary context, which CUDA's runtime library and PyTorch
// use too.
//
// # Pointers to Go memory
//
// The driver sees three kinds of Go memory. Go does not move or free any of them while
// the driver can access them. Arguments of api.call and device.call are converted to
// uintptr in the argument list, so the compiler moves them to the heap and keeps them
// alive until the call returns. Memory that a call reaches through a table of words
// (options of the JIT, parameters of nodes) is pinned with a runtime.Pinner during the
// call. A launch's arguments are in a driver.Frame on the heap, which is kept alive
// until the launch call has copied them. The driver keeps no pointer to Go memory after
// a call returns, except to memory passed to RegisterHost: its owner in package gpu
// holds that memory until UnregisterHost. Everything else that outlives a call (fault
// records, event words, staging memory) is allocated by the driver.
//
// # Memory
//
// Copies from and to Go memory are pageable copies: CUDA stages them through its own
// pinned memory. A copy to the device returns once the source is staged; if the GPU
// reads pageable memory directly, the call waits for the copy. Package gpu stages large
// copies itself in page-locked memory from cuMemHostAlloc. That memory, and memory
// registered with cuMemHostRegister, can be used in all contexts.
//
// Pools use the driver's stream-ordered allocator (CUDA 11.2; pool.go); on older
// drivers they use cuMemAlloc and cuMemFree. Managed memory and its hints are in
// managed.go. GPUs that can access each other's memory copy directly (peer.go), and
// other processes open memory by its handle (ipc.go).
//
// Every stream has a control block in device memory, and a fault record in pinned
// memory that the device writes and the host reads without a copy; see package driver.
// When a stream is closed, both are kept for later streams.
//
// # Persistent kernels
//
// Some driver functions wait until no kernel runs in the context. The package ends
// persistent kernels around these functions (persistent.go). It creates streams and
// reserves local memory in advance, because both would also wait.
//
// # Graphs
//
// A graph is built with the driver's node functions and not by capturing a stream, so
// that other threads cannot interfere. The kernels of a graph report to a control block
// of the graph; streams that have run the graph read its fault and output. Cooperative
// launches share the counter in that block, so they run one after another, each behind
// a node that clears the counter. Data written from Go memory is stored in device
// memory that the graph owns. Conditions are set by a kernel that calls the driver's
// device function cudaGraphSetConditional, which the driver links when it compiles the
// PTX. The kernel sets all conditions to zero once a kernel of the graph has failed.
package cuda
