package ring

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"sync/atomic"
	"time"

	"quern.dev/gpu"
	"quern.dev/ring/internal/backoff"
	"quern.dev/ring/internal/loop"
	"quern.dev/ring/internal/mail"
	"quern.dev/ring/internal/watchdog"
)

// resident runs the blocks of a cohort in one launch that stays on the device. The
// launch ends when the cohort is held, and begins again when it is resumed.
type resident struct {
	*cohort
	perProcessor int // actors per multiprocessor

	// Guarded by the cohort's mutex.
	epoch          uint32
	running        bool // a launch is running
	began          time.Time
	occupants      []occupant // by block, for blocks that have been in a launch
	stuck          int        // number of stuck occupants
	abandoned      []*abandoned
	oversubscribed bool  // more actors are active than can be resident
	renewed        int64 // when the deadlines in the rings were last checked
}

// prepare computes the number of actors per multiprocessor, and fills the reserve of
// streams.
func (c *resident) prepare() error {
	o, err := c.program.Kernel.Occupancy(c.rt.dev, gpu.Dim3{X: c.program.Threads}, c.sharedBytes())
	switch {
	case err != nil:
		return err
	case o.Blocks == 0:
		return invalid("a block of %d threads with %d bytes of shared memory does not fit on a multiprocessor; use a smaller Batch", c.program.Threads, c.sharedBytes())
	}
	c.perProcessor = o.Blocks
	return c.rt.streams.Fill(c.rt.dev)
}

func (c *resident) stateStep(int) int { return 1 }

// newCursors makes the cursors of all blocks.
func (c *resident) newCursors() (*gpu.Buffer[uint32], error) {
	return gpu.Upload(c.stream, make([]uint32, c.size*mail.CursorWords))
}

func (c *resident) free() error {
	errs := []error{c.cursors.Close()}
	for _, a := range c.abandoned {
		errs = append(errs, a.stream.Close(), a.end.Close())
	}
	return errors.Join(errs...)
}

// beforeAdd ends the launch, because a running launch cannot get new actors.
func (c *resident) beforeAdd() error { return c.hold() }
func (c *resident) afterAdd() error  { return c.resume() }

func (c *resident) serve(i int, a *core) server {
	if i < len(c.occupants) {
		c.occupants[i] = occupant{}
	}
	return &place{c, a, i}
}

// occupied returns false for a block that has not been in a launch.
func (c *resident) occupied(i int) bool { return i < len(c.occupants) && c.occupants[i].stuck }

func (c *resident) finishClose() error {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.overdue()
}

// begin launches the loops. The caller holds c.mu.
func (c *resident) begin() error {
	c.epoch++
	c.occupants = append(c.occupants, make([]occupant, len(c.actors)-len(c.occupants))...)
	for i, a := range c.actors {
		t := &c.occupants[i]
		t.runs = a.runs() && !t.stuck
		t.timer, t.asked = *c.rt.watchdog(), false
		if t.runs {
			atomic.AndUint64(c.command(i), ^uint64(leave))
		} else {
			atomic.OrUint64(c.command(i), leave)
		}
		if t.stuck {
			c.countFailure(i)
		}
		atomic.StoreUint64(c.left(i), 0)
	}
	shape := c.shape
	shape.Epoch, shape.Clock = c.epoch, c.rt.clock()
	c.renewDeadlines(shape.Clock)
	shape.Life = min(int64(c.rt.config.Life), renewEvery)
	if c.rt.config.Bounded {
		shape.Leaves, shape.Wakes, shape.Idle, shape.Messages = 1, 1, int64(c.rt.config.Idle), uint32(c.rt.config.Messages)
	}
	if c.oversubscribed = c.rt.oversubscribed.Load(); c.oversubscribed {
		shape.Idle, shape.Life = min(shape.Idle, int64(oversubscribedIdle)), int64(oversubscribedLife)
	}
	grid := gpu.Blocks(gpu.Dim3{X: len(c.actors)}, gpu.Dim3{X: c.program.Threads}).Shared(c.sharedBytes())
	l, err := c.program.Kernel.Begin(c.stream, grid)
	if err != nil {
		return err
	}
	c.arguments(l, shape, 0, c.size)
	return l.End()
}

// renewDeadlines renews the deadlines in the rings if that is due. The caller holds c.mu.
func (c *resident) renewDeadlines(now int64) {
	if now-c.renewed < renewEvery {
		return
	}
	c.renewed = now
	for i, a := range c.actors {
		if c.occupants[i].stuck { // its loop may still run
			continue
		}
		for _, m := range a.mailboxes {
			m.renewDeadlines(now)
		}
	}
}

