package driver

// NativeDevice is implemented by devices that other libraries of the same vendor can use.
type NativeDevice interface {
	// Native calls f on an OS thread on which the libraries find the device, while no
	// persistent kernel runs.
	Native(f func() error) error
}

// NativeStream is implemented by the streams of a NativeDevice.
type NativeStream interface {
	// Handle returns the handle of the stream in the driver.
	Handle() uintptr
}
