package ring

import (
	"context"
	"errors"
	"fmt"
	"runtime"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"quern.dev/gpu"
	"quern.dev/ring/actor"
)

// local is an actor's block on a device whose kernels run in their caller: the
// loop is not resident, but handles what is in the mailboxes and ends. Whoever
// waits for a reply and cannot be cancelled runs it; for all others the crew does.
type local struct {
	cohort *cohort
	actor  *core
	block  int

	turn    sync.Mutex // held while the block runs
	call    *gpu.Call
	grown   uint64       // of the post memory when call was made
	shape   *actor.Shape // argument of call
	cursors []uint32
	holds   int // that keep it from running
	closed  bool

	kicked atomic.Bool // the crew is about to look after it, or does
	missed atomic.Bool // the crew wanted to run the block while another did
	crewed atomic.Bool // the crew runs the block
	listed bool        // it waits for the crew, whose mutex guards this and next
	next   *local

	door    sync.Mutex
	waiters []*waiter // guarded by door
	waiting atomic.Int32

	epoch atomic.Uint32 // of the run
	stuck atomic.Bool   // a message has taken longer than the runtime's patience
	vigil vigil         // the watchdog's
}

// waiter is who waits until a ticket is handled.
type waiter struct {
	m      *mailbox
	ticket uint64
	err    error
	wake   chan struct{}
}

var waiters = sync.Pool{New: func() any { return &waiter{wake: make(chan struct{}, 1)} }}

// How many messages a block handles before others get a turn, on the CPU and on
// the simulator, which is a thousand times as slow.
const (
	turnMessages      = 256
	simulatedMessages = 64
)

// handled waits until a ticket is handled, or cannot be, or ctx is cancelled, and
// reports whether it is.
func (l *local) handled(ctx context.Context, m *mailbox, ticket uint64) (bool, error) {
	if m.handled(ticket) {
		return true, nil
	}
	// A caller that can be cancelled must be able to go while the handler goes on.
	if ctx.Done() == nil && l.turn.TryLock() {
		err := l.run()
		l.turn.Unlock()
		l.after(err)
		if err != nil || m.handled(ticket) {
			return err == nil, err
		}
	}
	return l.wait(ctx, m, ticket)
}

// wait has another goroutine run the block.
func (l *local) wait(ctx context.Context, m *mailbox, ticket uint64) (bool, error) {
	if ctx.Err() != nil {
		return false, nil
	}
	w := waiters.Get().(*waiter)
	w.m, w.ticket = m, ticket
	l.door.Lock()
	l.waiters = append(l.waiters, w)
	l.door.Unlock()
	l.waiting.Add(1)
	if l.over(w) {
		l.leave(w)
	} else {
		l.kick()
		select {
		case <-w.wake:
		case <-ctx.Done():
			l.leave(w)
		}
	}
	l.waiting.Add(-1)
	err := w.err
	w.m, w.err = nil, nil
	waiters.Put(w)
	return m.handled(ticket), err
}

// leave ends a wait that nobody has ended.
func (l *local) leave(w *waiter) {
	l.door.Lock()
	defer l.door.Unlock()
	if i := slices.Index(l.waiters, w); i >= 0 {
		l.waiters = slices.Delete(l.waiters, i, i+1)
		return
	}
	<-w.wake
}

// over reports whether there is nothing to wait for. The slot of a message whose
// reply nobody waits for may be another one's by now.
func (l *local) over(w *waiter) bool {
	s := l.actor.current()
	return s == Failed || s == Terminated || w.m.handled(w.ticket) || w.m.slot(w.ticket).Load()>>useBits > w.ticket
}

// wake ends the waits that are over, or all if there is an error.
func (l *local) wake(err error) {
	l.door.Lock()
	defer l.door.Unlock()
	l.waiters = slices.DeleteFunc(l.waiters, func(w *waiter) bool {
		if err == nil && !l.over(w) {
			return false
		}
		w.err = err
		w.wake <- struct{}{}
		return true
	})
}

