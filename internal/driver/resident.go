package driver

import (
	"errors"
	"slices"
	"sync"
	"sync/atomic"
)

// Resident is what keeps kernels running for a long time. Quiesce ends them for an
// operation, and Resume starts them again; if Quiesce returns an error, Resume is
// not called.
type Resident interface {
	Quiesce(op Operation) error
	Resume() error
}

// Operation is what waits for everything that runs on a device.
type Operation string

// The operations.
const (
	FreeMemory   Operation = "free"        // of the device, or the host's that it reaches
	LoadModule   Operation = "load module" // or what a kernel needs to be launched
	UnloadModule Operation = "unload module"
	NewStreams   Operation = "new streams"
	MapPeer      Operation = "map peer" // memory of another device or process, or its end
	CloseDevice  Operation = "close device"
)

// Residents are those of a device, or of all that have something in common which
// operations wait for. The zero value is empty.
type Residents struct {
	turn sync.Mutex // of operations; taken before the locks of residents
	mu   sync.Mutex
	list atomic.Pointer[[]Resident] // never changed in place
}

// AddResident adds r.
func (l *Residents) AddResident(r Resident) {
	l.mu.Lock()
	defer l.mu.Unlock()
	list := append(slices.Clone(l.all()), r)
	l.list.Store(&list)
}

// RemoveResident removes r.
func (l *Residents) RemoveResident(r Resident) {
	l.mu.Lock()
	defer l.mu.Unlock()
	list := slices.DeleteFunc(slices.Clone(l.all()), func(other Resident) bool { return other == r })
	l.list.Store(&list)
}

func (l *Residents) all() []Resident {
	if p := l.list.Load(); p != nil {
		return *p
	}
	return nil
}

// HasResidents reports whether there is any.
func (l *Residents) HasResidents() bool { return len(l.all()) > 0 }

// EndResidents ends the kernels of the residents, and forgets these.
func (l *Residents) EndResidents() error { return l.End(l.all()) }

// End ends the kernels of some of the residents and forgets these, except for those
// that do not make way. A resident is in the list until its kernels have ended, so that
// what others do meanwhile still has it make way: closing it may wait for them.
func (l *Residents) End(list []Resident) error {
	var errs []error
	for _, r := range list {
		if err := r.Quiesce(CloseDevice); err != nil {
			errs = append(errs, err)
			continue
		}
		l.RemoveResident(r)
	}
	return errors.Join(errs...)
}

// Apart calls f while none of the residents has a kernel running. Operations come
// one after another, and f must not begin one.
func (l *Residents) Apart(op Operation, f func() error) (err error) {
	if !l.HasResidents() {
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
