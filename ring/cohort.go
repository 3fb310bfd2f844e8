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

// server has an actor's handler called: a block of a resident launch, a block that
// whoever waits runs, or a goroutine.
type server interface {
	holder
	// handled reports whether a ticket is handled. It may wait for that, and handle
	// messages itself, until ctx is cancelled.
	handled(ctx context.Context, m *mailbox, ticket uint64) (bool, error)
	// kick makes sure that messages are handled that nobody waits for. Whoever calls it
	// visits the actor, as core.kick does.
	kick()
	// renew gives the actor, which is held, the state that it was spawned with.
	renew(initial any) error
	// room reports whether the actor can become active.
	room() error
}

// holder is what can be stopped between messages.
type holder interface {
	// hold waits for the end of the message that the handler is at, if it is at one,
	// and has it not called again until resume. Messages wait in the mailboxes.
	hold() error
	// resume ends a hold, and takes note of what the actor's state is now.
	resume() error
}

// restart has the server take note of the actor's state.
func restart(s holder) error {
	if err := s.hold(); err != nil {
		return err
	}
	return s.resume()
}

// place is an actor's block in a cohort.
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
	return p.states.set(p.stream, p.block, initial)
}

func (p *place) room() error { return p.resident.room(p.actor.name) }

// cohort is actors with one handler that share a launch, a block each. Its memory
// is made for a number of actors; those that come later start a new cohort.
//
// Where the device runs beside the host (on a GPU) the launch is resident: it ends
// when the cohort is held, and begins again after that. Elsewhere blocks run one
// by one; see local.
type cohort struct {
	rt       *Runtime
	program  *Program
	shape    loop.Shape
	size     int // actors that there is room for
	executor executor

	stream           *gpu.Stream
	control, in, out *gpu.HostBuffer[uint64]
	mapped           [3]*gpu.Buffer[uint64] // control, in and out on the device
	cursors          *gpu.Buffer[uint32]
	states           states
	words            []uint64 // of control

	mu     sync.Mutex   // held while launches begin, end and are checked
	holds  atomic.Int32 // that keep launches from beginning; changes while mu is held
	closed bool
	actors []*core // by block
}

// executor runs the blocks of a cohort. There are two: resident, with one launch that
// stays on the device, and locals, with a launch per batch of messages, which whoever
// waits for them runs.
type executor interface {
	holder // of all blocks

	// prepare makes what the executor needs, before the cohort's memory is made.
	prepare() error
	// stateStep is the distance of two states of a size, in states.
	stateStep(size int) int
	newCursors() (*gpu.Buffer[uint32], error)
	// free closes what prepare, newCursors and launches have made.
	free() error

	// room reports, as an error, that an actor cannot become active.
	room(name string) error
	// beforeAdd and afterAdd surround the addition of an actor.
	beforeAdd() error
	afterAdd() error
	// serve gives block i to an actor. The cohort's mutex is held.
	serve(i int, a *core) server
	// occupied reports whether a handler of an actor that has ended is still at work in
	// block i. The cohort's mutex is held.
	occupied(i int) bool

	// close ends the blocks for good, but for handlers that do not return: those are an
	// error, which linger returns until they do.
	close() error
	linger() error
}

// newExecutor returns the one for the runtime's device.
func (rt *Runtime) newExecutor(c *cohort) executor {
	if rt.resident {
		return &resident{cohort: c}
	}
	return &locals{cohort: c}
}

// states is the buffer of states, whose type the cohort does not know.
type states interface {
	arg(l *gpu.Launch, from, to int)
	set(s *gpu.Stream, i int, v any) error
	close() error
}

// stateBuffer is states of type S, one in so many elements.
type stateBuffer[S any] struct {
	b    *gpu.Buffer[S]
	step int
}

// cacheLine is bytes that processors have in common.
const cacheLine = 64

// newStates makes zero states of so many actors. Those of local actors, which run on
// different processors, are in different cache lines.
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

// newCohort makes one for size actors.
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
		if rt.resident { // Go's is zero, and without pages until it is used
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

// free gives back the memory. No launch is there.
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

// control words of an actor.
func (c *cohort) command(i int) *uint64 { return &c.words[i*mail.ControlWords+mail.Command] }
func (c *cohort) left(i int) *uint64    { return &c.words[i*mail.ControlWords+mail.Left] }

// add gives an actor a block. The mailbox is that block's.
func (c *cohort) add(a *core, active bool) (err error) {
	// Before c.mu is held: it may have to quiesce everything.
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
		c.settleIn(i, a)
		a.setState(Launched)
		if active {
			a.setState(Active)
		}
	}
	c.mu.Unlock()
	return errors.Join(err, c.executor.afterAdd())
}

// arguments sets those of the loops of some blocks.
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

// span is elements from to to of a buffer, each of so many. All of them, which resident
// launches get, are the buffer itself: nothing is allocated while actors wait.
func span[T any](b *gpu.Buffer[T], from, to, each int) *gpu.Buffer[T] {
	if from == 0 && to*each == b.Len() {
		return b
	}
	return b.Slice(from*each, to*each)
}

