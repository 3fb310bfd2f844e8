// Package sim is the device that interprets a kernel's PTX, the code that GPUs run, and
// checks what it does: accesses outside allocations, misaligned accesses, data races,
// divergent barriers, reads of uninitialized memory, and kernels that do not end. Its
// results are deterministic.
//
// Its memory is separate from Go's, so that addresses mean what they mean on a GPU.
// Blocks run one after another. Streams do their work in the calling goroutine, and the
// whole device does one thing at a time.
//
// A failed check of the kernel stops the thread, as on a GPU. A fault found by the
// simulator ends the launch; memory keeps what the kernel wrote before.
package sim
