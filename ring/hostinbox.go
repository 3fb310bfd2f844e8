package ring

import (
	"errors"
	"fmt"
	"reflect"
	"slices"
	"sync"
	"sync/atomic"
	"unsafe"

	"quern.dev/ring/actor"
	"quern.dev/ring/internal/backoff"
	"quern.dev/ring/internal/mail"
	"quern.dev/ring/internal/post"
	"quern.dev/ring/internal/rings"
)

// inbox is the mailbox of a host actor that actors on the device put messages into: a
// ring in memory of the host, from which they go to the actor's queue. A message
// for which there is no room there stays; when the ring is full senders are told so.
type inbox struct {
	host *hostActor
	box  post.Box

	head uint32
	mail rings.Inbox    // reads messages of the ring
	msg  unsafe.Pointer // the one that is read

	full atomic.Bool // a message waits for room in the queue
}

// inboxes are those of a runtime.
type inboxes struct {
	mu   sync.Mutex // held while messages are collected
	list []*inbox
	gone []*refusals // of host actors that have ended; actors on the device may have Refs of them
	some atomic.Bool
	poll sync.Once
}

// makeInbox makes a mailbox for the actors on the device. It is an error if the
// messages cannot come from there.
func (h *hostActor) makeInbox() (*inbox, error) {
	c := h.actor
	if err := plain(c.in); err != nil {
		return nil, err
	}
	if c.inSize > actor.MaxMessage {
		return nil, invalid("messages of actor %s have %d bytes; those from actors on the device have %d at most", c.name, c.inSize, actor.MaxMessage)
	}
	if s := c.current(); s == Terminated {
		return nil, c.denied("ref", false)
	}
	step := (mail.InHeader + int(c.inSize+3)/4 + sectorWords - 1) / sectorWords * sectorWords
	box, err := c.rt.post.NewHostBox(step, c.number)
	if err != nil {
		return nil, err
	}
	b := &inbox{host: h, box: box, msg: c.queue.types.blank()}
	b.mail = rings.Inbox{Step: 8 * uintptr(step), Size: c.inSize, Mask: uint64(box.Slots - 1)}
	all := &c.rt.inboxes
	all.mu.Lock()
	all.list = append(all.list, b)
	all.mu.Unlock()
	all.some.Store(true)
	if c.rt.resident {
		all.poll.Do(func() { c.rt.pumps.Go(c.rt.pollInboxes) })
	}
	return b, nil
}

// box returns the number of the actor's mailbox for actors on the device, which is
// made when it is asked for first; 0 if there can be none.
func (h *hostActor) box() uint32 {
	h.inboxMu.Lock()
	defer h.inboxMu.Unlock()
	if b := h.inbox.Load(); b != nil {
		return b.box.Number
	}
	b, err := h.makeInbox()
	if err != nil {
		return 0
	}
	h.inbox.Store(b)
	h.actor.rt.owners.Store(b.box.Number, h.actor)
	return b.box.Number
}

// collectInboxes moves messages from actors on the device to the queues of host actors,
// and returns how many.
func (rt *Runtime) collectInboxes() (n int) {
	all := &rt.inboxes
	if !all.some.Load() {
		return 0
	}
	all.mu.Lock()
	defer all.mu.Unlock()
	rt.post.WithHost(func(words []uint64) {
		for _, b := range all.list {
			n += b.collect(words)
		}
	})
	return n
}

// collect moves messages to the queue. words is the host's region.
func (b *inbox) collect(words []uint64) (n int) {
	c := b.host.actor
	b.mail.At = unsafe.Pointer(&words[b.box.Ring()]) // valid as long as words is; Slots*Step words follow
	for ; n < b.box.Slots && b.mail.Arrived(uint64(b.head)); n++ {
		h := b.mail.Header(uint64(b.head))
		e := envelopeOf(h)
		e.deadline = deadlineOf(h.Deadline, c.rt.clock())
		b.mail.Message(uint64(b.head), b.msg)
		if !c.acceptFromDevice(&e, b.msg) {
			b.full.Store(true)
			break
		}
		b.head++
	}
	if n > 0 {
		atomic.StoreUint64(&words[b.box.Bell+1], uint64(b.head))
	}
	return n
}

// acceptFromDevice accepts a message if there is room. One for an actor that has
// terminated is a dead letter; one that has failed may yet go on.
func (c *core) acceptFromDevice(e *envelope, msg unsafe.Pointer) bool {
	var err error
	if c.refs != nil {
		err = c.refs.Adopt(msg)
	}
	if err == nil {
		var ok bool
		if _, ok, err = c.enqueue("send", e, unheard, msg, true); c.refs != nil && !ok {
			c.refs.Release(msg)
		}
		if err == nil {
			return ok
		}
	}
	state, _ := errors.AsType[*StateError](err)
	switch {
	case errors.Is(err, ErrDropped): // a letter already
		return true
	case state != nil && state.State == Failed: // then, and perhaps not any more
		return false
	}
	c.queue.mu.Lock()
	defer c.queue.mu.Unlock()
	c.refuse(e, msg)
	return true
}

