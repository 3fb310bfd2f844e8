package driver

// HostCalls is a part of [Stream].
type HostCalls interface {
	// Call runs f when the work so far is done; later work begins after f has
	// returned. It may return before f runs. f does not panic, and does not use
	// the device. If the device fails, f does not run.
	Call(f func()) error
}
