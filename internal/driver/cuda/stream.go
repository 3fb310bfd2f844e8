package cuda

import (
	"context"
	"encoding/binary"
	"errors"
	"runtime"
	"sync"
	"time"
	"unsafe"

	"quern.dev/internal/driver"
)

// streamNonBlocking makes a stream independent of CUDA's legacy default stream.
const streamNonBlocking = 1

// stream is a CUDA stream.
type stream struct {
	dev      *device
	handle   uintptr // CUstream
	priority int
	slot     faultSlot
	waits    sync.WaitGroup // goroutines of cancelled waits
	output   output
	peer     peerMark

	replays replays
	calls   calls
}

func (s *stream) Launch(fn driver.Function, l *driver.Frame) error {
	f := fn.(*function)
	if f.prints {
		return s.launchPrinting(func() error { return s.launch(f, l) })
	}
	return s.launch(f, l)
}

func (s *stream) launch(f *function, l *driver.Frame) error {
	shared := l.Shared + f.placed
	if shared > 0 {
		if err := f.allowShared(shared); err != nil {
			return err
		}
	}
	l.Control = s.slot.control
	launch, count := cuLaunchKernel, 11
	if f.cooperative {
		if err := s.prepareCooperative(f, l, shared); err != nil {
			return err
		}
		launch, count = cuLaunchCooperativeKernel, 10
	}
	args := l.Call[:count]
	args[0] = f.handle
	l.Stated = uint32(l.Grid.X)
	extent(args[1:], l.Blocks())
	extent(args[4:], l.Block)
	args[7], args[8] = uintptr(shared), s.handle
	args[9], l.Call[10] = uintptr(unsafe.Pointer(unsafe.SliceData(l.Params))), 0

	// Current drivers find the context through the handles, whatever context is current
	// on this thread. A driver that does not has launched nothing.
	a, last := s.dev.api, launch
	r := a.lib.Call(a.addr[launch], args)
	if r == errInvalidContext || r == errInvalidHandle {
		last, r = s.dev.within(launch, args...)
	}
	runtime.KeepAlive(l)
	return a.check(last, r)
}

func (s *stream) CopyIn(dst driver.Memory, src unsafe.Pointer, n int64) error {
	err := s.dev.call(cuMemcpyHtoDAsync, uintptr(dst.Addr), uintptr(src), uintptr(n), s.handle)
	if err == nil && s.dev.info.DirectHost {
		err = s.dev.handles(cuStreamSynchronize, s.handle)
	}
	runtime.KeepAlive(src)
	return err
}

func (s *stream) CopyOut(dst unsafe.Pointer, src driver.Memory, n int64) error {
	err := s.dev.call(cuMemcpyDtoHAsync, uintptr(dst), uintptr(src.Addr), uintptr(n), s.handle)
	if err == nil {
		err = s.dev.handles(cuStreamSynchronize, s.handle)
	}
	runtime.KeepAlive(dst)
	return err
}

func (s *stream) Copy(dst, src driver.Memory, n int64) error {
	return s.dev.handles(cuMemcpyDtoDAsync, uintptr(dst.Addr), uintptr(src.Addr), uintptr(n), s.handle)
}

func (s *stream) Record(e driver.Event) error {
	return s.dev.handles(cuEventRecord, e.(*event).handle, s.handle)
}

func (s *stream) Wait(e driver.Event) error {
	return s.dev.handles(cuStreamWaitEvent, s.handle, e.(*event).handle, 0)
}

func (s *stream) Synchronize(ctx context.Context) error {
	return s.dev.wait(ctx, &s.waits, cuStreamSynchronize, cuStreamQuery, s.handle)
}

func (s *stream) Close() error {
	s.waits.Wait()
	s.closeReplays()
	err := errors.Join(s.closeOutput(), s.closePeer(), s.calls.close(s.dev))
	s.dev.putSlot(s.slot)
	return errors.Join(err, s.dev.putHandle(s.priority, s.handle))
}

// event is a CUDA event.
type event struct {
	dev    *device
	handle uintptr        // CUevent
	waits  sync.WaitGroup // goroutines of cancelled waits
}

