// Package sim is the device that interprets a kernel's PTX, the code that GPUs
// run, and checks what it does: accesses outside of allocations, misaligned
// accesses, data races, divergent barriers, reads of memory that was never
// written, and kernels that do not end. It gives the same answer every time.
//
// Its memory is apart from Go's, so that addresses mean what they mean on a GPU.
// Blocks run one after another. Streams do their work at once, in the goroutine
// that asks for it, and the whole device does one thing at a time.
//
// What a kernel's own checks find stops the thread, as on a GPU. What the
// simulator finds ends the launch; what the kernel has written by then stays
// written.
package sim
