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

// resident runs the blocks of a cohort in one launch that stays on the device. It ends
// when the cohort is held, and begins again when it is resumed.
type resident struct {
	*cohort
	perProcessor int // actors that a multiprocessor holds

	// Guarded by the cohort's mutex.
	epoch     uint32
	running   bool // a launch is there
	began     time.Time
	occupants []occupant // by block, of those that a launch has had
	stuck     int        // occupants that are
	abandoned []*abandoned
	crowded   bool // more actors are active than can be resident
}

// prepare finds how many actors a multiprocessor holds, and keeps streams in reserve.
func (c *resident) prepare() error {
	o, err := c.program.Kernel.Occupancy(c.rt.dev, gpu.Dim3{X: c.program.Threads}, c.sharedBytes())
	switch {
	case err != nil:
		return err
	case o.Blocks == 0:
		return invalid("a block of %d threads with %d bytes of shared memory fits on no multiprocessor; take a smaller Batch", c.program.Threads, c.sharedBytes())
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

// beforeAdd ends the launch, which takes no more actors.
func (c *resident) beforeAdd() error { return c.hold() }
func (c *resident) afterAdd() error  { return c.resume() }

func (c *resident) serve(i int, a *core) server {
	if i < len(c.occupants) {
		c.occupants[i] = occupant{}
	}
	return &place{c, a, i}
}

// occupied is also false for a block that no launch has had.
func (c *resident) occupied(i int) bool { return i < len(c.occupants) && c.occupants[i].stuck }

func (c *resident) linger() error {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.overdue()
}

// begin launches the loops. c.mu is held.
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
			c.reckon(i)
		}
		atomic.StoreUint64(c.left(i), 0)
	}
	shape := c.shape
	shape.Epoch, shape.Clock = c.epoch, c.rt.clock()
	shape.Life = int64(c.rt.config.Life)
	if c.rt.config.Bounded {
		shape.Leaves, shape.Wakes, shape.Idle, shape.Messages = 1, 1, int64(c.rt.config.Idle), uint32(c.rt.config.Messages)
	}
	if c.crowded = c.rt.crowded.Load(); c.crowded {
		shape.Idle, shape.Life = min(shape.Idle, int64(crowdedIdle)), int64(crowdedLife)
	}
	grid := gpu.Blocks(gpu.Dim3{X: len(c.actors)}, gpu.Dim3{X: c.program.Threads}).Shared(c.sharedBytes())
	l, err := c.program.Kernel.Begin(c.stream, grid)
	if err != nil {
		return err
	}
	c.arguments(l, shape, 0, c.size)
	return l.End()
}

// end waits for the end of a launch and looks at how each loop has left. c.mu is
// held.
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

// account looks at how the loop of a block has left. c.mu is held.
func (c *resident) account(i int, fault *gpu.KernelError) error {
	a := c.actors[i]
	switch left := atomic.LoadUint64(c.left(i)); {
	case left>>32 != uint64(c.epoch):
		// None of its threads was left to say so.
		return c.settle(i, fault)
	case uint32(left) == mail.Stopped:
		a.stopped()
	case uint32(left) == mail.Failed:
		return c.failed(i, c.cause(i, fault))
	}
	return nil
}

// failed notes that the handler of a block has failed, whose loop has left. c.mu is
// held.
func (c *resident) failed(i int, why error) error {
	a := c.actors[i]
	byActor, err := c.failedOn(i, why)
	a.fail(why)
	if byActor {
		err = a.failedMail(true, why)
	}
	return err
}

// failedOn notes why the handler of a block has failed on the message before the
// cursor, and reports whether that is of another actor. c.mu is held.
func (c *resident) failedOn(i int, why error) (byActor bool, err error) {
	cursors := make([]uint32, mail.CursorWords)
	at := c.cursors.Slice(i*mail.CursorWords, (i+1)*mail.CursorWords)
	// Not behind a launch that goes on for actors that are stuck.
	if err := c.rt.post.Download(cursors, at); err != nil {
		return false, err
	}
	return c.actors[i].failedBefore(cursors, why), nil
}

// cause is why block i failed.
func (c *resident) cause(i int, fault *gpu.KernelError) error {
	if fault != nil && fault.Block.X == i {
		return c.explain(fault)
	}
	return errors.New("threads of the handler stopped at a failed check or a panic; another actor's was recorded first")
}

// settle answers, in place of a loop that has ended without a word, the message
// that it was at.
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
	defer a.fail(why) // who asked learns of the failure by the answer
	cursors[source], _ = a.mailboxes[source].settleNext(why)
	return gpu.CopyIn(c.stream, at, cursors)
}

// hold ends the launch at a message boundary and keeps it from beginning again
// until resume. Messages wait in their mailboxes.
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

// leave is the command to a loop to leave.
const leave = 1

