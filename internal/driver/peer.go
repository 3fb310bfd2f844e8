package driver

// Peers is implemented by streams of devices that reach the memory of others
// without the program's help. Between all other devices the bytes go through
// host memory.
type Peers interface {
	// CopyPeer copies n bytes from a device to another, one of which is the
	// stream's. It returns [errors.ErrUnsupported] if to or from is of another
	// kind. Free waits for the copy, on both devices.
	CopyPeer(to Device, dst Memory, from Device, src Memory, n int64) error
	// Linked reports whether such copies need no host memory.
	Linked(to, from Device) bool
	// WaitPeer makes later work wait for an event of another device. It reports
	// false if the event is of another kind of device.
	WaitPeer(e Event) (bool, error)
}
