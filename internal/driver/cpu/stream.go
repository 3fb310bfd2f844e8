package cpu

import (
	"context"
	"errors"
	"time"
	"unsafe"

	"quern.dev/internal/driver"
)

// stream does its work in the caller, one call at a time.
type stream struct {
	// turn holds one value while a call is at work. It is a channel so that a
	// wait for it can be cancelled.
	turn chan struct{}
	driver.Interruptible

	fault  *driver.Fault
	record []byte // fault record of interpreted kernels; see driver.Record

	// control is the block that leads interpreted kernels to the record. It is
	// made of words so that it is aligned.
	control [driver.ControlSize / 8]uint64
	words   [driver.RecordSize / 8]uint64
	printed []uint64 // what interpreted kernels print, nil before the first that does

	messages []driver.Message
	dropped  int
}

func newStream() *stream {
	s := &stream{turn: make(chan struct{}, 1)}
	s.record = unsafe.Slice((*byte)(unsafe.Pointer(&s.words)), driver.RecordSize)
	s.resetControl()
	return s
}

// resetControl makes the control block ready for the next kernel.
func (s *stream) resetControl() {
	// Interpreted kernels get addresses. The stream keeps what they are of, in the heap, which
	// does not move.
	at := uint64(uintptr(unsafe.Pointer(unsafe.SliceData(s.printed))))
	driver.PutControl(s.block(), uint64(uintptr(unsafe.Pointer(&s.words))), at, len(s.printed)*8)
}

func (s *stream) block() []byte {
	return unsafe.Slice((*byte)(unsafe.Pointer(&s.control)), driver.ControlSize)
}

// collect takes over what an interpreted kernel has printed.
func (s *stream) collect() {
	c := driver.ReadControl(s.block())
	s.dropped += c.Dropped
	records := unsafe.Slice((*byte)(unsafe.Pointer(unsafe.SliceData(s.printed))), min(c.Printed, driver.OutputSize))
	s.messages = append(s.messages, driver.Messages(records)...)
	clear(records)
}

func (s *stream) begin() { s.turn <- struct{}{} }
func (s *stream) end()   { <-s.turn }

func (s *stream) Launch(f driver.Function, l *driver.Frame) error {
	select {
	case s.turn <- struct{}{}:
	default:
		select {
		case s.turn <- struct{}{}:
		case <-s.Interrupt.Done():
			return driver.NotBegun(l, s.Interrupt.Cause())
		}
	}
	defer s.end()
	l.Control = uint64(uintptr(unsafe.Pointer(&s.control)))
	err := f.(function).run(s, l)
	fault, ok := errors.AsType[*driver.Fault](err)
	if !ok || fault.Cause != nil {
		return err
	}
	if s.fault == nil {
		s.fault = fault
	}
	return nil
}

func (s *stream) CopyIn(dst driver.Memory, src unsafe.Pointer, n int64) error {
	s.move(dst.Host, src, n)
	return nil
}

func (s *stream) CopyOut(dst unsafe.Pointer, src driver.Memory, n int64) error {
	s.move(dst, src.Host, n)
	return nil
}

func (s *stream) Copy(dst, src driver.Memory, n int64) error {
	s.move(dst.Host, src.Host, n)
	return nil
}

func (s *stream) move(dst, src unsafe.Pointer, n int64) {
	s.begin()
	defer s.end()
	copy(unsafe.Slice((*byte)(dst), n), unsafe.Slice((*byte)(src), n)) // package gpu has checked n against both, and elements have no pointers
}

func (s *stream) Fill(dst driver.Memory, pattern []byte, count int64) error {
	s.begin()
	defer s.end()
	to := unsafe.Slice((*byte)(dst.Host), count*int64(len(pattern)))
	for done := copy(to, pattern); done < len(to); done *= 2 {
		copy(to[done:], to[:done])
	}
	return nil
}

func (s *stream) Record(e driver.Event) error {
	s.begin()
	defer s.end()
	e.(*driver.Timestamp).Set(time.Now())
	return nil
}

func (s *stream) Wait(driver.Event) error { return nil }

func (s *stream) Synchronize(ctx context.Context) error {
	if err := ctx.Err(); err != nil {
		return err
	}
	select {
	case s.turn <- struct{}{}:
		<-s.turn
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}

func (s *stream) Fault() error {
	s.begin()
	defer s.end()
	f := s.fault
	if f == nil {
		return nil
	}
	s.fault = nil
	return f
}

func (s *stream) Faulted() bool {
	s.begin()
	defer s.end()
	return s.fault != nil
}

func (s *stream) Output() ([]driver.Message, int, error) {
	s.begin()
	defer s.end()
	messages, dropped := s.messages, s.dropped
	s.messages, s.dropped = nil, 0
	return messages, dropped, nil
}

func (s *stream) Close() error { return nil }