// end waits for the end of a launch and evaluates how each loop has left. The caller
// holds c.mu.
func (c *resident) end(ctx context.Context) error {
	err := c.stream.Synchronize(ctx)
	fault, _ := errors.AsType[*gpu.KernelError](err)
	if err != nil && fault == nil {
		return err
	}
	for i, t := range c.occupants {
		if t.runs {
			if err := c.account(i, fault); err != nil {
				return err
			}
		}
	}
	return nil
}

// account evaluates how the loop of a block has left. The caller holds c.mu.
func (c *resident) account(i int, fault *gpu.KernelError) error {
	a := c.actors[i]
	switch left := atomic.LoadUint64(c.left(i)); {
	case left>>32 != uint64(c.epoch):
		// No thread was left to report why.
		return c.settle(i, fault)
	case uint32(left) == mail.Stopped:
		a.stopped()
	case uint32(left) == mail.Failed:
		return c.failed(i, c.cause(i, fault))
	}
	return nil
}

// failed records that the handler of a block has failed. The loop has left. The
// caller holds c.mu.
func (c *resident) failed(i int, why error) error {
	a := c.actors[i]
	byActor, err := c.failedOn(i, why)
	a.fail(why)
	if byActor {
		err = a.failedMail(true, why)
	}
	return err
}

// failedOn records why the handler of a block failed on the message before the
// cursor, and reports whether that message came from another actor. The caller holds
// c.mu.
func (c *resident) failedOn(i int, why error) (byActor bool, err error) {
	cursors := make([]uint32, mail.CursorWords)
	at := c.cursors.Slice(i*mail.CursorWords, (i+1)*mail.CursorWords)
	// Not in the order of a launch that continues because of stuck actors.
	if err := c.rt.post.Download(cursors, at); err != nil {
		return false, err
	}
	return c.actors[i].failedBefore(cursors, why), nil
}

// cause returns why block i failed.
func (c *resident) cause(i int, fault *gpu.KernelError) error {
	if fault != nil && fault.Block.X == i {
		return c.explain(fault)
	}
	return errors.New("threads of the handler stopped at a failed check or a panic; another actor's was recorded first")
}

// settle does the work of a loop that has ended without a report: it answers the
// loop's current message.
func (c *resident) settle(i int, fault *gpu.KernelError) error {
	cursors := make([]uint32, mail.CursorWords)
	at := c.cursors.Slice(i*mail.CursorWords, (i+1)*mail.CursorWords)
	if err := gpu.Download(context.Background(), c.stream, cursors, at); err != nil {
		return err
	}
	a, why := c.actors[i], c.cause(i, fault)
	source := cursors[mail.AtSource]
	if source == mail.Post {
		a.fail(why)
		return a.failedMail(false, why)
	}
	defer a.fail(why) // the caller of Ask learns of the failure by the answer
	cursors[source], _ = a.mailboxes[source].settleNext(why)
	return gpu.CopyIn(c.stream, at, cursors)
}

// hold ends the launch at a message boundary, and prevents a new one until resume.
// Messages wait in their mailboxes.
func (c *resident) hold() error {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.closed {
		return fmt.Errorf("ring: actors of %s: %w", c.program.Name, ErrClosed)
	}
	c.holds.Add(1)
	err := c.halt()
	if err != nil {
		c.holds.Add(-1)
	}
	return err
}

// resume ends a hold.
func (c *resident) resume() error {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.holds.Add(-1) > 0 || c.closed || c.running || len(c.actors) == 0 {
		return nil
	}
	if err := c.begin(); err != nil {
		return fmt.Errorf("ring: launch of %d actors: %w", len(c.actors), err)
	}
	c.rt.launches.Add(1)
	c.running, c.began = true, time.Now()
	return nil
}

// close ends the launch for good.
func (c *resident) close() error {
	err := c.hold()
	c.mu.Lock()
	defer c.mu.Unlock()
	c.closed = true
	if stuck := c.overdue(); stuck != nil {
		return stuck // its memory is in use
	}
	return err
}

// leave is the command that asks a loop to leave.
const leave = 1

// occupant is the state of a block of the resident launch.
type occupant struct {
	runs  bool // it is in the current launch
	stuck bool // its handler does not return; no launch waits for it
	left  *abandoned

	// Used by the watchdog.
	timer watchdog.Timer
	asked bool // it was asked to leave, to show that it can
}