// occupant is what a cohort knows of a block of its resident launch.
type occupant struct {
	runs  bool // it does in this launch
	stuck bool // its handler does not return; no launch waits for it
	left  *abandoned

	// The watchdog's.
	timer watchdog.Timer
	asked bool // it is to leave, to show that it can
}

// abandoned is a launch that others were begun beside, since some of its loops do not
// leave.
type abandoned struct {
	stream *gpu.Stream
	end    *gpu.Event
}

// ask has the loops leave that run. c.mu is held.
func (c *resident) ask() {
	for i := range c.actors {
		atomic.OrUint64(c.command(i), leave)
	}
}

// left reports whether the loop of a block has left this launch. c.mu is held.
func (c *resident) hasLeft(i int) bool {
	return atomic.LoadUint64(c.left(i))>>32 == uint64(c.epoch)
}

// mostSpin is how long whoever waits for loops looks without giving the processor
// away, which may take longer to come back than loops take to leave, unless a handler
// is at work for long.
const mostSpin = 300 * time.Microsecond

// seeOut waits until the loops of cohorts have left that were asked to, or for
// mostSpin. What becomes of the others their hold finds out.
func seeOut(list []*resident) {
	until := time.Now().Add(mostSpin)
	for _, c := range list {
		c.mu.Lock()
		c.seeOut(until)
		c.mu.Unlock()
	}
}

// seeOut waits until the loops of the launch have left, or until then. c.mu is held.
func (c *resident) seeOut(until time.Time) {
	if !c.running {
		return
	}
	looks := 0
	for i, t := range c.occupants {
		for t.runs && !t.stuck && !c.hasLeft(i) {
			if looks++; looks%64 == 0 && time.Now().After(until) {
				return
			}
		}
	}
}

// halt ends the launch at a message boundary. Loops that have not left when the
// runtime's patience ends are stuck: they keep their launch, which later ones run
// beside. c.mu is held.
func (c *resident) halt() error {
	if !c.running {
		return nil
	}
	c.ask()
	c.seeOut(time.Now().Add(mostSpin))
	if c.stuck > 0 {
		return c.haltOthers()
	}
	ctx, cancel := context.WithTimeout(context.Background(), c.rt.config.Patience)
	defer cancel()
	err := c.end(ctx)
	if ctx.Err() != nil && errors.Is(err, ctx.Err()) {
		return c.haltOthers()
	}
	c.running = false
	c.traceLaunch()
	return err
}

