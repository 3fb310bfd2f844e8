package ring

import (
	"context"
	"errors"
	"sync"
	"unsafe"

	"quern.dev/gpu"
	"quern.dev/ring/internal/mail"
	"quern.dev/ring/internal/post"
	"quern.dev/ring/internal/rings"
)

// Connect makes the replies of an actor go on to other actors as messages, without
// the host. Each reply goes to all of them, so actors can form a pipeline or a
// fan-out. Connect replaces earlier connections of the actor; without targets it
// removes them. Ask and Receive return the replies as before. While the mailbox of a
// target is full, the actor waits and handles no messages, so connections that form a
// cycle can deadlock.
//
// If the actor or a target has ended, Connect returns a [*StateError] and changes
// nothing. A target that ends later is skipped: Info.Refused of the target counts the
// replies that it would have got. They are not dead letters, because the sender of the
// message still gets its reply. Only the first one may still enter the mailbox, and then
// counts as dropped. Connect the actor again to replace the target.
//
// If a reply is waiting for room when the actor ends or is connected to other actors,
// the host delivers it. It may then be handled before earlier replies. It becomes a
// dead letter if the target accepts no messages, has no room in its queue either, or
// is being closed.
func Connect[In, Mid, Out any](from *Actor[In, Mid], to ...*Actor[Mid, Out]) error {
	source, err := from.made("connect")
	if err != nil {
		return err
	}
	routes, targets := make([]uint64, len(to)), make([]*core, len(to))
	for i, a := range to {
		if _, err := a.made("connect"); err != nil {
			return err
		}
		targets[i] = a.core
		if a.core.rt != source.rt {
			return invalid("actors %s and %s are of different runtimes", source.name, a.core.name)
		}
		if a.core.current().over() {
			return a.core.denied("connect", false)
		}
		if routes[i] = refWord(a.Ref()); routes[i] == 0 {
			return invalid("actor %s cannot be reached from the device", a.core.name)
		}
	}
	return source.connect(routes, targets)
}

// router is a server that can forward replies. If the actor has ended and another one has
// its place, the errors are of type *StateError.
type router interface {
	// route sets the routes of the actor, which must be held.
	route(routes, saved uint32) error
	// unsent returns 1 plus the index of the first route that the kept reply has not
	// reached, or 0 if the loop keeps no reply. The loop, which must not run, forgets
	// the reply.
	unsent() (uint32, error)
}

func (c *core) connect(routes []uint64, targets []*core) error {
	at, ok := c.server.(router)
	if !ok {
		return invalid("actor %s is not on the device; send from its handler instead", c.name)
	}
	if c.current().over() {
		return c.denied("connect", false)
	}
	if err := c.hold("connect"); err != nil {
		return err
	}
	c.routing.mu.Lock()
	defer c.routing.mu.Unlock()
	err := c.passOn(at)
	var list, saved uint32
	if err == nil {
		list, saved, err = c.routing.set(c.rt.post, routes, int(c.outSize+3)/4)
	}
	if err == nil {
		c.routing.targets = targets
		err = at.route(list, saved)
	}
	if _, ended := errors.AsType[*StateError](err); ended {
		c.routing.release(c.rt.post) // the actor that now has the place could not, because of the lock
	}
	return errors.Join(err, c.server.resume())
}

// passOnLast is passOn for an actor that has ended. If another goroutine is
// connecting the actor, passOnLast leaves it to that goroutine, which may be waiting
// for the caller.
func (c *core) passOnLast() error {
	at, ok := c.server.(router)
	if !ok || !c.routing.mu.TryLock() {
		return nil
	}
	defer c.routing.mu.Unlock()
	return c.passOn(at)
}