// abandoned is a launch that has stuck handlers. Later launches run at the same time.
type abandoned struct {
	stream *gpu.Stream
	end    *gpu.Event
}

// ask asks the running loops to leave. The caller holds c.mu.
func (c *resident) ask() {
	for i := range c.actors {
		atomic.OrUint64(c.command(i), leave)
	}
}

// hasLeft reports whether the loop of a block has left this launch. The caller holds
// c.mu.
func (c *resident) hasLeft(i int) bool {
	return atomic.LoadUint64(c.left(i))>>32 == uint64(c.epoch)
}

// mostSpin is how long a goroutine that waits for loops polls without yielding the
// processor. Getting the processor back may take longer than the loops take to leave,
// unless a handler runs for long.
const mostSpin = 300 * time.Microsecond

// waitForLeaving waits until all loops of cohorts that were asked to leave have left,
// at most for mostSpin. The hold deals with the others.
func waitForLeaving(list []*resident) {
	until := time.Now().Add(mostSpin)
	for _, c := range list {
		c.mu.Lock()
		c.waitForLeaving(until)
		c.mu.Unlock()
	}
}

// waitForLeaving waits until the loops of the launch have left, at most until a given
// time. The caller holds c.mu.
func (c *resident) waitForLeaving(until time.Time) {
	if !c.running {
		return
	}
	polls := 0
	for i, t := range c.occupants {
		for t.runs && !t.stuck && !c.hasLeft(i) {
			if polls++; polls%64 == 0 && time.Now().After(until) {
				return
			}
		}
	}
}

// halt ends the launch at a message boundary. Loops that have not left within the
// handler timeout are stuck. They keep their launch, and later launches run beside
// it. The caller holds c.mu.
func (c *resident) halt() error {
	if !c.running {
		return nil
	}
	c.ask()
	c.waitForLeaving(time.Now().Add(mostSpin))
	if c.stuck > 0 {
		return c.haltOthers()
	}
	ctx, cancel := context.WithTimeout(context.Background(), c.rt.config.HandlerTimeout)
	defer cancel()
	err := c.end(ctx)
	if ctx.Err() != nil && errors.Is(err, ctx.Err()) {
		return c.haltOthers()
	}
	c.running = false
	c.traceLaunch()
	return err
}

// haltOthers is halt for a launch that does not end. The caller holds c.mu.
func (c *resident) haltOthers() error {
	v := c.rt.watchdog()
	for i := range c.occupants {
		var wait backoff.Wait
		for t := &c.occupants[i]; t.runs && !t.stuck && !c.hasLeft(i); wait.Pause() {
			if c.stuck == 0 || v.Check(time.Now(), 0) { // the wait in end counts
				c.mark(i)
			}
		}
	}
	for i := range c.occupants {
		if t := &c.occupants[i]; t.runs && !t.stuck {
			c.account(i, nil)
		}
	}
	return c.leaveBehind()
}

// mark records that the handler of a block is stuck. The caller holds c.mu.
func (c *resident) mark(i int) {
	c.occupants[i].stuck = true
	c.stuck++
	if a := c.actors[i]; a.runs() {
		a.stall(&StuckError{Actors: []string{a.name}, After: c.rt.config.HandlerTimeout})
	}
}

// leaveBehind gives the cohort a new stream. The caller holds c.mu.
func (c *resident) leaveBehind() error {
	end, err := c.rt.dev.NewEvent()
	if err != nil {
		return err
	}
	if err := c.stream.Record(end); err != nil {
		return errors.Join(err, end.Close())
	}
	s, err := c.rt.streams.Take()
	if err != nil {
		return errors.Join(err, end.Close())
	}
	o := &abandoned{c.stream, end}
	for i := range c.occupants {
		if t := &c.occupants[i]; t.stuck && t.left == nil {
			t.left = o
		}
	}
	c.abandoned = append(c.abandoned, o)
	c.stream, c.running = s, false
	c.traceLaunch()
	return nil
}

// returned checks whether stuck handlers have returned. The caller holds c.mu.
func (c *resident) returned() {
	if c.stuck == 0 {
		return
	}
	for i := range c.occupants {
		t := &c.occupants[i]
		if !t.stuck {
			continue
		}
		done := t.left == nil && c.hasLeft(i)
		if t.left != nil {
			done, _ = t.left.end.Done()
		}
		if done {
			if t.left != nil {
				c.countFailure(i)
			}
			t.stuck, t.left = false, nil
			c.stuck--
		}
	}
	c.abandoned = slices.DeleteFunc(c.abandoned, func(o *abandoned) bool {
		over := !slices.ContainsFunc(c.occupants, func(t occupant) bool { return t.left == o })
		if over {
			c.rt.record(o.end.Close())
			c.rt.streams.Put(o.stream)
		}
		return over
	})
}