// haltOthers is halt of a launch that does not end. c.mu is held.
func (c *resident) haltOthers() error {
	v := c.rt.watchdog()
	for i := range c.occupants {
		var wait backoff.Wait
		for t := &c.occupants[i]; t.runs && !t.stuck && !c.hasLeft(i); wait.Pause() {
			if c.stuck == 0 || v.Check(time.Now(), 0) { // those of end have had their time
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

// mark records that the handler of a block does not return. c.mu is held.
func (c *resident) mark(i int) {
	c.occupants[i].stuck = true
	c.stuck++
	if a := c.actors[i]; a.runs() {
		a.stall(&StuckError{Actors: []string{a.name}, After: c.rt.config.Patience})
	}
}

// leaveBehind gives the cohort a new stream. c.mu is held.
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

// returned looks whether handlers that were stuck have returned. c.mu is held.
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
				c.reckon(i)
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

// reckon counts the message of a handler that was stuck and has failed after all, in a
// launch that others were begun beside. c.mu is held.
func (c *resident) reckon(i int) {
	if uint32(atomic.LoadUint64(c.left(i))) == mail.Failed {
		a := c.actors[i]
		if _, err := c.failedOn(i, cmp.Or(a.failure(), errHandler)); err != nil {
			c.rt.record(err)
		}
		a.meter.failed.Add(1)
	}
}

// overdue is the error of actors whose handlers do not return, nil if there are
// none. c.mu is held.
func (c *resident) overdue() error {
	c.returned()
	if c.stuck == 0 {
		return nil
	}
	e := &StuckError{After: c.rt.config.Patience}
	for i, t := range c.occupants {
		if t.stuck {
			e.Actors = append(e.Actors, c.actors[i].name)
		}
	}
	return e
}

// request is the first half of a hold: it has the loops leave. The second one is
// clear. It does nothing and reports false if the cohort is closed.
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

// clear is the second half: it waits for the end of the launch. That some handler does
// not return is an error. With or without one the cohort is to be resumed.
func (c *resident) clear() error {
	c.mu.Lock()
	defer c.mu.Unlock()
	if err := c.halt(); err != nil {
		return err
	}
	return c.overdue()
}

// hold keeps the block's launch from running. It fails if the block's own handler
// does not return.
func (p *place) hold() error {
	p.mu.Lock()
	p.returned()
	stuck := p.occupied(p.block)
	p.mu.Unlock()
	if stuck {
		return &StuckError{Actors: []string{p.actor.name}, After: p.rt.config.Patience}
	}
	return p.resident.hold()
}

// watch looks, without waiting, whether actors of a resident launch have failed or
// stopped, or have left by themselves and have messages, and restarts it then. It
// reports whether it did.
func (c *resident) watch() (bool, error) {
	// Those who wait for replies come here again and again while the cohort is held,
	// and would keep the mutex from whoever holds it.
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
	default: // an error has kept the launch from beginning again
		need = slices.ContainsFunc(c.actors, (*core).runs)
	}
	c.mu.Unlock()
	if !need || err != nil {
		return false, err
	}
	return true, restart(c)
}

// anyAbsent reports whether any actor is. Where more actors are active than can be
// resident, all have to have had their turn. c.mu is held.
func (c *resident) anyAbsent() bool {
	absent := false
	for i, t := range c.occupants {
		switch {
		case c.absent(i):
			absent = true
		case c.crowded && t.runs && !t.stuck && !c.hasLeft(i):
			return false
		}
	}
	return absent
}

// absent reports whether an actor that is to run has left, and would have
// something to do. c.mu is held.
func (c *resident) absent(i int) bool {
	a := c.actors[i]
	if !c.hasLeft(i) || !a.runs() {
		return false
	}
	why := uint32(atomic.LoadUint64(c.left(i)))
	if why == mail.Bounded || why == mail.Aged && c.crowded {
		return slices.ContainsFunc(a.mailboxes, (*mailbox).pending) || c.rt.post.Rung(a.box.Bell)
	}
	return true
}

// guard looks for handlers that do not return: their actors have messages, and
// have handled none for the runtime's patience. Halfway they are asked to leave,
// since an actor may have other reasons to handle none. The look is without a wait.
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

// StuckError means that handlers have not returned in time. On a GPU nothing but
// the end of the process ends them: until they return, what waits for everything
// on the device, such as freeing memory and closing it, fails with this error.
// Other actors are served, but for those that share a multiprocessor's room with
// it. An actor whose handler has returned can be restarted.
type StuckError struct {
	Actors []string
	After  time.Duration
}

// Error names the actors.
func (e *StuckError) Error() string {
	return fmt.Sprintf("ring: handlers of %q did not return within %v", e.Actors, e.After)
}

// ResidencyError means that an actor has no room on a GPU beside those that are
// active: a block that does not fit would not run before another one leaves.
type ResidencyError struct {
	Actor           string
	Active          int // actors
	PerProcessor    int // actors like this one that a multiprocessor holds
	Multiprocessors int // for actors: one less than the GPU has, which is left to other kernels
}

// Error says how many would fit.
func (e *ResidencyError) Error() string {
	return fmt.Sprintf("ring: no room for actor %s beside %d active ones: of actors like it, %d fit on each of the %d multiprocessors for actors; deactivate or terminate some",
		e.Actor, e.Active, e.PerProcessor, e.Multiprocessors)
}

// Where more actors are active than can be resident, each leaves after crowdedLife,
// or when it has had no message for crowdedIdle, so that others get their turn.
const (
	crowdedLife = 2 * time.Millisecond
	crowdedIdle = 20 * time.Microsecond
)

// fewCells is the bytes of messages in shared memory that always fit.
const fewCells = 4 << 10

// fitBatch lowers the number of messages that an actor takes at once to what its
// block has shared memory for.
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
		return invalid("a message of %s and its reply take %d bytes of shared memory, a block has %d for them; leave the data in buffers and send payloads", p.Name, cell, room)
	}
	s.Batch = min(s.Batch, uint32((room-16)/cell))
	s.RawAt = rawAt(s)
	return nil
}

// sharedBytes is the dynamic shared memory of a block.
func (c *cohort) sharedBytes() int {
	return 16*int(c.shape.RawAt) + 8*int(c.shape.Batch*c.shape.InStep)
}

// room reports whether one more actor of the cohort can be resident.
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
		return rt.crowd(!fit)
	}
	return &ResidencyError{Actor: name, Active: active, PerProcessor: c.perProcessor, Multiprocessors: processors}
}

// crowd notes whether more actors are active than can be resident.
func (rt *Runtime) crowd(crowded bool) error {
	if rt.crowded.Swap(crowded) == crowded {
		return nil
	}
	var errs []error
	for _, c := range rt.all() {
		errs = append(errs, restart(c))
	}
	return errors.Join(errs...)
}

// part is actors of which each takes an equal part of a multiprocessor.
type part struct{ actors, perProcessor int }

// fits reports whether actors take no more than so many multiprocessors, in parts
// of 64.
func fits(parts []part, processors int) bool {
	taken := 0
	for _, p := range parts {
		if p.actors > 0 {
			taken += (p.actors*64 + p.perProcessor - 1) / p.perProcessor
		}
	}
	return taken <= 64*processors
}
