package driver

// InlineLauncher is a stream of a device that runs kernels in the goroutine that
// asks for it.
type InlineLauncher interface {
	// NewInline prepares launches of f, for a grid of one block. They use the frame,
	// whose values may be changed between them, and do not wait for the stream.
	NewInline(f Function, l *Frame) (Inline, error)
}

// Inline is a launch of one block that is kept to be run again and again.
type Inline interface {
	// Run runs the block and returns what stopped it, as [*Fault], or the cause if
	// it was cancelled. What it printed is in the stream's output. One goroutine at
	// a time may run it.
	Run() error
	// Running reports whether the block runs: Run may wait for its turn first.
	Running() bool
	// Cancel ends the run soon, if the device can.
	Cancel(cause error)
}