func (d *device) NewEvent(timed bool) (driver.Event, error) {
	flags := uintptr(eventDisableTiming)
	if timed {
		flags = 0
	}
	e := &event{dev: d}
	err := d.call(cuEventCreate, uintptr(unsafe.Pointer(&e.handle)), flags)
	return e, err
}

func (e *event) Synchronize(ctx context.Context) error {
	return e.dev.wait(ctx, &e.waits, cuEventSynchronize, cuEventQuery, e.handle)
}

func (e *event) Done() (bool, error) { return e.dev.query(cuEventQuery, e.handle) }

func (e *event) Since(start driver.Event) (time.Duration, error) {
	var ms float32
	err := e.dev.call(cuEventElapsedTime, uintptr(unsafe.Pointer(&ms)), start.(*event).handle, e.handle)
	return time.Duration(float64(ms) * float64(time.Millisecond)), err
}

func (e *event) Close() error {
	e.waits.Wait()
	return e.dev.handles(cuEventDestroy, e.handle)
}

// pollFor is how long a cancellable wait polls before it leaves the wait to a
// goroutine: about as long as a short kernel runs.
const pollFor = 100 * time.Microsecond

// wait waits for a stream or an event. If ctx is cancelled, a goroutine keeps waiting;
// running counts it.
func (d *device) wait(ctx context.Context, running *sync.WaitGroup, synchronize, query symbol, handle uintptr) error {
	if err := ctx.Err(); err != nil {
		return err
	}
	if ctx.Done() == nil {
		return d.handles(synchronize, handle)
	}
	for until := time.Now().Add(pollFor); ; {
		if done, err := d.query(query, handle); done || err != nil {
			return err
		}
		if err := ctx.Err(); err != nil {
			return err
		}
		if time.Now().After(until) {
			break
		}
	}
	result := make(chan error, 1)
	running.Go(func() { result <- d.handles(synchronize, handle) })
	select {
	case err := <-result:
		return err
	case <-ctx.Done():
		return ctx.Err()
	}
}

func (d *device) query(query symbol, handle uintptr) (bool, error) {
	last, r := d.within(query, handle)
	if int32(r) == errNotReady {
		return false, nil
	}
	return r == success, d.api.check(last, r)
}

// seedSize is how much of a long pattern is copied from the host at once.
const seedSize = 64 << 10

func (s *stream) Fill(dst driver.Memory, pattern []byte, count int64) error {
	if unit := smallestUnit(pattern); unit > 0 {
		pattern, count = pattern[:unit], count*int64(len(pattern)/unit)
	}
	d, at, n := s.dev, uintptr(dst.Addr), uintptr(count)
	switch len(pattern) {
	case 1:
		return d.handles(cuMemsetD8Async, at, uintptr(pattern[0]), n, s.handle)
	case 2:
		return d.handles(cuMemsetD16Async, at, uintptr(binary.LittleEndian.Uint16(pattern)), n, s.handle)
	case 4:
		return d.handles(cuMemsetD32Async, at, uintptr(binary.LittleEndian.Uint32(pattern)), n, s.handle)
	}
	total := count * int64(len(pattern))
	first := seed(pattern, total)
	if err := s.CopyIn(dst, unsafe.Pointer(unsafe.SliceData(first)), int64(len(first))); err != nil {
		return err
	}
	for done := int64(len(first)); done < total; done *= 2 {
		if err := s.Copy(dst.Offset(done), dst, min(done, total-done)); err != nil {
			return err
		}
	}
	return nil
}

// seed returns what a fill of total bytes copies from the host.
func seed(pattern []byte, total int64) []byte {
	seed := make([]byte, 0, min(total, max(seedSize, int64(len(pattern)))))
	for len(seed)+len(pattern) <= cap(seed) {
		seed = append(seed, pattern...)
	}
	return seed
}

// smallestUnit returns the size of the piece that CUDA can repeat to make the pattern:
// 4, 2 or 1 bytes, or 0 if there is none.
func smallestUnit(pattern []byte) int {
	for _, unit := range []int{4, 2, 1} {
		if len(pattern)%unit == 0 && repeats(pattern, unit) {
			return unit
		}
	}
	return 0
}

func repeats(pattern []byte, unit int) bool {
	for i := unit; i < len(pattern); i++ {
		if pattern[i] != pattern[i-unit] {
			return false
		}
	}
	return true
}
