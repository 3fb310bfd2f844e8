package driver

// Peers is implemented by streams of devices that access each other's memory directly.
// Copies between all other devices go through host memory.
type Peers interface {
	// CopyPeer copies n bytes from one device to another; one of the two is the
	// stream's. It returns [errors.ErrUnsupported] if to or from is of another kind.
	// Free on either device waits for the copy.
	CopyPeer(to Device, dst Memory, from Device, src Memory, n int64) error
	// Linked reports whether such copies bypass host memory.
	Linked(to, from Device) bool
	// WaitPeer makes later work wait for an event of another device. It returns false
	// if the event belongs to another kind of device.
	WaitPeer(e Event) (bool, error)
}
