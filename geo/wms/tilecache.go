package wms

import (
	"container/list"
	"context"
	"sync"
)

// answer is the body of a response and its type.
type answer struct {
	body []byte
	kind string
}

// tileCache keeps answers of tiles. Requests for one that is being made wait for it.
type tileCache struct {
	mu      sync.Mutex
	room    int64
	entries map[string]*list.Element
	recent  *list.List // of *cached, the most recently used first
	flights map[string]*flight

	hits, misses uint64
}

type cached struct {
	key string
	answer
}

type flight struct {
	done chan struct{}
	answer
	err error
}

func newTileCache(room int64) *tileCache {
	return &tileCache{room: room, entries: map[string]*list.Element{}, recent: list.New(), flights: map[string]*flight{}}
}

// overhead is about what an entry takes besides its body.
const overhead = 300

// get returns the answer of a key, which build makes if it is new.
func (c *tileCache) get(ctx context.Context, key string, build func() (answer, error)) (answer, error) {
	c.mu.Lock()
	if e, ok := c.entries[key]; ok {
		c.recent.MoveToFront(e)
		c.hits++
		c.mu.Unlock()
		return e.Value.(*cached).answer, nil
	}
	if f, ok := c.flights[key]; ok {
		c.mu.Unlock()
		select {
		case <-f.done:
			if f.err == nil {
				return f.answer, nil
			}
		case <-ctx.Done():
			return answer{}, context.Cause(ctx)
		}
		return build() // the other one failed, maybe because its client left
	}
	c.misses++
	f := &flight{done: make(chan struct{})}
	c.flights[key] = f
	c.mu.Unlock()
	f.err = context.Canceled // if build panics
	defer func() {
		c.mu.Lock()
		defer c.mu.Unlock()
		delete(c.flights, key)
		close(f.done)
		if f.err == nil {
			c.add(key, f.answer)
		}
	}()
	f.answer, f.err = build()
	return f.answer, f.err
}

func (c *tileCache) add(key string, a answer) {
	size := int64(len(a.body) + len(key) + overhead)
	if size > c.room && c.recent.Len() == 0 {
		return
	}
	c.entries[key] = c.recent.PushFront(&cached{key, a})
	for c.room -= size; c.room < 0; {
		last := c.recent.Remove(c.recent.Back()).(*cached)
		delete(c.entries, last.key)
		c.room += int64(len(last.body) + len(last.key) + overhead)
	}
}

// counts returns how often an answer was there and how often it was made, and the number of answers.
func (c *tileCache) counts() (hits, misses uint64, kept int) {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.hits, c.misses, len(c.entries)
}
