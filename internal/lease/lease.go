// Package lease counts the uses of something that is destroyed once: after it was closed
// and the last use has ended.
package lease

import (
	"math"
	"sync/atomic"
)

// Lease counts the calls that use an object at this moment, so that the object is
// destroyed once, after it was closed and the last of them returned. The zero value is
// open. It is safe for concurrent use.
type Lease struct {
	// users is the number of calls, plus closing once Close was called, and
	// gone once the object may be destroyed.
	users atomic.Int64
}

const (
	gone    = math.MinInt64
	closing = math.MinInt64 / 2
)

// Acquire begins a use. It reports whether the object is open; Release ends the
// use, and is called only then.
func (l *Lease) Acquire() bool {
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

// Release ends a use. If it returns true, the caller destroys the object.
func (l *Lease) Release() bool {
	return l.users.Add(-1) == closing && l.users.CompareAndSwap(closing, gone)
}

// Close ends new uses. first reports whether the object was open; if destroy is
// true, nobody uses it any more, and the caller destroys it.
func (l *Lease) Close() (first, destroy bool) {
	for {
		n := l.users.Load()
		if n < 0 {
			return false, false
		}
		if l.users.CompareAndSwap(n, n+closing) {
			return true, n == 0 && l.users.CompareAndSwap(closing, gone)
		}
	}
}

// Closed reports whether Close was called.
func (l *Lease) Closed() bool { return l.users.Load() < 0 }

// Gone reports whether the last use has ended after Close.
func (l *Lease) Gone() bool { return l.users.Load() == gone }
