package ring

import (
	"context"
	"errors"
	"sync"

	"quern.dev/gpu"
	"quern.dev/ring/actor"
)

// Connect has the replies of an actor go on to others as messages, each to all of
// them, without the host: a pipeline, or a fan-out. It replaces what the actor was
// connected to; without others it ends that. Askers and Receive get the replies as
// before. While a mailbox is full the actor waits for room in it and handles
// nothing: connections that form a circle can come to a halt. An actor that takes no
// more messages is left out, which its mailbox counts.
func Connect[In, Mid, Out any](from *Actor[In, Mid], to ...*Actor[Mid, Out]) error {
	routes := make([]uint64, len(to))
	for i, a := range to {
		if a.core.rt != from.core.rt {
			return invalid("actors %s and %s are of different runtimes", from.core.name, a.core.name)
		}
		if routes[i] = refWord(a.Ref()); routes[i] == 0 {
			return invalid("actor %s cannot be reached from the device", a.core.name)
		}
	}
	return from.core.connect(routes)
}

func (c *core) connect(to []uint64) error {
	at, ok := c.server.(interface {
		route(routes, saved uint32) error
	})
	if !ok {
		return invalid("actor %s is not on the device; its handler can send", c.name)
	}
	if s := c.current(); s == Terminating || s == Terminated {
		return c.denied("connect")
	}
	if err := c.server.hold(); err != nil {
		return err
	}
	c.routing.mu.Lock()
	defer c.routing.mu.Unlock()
	routes, saved, err := c.routing.set(c.rt.post, to, int(c.outSize+3)/4)
	if err == nil {
		err = at.route(routes, saved)
	}
	return errors.Join(err, c.server.resume())
}

// routing is what an actor's cursors say of its routes.
type routing struct {
	mu     sync.Mutex
	list   uint32 // in the post memory, 0 if there is none
	words  int    // of list
	saved  uint32
	values int // of saved
}

// set makes a list of routes for replies of some words and returns what goes into
// the cursors. The actor is held; that the memory grows has all make way.
func (r *routing) set(p *post, to []uint64, words int) (routes, saved uint32, err error) {
	if r.list != 0 {
		p.release(r.list, r.words)
		r.list = 0
	}
	if r.saved == 0 {
		r.values = words + 1
		if r.saved, err = p.reserve(r.values); err != nil {
			return 0, 0, err
		}
	}
	if len(to) == 0 {
		return 0, r.saved, nil
	}
	r.words = 1 + len(to)
	if r.list, err = p.reserve(r.words); err != nil {
		return 0, 0, err
	}
	return r.list, r.saved, p.write(r.list, append([]uint64{uint64(len(to))}, to...)...)
}

// free gives back the memory, once the cursors are another actor's: until then the
// loop sends from it the reply that it has kept. It waits for nobody who connects the
// actor, which may wait for the caller.
func (r *routing) free(p *post) {
	if !r.mu.TryLock() {
		return
	}
	defer r.mu.Unlock()
	if r.list != 0 {
		p.release(r.list, r.words)
	}
	if r.saved != 0 {
		p.release(r.saved, r.values)
	}
	r.list, r.saved = 0, 0
}

// route sets the routes of an actor of a resident launch, which is held.
func (p *place) route(routes, saved uint32) (err error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	at := p.block * actor.CursorWords
	for _, word := range [][2]uint32{{actor.Routes, routes}, {actor.Saved, saved}} {
		err = errors.Join(err, gpu.CopyIn(p.stream, p.cursors.Slice(at+int(word[0]), at+int(word[0])+1), []uint32{word[1]}))
	}
	return errors.Join(err, p.stream.Synchronize(context.Background()))
}

// route sets the routes of a local actor, which is held.
func (l *local) route(routes, saved uint32) error {
	l.turn.Lock()
	defer l.turn.Unlock()
	l.cursors[actor.Routes], l.cursors[actor.Saved] = routes, saved
	return nil
}
