package gpu

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"sync/atomic"

	"quern.dev/gpu/internal/goroutines"
	"quern.dev/internal/driver"
	"quern.dev/internal/lease"
	"quern.dev/internal/trace"
)

// Stream is a queue of work for a device, which does the work in order. Work on different
// streams may overlap. A Stream is safe for concurrent use.
//
// On a GPU, functions that add work return at once. On the CPU and the simulator they do
// the work before they return. A program that waits before it reads results behaves the
// same on all devices.
//
// The next wait on a stream reports, once, that a kernel or a called function failed. Waits
// are [Stream.Synchronize], [Device.Synchronize], [Download], [Event.Synchronize] of an
// event of the stream, and Close.
type Stream struct {
	// What a launch reads and writes comes first. A driver's call evicts most of the
	// processor's caches, and each cache line that a launch then loads costs time.
	dev     *Device
	drv     driver.Stream
	lease   lease.Lease
	capture atomic.Pointer[capture] // if set, work is recorded there instead of being done
	gate    gate                    // nil admits all launches
	callers goroutines.Set          // goroutines that run functions of the stream
	history history                 // of launches, for errors of waits and for Device.Stats

	drained  chan struct{} // closed when the stream is closed and its work is done
	unbind   func()        // undoes what bind did to the driver's stream; nil if that was nothing
	priority int
	detached bool                  // see Detached
	failed   atomic.Pointer[error] // error of a called function, until a wait returns it
	called   atomic.Int64          // number of functions that have returned

	asked  tally                         // see Device.Stats
	track  trace.Track                   // in recordings
	values atomic.Pointer[[]streamValue] // see SetValue
}

// NewStream makes a stream. The caller closes it.
//
// ctx bounds the stream's launches. Once it has ended, launches and graphs fail with its
// cause, on all devices. The CPU and the simulator, which run kernels in the caller, also
// stop a running kernel: the launch returns a [*KernelError] of kind [GivenUp], which has
// the position of the kernel and wraps the cause. The device stays usable. On a GPU a
// running kernel continues. ctx does not bound copies and waits.
func (d *Device) NewStream(ctx context.Context, options ...StreamOption) (*Stream, error) {
	ctx = orBackground(ctx)
	if ctx.Err() != nil {
		return nil, driverError("new stream", context.Cause(ctx))
	}
	return d.newStream(ctx, options...)
}

func (d *Device) newStream(ctx context.Context, options ...StreamOption) (*Stream, error) {
	var o streamOptions
	for _, set := range options {
		if set != nil {
			set(&o)
		}
	}
	if err := d.acquire(); err != nil {
		return nil, driverError("new stream", err)
	}
	if o.priority != 0 {
		least, greatest := priorities(d.drv)
		o.priority = min(max(o.priority, least), greatest)
	}
	drv, err := d.drv.NewStream(o.priority)
	if err != nil {
		return nil, errors.Join(driverError("new stream", err), d.release())
	}
	s := &Stream{dev: d, drv: drv, priority: o.priority, detached: o.detached, drained: make(chan struct{})}
	s.track.Process, s.track.Thread = d.id, d.streamName()
	s.bind(ctx)
	d.mu.Lock()
	d.streams = append(d.streams, s)
	d.mu.Unlock()
	if err := d.check(); err != nil {
		return nil, errors.Join(driverError("new stream", err), s.Close())
	}
	return s, nil
}

// streamName returns the name of the next stream in recordings.
func (d *Device) streamName() string {
	if n := d.lastStream.Add(1); n > 1 {
		return "stream " + strconv.FormatInt(n-1, 10)
	}
	return "default stream"
}

// bind limits the launches of the stream by a context.
func (s *Stream) bind(ctx context.Context) {
	i, interrupts := s.drv.(driver.Interrupter)
	if limit := s.dev.launchTimeout; interrupts && limit > 0 {
		i.Limit(limit, fmt.Errorf("Config.LaunchTimeout of %v has passed: %w", limit, context.DeadlineExceeded))
	}
	if ctx.Done() == nil {
		return
	}
	s.gate = bound{ctx}
	if !interrupts {
		return
	}
	told := make(chan struct{})
	stop := context.AfterFunc(ctx, func() {
		i.GiveUp(context.Cause(ctx))
		close(told)
	})
	s.unbind = func() {
		if !stop() {
			<-told
		}
	}
}

// gate admits or refuses the launches of a stream before they are placed.
type gate interface {
	// admit reports whether to run a launch of k, or of the graph that k stands for. If not,
	// the launch returns err.
	admit(k *Kernel) (run bool, err error)
}

// admit calls the stream's gate.
func (s *Stream) admit(k *Kernel) (run bool, err error) {
	if s.gate == nil {
		return true, nil
	}
	return s.gate.admit(k)
}

// bound is the gate of a stream with a context. It refuses launches once the context ends.
type bound struct{ ctx context.Context }

func (b bound) admit(*Kernel) (run bool, err error) {
	if b.ctx.Err() == nil {
		return true, nil
	}
	return false, fmt.Errorf("the context of the stream has ended: %w", context.Cause(b.ctx))
}

// Device returns the device of the stream.
func (s *Stream) Device() *Device {
	if s == nil {
		return nil
	}
	return s.dev
}

