package nvml

import (
	"errors"
	"unsafe"
)

// XIDs receives the critical errors of GPUs, which have XID numbers. It is not safe for
// concurrent use.
type XIDs struct {
	api *API
	set uintptr
}

const criticalXID = 8 // nvmlEventTypeXidCriticalError

// event is nvmlEventData_t.
type event struct {
	device                       uintptr
	kind, data                   uint64
	gpuInstance, computeInstance uint32
}

// NewXIDs makes an empty set of events.
func (a *API) NewXIDs() (*XIDs, error) {
	x := &XIDs{api: a}
	err := a.call(eventSetCreate, uintptr(unsafe.Pointer(&x.set)))
	return x, err
}

// Watch adds the errors of d.
func (x *XIDs) Watch(d *Device) error {
	if x.api.addr[eventSetWait] == 0 {
		return ErrNotSupported
	}
	return x.api.call(registerEvents, d.handle, criticalXID, x.set)
}

// Next returns the next error that has happened, without waiting. ok is false if there is none.
func (x *XIDs) Next() (d *Device, xid uint64, ok bool, err error) {
	e := new(event)
	err = x.api.call(eventSetWait, x.set, uintptr(unsafe.Pointer(e)), 0)
	if failed := (*Error)(nil); errors.As(err, &failed) && failed.Code == Timeout {
		return nil, 0, false, nil
	}
	return &Device{x.api, e.device}, e.data, err == nil, err
}

// Is reports whether d and o are the same GPU.
func (d *Device) Is(o *Device) bool { return d.handle == o.handle }

// Close frees the set.
func (x *XIDs) Close() error { return x.api.call(eventSetFree, x.set) }
