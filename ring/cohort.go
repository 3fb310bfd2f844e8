package ring

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"sync"
	"sync/atomic"
	"time"
	"unsafe"

	"quern.dev/gpu"
	"quern.dev/ring/internal/loop"
	"quern.dev/ring/internal/mail"
)

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
	resident bool
	size     int // actors that there is room for

	perProcessor int // on a GPU: actors that a multiprocessor holds

	stream           *gpu.Stream
	control, in, out *gpu.HostBuffer[uint64]
	mapped           [3]*gpu.Buffer[uint64] // control, in and out on the device
	cursors          *gpu.Buffer[uint32]
	states           states
	words            []uint64 // of control

	mu      sync.Mutex // held while the launch begins, ends and is looked at
	epoch   uint32
	running bool // on a GPU: a launch is there
	began   time.Time
	holds   atomic.Int32 // that keep it from beginning; changes while mu is held
	closed  bool
	actors  []*core // by block

	tenants []tenant // by block, of resident launches
	stuck   int      // tenants that are
	orphans []*orphan
	crowded bool // more actors are active than can be resident

	// Where nothing is resident.
	locals      []*local // by block
	hostCursors *gpu.HostBuffer[uint32]
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
	s := stateBuffer[S]{step: 1}
	if size := int(unsafe.Sizeof(*new(S))); !c.resident && size > 0 {
		s.step = (cacheLine + size - 1) / size
		if cacheLine%size != 0 { // some begin in the middle of a line
			s.step++
		}
	}
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
	c := &cohort{rt: rt, program: p, shape: shape, size: size, resident: rt.resident}
	defer func() {
		if err != nil {
			err = errors.Join(err, c.free())
		}
	}()
	if err := c.inhabit(); err != nil {
		return nil, err
	}
	if c.stream, err = rt.dev.NewStream(context.Background(), gpu.Detached()); err != nil {
		return nil, err
	}
	if c.resident {
		if err := rt.spares.fill(rt.dev); err != nil {
			return nil, err
		}
	}
	slots := slotsOf(shape)
	for i, b := range [...]struct {
		to    **gpu.HostBuffer[uint64]
		words int
	}{{&c.control, size * mail.ControlWords}, {&c.in, size * slots * int(shape.InStep)}, {&c.out, size * slots * int(shape.OutStep)}} {
		if *b.to, err = gpu.AllocHost[uint64](rt.dev, b.words); err != nil {
			return nil, err
		}
		if c.resident { // Go's is zero, and without pages until it is used
			clear((*b.to).Data())
		}
		if c.mapped[i], err = (*b.to).Mapped(); err != nil {
			return nil, err
		}
	}
	c.words = c.control.Data()
	if c.cursors, err = c.newCursors(); err != nil {
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
	for _, o := range c.orphans {
		errs = append(errs, o.stream.Close(), o.end.Close())
	}
	for _, b := range []*gpu.HostBuffer[uint64]{c.control, c.in, c.out} {
		errs = append(errs, b.Close())
	}
	if c.resident {
		errs = append(errs, c.cursors.Close())
	}
	errs = append(errs, c.hostCursors.Close())
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
	i, err := c.berth(a)
	if err != nil {
		return err
	}
	if c.resident { // the launch takes no more
		if err := c.hold(); err != nil {
			return err
		}
	}
	c.mu.Lock()
	a.server = &place{c, a, i}
	if !c.resident {
		a.server = c.newLocal(i, a)
	}
	inStep, outStep := uintptr(8*c.shape.InStep), uintptr(8*c.shape.OutStep)
	// The rings have size times slotsOf(shape) slots of these steps, and i is less than size.
	in, out := unsafe.Pointer(unsafe.SliceData(c.in.Data())), unsafe.Pointer(unsafe.SliceData(c.out.Data()))
	for level := range mail.Levels {
		from, slots := ringAt(c.shape, level)
		ring := uintptr(i*slotsOf(c.shape) + from)
		m := newMailbox(unsafe.Add(in, ring*inStep), unsafe.Add(out, ring*outStep), inStep, outStep, a.inSize, a.outSize, slots, c.firstTicket(i, level))
		m.owner, m.source = a, level
		if level != mail.MiddleLevel {
			m.hint = c.command(i)
		}
		m.shared = raceEnabled
		if !c.resident {
			m.arrivals = newArrivals(slots)
		}
		a.mailboxes = append(a.mailboxes, m)
	}
	if a.initial != nil || i < len(c.actors) {
		err = c.states.set(c.stream, i, a.initial)
	}
	if err == nil {
		err = c.address(i, a)
	}
	if err == nil {
		c.rt.post.owners.Store(a.box.box, a)
		c.settleIn(i, a)
		a.setState(Launched)
		if active {
			a.setState(Active)
		}
	}
	c.mu.Unlock()
	if c.resident {
		err = errors.Join(err, c.resume())
	}
	return err
}

