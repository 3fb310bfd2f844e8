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
	"quern.dev/ring/internal/backoff"
	"quern.dev/ring/internal/loop"
	"quern.dev/ring/internal/mail"
	"quern.dev/ring/internal/watchdog"
	"quern.dev/ring/internal/workers"
)

// local is an actor's block on a device that runs kernels in the calling goroutine. The
// loop is not resident: it handles the messages in the mailboxes and returns. A caller
// that waits for a reply and cannot be cancelled runs it; otherwise the worker pool does.
type local struct {
	_      [cacheLine]byte // blocks run on different processors
	cohort *cohort
	actor  *core
	block  int

	turn    sync.Mutex   // held while the block runs
	halting atomic.Int32 // callers that wait for the turn in order to hold the block; others do not take it then

	// Guarded by turn. The watchdog reads call.
	call    atomic.Pointer[gpu.InlineLaunch]
	grown   uint64      // post.Memory.Grown when call was made
	shape   *loop.Shape // argument of call
	cursors []uint32
	holds   int // holds that keep the block from running
	closed  bool
	retired bool  // another actor has the block
	renewed int64 // when the deadlines in the rings were last checked

	kicked   atomic.Bool  // the task is in a queue of the pool, or a worker runs it
	missed   atomic.Bool  // a worker wanted to run the block while another goroutine had the turn
	byWorker atomic.Bool  // a worker is running the block
	task     workers.Task // runs the block

	door    sync.Mutex
	waiters []*waiter // guarded by door
	waiting atomic.Int32

	epoch atomic.Uint32  // of the run
	stuck atomic.Bool    // the current message has exceeded the handler timeout
	timer watchdog.Timer // used by the watchdog

	lasting uint32 // epoch when endLongRuns was last called

	_ [cacheLine]byte
}

// locals runs the blocks of a cohort on a device that runs kernels in the calling
// goroutine.
type locals struct {
	*cohort
	halts       sync.Mutex               // held to take the turns of several blocks
	list        atomic.Pointer[[]*local] // by block; the cohort's mutex is held to change it
	cursorWords *gpu.HostBuffer[uint32]  // in host memory; the host reads them between runs
}

func (c *locals) prepare() error { return nil }

// stateStep places states in different cache lines, because different processors use them.
func (c *locals) stateStep(size int) int {
	switch {
	case size == 0:
		return 1
	case cacheLine%size != 0: // some begin in the middle of a line
		return (cacheLine+size-1)/size + 1
	}
	return (cacheLine + size - 1) / size
}

func (c *locals) newCursors() (_ *gpu.Buffer[uint32], err error) {
	if c.cursorWords, err = gpu.AllocHost[uint32](c.rt.dev, c.size*mail.CursorWords); err != nil {
		return nil, err
	}
	clear(c.cursorWords.Data())
	return c.cursorWords.Mapped()
}

func (c *locals) free() error { return c.cursorWords.Close() }

func (c *locals) room(string) error { return nil }
func (c *locals) beforeAdd() error  { return nil }
func (c *locals) afterAdd() error   { return nil }
func (c *locals) occupied(int) bool { return false }

func (c *locals) resume() error { return c.resumeAmong(func(int) bool { return true }) }

// waiter waits until a ticket is handled.
type waiter struct {
	m      *mailbox
	ticket uint64
	err    error
	wake   chan struct{}
}

var waiters = sync.Pool{New: func() any { return &waiter{wake: make(chan struct{}, 1)} }}

// The maximum number of messages that a block handles before others get a turn, on
// the CPU and on the simulator, which is a thousand times as slow.
const (
	turnMessages      = 256
	simulatedMessages = 64
)

// handled waits until a ticket is handled or cannot be handled, or ctx is cancelled.
// It reports whether the ticket is handled.
func (l *local) handled(ctx context.Context, m *mailbox, ticket uint64) (bool, error) {
	if m.handled(ticket) {
		return true, nil
	}
	// A caller that can be cancelled must be able to return while the handler is
	// running.
	if ctx.Done() == nil && l.take() {
		err := l.run(nil)
		l.turn.Unlock()
		l.after(err)
		if err != nil || m.handled(ticket) {
			return err == nil, err
		}
	}
	return l.wait(ctx, m, ticket)
}

