// Package goroutines tracks which goroutines are in a certain operation, so that another
// operation can return an error instead of making one of them wait for itself.
package goroutines

import (
	"bytes"
	"runtime"
	"strconv"
	"sync"
	"sync/atomic"
)

// Set is a set of running goroutines. The zero value is empty. It is safe for concurrent
// use.
type Set struct {
	count   atomic.Int32
	numbers sync.Map // keys are uint64
}

// Enter adds the calling goroutine to the set. leave removes it.
func (s *Set) Enter() (leave func()) {
	number := goroutine()
	if number == 0 {
		return func() {}
	}
	s.numbers.Store(number, nil)
	s.count.Add(1)
	return func() {
		s.count.Add(-1)
		s.numbers.Delete(number)
	}
}

// Here reports whether the calling goroutine is in the set. For an empty set it costs one
// atomic load.
func (s *Set) Here() bool {
	if s.count.Load() == 0 {
		return false
	}
	_, ok := s.numbers.Load(goroutine())
	return ok
}

// goroutine returns the number of the calling goroutine, which is never reused, or 0 if it
// is unknown. Stack traces begin with it: "goroutine 7 [running]:".
func goroutine() uint64 {
	var trace [40]byte
	fields := bytes.Fields(trace[:runtime.Stack(trace[:], false)])
	if len(fields) < 3 { // the number may be cut off
		return 0
	}
	number, err := strconv.ParseUint(string(fields[1]), 10, 64)
	if err != nil {
		return 0
	}
	return number
}
