package driver

// HostCaller is a stream that calls Go functions in its order.
type HostCaller interface {
	// CallHost runs f when the work so far is done; later work begins after f has
	// returned. It may return before f runs. f does not panic, and does not use
	// the device. If the device fails, f does not run.
	CallHost(f func()) error
}