// wait makes another goroutine run the block.
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

// leave ends a wait that has not been ended yet.
func (l *local) leave(w *waiter) {
	l.door.Lock()
	defer l.door.Unlock()
	if i := slices.Index(l.waiters, w); i >= 0 {
		l.waiters = slices.Delete(l.waiters, i, i+1)
		return
	}
	<-w.wake
}

// over reports whether there is nothing left to wait for. The slot of a message
// without a waiting caller may already be reused.
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

// after does the work that follows a run of the block. The caller does not hold the
// turn.
func (l *local) after(err error) {
	if l.waiting.Load() > 0 {
		l.wake(err)
	}
	if l.missed.Load() && l.missed.Swap(false) {
		l.kick()
	}
}

// take takes the turn to run the block, unless another goroutine has it or waits to
// hold the block.
func (l *local) take() bool { return l.halting.Load() == 0 && l.turn.TryLock() }

func (l *local) kick() { l.kickBy(nil) }

// kickBy is kick for worker w, or for another goroutine if w is nil.
func (l *local) kickBy(w *workers.Worker) {
	if !l.kicked.Load() && !l.kicked.Swap(true) {
		l.cohort.rt.workers.Add(&l.task, w)
	}
}

// serve runs the block for a worker, unless another goroutine does.
func (l *local) serve(w *workers.Worker) {
	if !l.take() {
		l.kicked.Store(false)
		l.missed.Store(true)
		// Either the goroutine that has the turn, or waits for it, sees this when it is
		// done, or the turn is free.
		if !l.take() {
			return
		}
		if l.kicked.Swap(true) { // the task is in a queue again, and runs from there
			l.turn.Unlock()
			return
		}
	}
	l.byWorker.Store(true)
	err := l.run(w)
	l.byWorker.Store(false)
	l.kicked.Store(false)
	l.actor.refill()
	more := err == nil && l.ready() // these may have arrived before, without a kick
	l.turn.Unlock()
	if err != nil && l.waiting.Load() == 0 {
		l.cohort.rt.record(err)
	}
	l.after(err)
	if more && !l.kicked.Swap(true) {
		w.Again(&l.task)
	}
}

// ready reports whether the block can run and has messages. The caller holds the
// turn.
func (l *local) ready() bool {
	return l.holds == 0 && !l.closed && l.actor.runs() && l.pending() > 0
}

// pending returns the number of messages in the mailboxes. The caller holds the turn.
func (l *local) pending() uint32 {
	n := uint32(0)
	for level, m := range l.actor.mailboxes {
		n += uint32(m.next()) - l.cursors[level]
	}
	if l.cursors[mail.Pending] != 0 {
		n++
	}
	return n + l.cohort.rt.post.Waiting(l.actor.box)
}

// run handles messages, if the block can run. The caller holds the turn. w is the
// worker that runs the block, nil for other goroutines.
func (l *local) run(w *workers.Worker) error {
	if !l.ready() {
		return nil
	}
	if grown := l.cohort.rt.post.Grown(); l.call.Load() == nil || l.grown != grown {
		l.call.Swap(nil).Close()
		l.grown = grown
		if err := l.prepare(); err != nil {
			return err
		}
	}
	c, s := l.cohort, l.shape
	s.Epoch = l.epoch.Add(1)
	s.Messages = min(l.pending(), l.most())
	atomic.StoreUint64(c.left(l.block), 0)
	var began time.Time
	if c.rt.traces.On() {
		began = time.Now()
	}
	s.Clock = c.rt.clock()
	if s.Clock-l.renewed >= renewEvery {
		l.renewed = s.Clock
		for _, m := range l.actor.mailboxes {
			m.renewDeadlines(s.Clock)
		}
	}
	l.begin(s.Clock)
	err := l.call.Load().Run()
	l.wakeReceivers(w)
	if !began.IsZero() {
		c.rt.traces.Span(l.actor.name, "batch", began, int(s.Messages))
	}
	if l.stuck.Load() {
		l.stuck.Store(false)
		if l.byWorker.Load() {
			c.rt.workers.Unblocked()
		}
	}
	if err == nil && uint32(atomic.LoadUint64(c.left(l.block))) == mail.Bounded {
		return nil
	}
	return l.end(err)
}

