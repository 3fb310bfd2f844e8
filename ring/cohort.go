package ring

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"unsafe"

	"quern.dev/gpu"
	"quern.dev/ring/internal/loop"
	"quern.dev/ring/internal/mail"
	"quern.dev/ring/internal/post"
	"quern.dev/ring/internal/rings"
)

// server runs the handler of an actor: in a block of a resident launch, in a block
// that a waiting caller or a worker runs, or on a goroutine.
type server interface {
	holder
	// handled reports whether a ticket is handled. It may wait for that, and run the
	// handler itself, until ctx is cancelled.
	handled(ctx context.Context, m *mailbox, ticket uint64) (bool, error)
	// kick makes sure that messages without a waiting caller are handled. The caller
	// visits the actor, as core.kick does.
	kick()
	// renew gives the actor the state that it was spawned with. The actor must be
	// held. The error is a *StateError if the actor has ended and another one has its
	// place.
	renew(initial any) error
	// room returns an error if the actor cannot become active.
	room() error
}

// holder is something that can be stopped between messages.
type holder interface {
	// hold waits until the handler has finished its current message, and prevents
	// further calls until resume. Messages wait in the mailboxes.
	hold() error
	// resume ends a hold, and adapts to the current state of the actor.
	resume() error
}

// restart makes the server adapt to the state of the actor.
func restart(s holder) error {
	if err := s.hold(); err != nil {
		return err
	}
	return s.resume()
}

// place is the block of an actor in a cohort.
type place struct {
	*resident
	actor *core
	block int
}

func (p *place) handled(_ context.Context, m *mailbox, ticket uint64) (bool, error) {
	return m.handled(ticket), nil
}

func (p *place) kick() {
	if p.away(p.block) {
		if _, err := p.watch(); err != nil {
			p.rt.record(err)
		}
	}
}

func (p *place) renew(initial any) error {
	p.mu.Lock()
	defer p.mu.Unlock()
	if !p.occupies() {
		return p.actor.denied("restart", false)
	}
	return p.states.set(p.stream, p.block, initial)
}

// occupies reports whether the actor still has the block. The caller holds p.mu.
func (p *place) occupies() bool { return p.actors[p.block] == p.actor }

func (p *place) room() error { return p.resident.room(p.actor.name) }

// cohort is a group of actors that share a handler and a launch, with one block per
// actor. Its memory is allocated for a fixed number of actors; further actors start a
// new cohort.
//
// Where the device runs asynchronously (on a GPU), the launch is resident: it ends
// when the cohort is held, and begins again after that. Elsewhere blocks run one by
// one; see local.
type cohort struct {
	rt       *Runtime
	program  *Program
	shape    loop.Shape
	size     int // maximum number of actors
	executor executor

	stream           *gpu.Stream
	control, in, out *gpu.HostBuffer[uint64]
	mapped           [3]*gpu.Buffer[uint64] // control, in and out on the device
	cursors          *gpu.Buffer[uint32]
	states           states
	words            []uint64 // of control

	mu     sync.Mutex   // held while launches begin, end and are checked
	holds  atomic.Int32 // holds that keep launches from beginning; changes while mu is held
	closed bool
	actors []*core // by block
}

// executor runs the blocks of a cohort. There are two: resident, with one launch that
// stays on the device, and locals, with one launch per batch of messages, which
// waiting callers or workers run.
type executor interface {
	holder // of all blocks

	// prepare allocates what the executor needs, before the cohort's memory is
	// allocated.
	prepare() error
	// stateStep returns the distance between the states of two actors, in states of
	// the given size.
	stateStep(size int) int
	newCursors() (*gpu.Buffer[uint32], error)
	// free releases the resources of prepare, newCursors and launches.
	free() error

	// room returns an error if an actor cannot become active.
	room(name string) error
	// beforeAdd and afterAdd surround the addition of an actor.
	beforeAdd() error
	afterAdd() error
	// serve assigns block i to an actor. The caller holds the cohort's mutex.
	serve(i int, a *core) server
	// occupied reports whether a handler of an actor that has ended is still running in
	// block i. The caller holds the cohort's mutex.
	occupied(i int) bool

	// close ends the blocks for good. Handlers that do not return result in an error,
	// which finishClose returns until they do.
	close() error
	finishClose() error
}

// newExecutor returns the executor for the runtime's device.
func (rt *Runtime) newExecutor(c *cohort) executor {
	if rt.resident {
		return &resident{cohort: c}
	}
	return &locals{cohort: c}
}

// states is the buffer of states. The cohort does not know their type.
type states interface {
	arg(l *gpu.Launch, from, to int)
	set(s *gpu.Stream, i int, v any) error
	close() error
}