// Synchronize waits until all work that was added so far is done, and returns the fault of
// a kernel as [*KernelError]. Cancelling ctx ends the wait, not the work.
func (s *Stream) Synchronize(ctx context.Context) error {
	if err := s.acquire(); err != nil {
		return driverError("synchronize", err)
	}
	defer s.release()
	return s.drain(ctx)
}

// drain is Synchronize of a stream in use. If the stream is recording a graph, drain waits
// for its earlier work.
func (s *Stream) drain(ctx context.Context) error {
	if err := s.await(ctx); err != nil {
		return driverError("synchronize", err)
	}
	return s.fault()
}

// Record records e: e is reached when all work that was added so far is done.
func (s *Stream) Record(e *Event) error {
	c, err := s.enter()
	if err != nil {
		return driverError("record event", err)
	}
	defer s.release()
	return driverError("record event", s.record(e, c))
}

// record is Record of a stream in use. c is its capture, or nil.
func (s *Stream) record(e *Event, c *capture) error {
	if err := e.acquire(s.dev); err != nil {
		return err
	}
	defer e.release()
	if c != nil {
		return c.record(s, e)
	}
	n := s.history.launched.Load()
	if err := s.drv.Record(e.drv); err != nil {
		return err
	}
	e.mark.Store(nil)
	e.launches.Store(n)
	e.stream.Store(s)
	return nil
}

// Wait makes later work begin after e is reached. Wait itself returns at once, unless e is of
// another device and one of the two devices is not a GPU. An event that was never recorded
// counts as reached.
func (s *Stream) Wait(e *Event) error {
	c, err := s.enter()
	if err != nil {
		return driverError("wait for event", err)
	}
	defer s.release()
	return driverError("wait for event", s.wait(e, c))
}

// wait is Wait of a stream in use. c is its capture, or nil.
func (s *Stream) wait(e *Event, c *capture) error {
	if err := e.acquire(nil); err != nil {
		return err
	}
	defer e.release()
	if m := e.mark.Load(); m != nil {
		return m.wait(s, c)
	}
	switch {
	case c != nil && e.stream.Load() == nil:
		return nil
	case c != nil:
		return invalid("the event was not recorded in the graph that the stream is recording")
	case e.dev != s.dev:
		return s.waitPeer(e)
	default:
		return s.drv.Wait(e.drv)
	}
}

// Close waits for the work and releases the stream. It returns the fault of a kernel that no
// wait has returned. Closing again does nothing.
func (s *Stream) Close() error {
	if s == nil || s.dev == nil {
		return nil
	}
	if err := s.notCalled(); err != nil {
		return driverError("close stream", err)
	}
	first, destroy := s.lease.Close()
	if first {
		s.dev.mu.Lock()
		s.dev.streams = slices.DeleteFunc(s.dev.streams, func(o *Stream) bool { return o == s })
		s.countTo(&s.dev.asked)
		s.dev.mu.Unlock()
	}
	if destroy {
		return s.destroy()
	}
	return nil
}

func (s *Stream) destroy() error {
	if s.drv == nil { // a stream that only records
		return s.dev.release()
	}
	if s.unbind != nil {
		s.unbind()
	}
	err := s.drv.Synchronize(context.Background())
	close(s.drained)
	return errors.Join(
		driverError("close stream", err),
		s.fault(),
		driverError("close stream", unlessLost(s.drv.Close())),
		s.dev.release(),
	)
}

// check returns an error if the stream cannot be used.
func (s *Stream) check() error {
	switch {
	case s == nil:
		return invalid("stream is nil")
	case s.dev == nil:
		return invalid("stream was not made by NewStream")
	default:
		return nil
	}
}

// enter begins a use of the stream, which release ends, for work that graphs support. If c
// is not nil, the caller records the work there instead of doing it.
func (s *Stream) enter() (c *capture, err error) {
	if err := s.check(); err != nil {
		return nil, err
	}
	if err := s.notCalled(); err != nil {
		return nil, err
	}
	if !s.lease.Acquire() {
		return nil, s.dev.closedError("stream")
	}
	return s.capture.Load(), nil
}

// acquire begins a use of the stream, which release ends, for operations that graphs do not
// support.
func (s *Stream) acquire() error {
	c, err := s.enter()
	if c != nil {
		s.release()
		return invalid("the stream is recording a graph, and this operation cannot be part of a graph")
	}
	return err
}

func (s *Stream) release() {
	if s.lease.Release() {
		s.destroy() // the error is dropped: Close has already returned
	}
}

// idle reports whether all work of the stream is done.
func (s *Stream) idle() bool {
	if !s.lease.Acquire() {
		return s.isDrained()
	}
	defer s.release()
	if !s.dev.async {
		return true
	}
	i, ok := s.drv.(driver.Idler)
	if !ok {
		return false
	}
	idle, err := i.Idle()
	return idle && err == nil
}

// isDrained reports whether the stream is closed and its work is done.
func (s *Stream) isDrained() bool {
	select {
	case <-s.drained:
		return true
	default:
		return false
	}
}

// fault writes what kernels of the stream have printed, and returns, once, the fault of a
// kernel and the error of a called function.
func (s *Stream) fault() error {
	printed := s.deliver()
	err := s.drv.Fault()
	if f, ok := err.(*driver.Fault); ok {
		err = s.dev.kernelError(f)
	} else {
		err = driverError("read fault record", err)
	}
	called := s.callError()
	if printed != nil || called != nil {
		return errors.Join(printed, called, err)
	}
	return err
}