// countFailure counts the message of a handler that was stuck and then failed, in an
// abandoned launch. The caller holds c.mu.
func (c *resident) countFailure(i int) {
	if uint32(atomic.LoadUint64(c.left(i))) == mail.Failed {
		a := c.actors[i]
		if _, err := c.failedOn(i, cmp.Or(a.failure(), errHandler)); err != nil {
			c.rt.record(err)
		}
		a.meter.failed.Add(1)
	}
}

// overdue returns the error for actors with stuck handlers, or nil if there are none.
// The caller holds c.mu.
func (c *resident) overdue() error {
	c.returned()
	if c.stuck == 0 {
		return nil
	}
	e := &StuckError{After: c.rt.config.HandlerTimeout}
	for i, t := range c.occupants {
		if t.stuck {
			e.Actors = append(e.Actors, c.actors[i].name)
		}
	}
	return e
}

// request is the first half of a hold: it asks the loops to leave. The second half is
// clear. It returns false, and does nothing, if the cohort is closed.
func (c *resident) request() bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.closed {
		return false
	}
	c.holds.Add(1)
	if c.running {
		c.ask()
	}
	return true
}

// clear is the second half of a hold: it waits for the end of the launch. Stuck
// handlers result in an error. In either case the cohort must be resumed.
func (c *resident) clear() error {
	c.mu.Lock()
	defer c.mu.Unlock()
	if err := c.halt(); err != nil {
		return err
	}
	return c.overdue()
}

// hold keeps the block's launch from running. It fails if the block's own handler is
// stuck.
func (p *place) hold() error {
	p.mu.Lock()
	p.returned()
	stuck := p.occupied(p.block)
	p.mu.Unlock()
	if stuck {
		return &StuckError{Actors: []string{p.actor.name}, After: p.rt.config.HandlerTimeout}
	}
	return p.resident.hold()
}

// watch checks, without waiting, whether actors of a resident launch have failed or
// stopped, or have left on their own and have messages. If so, it restarts the launch
// and returns true.
func (c *resident) watch() (bool, error) {
	// Waiting callers come here again and again while the cohort is held, and would
	// keep the mutex from the goroutine that holds it.
	if c.holds.Load() > 0 || !c.mu.TryLock() {
		return false, nil
	}
	faulted, err := false, error(nil)
	need := false
	switch {
	case c.holds.Load() > 0 || c.closed:
	case c.running:
		faulted, err = c.stream.Faulted()
		need = faulted || c.anyAbsent()
	default: // an error kept the launch from beginning again
		need = slices.ContainsFunc(c.actors, (*core).runs)
	}
	c.mu.Unlock()
	if !need || err != nil {
		return false, err
	}
	return true, restart(c)
}

// anyAbsent reports whether any actor is absent. If more actors are active than can
// be resident, all must have had their turn first. The caller holds c.mu.
func (c *resident) anyAbsent() bool {
	absent := false
	for i, t := range c.occupants {
		switch {
		case c.absent(i):
			absent = true
		case c.oversubscribed && t.runs && !t.stuck && !c.hasLeft(i):
			return false
		}
	}
	return absent
}

// absent reports whether an actor that should run has left, and has work to do. The
// caller holds c.mu.
func (c *resident) absent(i int) bool {
	a := c.actors[i]
	if !c.hasLeft(i) || !a.runs() {
		return false
	}
	why := uint32(atomic.LoadUint64(c.left(i)))
	if why == mail.Bounded || why == mail.Aged && c.oversubscribed {
		return slices.ContainsFunc(a.mailboxes, (*mailbox).pending) || c.rt.post.Rung(a.box.Bell)
	}
	return true
}

// guard detects stuck handlers: their actors have messages, and have handled none for
// the handler timeout. Halfway through, actors are asked to leave, because there are
// other reasons for handling none. guard does not wait.
func (c *resident) guard(now time.Time) {
	if !c.mu.TryLock() {
		return
	}
	defer c.mu.Unlock()
	if !c.running || c.holds.Load() > 0 {
		return
	}
	for i := range c.occupants {
		t, a := &c.occupants[i], c.actors[i]
		if !t.runs || t.stuck || c.hasLeft(i) {
			continue
		}
		accepted, queued := a.traffic()
		switch {
		case queued == 0:
			t.timer.Stop()
		case t.timer.Check(now, accepted-queued):
			c.mark(i)
		case t.timer.Halfway() && !t.asked:
			t.asked = true
			atomic.OrUint64(c.command(i), leave)
		}
	}
}