// stateBuffer contains states of type S, every step elements.
type stateBuffer[S any] struct {
	b    *gpu.Buffer[S]
	step int
}

// cacheLine is the size of a cache line in bytes.
const cacheLine = 64

// newStates allocates zero states for the actors of a cohort. States of local actors,
// which run on different processors, are in different cache lines.
func newStates[S any](c *cohort) (stateBuffer[S], error) {
	s := stateBuffer[S]{step: c.executor.stateStep(int(unsafe.Sizeof(*new(S))))}
	var err error
	s.b, err = gpu.Upload(c.stream, make([]S, c.size*s.step))
	return s, err
}

func (s stateBuffer[S]) arg(l *gpu.Launch, from, to int) {
	gpu.SliceArg(l, span(s.b, from, to, s.step))
}

func (s stateBuffer[S]) close() error { return s.b.Close() }

func (s stateBuffer[S]) set(on *gpu.Stream, i int, v any) error {
	state, _ := v.(S)
	return gpu.CopyIn(on, s.b.Slice(i*s.step, i*s.step+1), []S{state})
}

// newCohort makes a cohort for size actors.
func newCohort[State, In, Out any](rt *Runtime, p *Program, shape loop.Shape, size int) (_ *cohort, err error) {
	c := &cohort{rt: rt, program: p, shape: shape, size: size}
	c.executor = rt.newExecutor(c)
	defer func() {
		if err != nil {
			err = errors.Join(err, c.free())
		}
	}()
	if c.stream, err = rt.dev.NewStream(context.Background(), gpu.Detached()); err != nil {
		return nil, err
	}
	if err := c.executor.prepare(); err != nil {
		return nil, err
	}
	slots := slotsOf(shape)
	for i, b := range [...]struct {
		to    **gpu.HostBuffer[uint64]
		words int
	}{{&c.control, size * mail.ControlWords}, {&c.in, size * slots * int(shape.InStep)}, {&c.out, size * slots * int(shape.OutStep)}} {
		if *b.to, err = gpu.AllocHost[uint64](rt.dev, b.words); err != nil {
			return nil, err
		}
		if rt.resident { // Go's memory is zero, and takes no pages until it is used
			clear((*b.to).Data())
		}
		if c.mapped[i], err = (*b.to).Mapped(); err != nil {
			return nil, err
		}
	}
	c.words = c.control.Data()
	if c.cursors, err = c.executor.newCursors(); err != nil {
		return nil, err
	}
	states, err := newStates[State](c)
	if err != nil {
		return nil, err
	}
	c.states = states
	if err := c.stream.Synchronize(context.Background()); err != nil {
		return nil, err
	}
	return c, nil
}

// free frees the memory. No launch may be running.
func (c *cohort) free() error {
	var errs []error
	if c.stream != nil {
		errs = append(errs, c.stream.Close())
	}
	errs = append(errs, c.executor.free())
	for _, b := range []*gpu.HostBuffer[uint64]{c.control, c.in, c.out} {
		errs = append(errs, b.Close())
	}
	if c.states != nil {
		errs = append(errs, c.states.close())
	}
	return errors.Join(errs...)
}

// Control words of an actor.
func (c *cohort) command(i int) *uint64 { return &c.words[i*mail.ControlWords+mail.Command] }
func (c *cohort) left(i int) *uint64    { return &c.words[i*mail.ControlWords+mail.Left] }

// add gives an actor a block and a mailbox in its memory.
func (c *cohort) add(a *core, active bool) (err error) {
	// Before c.mu is locked, because it may have to quiesce all launches.
	i, err := c.assign(a)
	if err != nil {
		return err
	}
	if err := c.executor.beforeAdd(); err != nil {
		return err
	}
	c.mu.Lock()
	inStep, outStep := uintptr(8*c.shape.InStep), uintptr(8*c.shape.OutStep)
	// The rings have size times slotsOf(shape) slots of these steps, and i is less than size.
	in, out := unsafe.Pointer(unsafe.SliceData(c.in.Data())), unsafe.Pointer(unsafe.SliceData(c.out.Data()))
	for level := range mail.Levels {
		from, slots := ringAt(c.shape, level)
		ring := uintptr(i*slotsOf(c.shape) + from)
		m := newMailbox(a, rings.Inbox{At: unsafe.Add(in, ring*inStep), Step: inStep, Size: a.inSize, Mask: uint64(slots - 1), Shared: rings.RaceEnabled},
			rings.Outbox{At: unsafe.Add(out, ring*outStep), Step: outStep, Size: a.outSize, Mask: uint64(slots - 1)}, c.firstTicket(i, level))
		m.source = level
		if level != mail.MiddleLevel {
			m.hint = c.command(i)
		}
		a.mailboxes = append(a.mailboxes, m)
	}
	a.server = c.executor.serve(i, a)
	if a.initial != nil || i < len(c.actors) {
		err = c.states.set(c.stream, i, a.initial)
	}
	if err == nil {
		err = c.address(i, a)
	}
	if err == nil {
		c.rt.owners.Store(a.box.Number, a)
		c.occupy(i, a)
		a.setState(Launched)
		if active {
			a.setState(Active)
		}
	}
	c.mu.Unlock()
	return errors.Join(err, c.executor.afterAdd())
}

