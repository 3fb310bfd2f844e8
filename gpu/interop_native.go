package gpu

import (
	"errors"
	"fmt"
	"slices"
	"sync"

	"quern.dev/gpu/compiled"
	"quern.dev/internal/driver"
	"quern.dev/internal/trace"
)

// Native is a call of another CUDA library, such as cuBLASLt, on a stream:
//
//	n, err := gpu.OpenNative(s, "cublasLtMatmul")
//	if err != nil {
//		return err
//	}
//	defer n.Close()
//	a, c := gpu.Address(n, bufferA, false), gpu.Address(n, bufferC, true)
//	return n.Run(func() error { return matmul(a, c, n.Stream()) })
//
// Until Close, the buffers keep their memory, and the work is ordered after other work on
// them. A Native is for one goroutine.
type Native struct {
	stream *Stream
	name   string
	handle uintptr
	held   []*memory
	err    error
}

var natives = sync.Pool{New: func() any { return new(Native) }}

// OpenNative begins a call on s, which is the stream of a GPU and is not recording a graph.
// Otherwise the error matches errors.ErrUnsupported. name appears in recordings and in errors
// of waits.
func OpenNative(s *Stream, name string) (*Native, error) {
	c, err := s.enter()
	if err != nil {
		return nil, driverError(name, err)
	}
	drv, ok := s.drv.(driver.NativeStream)
	switch {
	case c != nil:
		err = fmt.Errorf("%w: the stream is recording a graph, which cannot hold calls of other libraries", errors.ErrUnsupported)
	case !ok:
		err = notNative(s.dev)
	}
	if err != nil {
		s.release()
		return nil, driverError(name, err)
	}
	n := natives.Get().(*Native)
	n.stream, n.name, n.handle = s, name, drv.Handle()
	return n, nil
}

// Stream returns the CUstream.
func (n *Native) Stream() uintptr { return n.handle }

// Address returns the address of the first element of b, for work that only reads b or also
// writes it. [Native.Run] returns its errors. The address of an empty or nil buffer is 0.
func Address[T any](n *Native, b *Buffer[T], written bool) uintptr {
	if b == nil || n.err != nil {
		return 0
	}
	if n.err = b.acquireOn(n.stream, access(written)); n.err != nil {
		return 0
	}
	n.held = append(n.held, b.mem)
	return uintptr(b.at().Addr)
}

// Run calls f on an OS thread on which the CUDA context of the device is current. f adds work
// to the stream and returns without waiting for it. While actors or other persistent kernels
// are running, they pause for the call.
func (n *Native) Run(f func() error) error {
	if n.err != nil {
		return driverError(n.name, n.err)
	}
	s, k := n.stream, standIn(n.name)
	if run, err := s.admit(k); !run {
		return driverError(n.name, err)
	}
	launch := s.began(k)
	o := s.traceLaunch(trace.Launch, k)
	return driverError(n.name, s.launched(launch, o.end(s.dev.native(f))))
}

// Close ends the call. The work may still be running.
func (n *Native) Close() {
	if n == nil || n.stream == nil {
		return
	}
	for _, m := range n.held {
		m.release()
	}
	n.stream.release()
	clear(n.held)
	*n = Native{held: n.held[:0]}
	natives.Put(n)
}

// standIns holds a Kernel for each name of a Native.
var standIns sync.Map // string -> *Kernel

// standIn returns a Kernel that stands for a call of another library in errors of waits and in
// recordings.
func standIn(name string) *Kernel {
	if k, ok := standIns.Load(name); ok {
		return k.(*Kernel)
	}
	k, _ := standIns.LoadOrStore(name, &Kernel{info: kernelInfo{Kernel: compiled.Kernel{Name: name}}})
	return k.(*Kernel)
}

// Native calls f on an OS thread on which the CUDA context of the device is current, for calls
// of other CUDA libraries that add no work, such as those that make a handle. If d is not a GPU,
// the error matches errors.ErrUnsupported. While actors or other persistent kernels are running,
// they pause for the call.
func (d *Device) Native(f func() error) error {
	if err := d.acquire(); err != nil {
		return driverError("native", err)
	}
	defer d.release()
	return driverError("native", d.native(f))
}

func (d *Device) native(f func() error) error {
	if n, ok := d.drv.(driver.NativeDevice); ok {
		return n.Native(f)
	}
	return notNative(d)
}

func notNative(d *Device) error {
	return fmt.Errorf("%w: %s is not a CUDA device", errors.ErrUnsupported, d.id)
}

// OnClose makes [Device.Close] call f when the work of the device is done, with the CUDA
// context current if the device is a GPU. Functions are called in reverse order. Libraries
// release there what they keep for a device. f must not use the device.
func (d *Device) OnClose(f func() error) error {
	if err := d.check(); err != nil {
		return driverError("on close", err)
	}
	d.mu.Lock()
	defer d.mu.Unlock()
	d.onClose = append(d.onClose, f)
	return nil
}

// runOnClose calls the functions of OnClose.
func (d *Device) runOnClose() error {
	d.mu.Lock()
	list := d.onClose
	d.onClose = nil
	d.mu.Unlock()
	var errs []error
	for _, f := range slices.Backward(list) {
		if _, ok := d.drv.(driver.NativeDevice); ok {
			errs = append(errs, d.native(f))
		} else {
			errs = append(errs, f())
		}
	}
	return errors.Join(errs...)
}

// Recording reports whether the stream is recording a graph.
func (s *Stream) Recording() bool { return s != nil && s.capture.Load() != nil }

// streamValue is a value of [Stream.SetValue].
type streamValue struct{ key, value any }

// SetValue makes [Stream.Value] return value for key, as context.WithValue does for a context.
// Libraries use it for settings of a stream. The key has a comparable type of the library's
// own.
func (s *Stream) SetValue(key, value any) error {
	if err := s.check(); err != nil {
		return driverError("set value", err)
	}
	for {
		old := s.values.Load()
		list := []streamValue{{key, value}}
		if old != nil {
			for _, v := range *old {
				if v.key != key {
					list = append(list, v)
				}
			}
		}
		if s.values.CompareAndSwap(old, &list) {
			return nil
		}
	}
}

// Value returns what SetValue was last given for key, or nil.
func (s *Stream) Value(key any) any {
	if s == nil {
		return nil
	}
	if list := s.values.Load(); list != nil {
		for _, v := range *list {
			if v.key == key {
				return v.value
			}
		}
	}
	return nil
}
