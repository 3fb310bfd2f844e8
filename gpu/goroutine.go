package gpu

import (
	"bytes"
	"runtime"
	"strconv"
	"sync"
	"sync/atomic"
)

// goroutines are those that do a certain thing now. They are known so that what
// one of them must not do, because it would wait for itself, is an error, while
// others simply wait. The zero value is ready. It is safe for concurrent use.
type goroutines struct {
	count   atomic.Int32
	numbers sync.Map // keys are uint64
}

// enter adds the goroutine that calls it, until it calls leave.
func (g *goroutines) enter() (leave func()) {
	number := goroutine()
	if number == 0 {
		return func() {}
	}
	g.numbers.Store(number, nil)
	g.count.Add(1)
	return func() {
		g.count.Add(-1)
		g.numbers.Delete(number)
	}
}

// here reports whether the goroutine that calls it is among them. It costs next
// to nothing where there are none.
func (g *goroutines) here() bool {
	if g.count.Load() == 0 {
		return false
	}
	_, ok := g.numbers.Load(goroutine())
	return ok
}

// goroutine returns the number of the goroutine that calls it, which no other one
// of the process has, also later; 0 if it cannot be told. Stack traces begin with
// it: "goroutine 7 [running]:".
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