// arguments sets the arguments of the loops of some blocks.
func (c *cohort) arguments(l *gpu.Launch, shape loop.Shape, from, to int) {
	gpu.Arg(l, shape)
	slots := slotsOf(shape)
	gpu.SliceArg(l, span(c.mapped[0], from, to, mail.ControlWords))
	gpu.SliceArg(l, span(c.cursors, from, to, mail.CursorWords))
	c.states.arg(l, from, to)
	gpu.SliceArg(l, span(c.mapped[1], from, to, slots*int(shape.InStep)))
	gpu.SliceArg(l, span(c.mapped[2], from, to, slots*int(shape.OutStep)))
	device, host := c.rt.post.Arguments()
	gpu.SliceArg(l, device)
	gpu.SliceArg(l, host)
	if p := c.program.Payload; p != nil {
		p(l, &c.rt.payloads)
	}
}

// span returns the elements of blocks from to to-1 of a buffer with the given number
// per block. For all blocks, as in resident launches, it returns the buffer itself, so
// that it allocates nothing while actors wait.
func span[T any](b *gpu.Buffer[T], from, to, each int) *gpu.Buffer[T] {
	if from == 0 && to*each == b.Len() {
		return b
	}
	return b.Slice(from*each, to*each)
}

// failedBefore records why the handler failed on the message before the cursor of the
// loop's current source. It reports whether that message came from another actor.
func (c *core) failedBefore(cursors []uint32, why error) (byActor bool) {
	source := cursors[mail.AtSource]
	if source == mail.Post {
		return true
	}
	m := c.mailboxes[source]
	m.failedOn(m.ticketOf(cursors[source]-1), why)
	return false
}

// statesParam is the index of the loop's parameter for the states, which has one
// element per actor.
const statesParam = 3

// explain returns the fault of a loop in terms of the handler, which has a pointer to
// its state and not a slice.
func (c *cohort) explain(fault *gpu.KernelError) *gpu.KernelError {
	params := c.program.Kernel.Params()
	if len(params) <= statesParam || fault.Param != params[statesParam].Name {
		return fault
	}
	told := *fault
	told.Reason = strings.ReplaceAll(fault.Reason, fmt.Sprintf("%s[%d]", fault.Param, fault.Index), "the actor's state")
	told.Param, told.Index, told.Length = "state", 0, 1
	return &told
}

// address writes an actor's number and mailbox to its cursors.
func (c *cohort) address(i int, a *core) error {
	cursors := make([]uint32, mail.CursorWords)
	for level, m := range a.mailboxes {
		cursors[level] = uint32(m.first)
	}
	cursors[mail.Box], cursors[mail.Number] = a.box.Number, a.number
	return gpu.CopyIn(c.stream, c.cursors.Slice(i*mail.CursorWords, (i+1)*mail.CursorWords), cursors)
}

// slotsOf returns the total number of slots in an actor's rings.
func slotsOf(s loop.Shape) int { return int(s.Slots + (mail.Levels-1)*s.SideSlots) }

// ringAt returns the first slot and the number of slots of a level's ring among the
// rings of an actor.
func ringAt(s loop.Shape, level int) (from, slots int) {
	switch {
	case level == mail.MiddleLevel:
		return 0, int(s.Slots)
	case level < mail.MiddleLevel:
		return int(s.Slots) + level*int(s.SideSlots), int(s.SideSlots)
	}
	return int(s.Slots) + (level-1)*int(s.SideSlots), int(s.SideSlots)
}

// away reports whether the loop of a block has left on its own.
func (c *cohort) away(i int) bool { return atomic.LoadUint64(c.left(i)) != 0 }

// Blocks of terminated actors are reused. The new actor continues with the tickets of
// the previous one, so neither the rings nor the cursors have to be cleared, and no
// reader can mistake an old entry for a new one.

