package cuda

import (
	"unsafe"

	"quern.dev/internal/driver"
)

// prepareCooperative checks that all blocks of a launch can be resident at once, and
// resets the counter of their barriers to zero.
func (s *stream) prepareCooperative(f *function, l *driver.Frame, shared int) error {
	if err := s.checkCooperative(f, l, shared); err != nil {
		return err
	}
	return s.dev.handles(cuMemsetD32Async, uintptr(s.slot.control+driver.ControlArrivals), 0, 2, s.handle)
}

// checkCooperative checks that all blocks of a launch can be resident at once.
func (s *stream) checkCooperative(f *function, l *driver.Frame, shared int) error {
	var blocks int32
	threads := l.Block.X * l.Block.Y * l.Block.Z
	if err := s.dev.call(cuOccupancyMaxActiveBlocks, uintptr(unsafe.Pointer(&blocks)), f.handle, uintptr(threads), uintptr(shared)); err != nil {
		return err
	}
	return driver.CheckCooperative(l.Blocks(), int(blocks)*s.dev.info.Limits.Multiprocessors)
}
