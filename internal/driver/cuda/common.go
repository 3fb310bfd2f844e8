package cuda

import (
	"sync"

	"quern.dev/internal/driver"
)

// common is what the devices of the program have in common that are open for one
// GPU, since they share its primary context: a function that waits until no kernel
// runs there waits for those of all of them.
type common struct {
	driver.PersistentList
	local   local
	streams spareStreams

	devices int // that are open; guarded by commons.mu
}

// commonKey is a context of a driver library.
type commonKey struct {
	lib     Library
	context uintptr
}

// commons are those of the contexts that devices are open for.
type commons struct {
	mu sync.Mutex
	of map[commonKey]*common
}

var inCommon = commons{of: make(map[commonKey]*common)}

// join counts one more device that is open.
func (c *commons) join(k commonKey) *common {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.of[k] == nil {
		c.of[k] = new(common)
	}
	c.of[k].devices++
	return c.of[k]
}

// leave counts one less, and reports whether that was the last.
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