// freeBlock returns the block for the next actor: a block whose actor has terminated
// and whose callers of Ask have their replies, or the first unused block. It returns
// the size of the cohort if there is none. The caller holds c.mu.
func (c *cohort) freeBlock() int {
	for i, a := range c.actors {
		if a.ended() && !c.executor.occupied(i) && a.vacate() {
			return i
		}
	}
	return len(c.actors)
}

// hasFreeBlock reports whether there is a block for another actor.
func (c *cohort) hasFreeBlock() bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.freeBlock() < c.size
}

// ended reports whether the actor has terminated and its cleanup is complete.
func (l *life) ended() bool {
	select {
	case <-l.over:
		_, stuck := errors.AsType[*StuckError](l.err)
		return !stuck
	default:
		return false
	}
}

// assign returns the block for the next actor and reserves it. It gives the actor the
// mailbox in the post memory that the previous actor of the block had, if any.
func (c *cohort) assign(a *core) (i int, err error) {
	c.mu.Lock()
	i = c.freeBlock()
	var before *core
	if i < len(c.actors) {
		before = c.actors[i]
	}
	c.mu.Unlock()
	if before == nil {
		a.box, err = c.rt.post.NewBox(int(c.shape.InStep), a.number)
	} else {
		a.box, err = before.handOver(a)
	}
	return i, err
}

// handOver gives next the mailbox in the post memory of an actor that has ended.
// Messages in the mailbox become dead letters.
func (c *core) handOver(successor *core) (b post.Box, err error) {
	if c.rt.referred.Load() {
		// Senders remember the owner of the mailbox until their launch ends.
		if err := c.rt.Quiesce("hand a mailbox on"); err != nil {
			return b, err
		}
		defer func() { err = errors.Join(err, c.rt.Resume()) }()
	}
	next, err := c.returnMail()
	if err != nil {
		return b, err
	}
	p, at := c.rt.post, c.box.At()
	b = c.box
	b.First = next
	return b, errors.Join(p.Write(at+mail.BoxRefused, 0, 0), p.Write(at+mail.BoxHead, uint64(uint32(next)), 1, uint64(successor.number))) // asleep
}

// vacate frees the rings of an actor that has ended, if no caller needs them any more.
// It reports whether it did.
func (c *core) vacate() bool {
	if !c.receiving.tryLock() {
		return false
	}
	defer c.recount()
	defer c.receiving.unlock()
	c.queue.mu.Lock()
	defer c.queue.mu.Unlock()
	if c.detached {
		return true
	}
	c.keepReplies()
	for _, m := range c.mailboxes {
		m.sweep()
		if !m.atRest() {
			return false
		}
	}
	c.detached = c.visitors.CompareAndSwap(0, noMoreVisits)
	return c.detached
}

// atRest reports whether all slots are vacant. The mailbox must be closed.
func (m *mailbox) atRest() bool {
	for i := range m.state {
		if m.state[i].Load()&useMask != vacant {
			return false
		}
	}
	return true
}

// firstTicket returns the first ticket of the next actor in a block. The caller holds
// c.mu.
func (c *cohort) firstTicket(i, level int) uint64 {
	if i == len(c.actors) {
		return 0
	}
	return c.actors[i].mailboxes[level].next()
}

// occupy puts an actor into a block. The caller holds c.mu.
func (c *cohort) occupy(i int, a *core) {
	if i < len(c.actors) {
		c.actors[i].routing.free(c.rt.post)
		c.actors = slices.Clone(c.actors) // other goroutines read the old list
		c.actors[i] = a
		return
	}
	c.actors = append(c.actors, a)
}

// place returns a cohort with a free block, or nil.
func (rt *Runtime) place(p *Program, shape loop.Shape) *cohort {
	for _, c := range rt.all() { // not under rt.mu, which the holder of a cohort may need
		if c.program == p && c.shape == shape && c.hasFreeBlock() {
			return c
		}
	}
	return nil
}

// Sizes of cohorts. Each cohort of a handler has twice as many actors as the previous
// one, as long as its rings do not exceed maxRings.
const (
	firstCohort = 4
	maxCohort   = 256
	maxRings    = 64 << 20
)

// sizeOf returns the size of the next cohort of a handler.
func (rt *Runtime) sizeOf(p *Program, shape loop.Shape) int {
	rt.mu.Lock()
	defer rt.mu.Unlock()
	size := firstCohort
	for _, c := range rt.cohorts {
		if c.program == p && c.shape == shape {
			size = min(2*c.size, maxCohort)
		}
	}
	each := 8 * slotsOf(shape) * int(shape.InStep+shape.OutStep)
	return max(1, min(size, maxRings/each))
}
