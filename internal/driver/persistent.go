package driver

import (
	"errors"
	"slices"
	"sync"
	"sync/atomic"
)

// Persistent owns persistent kernels: kernels that run until they are told to stop.
// Quiesce stops them for an operation, and Resume restarts them. If Quiesce returns an
// error, Resume is not called.
type Persistent interface {
	Quiesce(op Operation) error
	Resume() error
}

// Operation is an operation that waits for everything that runs on a device.
type Operation string

// The operations.
const (
	FreeMemory   Operation = "free"        // of the device, or of the host if the device can access it
	LoadModule   Operation = "load module" // or whatever else a kernel needs before its launch
	UnloadModule Operation = "unload module"
	NewStreams   Operation = "new streams"
	MapPeer      Operation = "map peer" // map or unmap memory of another device or process
	CloseDevice  Operation = "close device"
)

// PersistentKernels is implemented by devices with functions that wait for every
// running kernel to end. Around such a function they have the owners of persistent
// kernels stop them. [PersistentList] is for other devices.
type PersistentKernels interface {
	AddPersistent(Persistent)
	RemovePersistent(Persistent)
	HasPersistent() bool  // on any open device for the same hardware
	EndPersistent() error // for good, before the streams are closed
}

// PersistentList lists the owners of persistent kernels on one device, or on all
// devices whose functions wait for each other's kernels. The zero value is empty.
type PersistentList struct {
	turn sync.Mutex // serializes operations; taken before the locks of owners
	mu   sync.Mutex
	list atomic.Pointer[[]Persistent] // replaced, never changed in place
}

// AddPersistent adds r.
func (l *PersistentList) AddPersistent(r Persistent) {
	l.mu.Lock()
	defer l.mu.Unlock()
	list := append(slices.Clone(l.all()), r)
	l.list.Store(&list)
}

// RemovePersistent removes r.
func (l *PersistentList) RemovePersistent(r Persistent) {
	l.mu.Lock()
	defer l.mu.Unlock()
	list := slices.DeleteFunc(slices.Clone(l.all()), func(other Persistent) bool { return other == r })
	l.list.Store(&list)
}

func (l *PersistentList) all() []Persistent {
	if p := l.list.Load(); p != nil {
		return *p
	}
	return nil
}

// HasPersistent reports whether there are persistent kernels.
func (l *PersistentList) HasPersistent() bool { return len(l.all()) > 0 }

// EndPersistent ends all persistent kernels and removes their owners.
func (l *PersistentList) EndPersistent() error { return l.End(l.all()) }

// End ends the kernels of the listed owners and removes these owners, except those that
// return an error. An owner stays in the list until its kernels have ended, so that
// concurrent operations still quiesce it: closing it may wait for them.
func (l *PersistentList) End(list []Persistent) error {
	var errs []error
	for _, r := range list {
		if err := r.Quiesce(CloseDevice); err != nil {
			errs = append(errs, err)
			continue
		}
		l.RemovePersistent(r)
	}
	return errors.Join(errs...)
}

// Apart calls f while no persistent kernel runs. Operations run one at a time, and f
// must not start one.
func (l *PersistentList) Apart(op Operation, f func() error) (err error) {
	if !l.HasPersistent() {
		return f()
	}
	l.turn.Lock()
	defer l.turn.Unlock()
	for _, r := range l.all() {
		if err := r.Quiesce(op); err != nil {
			return err
		}
		defer func() { err = errors.Join(err, r.Resume()) }()
	}
	return f()
}
