package gpu

import "sync/atomic"

// DeviceStats counts what a program has asked of a device since it was opened, whether it
// succeeded or not. The nodes of a graph count as one launch, each time the graph runs.
type DeviceStats struct {
	Launches    uint64 // of kernels and graphs
	Copies      uint64 // and fills
	CopiedBytes uint64 // by these
}

// tally counts the copies and fills of a stream. Its history counts the launches.
type tally struct{ transfers, bytes atomic.Uint64 }

// countTo adds what the stream was asked for.
func (s *Stream) countTo(sum *DeviceStats) {
	sum.Launches += s.history.launched.Load()
	sum.Copies += s.asked.transfers.Load()
	sum.CopiedBytes += s.asked.bytes.Load()
}

// Stats returns the counts of all streams, including those that are closed. It returns zeros
// for a device that was not made by [Open].
func (d *Device) Stats() DeviceStats {
	if !d.opened() {
		return DeviceStats{}
	}
	d.mu.Lock()
	defer d.mu.Unlock()
	s := d.asked
	for _, of := range d.streams {
		of.countTo(&s)
	}
	return s
}
