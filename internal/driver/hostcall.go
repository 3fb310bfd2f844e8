package driver

// HostCaller is a stream that calls Go functions in stream order.
type HostCaller interface {
	// CallHost runs f when earlier work is done; later work begins after f has
	// returned. CallHost may return before f runs. f must not panic or use the device.
	// If the device fails, f does not run.
	CallHost(f func()) error
}