// wakeReceivers kicks the actors that the block has sent messages to and whose own
// blocks are not running. w is the worker that has run the block.
func (l *local) wakeReceivers(w *workers.Worker) {
	rt := l.cohort.rt
	if rt.dev.Backend() == gpu.Sim { // its loop is the GPU form, which rings bells
		rt.answerBells()
		rt.collectInboxes()
		return
	}
	words := l.cohort.control.Data()[l.block*mail.ControlWords:][:mail.ControlWords]
	n := words[mail.Rung]
	if n == 0 {
		return
	}
	words[mail.Rung] = 0
	for i := range min(n, mail.MostRung) {
		box := uint32(words[mail.Rung+1+i/2] >> (32 * (i & 1)))
		known, ok := rt.owners.Load(box)
		if !ok {
			continue
		}
		switch to := known.(*core).server.(type) {
		case *local:
			to.kickBy(w)
		case *hostActor:
			to.actor.rt.collectInboxes()
		}
	}
	if n > mail.MostRung {
		rt.answerBells()
		rt.collectInboxes()
	}
}

// most returns the maximum number of messages that the block handles per run.
func (l *local) most() uint32 {
	if l.cohort.rt.dev.Backend() == gpu.Sim {
		return simulatedMessages
	}
	return turnMessages
}

// prepare makes the inline launch.
func (l *local) prepare() error {
	c := l.cohort
	launch, err := c.program.Kernel.Begin(c.stream, gpu.Blocks(gpu.Dim3{X: 1}, gpu.Dim3{X: c.program.Threads}).Shared(c.sharedBytes()))
	if err != nil {
		return err
	}
	shape := c.shape
	shape.Leaves, shape.Wakes, shape.Alone = 1, 1, 1
	c.arguments(launch, shape, l.block, l.block+1)
	call, err := launch.Inline()
	if err != nil {
		return err
	}
	if l.shape, err = gpu.InlineArg[loop.Shape](call, 0); err != nil {
		call.Close()
		return err
	}
	l.call.Store(call)
	return nil
}

// end evaluates how the loop has left. The caller holds the turn.
func (l *local) end(err error) error {
	fault, failed := errors.AsType[*gpu.KernelError](err)
	_, cancelled := errors.AsType[*StuckError](err) // by the watchdog, which has reported it
	if err != nil && !failed && !cancelled {
		return err
	}
	why := err
	switch {
	case failed:
		why = l.cohort.explain(fault)
	case err == nil:
		why = errors.New("all threads of the handler have exited")
	}
	left := atomic.LoadUint64(l.cohort.left(l.block))
	silent := left>>32 != uint64(l.shape.Epoch) // no thread was left to report why
	switch {
	case !silent && uint32(left) == mail.Stopped:
		l.actor.stopped()
		return nil
	case !silent && uint32(left) != mail.Failed:
		return nil
	case !silent:
		l.actor.failedBefore(l.cursors, why)
	}
	// The loop has not marked itself as asleep. Actors that send to it after a restart
	// must ring the bell.
	if err := l.cohort.rt.post.Write(l.actor.box.At()+mail.BoxAsleep, 1); err != nil {
		return err
	}
	switch {
	case silent && !l.settle(why):
		return nil
	case cancelled:
		l.actor.meter.failed.Add(1)
	default:
		l.actor.fail(why)
	}
	if l.cursors[mail.AtSource] == mail.Post {
		return l.actor.failedMail(!silent, why)
	}
	return nil
}

