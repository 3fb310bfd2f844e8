package driver

// InlineLauncher is a stream of a device that runs kernels in the calling goroutine.
type InlineLauncher interface {
	// NewInline prepares launches of f with a grid of one block. They use the frame,
	// whose values may change between launches, and do not wait for the stream.
	NewInline(f Function, l *Frame) (Inline, error)
}

// Inline is a launch of one block that can be run repeatedly.
type Inline interface {
	// Run runs the block. It returns what stopped the block as [*Fault], or the cause
	// if it was cancelled. Printed messages go to the stream's output. Only one
	// goroutine at a time may call Run.
	Run() error
	// Running reports whether the block is running. Run may first wait for its turn.
	Running() bool
	// Cancel ends the run soon if the device supports it.
	Cancel(cause error)
}
