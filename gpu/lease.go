package gpu

import (
	"math"
	"sync/atomic"
)

// lease counts the calls that use a driver's object at this moment, so that the
// object is destroyed once, after it was closed and the last of them returned.
// The zero value is open.
type lease struct {
	// users is the number of calls, plus leaseClosed once close was called, and
	// leaseGone once the object may be destroyed.
	users atomic.Int64
}

const (
	leaseGone   = math.MinInt64
	leaseClosed = math.MinInt64 / 2
)

// acquire begins a use. It reports whether the object is open; release ends the
// use, and is called only then.
func (l *lease) acquire() bool {
	for {
		n := l.users.Load()
		if n < 0 {
			return false
		}
		if l.users.CompareAndSwap(n, n+1) {
			return true
		}
	}
}

// release ends a use. If it returns true, the caller destroys the object.
func (l *lease) release() bool {
	return l.users.Add(-1) == leaseClosed && l.users.CompareAndSwap(leaseClosed, leaseGone)
}

// close ends new uses. first reports whether the object was open; if destroy is
// true, nobody uses it any more, and the caller destroys it.
func (l *lease) close() (first, destroy bool) {
	for {
		n := l.users.Load()
		if n < 0 {
			return false, false
		}
		if l.users.CompareAndSwap(n, n+leaseClosed) {
			return true, n == 0 && l.users.CompareAndSwap(leaseClosed, leaseGone)
		}
	}
}

// closed reports whether close was called.
func (l *lease) closed() bool { return l.users.Load() < 0 }