// refuse makes a dead letter of a message that was not accepted. The queue's lock is
// held.
func (c *core) refuse(e *envelope, msg unsafe.Pointer) {
	q := &c.queue
	c.letter(*e, c.id(idQueue, q.removed), ReasonRefused, nil, 0, q.types.value(msg))
	c.meter.dropped.Add(1)
	q.removed++
}

// pollInboxes collects messages as long as the runtime is open.
func (rt *Runtime) pollInboxes() {
	wait := backoff.Yielding()
	for !rt.ending() {
		if rt.collectInboxes() > 0 {
			wait = backoff.Yielding()
			continue
		}
		wait.Pause()
	}
}

// collectInbox moves messages to the queue that have waited for room there.
func (h *hostActor) collectInbox() {
	if b := h.inbox.Load(); b != nil && b.full.Load() {
		b.full.Store(false)
		h.actor.rt.collectInboxes()
	}
}

// shutInbox has messages from actors on the device refused.
func (h *hostActor) shutInbox() error {
	h.inboxMu.Lock()
	defer h.inboxMu.Unlock()
	b := h.inbox.Load()
	if b == nil {
		return nil
	}
	return h.actor.rt.post.SetOwner(b.box, 0)
}

// inInbox moves what has come from actors on the device to the queue, as far as there
// is room, and returns how many messages wait for that.
func (h *hostActor) inInbox() int {
	b, rt := h.inbox.Load(), h.actor.rt
	if b == nil {
		return 0
	}
	rt.collectInboxes()
	rt.inboxes.mu.Lock()
	defer rt.inboxes.mu.Unlock()
	return b.waiting(rt)
}

// waiting counts the messages that have not gone to the queue. rt.inboxes.mu is held.
func (b *inbox) waiting(rt *Runtime) (n int) {
	if !slices.Contains(rt.inboxes.list, b) {
		return 0 // the actor has ended
	}
	rt.post.WithHost(func(words []uint64) {
		b.mail.At = unsafe.Pointer(&words[b.box.Ring()]) // as in collect
		for n < b.box.Slots && b.mail.Arrived(uint64(b.head)+uint64(n)) {
			n++
		}
	})
	return n
}

// dropInbox ends the way from actors on the device to one that has terminated. What is
// in its mailbox are dead letters.
func (h *hostActor) dropInbox() (err error) {
	h.inboxMu.Lock()
	defer h.inboxMu.Unlock()
	b, rt := h.inbox.Load(), h.actor.rt
	if b == nil {
		return nil
	}
	// Between messages no handler is about to send one.
	if err := rt.Quiesce("end a mailbox"); err != nil {
		return err
	}
	defer func() { err = errors.Join(err, rt.Resume()) }()
	if err := rt.post.SetOwner(b.box, 0); err != nil {
		return err
	}
	for rt.collectInboxes() > 0 {
	}
	rt.inboxes.mu.Lock()
	for i, other := range rt.inboxes.list {
		if other == b {
			rt.inboxes.list = append(rt.inboxes.list[:i:i], rt.inboxes.list[i+1:]...)
			break
		}
	}
	rt.inboxes.mu.Unlock()
	rt.post.ReleaseHostPart(b.box)
	rt.owners.Delete(b.box.Number)
	return nil
}

// refusals is what is known of a host actor that has ended: senders may still have Refs of
// it, and count in its mailbox what it refuses.
type refusals struct {
	at      uint32        // position of the count in the post memory
	counted atomic.Uint64 // in the sums of the runtime
}

// recountInboxes counts what host actors that have ended have refused.
func (rt *Runtime) recountInboxes() {
	rt.inboxes.mu.Lock()
	gone := rt.inboxes.gone[:len(rt.inboxes.gone):len(rt.inboxes.gone)]
	rt.inboxes.mu.Unlock()
	for _, r := range gone {
		var refused [1]uint64
		if err := rt.post.Read(r.at, refused[:]); err != nil {
			return // the memory has been given back
		}
		rt.departed.add(Info{Refused: refused[0] - r.counted.Swap(refused[0])})
	}
}

// depart has what the actor refuses from now on counted without it.
func (h *hostActor) depart() {
	b, all := h.inbox.Load(), &h.actor.rt.inboxes
	if b == nil {
		return
	}
	all.mu.Lock()
	defer all.mu.Unlock()
	all.gone = append(all.gone, &refusals{at: b.box.At() + mail.BoxRefused})
}

// plain reports, as an error, what of a type is no plain data.
func plain(t reflect.Type) error {
	switch t.Kind() {
	case reflect.Array:
		return plain(t.Elem())
	case reflect.Struct:
		for i := range t.NumField() {
			if err := plain(t.Field(i).Type); err != nil {
				return fmt.Errorf("field %s: %w", t.Field(i).Name, err)
			}
		}
		return nil
	case reflect.Chan, reflect.Func, reflect.Interface, reflect.Map, reflect.Pointer, reflect.Slice, reflect.String, reflect.Uintptr, reflect.UnsafePointer:
		return invalid("actors on the device have no values of type %v", t)
	}
	return nil
}