// failedBefore notes why the handler has failed on the message before the cursor of the
// source that the loop was at, and reports whether that is of another actor.
func (c *core) failedBefore(cursors []uint32, why error) (byActor bool) {
	source := cursors[mail.AtSource]
	if source == mail.Post {
		return true
	}
	m := c.mailboxes[source]
	m.failedOn(m.ticketOf(cursors[source]-1), why)
	return false
}

// statesParam is the number of the loop's parameter that has the states, an element
// for each actor.
const statesParam = 3

// explain returns what stopped a loop, in the words of the handler: it has a pointer to
// the state, and knows nothing of the slice.
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

// address tells an actor its number and its mailbox for messages of other actors.
func (c *cohort) address(i int, a *core) error {
	cursors := make([]uint32, mail.CursorWords)
	for level, m := range a.mailboxes {
		cursors[level] = uint32(m.first)
	}
	cursors[mail.Box], cursors[mail.Number] = a.box.Number, a.number
	return gpu.CopyIn(c.stream, c.cursors.Slice(i*mail.CursorWords, (i+1)*mail.CursorWords), cursors)
}

// slotsOf is the number of slots of an actor's rings together.
func slotsOf(s loop.Shape) int { return int(s.Slots + (mail.Levels-1)*s.SideSlots) }

// ringAt is where the ring of a level begins among those of an actor, in slots, and
// how many it has.
func ringAt(s loop.Shape, level int) (from, slots int) {
	switch {
	case level == mail.MiddleLevel:
		return 0, int(s.Slots)
	case level < mail.MiddleLevel:
		return int(s.Slots) + level*int(s.SideSlots), int(s.SideSlots)
	}
	return int(s.Slots) + (level-1)*int(s.SideSlots), int(s.SideSlots)
}

// away reports whether the loop of a block has left by itself.
func (c *cohort) away(i int) bool { return atomic.LoadUint64(c.left(i)) != 0 }

// hold keeps the blocks from running, from a message boundary on, until resume. Messages
// wait in their mailboxes.
func (c *cohort) hold() error { return c.executor.hold() }

// resume ends a hold.
func (c *cohort) resume() error { return c.executor.resume() }

// Blocks of actors that have terminated are given to others. The new actor goes on
// with the tickets of the one before, so that nothing in the rings or the cursors
// has to be cleared, and no reader ever finds there what it looks for by mistake.

// freeBlock returns the block for the next actor: one whose actor has terminated and
// whose askers have their replies, or the first that nobody has had. It is the size
// of the cohort if there is none. c.mu is held.
func (c *cohort) freeBlock() int {
	for i, a := range c.actors {
		if a.ended() && !c.executor.occupied(i) && a.vacate() {
			return i
		}
	}
	return len(c.actors)
}

// hasFreeBlock reports whether there is a block for one more actor.
func (c *cohort) hasFreeBlock() bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.freeBlock() < c.size
}

// ended reports whether the actor has terminated and nothing is left to be done.
func (l *life) ended() bool {
	select {
	case <-l.over:
		_, stuck := errors.AsType[*StuckError](l.err)
		return !stuck
	default:
		return false
	}
}

// assign returns the block for the next actor, which the caller keeps from others, and
// gives the actor its mailbox in the post memory: what the one before had.
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

// handOver gives the heir the mailbox in the post memory of an actor that has ended.
// What others on the device had put there are dead letters.
func (c *core) handOver(heir *core) (b post.Box, err error) {
	if c.rt.referred.Load() {
		// Senders keep in mind whose mailbox it was, until their launch ends.
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
	return b, errors.Join(p.Write(at+mail.BoxRefused, 0, 0), p.Write(at+mail.BoxHead, uint64(uint32(next)), 1, uint64(heir.number))) // asleep
}

// vacate gives the rings of an actor that has ended up, if no caller has a use for them
// any more, and reports whether that is so.
func (c *core) vacate() bool {
	if !c.receiving.tryLock() {
		return false
	}
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

// atRest reports whether all slots are vacant. The mailbox is closed.
func (m *mailbox) atRest() bool {
	for i := range m.state {
		if m.state[i].Load()&useMask != vacant {
			return false
		}
	}
	return true
}

// firstTicket is that of the next actor in a block. c.mu is held.
func (c *cohort) firstTicket(i, level int) uint64 {
	if i == len(c.actors) {
		return 0
	}
	return c.actors[i].mailboxes[level].next()
}

// settleIn puts an actor into a block. c.mu is held.
func (c *cohort) settleIn(i int, a *core) {
	if i < len(c.actors) {
		c.actors[i].routing.free(c.rt.post)
		c.actors = slices.Clone(c.actors) // others are at work on the list
		c.actors[i] = a
		return
	}
	c.actors = append(c.actors, a)
}

// place finds a cohort with room, nil if there is none.
func (rt *Runtime) place(p *Program, shape loop.Shape) *cohort {
	for _, c := range rt.all() { // not under rt.mu, which who holds a cohort may want
		if c.program == p && c.shape == shape && c.hasFreeBlock() {
			return c
		}
	}
	return nil
}

// Sizes of cohorts: each of a handler has twice the actors of the last, as long as
// its rings are not larger than maxRings.
const (
	firstCohort = 4
	maxCohort   = 256
	maxRings    = 64 << 20
)

// sizeOf is the size of the next cohort of a handler.
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
