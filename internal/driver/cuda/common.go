package cuda

import (
	"sync"

	"quern.dev/internal/driver"
)

// common is the state that all open devices for one GPU share. They use the same
// primary context, so a function that waits until no kernel runs there waits for the
// kernels of all of them.
type common struct {
	driver.PersistentList
	local   local
	streams spareStreams

	devices int // number of open devices; guarded by commons.mu
}

// commonKey identifies a context of a driver library.
type commonKey struct {
	lib     Library
	context uintptr
}

// commons holds the shared state of each context in use.
type commons struct {
	mu sync.Mutex
	of map[commonKey]*common
}

var inCommon = commons{of: make(map[commonKey]*common)}

// join adds an open device.
func (c *commons) join(k commonKey) *common {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.of[k] == nil {
		c.of[k] = new(common)
	}
	c.of[k].devices++
	return c.of[k]
}

// leave removes an open device and reports whether it was the last.
func (c *commons) leave(k commonKey) (last bool) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.of[k].devices--
	last = c.of[k].devices == 0
	if last {
		delete(c.of, k)
	}
	return last
}