// after does what is due after a run of the block, without the turn.
func (l *local) after(err error) {
	if l.waiting.Load() > 0 {
		l.wake(err)
	}
	if l.missed.Load() && l.missed.Swap(false) {
		l.kick()
	}
}

func (l *local) kick() {
	if !l.kicked.Load() && !l.kicked.Swap(true) {
		l.cohort.rt.crew.add(l)
	}
}

// serve runs the block, if nobody else does, for one of the crew.
func (l *local) serve() {
	if !l.turn.TryLock() {
		l.kicked.Store(false)
		l.missed.Store(true)
		// Either whoever has the turn sees this after it, or it is free by now.
		if !l.turn.TryLock() {
			return
		}
	}
	l.crewed.Store(true)
	err := l.run()
	l.crewed.Store(false)
	l.kicked.Store(false)
	l.actor.refill()
	more := err == nil && l.ready() // these may have come before that, and have kicked nobody
	l.turn.Unlock()
	if err != nil && l.waiting.Load() == 0 {
		l.cohort.rt.note(err)
	}
	l.after(err)
	if more {
		l.kick()
	}
}

// ready reports whether the block can run and has messages. The turn is held.
func (l *local) ready() bool {
	return l.holds == 0 && !l.closed && l.actor.runs() && l.pending() > 0
}

// pending counts the messages in the mailboxes. The turn is held.
func (l *local) pending() uint32 {
	n := uint32(0)
	for level, m := range l.actor.mailboxes {
		n += uint32(m.next()) - l.cursors[level]
	}
	if l.cursors[actor.Pending] != 0 {
		n++
	}
	return n + l.cohort.rt.post.waiting(l.actor.box)
}

// run handles messages, if it can. The turn is held.
func (l *local) run() error {
	if !l.ready() {
		return nil
	}
	if grown := l.cohort.rt.post.grown.Load(); l.call == nil || l.grown != grown {
		l.call.Close()
		l.call, l.grown = nil, grown
		if err := l.prepare(); err != nil {
			return err
		}
	}
	c, s := l.cohort, l.shape
	s.Epoch = l.epoch.Add(1)
	s.Messages = min(l.pending(), l.most())
	atomic.StoreUint64(c.left(l.block), 0)
	var began time.Time
	if c.rt.traces.on() {
		began = time.Now()
	}
	s.Clock = c.rt.clock()
	l.begin(s.Clock)
	err := l.call.Run()
	c.rt.answerBells()
	c.rt.collectBags()
	if !began.IsZero() {
		c.rt.traces.span(l.actor.name, "batch", began, int(s.Messages))
	}
	if l.stuck.Load() {
		l.stuck.Store(false)
		if l.crewed.Load() {
			c.rt.crew.find()
		}
	}
	if err == nil && uint32(atomic.LoadUint64(c.left(l.block))) == actor.Bounded {
		return nil
	}
	return l.end(err)
}

// most is how many messages the block handles at a time.
func (l *local) most() uint32 {
	if l.cohort.rt.dev.Backend() == gpu.Sim {
		return simulatedMessages
	}
	return turnMessages
}

// prepare makes the call.
func (l *local) prepare() error {
	c := l.cohort
	launch, err := c.program.Kernel.Begin(c.stream, gpu.Blocks(gpu.Dim3{X: 1}, gpu.Dim3{X: c.program.Threads}).Shared(c.sharedBytes()))
	if err != nil {
		return err
	}
	shape := c.shape
	shape.Leaves, shape.Wakes, shape.Alone = 1, 1, 1
	c.arguments(launch, shape, l.block, l.block+1)
	if l.call, err = launch.Keep(); err != nil {
		return err
	}
	l.shape, err = gpu.CallArg[actor.Shape](l.call, 0)
	return err
}