// begin launches the loops. c.mu is held.
func (c *cohort) begin() error {
	c.epoch++
	for i, a := range c.actors {
		t := &c.tenants[i]
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
	if c.resident {
		shape.Life = int64(c.rt.config.Life)
		if c.rt.config.Bounded {
			shape.Leaves, shape.Wakes, shape.Idle, shape.Messages = 1, 1, int64(c.rt.config.Idle), uint32(c.rt.config.Messages)
		}
		if c.crowded = c.rt.crowded.Load(); c.crowded {
			shape.Idle, shape.Life = min(shape.Idle, int64(crowdedIdle)), int64(crowdedLife)
		}
	}
	grid := gpu.Blocks(gpu.Dim3{X: len(c.actors)}, gpu.Dim3{X: c.program.Threads}).Shared(c.sharedBytes())
	l, err := c.program.Kernel.Begin(c.stream, grid)
	if err != nil {
		return err
	}
	c.arguments(l, shape, 0, c.size)
	return l.End()
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
	gpu.SliceArg(l, c.rt.post.device.words)
	gpu.SliceArg(l, c.rt.post.host.words)
	if p := c.program.Payload; p != nil {
		p(l, c.rt.payloads)
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

// end waits for the end of a launch and looks at how each loop has left. c.mu is
// held.
func (c *cohort) end(ctx context.Context) error {
	err := c.stream.Synchronize(ctx)
	fault, _ := errors.AsType[*gpu.KernelError](err)
	if err != nil && fault == nil {
		return err
	}
	for i, t := range c.tenants {
		if t.runs {
			if err := c.account(i, fault); err != nil {
				return err
			}
		}
	}
	return nil
}

// account looks at how the loop of a block has left. c.mu is held.
func (c *cohort) account(i int, fault *gpu.KernelError) error {
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
func (c *cohort) failed(i int, why error) error {
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
func (c *cohort) failedOn(i int, why error) (byActor bool, err error) {
	cursors := make([]uint32, mail.CursorWords)
	at := c.cursors.Slice(i*mail.CursorWords, (i+1)*mail.CursorWords)
	// Not behind a launch that goes on for actors that are stuck.
	if err := gpu.Download(context.Background(), c.rt.post.stream, cursors, at); err != nil {
		return false, err
	}
	return c.actors[i].failedBefore(cursors, why), nil
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

// cause is why block i failed.
func (c *cohort) cause(i int, fault *gpu.KernelError) error {
	if fault != nil && fault.Block.X == i {
		return c.explain(fault)
	}
	return errors.New("threads of the handler stopped at a failed check or a panic; another actor's was recorded first")
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

// settle answers, in place of a loop that has ended without a word, the message
// that it was at.
func (c *cohort) settle(i int, fault *gpu.KernelError) error {
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

// address tells an actor its number and its mailbox for messages of other actors.
func (c *cohort) address(i int, a *core) error {
	cursors := make([]uint32, mail.CursorWords)
	for level, m := range a.mailboxes {
		cursors[level] = uint32(m.first)
	}
	cursors[mail.Box], cursors[mail.Number] = a.box.box, a.number
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

// hold ends the launch at a message boundary and keeps it from beginning again
// until resume. Messages wait in their mailboxes.
func (c *cohort) hold() error {
	if !c.resident {
		return c.holdLocals()
	}
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
func (c *cohort) resume() error {
	if !c.resident {
		return c.resumeLocals(func(int) bool { return true })
	}
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
func (c *cohort) close() error {
	if !c.resident {
		return c.closeLocals()
	}
	err := c.hold()
	c.mu.Lock()
	defer c.mu.Unlock()
	c.closed = true
	if stuck := c.overdue(); stuck != nil {
		return stuck // its memory is in use
	}
	return err
}