// settle does the work of a loop that has ended without a report, and answers its
// current message. It reports whether there was one. The message of a stuck handler
// is given up when the actor ends.
func (l *local) settle(why error) (found bool) {
	atomic.StoreUint64(l.cohort.left(l.block), uint64(l.shape.Epoch)<<32|mail.Failed)
	source := l.cursors[mail.AtSource]
	if source == mail.Post {
		p := l.actor.meter.posted.Load()
		return p == nil || !p.last
	}
	l.cursors[source], found = l.actor.mailboxes[source].settleNext(why)
	return found
}

func (l *local) hold() error {
	if len(halt([]*local{l})) > 0 {
		return l.overdue()
	}
	defer l.turn.Unlock()
	if l.closed {
		return fmt.Errorf("ring: actor %s: %w", l.actor.name, ErrClosed)
	}
	l.holds++
	return nil
}

// halt takes the turns of blocks, each at the next message boundary. It asks all blocks
// to leave before it waits for any. Blocks whose handlers do not return within the
// handler timeout are given up and returned; halt does not hold their turns. A block that
// is waiting for the device, as on the simulator, has not begun; it may be waiting for a
// handler that is given up.
//
// The caller holds locals.halts. Otherwise two callers could each hold turns that the
// other waits for.
func halt(list []*local) (stuck []*local) {
	for _, l := range list {
		l.halting.Add(1)
	}
	timers := make([]watchdog.Timer, len(list))
	left := len(list)
	done := make([]bool, len(list))
	wait, checks := backoff.Yielding(), false
	for left > 0 {
		for k, l := range list {
			if done[k] {
				continue
			}
			if l.turn.TryLock() {
				l.release()
				done[k] = true
				left--
				continue
			}
			atomic.OrUint64(l.cohort.command(l.block), leave)
			if !checks {
				continue
			}
			t, call := &timers[k], l.call.Load()
			t.Timeout = l.cohort.rt.config.HandlerTimeout
			switch {
			case l.stuck.Load(), call != nil && call.Running() && t.Check(time.Now(), l.far()):
				l.giveUp(call)
				l.release()
				stuck = append(stuck, l)
				done[k] = true
				left--
			case call == nil || !call.Running():
				t.Stop()
			}
		}
		if left > 0 {
			checks = wait.Pause()
		}
	}
	return stuck
}

// release ends a wait for the turn, successful or not. Other waiting callers ask the
// block to leave again. Workers that could not run the block meanwhile need no
// notification: the goroutine that has the turn checks for messages after it.
func (l *local) release() {
	atomic.AndUint64(l.cohort.command(l.block), ^uint64(leave))
	l.halting.Add(-1)
}

func (l *local) resume() error {
	l.turn.Lock()
	l.holds--
	more := l.ready()
	l.turn.Unlock()
	if more {
		l.kick()
	}
	l.wake(nil) // in case the actor has ended
	return nil
}

func (l *local) renew(initial any) error {
	l.turn.Lock()
	defer l.turn.Unlock()
	if l.closed {
		return l.actor.denied("restart", false)
	}
	return l.cohort.states.set(l.cohort.stream, l.block, initial)
}

func (l *local) room() error { return nil }

// serve makes the server of an actor in a block.
func (c *locals) serve(i int, a *core) server {
	l := &local{cohort: c.cohort, actor: a, block: i, holds: int(c.holds.Load()), timer: *c.rt.watchdog()}
	l.task.Run = l.serve
	l.cursors = c.cursorWords.Data()[i*mail.CursorWords:][:mail.CursorWords]
	for _, m := range a.mailboxes {
		m.arrivals = newArrivals(int(m.mask) + 1)
	}
	list := slices.Clone(c.blocks()) // other goroutines read the old list
	if i < len(list) {
		list[i].retire()
		list[i] = l
	} else {
		list = append(list, l)
	}
	c.list.Store(&list)
	return l
}

// retire ends the server of a terminated actor, whose block another actor gets.
func (l *local) retire() {
	l.turn.Lock()
	defer l.turn.Unlock()
	l.shut()
	l.retired = true
}

// shut ends the block. The caller holds the turn.
func (l *local) shut() {
	l.closed = true
	l.call.Swap(nil).Close()
}

// blocks returns the existing blocks. It does not wait for one that is being made: that
// may be waiting for a handler, which the watchdog must detect.
func (c *locals) blocks() []*local {
	if list := c.list.Load(); list != nil {
		return *list
	}
	return nil
}