// end looks at how the loop has left. The turn is held.
func (l *local) end(err error) error {
	fault, failed := errors.AsType[*gpu.KernelError](err)
	_, cancelled := errors.AsType[*StuckError](err) // by the watchdog, which has told
	if err != nil && !failed && !cancelled {
		return err
	}
	why := err
	switch {
	case failed:
		why = l.cohort.explain(fault)
	case err == nil:
		why = errors.New("the handler has ended its threads")
	}
	left := atomic.LoadUint64(l.cohort.left(l.block))
	silent := left>>32 != uint64(l.shape.Epoch) // none of its threads was left to say so
	switch {
	case !silent && uint32(left) == actor.Stopped:
		l.actor.stopped()
		return nil
	case !silent && uint32(left) != actor.Failed:
		return nil
	}
	switch {
	case silent && !l.settle():
		return nil
	case cancelled:
		l.actor.meter.failed.Add(1)
	default:
		l.actor.fail(why)
	}
	if l.cursors[actor.AtSource] == actor.Post {
		return l.actor.failedMail(!silent, why)
	}
	return nil
}

// settle leaves in place of a loop that has ended without a word, and answers the
// message that it was at. It reports whether there was one: that of a handler which
// did not return is given up when the actor ends.
func (l *local) settle() (found bool) {
	atomic.StoreUint64(l.cohort.left(l.block), uint64(l.shape.Epoch)<<32|actor.Failed)
	source := l.cursors[actor.AtSource]
	if source == actor.Post {
		p := l.actor.meter.posted.Load()
		return p == nil || !p.last
	}
	l.cursors[source], found = l.actor.mailboxes[source].settleNext()
	return found
}

func (l *local) hold() error {
	if err := l.halt(l.cohort.rt.patient()); err != nil {
		return err
	}
	l.turn.Unlock()
	return nil
}

// halt waits for the end of the message that the handler is at, as long as there is
// patience, and takes the turn and a hold.
func (l *local) halt(v *vigil) error {
	c := l.cohort
	for i := 0; !l.turn.TryLock(); i++ {
		atomic.OrUint64(c.command(l.block), leave)
		if l.stuck.Load() || v.look(time.Now(), 0) {
			return l.overdue()
		}
		if i >= yielding {
			time.Sleep(50 * time.Microsecond)
		}
		runtime.Gosched()
	}
	atomic.AndUint64(c.command(l.block), ^uint64(leave))
	if l.closed {
		l.turn.Unlock()
		return fmt.Errorf("ring: actor %s: %w", l.actor.name, ErrClosed)
	}
	l.holds++
	return nil
}

func (l *local) resume() error {
	l.turn.Lock()
	l.holds--
	more := l.ready()
	l.turn.Unlock()
	if more {
		l.kick()
	}
	l.wake(nil) // if the actor has ended
	return nil
}

func (l *local) renew(initial any) error {
	l.turn.Lock()
	defer l.turn.Unlock()
	return l.cohort.states.set(l.cohort.stream, l.block, initial)
}

func (l *local) room() error { return nil }

// newLocal makes the server of an actor in a block. c.mu is held.
func (c *cohort) newLocal(i int, a *core) *local {
	l := &local{cohort: c, actor: a, block: i, holds: int(c.holds.Load()), vigil: *c.rt.patient()}
	l.cursors = c.hostCursors.Data()[i*actor.CursorWords:][:actor.CursorWords]
	if i == len(c.locals) {
		c.locals = append(c.locals, l)
		return l
	}
	c.locals[i].retire()
	c.locals = slices.Clone(c.locals) // others are at work on the list
	c.locals[i] = l
	return l
}

// retire ends the server of an actor that has terminated.
func (l *local) retire() {
	l.turn.Lock()
	defer l.turn.Unlock()
	l.closed = true
	l.call.Close()
}

// newCursors makes the cursors of all blocks. Those of local actors are in memory
// of the host, which looks at them between runs.
func (c *cohort) newCursors() (*gpu.Buffer[uint32], error) {
	n := c.size * actor.CursorWords
	if c.resident {
		return gpu.Upload(c.stream, make([]uint32, n))
	}
	var err error
	if c.hostCursors, err = gpu.AllocHost[uint32](c.rt.dev, n); err != nil {
		return nil, err
	}
	clear(c.hostCursors.Data())
	return c.hostCursors.Mapped()
}

