package cuda

import (
	"errors"
	"maps"
	"slices"
	"sync"
	"unsafe"

	"quern.dev/internal/driver"
)

var (
	cuDeviceCanAccessPeer = optional("cuDeviceCanAccessPeer")
	cuCtxEnablePeerAccess = optional("cuCtxEnablePeerAccess")
	cuMemcpyPeerAsync     = optional("cuMemcpyPeerAsync")
)

var _ driver.Peers = (*stream)(nil)

// errPeerAccessEnabled is the result code of enabling access a second time.
const errPeerAccessEnabled = 704

// peers is a device's state for copies from and to other devices.
type peers struct {
	mu sync.Mutex
	// linked says whether this GPU and another can access each other's memory.
	linked map[*device]bool
	// copying holds streams of other GPUs that have copied from or to memory of this
	// GPU since it last waited for them.
	copying map[*stream]struct{}
}

// CopyPeer copies between GPUs. If they are not linked, the driver stages the copy in
// host memory.
func (s *stream) CopyPeer(to driver.Device, dst driver.Memory, from driver.Device, src driver.Memory, n int64) error {
	a, okA := to.(*device)
	b, okB := from.(*device)
	if !okA || !okB || a.api.lib != b.api.lib || !s.dev.api.has(cuMemcpyPeerAsync) {
		return errors.ErrUnsupported
	}
	if a.context == b.context {
		return s.Copy(dst, src, n)
	}
	if _, err := a.link(b); err != nil {
		return err
	}
	err := s.dev.handles(cuMemcpyPeerAsync, uintptr(dst.Addr), a.context, uintptr(src.Addr), b.context, uintptr(n), s.handle)
	if err != nil {
		return err
	}
	other := a
	if a.context == s.dev.context {
		other = b
	}
	return other.copiedBy(s)
}

// Linked reports whether the GPUs can access each other's memory.
func (s *stream) Linked(to, from driver.Device) bool {
	a, okA := to.(*device)
	b, okB := from.(*device)
	if !okA || !okB || a.api.lib != b.api.lib {
		return false
	}
	linked, err := a.link(b)
	return err == nil && linked
}

// link lets the two GPUs access each other's memory if possible.
func (d *device) link(o *device) (bool, error) {
	if d.context == o.context {
		return true, nil
	}
	d.peers.mu.Lock()
	defer d.peers.mu.Unlock()
	if linked, known := d.peers.linked[o]; known {
		return linked, nil
	}
	there, err := d.enable(o)
	if err != nil {
		return false, err
	}
	back, err := o.enable(d)
	if err != nil {
		return false, err
	}
	if d.peers.linked == nil {
		d.peers.linked = make(map[*device]bool)
	}
	d.peers.linked[o] = there && back
	return there && back, nil
}

// enable lets d access the memory of o if possible.
func (d *device) enable(o *device) (bool, error) {
	if !d.api.has(cuDeviceCanAccessPeer, cuCtxEnablePeerAccess) {
		return false, nil
	}
	var can int32
	if err := d.call(cuDeviceCanAccessPeer, uintptr(unsafe.Pointer(&can)), uintptr(d.handle), uintptr(o.handle)); err != nil {
		return false, err
	}
	if can == 0 {
		return false, nil
	}
	var last symbol
	var r uintptr
	err := d.Apart(waitsForAll[cuCtxEnablePeerAccess], func() error {
		last, r = d.within(cuCtxEnablePeerAccess, o.context, 0)
		return nil
	})
	if err != nil {
		return false, err
	}
	if r == success || last == cuCtxEnablePeerAccess && int32(r) == errPeerAccessEnabled {
		return true, nil
	}
	return false, d.api.check(last, r)
}

// copiedBy records that a stream of another GPU uses memory of d: freeing memory waits
// only for the work of its own GPU.
func (d *device) copiedBy(s *stream) error {
	if err := s.markPeer(); err != nil {
		return err
	}
	d.peers.mu.Lock()
	defer d.peers.mu.Unlock()
	if d.peers.copying == nil {
		d.peers.copying = make(map[*stream]struct{})
	}
	d.peers.copying[s] = struct{}{}
	return nil
}

// awaitPeers waits for copies queued on streams of other GPUs. A lost GPU no longer
// copies.
func (d *device) awaitPeers() error {
	d.peers.mu.Lock()
	streams := slices.Collect(maps.Keys(d.peers.copying))
	clear(d.peers.copying)
	d.peers.mu.Unlock()
	var errs []error
	for _, s := range streams {
		if err := s.awaitPeer(); !errors.Is(err, driver.ErrDeviceLost) {
			errs = append(errs, err)
		}
	}
	return errors.Join(errs...)
}

// peerMark is the event after a stream's last copy between GPUs.
type peerMark struct {
	mu    sync.Mutex
	event uintptr // CUevent, 0 before the first copy and after Close
}

func (s *stream) markPeer() error {
	s.peer.mu.Lock()
	defer s.peer.mu.Unlock()
	if s.peer.event == 0 {
		if err := s.dev.call(cuEventCreate, uintptr(unsafe.Pointer(&s.peer.event)), eventDisableTiming); err != nil {
			return err
		}
	}
	return s.dev.handles(cuEventRecord, s.peer.event, s.handle)
}

func (s *stream) awaitPeer() error {
	s.peer.mu.Lock()
	defer s.peer.mu.Unlock()
	if s.peer.event == 0 {
		return nil // closed; closing waited for the work
	}
	return s.dev.handles(cuEventSynchronize, s.peer.event)
}

func (s *stream) closePeer() error {
	s.peer.mu.Lock()
	defer s.peer.mu.Unlock()
	if s.peer.event == 0 {
		return nil
	}
	event := s.peer.event
	s.peer.event = 0
	return s.dev.handles(cuEventDestroy, event)
}

// eventDisableTiming creates a cheaper event without timing (CU_EVENT_DISABLE_TIMING).
const eventDisableTiming = 2

// WaitPeer makes the stream wait for an event of another GPU.
func (s *stream) WaitPeer(e driver.Event) (bool, error) {
	o, ok := e.(*event)
	if !ok || o.dev.api.lib != s.dev.api.lib {
		return false, nil
	}
	return true, s.Wait(e)
}