// passOn delivers the reply that the actor's loop has kept because a target had no
// room. The loop must not be running. The caller holds routing.mu.
func (c *core) passOn(at router) error {
	r := &c.routing
	if r.list == 0 {
		return nil
	}
	unsent, err := at.unsent()
	if unsent == 0 || err != nil {
		return err
	}
	words := make([]uint64, mail.InHeader+r.values)
	if err := c.rt.post.Read(r.saved, words[mail.InHeader:]); err != nil {
		return err
	}
	e := envelope{priority: DefaultPriority, sender: c.number, correlation: words[len(words)-1]}
	for _, to := range r.targets[unsent-1:] {
		// The type parameters of Connect guarantee that the reply has to.inSize
		// bytes.
		slot, msg := rings.Inbox{At: unsafe.Pointer(&words[0]), Size: to.inSize}, to.queue.Bodies.Blank()
		slot.Message(0, msg)
		if c.rt.ending() || !to.acceptFromDevice(&e, msg) {
			to.queue.mu.Lock()
			to.refuse(&e, msg)
			to.queue.mu.Unlock()
		}
		to.kick()
		to.recount()
	}
	return nil
}

// routing is the routing part of an actor's cursors.
type routing struct {
	mu     sync.Mutex
	list   uint32 // position in the post memory, 0 if there is none
	words  int    // of list
	saved  uint32
	values int // words of saved: a reply and its correlation

	targets []*core // the actors in list
}

// set makes a list of routes for replies of the given number of words, and returns
// the values for the cursors. The actor must be held. If the memory has to grow, all
// actors pause.
func (r *routing) set(p *post.Memory, to []uint64, words int) (routes, saved uint32, err error) {
	if r.list != 0 {
		p.Release(r.list, r.words)
		r.list = 0
	}
	if r.saved == 0 {
		r.values = words + 1
		if r.saved, err = p.Reserve(r.values); err != nil {
			return 0, 0, err
		}
	}
	if len(to) == 0 {
		return 0, r.saved, nil
	}
	r.words = 1 + len(to)
	if r.list, err = p.Reserve(r.words); err != nil {
		return 0, 0, err
	}
	return r.list, r.saved, p.Write(r.list, append([]uint64{uint64(len(to))}, to...)...)
}

// free frees the memory, once the cursors belong to another actor. It does not wait
// for a goroutine that is connecting the actor, because that goroutine may be waiting
// for the caller.
func (r *routing) free(p *post.Memory) {
	if !r.mu.TryLock() {
		return
	}
	defer r.mu.Unlock()
	r.release(p)
}

// release is free for callers that hold r.mu.
func (r *routing) release(p *post.Memory) {
	if r.list != 0 {
		p.Release(r.list, r.words)
	}
	if r.saved != 0 {
		p.Release(r.saved, r.values)
	}
	r.list, r.saved, r.targets = 0, 0, nil
}

func (p *place) route(routes, saved uint32) (err error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if !p.occupies() {
		return p.actor.denied("connect", false)
	}
	at := p.block * mail.CursorWords
	for _, word := range [][2]uint32{{mail.Routes, routes}, {mail.Saved, saved}} {
		err = errors.Join(err, gpu.CopyIn(p.stream, p.cursors.Slice(at+int(word[0]), at+int(word[0])+1), []uint32{word[1]}))
	}
	return errors.Join(err, p.stream.Synchronize(context.Background()))
}

func (l *local) route(routes, saved uint32) error {
	l.turn.Lock()
	defer l.turn.Unlock()
	if l.closed {
		return l.actor.denied("connect", false)
	}
	l.cursors[mail.Routes], l.cursors[mail.Saved] = routes, saved
	return nil
}

func (p *place) unsent() (uint32, error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if !p.occupies() {
		return 0, p.actor.denied("connect", false)
	}
	at := p.block*mail.CursorWords + mail.Pending
	word, in := make([]uint32, 1), p.cursors.Slice(at, at+1)
	if err := gpu.Download(context.Background(), p.stream, word, in); err != nil || word[0] == 0 {
		return 0, err
	}
	return word[0], errors.Join(gpu.CopyIn(p.stream, in, []uint32{0}), p.stream.Synchronize(context.Background()))
}

func (l *local) unsent() (uint32, error) {
	l.turn.Lock()
	defer l.turn.Unlock()
	if l.retired {
		return 0, l.actor.denied("connect", false)
	}
	unsent := l.cursors[mail.Pending]
	l.cursors[mail.Pending] = 0
	return unsent, nil
}