// blocks returns the local actors there are.
func (c *cohort) blocks() []*local {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.locals[:len(c.locals):len(c.locals)]
}

// holdLocals holds all local actors, and those that are made until they are
// resumed, or none.
func (c *cohort) holdLocals() error {
	v := c.rt.patient()
	c.mu.Lock()
	c.holds.Add(1)
	list := c.locals
	c.mu.Unlock()
	for i, l := range list {
		if err := l.halt(v); err != nil {
			return errors.Join(err, c.resumeLocals(func(n int) bool { return n < i || n >= len(list) }))
		}
		l.turn.Unlock()
	}
	return nil
}

// resumeLocals ends a hold of the blocks whose number is among them.
func (c *cohort) resumeLocals(among func(int) bool) error {
	c.mu.Lock()
	c.holds.Add(-1)
	list := c.locals
	c.mu.Unlock()
	var errs []error
	for i, l := range list {
		if among(i) {
			errs = append(errs, l.resume())
		}
	}
	return errors.Join(errs...)
}

// closeLocals ends all local actors for good.
func (c *cohort) closeLocals() error {
	v := c.rt.patient()
	stuck := &StuckError{After: c.rt.config.Patience}
	for _, l := range c.blocks() {
		switch err := l.halt(v); {
		case errors.Is(err, ErrClosed):
		case err != nil:
			stuck.Actors = append(stuck.Actors, l.actor.name)
			if !l.stuck.Swap(true) {
				l.actor.stall(err)
				if l.epoch.Load() != 0 {
					l.call.Cancel(err) // the watchdog has ended
				}
			}
		default:
			l.closed = true
			l.call.Close()
			l.turn.Unlock()
			l.actor.setState(Terminated)
		}
		l.wake(nil)
	}
	if len(stuck.Actors) > 0 {
		return stuck
	}
	return nil
}

// lingerLocals ends the local actors whose handlers did not return for closeLocals and
// have returned since. It is an error if some have not.
func (c *cohort) lingerLocals() error {
	stuck := &StuckError{After: c.rt.config.Patience}
	for _, l := range c.blocks() {
		if !l.turn.TryLock() {
			stuck.Actors = append(stuck.Actors, l.actor.name)
			continue
		}
		if !l.closed {
			l.closed = true
			l.call.Close()
		}
		l.turn.Unlock()
	}
	if len(stuck.Actors) > 0 {
		return stuck
	}
	return nil
}

// overdue is the error of a handler that does not return.
func (l *local) overdue() error {
	return &StuckError{Actors: []string{l.actor.name}, After: l.cohort.rt.config.Patience}
}

// watchLocal looks for handlers that do not return.
func (rt *Runtime) watchLocal() {
	ticker := time.NewTicker(max(rt.patient().pause(), time.Millisecond))
	defer ticker.Stop()
	for {
		select {
		case <-rt.done:
			return
		case <-ticker.C:
		}
		runtime.Gosched()
		for _, c := range rt.all() {
			for _, l := range c.blocks() {
				l.look(time.Now())
			}
		}
	}
}

// look finds out whether the block has been at one message for too long.
func (l *local) look(now time.Time) {
	running := l.epoch.Load() != 0 && atomic.LoadUint64(l.cohort.left(l.block)) == 0 && l.call.Running()
	switch {
	case !running:
		l.vigil.rest()
	case l.vigil.look(now, l.far()) && !l.stuck.Swap(true):
		if l.crewed.Load() {
			l.cohort.rt.crew.lose()
		}
		err := l.overdue()
		l.actor.stall(err)
		l.call.Cancel(err)
		l.wake(nil)
	}
}

// far is how far the block is: it becomes more with each run, and with each message
// of a run.
func (l *local) far() uint64 {
	n := uint64(l.epoch.Load()) + uint64(l.cohort.rt.post.head(l.actor.box))
	for _, m := range l.actor.mailboxes {
		first, _ := m.unhandled()
		n += first
	}
	return n
}