// StuckError means that handlers have not returned in time. On a GPU only the end of
// the process stops them. Until they return, operations that wait for everything on
// the device, such as freeing memory and closing the device, fail with this error.
// Other actors are served, except those that would need the place of a stuck actor on
// a multiprocessor. An actor whose handler has returned can be restarted.
type StuckError struct {
	Actors []string
	After  time.Duration
}

// Error names the actors.
func (e *StuckError) Error() string {
	return fmt.Sprintf("ring: handlers of %q did not return within %v", e.Actors, e.After)
}

// ResidencyError means that there is no room for another actor on a GPU: its block
// would not run before one of the active actors leaves.
type ResidencyError struct {
	Actor           string
	Active          int // actors
	PerProcessor    int // actors like this one per multiprocessor
	Multiprocessors int // available to actors: all but one, which is left to other kernels
}

// Error states how many actors would fit.
func (e *ResidencyError) Error() string {
	return fmt.Sprintf("ring: no room for actor %s in addition to %d active ones: each of the %[4]d multiprocessors for actors holds %[3]d like it; deactivate or terminate some",
		e.Actor, e.Active, e.PerProcessor, e.Multiprocessors)
}

// If more actors are active than can be resident, each leaves after oversubscribedLife, or
// after oversubscribedIdle without a message, so that others get their turn.
const (
	oversubscribedLife = 2 * time.Millisecond
	oversubscribedIdle = 20 * time.Microsecond
)

// fewCells is the size in bytes of messages in shared memory that always fit.
const fewCells = 4 << 10

// fitBatch lowers the number of messages that an actor takes at once to what fits
// into the shared memory of its block.
func (rt *Runtime) fitBatch(p *Program, s *loop.Shape) error {
	cell := cellBytes(s)
	if int(s.Batch)*cell <= fewCells {
		return nil
	}
	uses, err := p.Kernel.Resources(rt.dev)
	if err != nil {
		return err
	}
	room := rt.dev.Attributes().SharedPerBlock
	for _, u := range uses {
		room = min(room, rt.dev.Attributes().SharedPerBlock-u.Shared)
	}
	if cell > room-16 {
		return invalid("a message of %s and its reply take %d bytes of shared memory, and a block has %d for them; send large data in payloads", p.Name, cell, room)
	}
	s.Batch = min(s.Batch, uint32((room-16)/cell))
	s.RawAt = rawAt(s)
	return nil
}

// sharedBytes returns the dynamic shared memory of a block in bytes.
func (c *cohort) sharedBytes() int {
	return 16*int(c.shape.RawAt) + 8*int(c.shape.Batch*c.shape.InStep)
}

// room returns an error if one more actor of the cohort cannot be resident.
func (c *resident) room(name string) error {
	rt := c.rt
	parts, active := []part{{1, c.perProcessor}}, 0
	for _, other := range rt.residents() {
		other.mu.Lock()
		n := 0
		for _, a := range other.actors {
			if a.runs() {
				n++
			}
		}
		other.mu.Unlock()
		parts, active = append(parts, part{n, other.perProcessor}), active+n
	}
	processors := max(1, rt.dev.Attributes().Multiprocessors-1)
	fit := fits(parts, processors)
	if fit || rt.config.Bounded {
		return rt.setOversubscribed(!fit)
	}
	return &ResidencyError{Actor: name, Active: active, PerProcessor: c.perProcessor, Multiprocessors: processors}
}

// setOversubscribed records whether more actors are active than can be resident.
func (rt *Runtime) setOversubscribed(oversubscribed bool) error {
	if rt.oversubscribed.Swap(oversubscribed) == oversubscribed {
		return nil
	}
	var errs []error
	for _, c := range rt.all() {
		errs = append(errs, restart(c.executor))
	}
	return errors.Join(errs...)
}

// part is a number of actors that each take an equal part of a multiprocessor.
type part struct{ actors, perProcessor int }

// fits reports whether the actors need at most the given number of multiprocessors.
// It computes in 64ths.
func fits(parts []part, processors int) bool {
	taken := 0
	for _, p := range parts {
		if p.actors > 0 {
			taken += (p.actors*64 + p.perProcessor - 1) / p.perProcessor
		}
	}
	return taken <= 64*processors
}
