package driver

import (
	"errors"
	"slices"
	"sync"
	"sync/atomic"
)

// Resident is what keeps kernels running for a long time. Quiesce ends them, and
// Resume starts them again; if Quiesce returns an error, Resume is not called.
type Resident interface {
	Quiesce() error
	Resume() error
}

// Residents are those of a device. The zero value is empty.
type Residents struct {
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
func (l *Residents) EndResidents() error {
	var errs []error
	for _, r := range l.all() {
		errs = append(errs, r.Quiesce())
		l.RemoveResident(r)
	}
	return errors.Join(errs...)
}

// Apart calls f while none of the residents has a kernel running.
func (l *Residents) Apart(f func() error) (err error) {
	for _, r := range l.all() {
		if err := r.Quiesce(); err != nil {
			return err
		}
		defer func() { err = errors.Join(err, r.Resume()) }()
	}
	return f()
}