// hold holds all local actors, including those that are made before resume. If it
// fails, it holds none.
func (c *locals) hold() error {
	c.mu.Lock()
	c.holds.Add(1)
	list := c.blocks()
	c.mu.Unlock()
	c.halts.Lock()
	defer c.halts.Unlock()
	stuck := halt(list)
	for _, l := range list {
		if !slices.Contains(stuck, l) {
			l.holds++
			l.turn.Unlock()
		}
	}
	if len(stuck) > 0 {
		return errors.Join(stuckOf(stuck), c.resumeAmong(func(n int) bool { return n >= len(list) || !slices.Contains(stuck, list[n]) }))
	}
	return nil
}

// stuckOf returns the error for the stuck handlers of one or more blocks.
func stuckOf(list []*local) error {
	e := &StuckError{After: list[0].cohort.rt.config.HandlerTimeout}
	for _, l := range list {
		e.Actors = append(e.Actors, l.actor.name)
	}
	return e
}

// resumeAmong ends a hold of the blocks that among selects.
func (c *locals) resumeAmong(among func(int) bool) error {
	c.mu.Lock()
	c.holds.Add(-1)
	list := c.blocks()
	c.mu.Unlock()
	var errs []error
	for i, l := range list {
		if among(i) {
			errs = append(errs, l.resume())
		}
	}
	return errors.Join(errs...)
}

// close ends all local actors for good.
func (c *locals) close() error {
	c.halts.Lock()
	defer c.halts.Unlock()
	list := c.blocks()
	stuck := halt(list)
	for _, l := range list {
		if !slices.Contains(stuck, l) {
			l.shut()
			l.turn.Unlock()
			l.actor.setState(Terminated)
		}
		l.wake(nil)
	}
	if len(stuck) > 0 {
		return stuckOf(stuck)
	}
	return nil
}

// finishClose ends the local actors whose handlers have returned since close. It returns
// an error if some have not.
func (c *locals) finishClose() error {
	var stuck []*local
	for _, l := range c.blocks() {
		if !l.turn.TryLock() {
			stuck = append(stuck, l)
			continue
		}
		l.shut()
		l.turn.Unlock()
	}
	if len(stuck) > 0 {
		return stuckOf(stuck)
	}
	return nil
}

// overdue returns the error of a stuck handler.
func (l *local) overdue() error { return stuckOf([]*local{l}) }

// watchLocal detects stuck handlers.
func (rt *Runtime) watchLocal() {
	ticker := time.NewTicker(max(rt.watchdog().Interval(), time.Millisecond))
	defer ticker.Stop()
	for {
		select {
		case <-rt.done:
			return
		case <-ticker.C:
		}
		runtime.Gosched()
		for _, c := range rt.all() {
			for _, l := range c.executor.(*locals).blocks() {
				l.check(time.Now())
			}
		}
	}
}

// check detects that the block has been at the same message for too long.
func (l *local) check(now time.Time) {
	call := l.call.Load()
	running := call != nil && l.epoch.Load() != 0 && atomic.LoadUint64(l.cohort.left(l.block)) == 0 && call.Running()
	switch {
	case !running:
		l.timer.Stop()
	case l.timer.Check(now, l.far()):
		l.giveUp(call)
	}
}

// giveUp stops a stuck handler if that is possible, and ends the waits for it.
func (l *local) giveUp(call *gpu.InlineLaunch) {
	if l.stuck.Swap(true) {
		return
	}
	if l.byWorker.Load() {
		l.cohort.rt.workers.Blocked()
	}
	err := l.overdue()
	l.actor.stall(err)
	call.Cancel(err)
	l.wake(nil)
}

// far returns a number that grows with each run of the block and with each message of
// a run.
func (l *local) far() uint64 {
	n := uint64(l.epoch.Load()) + uint64(l.cohort.rt.post.Head(l.actor.box))
	for _, m := range l.actor.mailboxes {
		first, _ := m.unhandled()
		n += first
	}
	return n
}
