package ring

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"sync"
	"sync/atomic"
	"time"
	"unsafe"

	"quern.dev/gpu"
	"quern.dev/ring/actor"
)

// cohort is actors with one handler that share a launch, a block each. Its memory
// is made for a number of actors; those that come later start a new cohort.
//
// Where the device runs beside the host (on a GPU) the launch is resident: it ends
// when the cohort is held, and begins again after that. Elsewhere a launch handles
// what is there and ends, and whoever waits for a reply makes it.
type cohort struct {
	rt       *Runtime
	program  *Program
	shape    actor.Shape
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
	holds   int  // that keep it from beginning
	closed  bool
	actors  []*core // by block

	pumping atomic.Bool   // elsewhere: the pump has been woken
	wake    chan struct{} // wakes it
}

// states is the buffer of states, whose type the cohort does not know.
type states interface {
	arg(l *gpu.Launch)
	set(s *gpu.Stream, i int, v any) error
	close() error
}

// stateBuffer is states of type S.
type stateBuffer[S any] struct{ b *gpu.Buffer[S] }

func (s stateBuffer[S]) arg(l *gpu.Launch) { gpu.SliceArg(l, s.b) }
func (s stateBuffer[S]) close() error      { return s.b.Close() }

func (s stateBuffer[S]) set(on *gpu.Stream, i int, v any) error {
	state, _ := v.(S)
	return gpu.CopyIn(on, s.b.Slice(i, i+1), []S{state})
}

// newCohort makes one for size actors.
func newCohort[State, In, Out any](rt *Runtime, p *Program, shape actor.Shape, size int) (_ *cohort, err error) {
	c := &cohort{rt: rt, program: p, shape: shape, size: size, resident: rt.resident, wake: make(chan struct{}, 1)}
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
	slots := int(shape.Slots * shape.Levels)
	for i, b := range [...]struct {
		to    **gpu.HostBuffer[uint64]
		words int
	}{{&c.control, size * actor.ControlWords}, {&c.in, size * slots * int(shape.InStep)}, {&c.out, size * slots * int(shape.OutStep)}} {
		if *b.to, err = gpu.AllocHost[uint64](rt.dev, b.words); err != nil {
			return nil, err
		}
		clear((*b.to).Data())
		if c.mapped[i], err = (*b.to).Mapped(); err != nil {
			return nil, err
		}
	}
	c.words = c.control.Data()
	if c.cursors, err = gpu.Upload(c.stream, make([]uint32, size*actor.CursorWords)); err != nil {
		return nil, err
	}
	states, err := gpu.Upload(c.stream, make([]State, size))
	if err != nil {
		return nil, err
	}
	c.states = stateBuffer[State]{states}
	if err := c.stream.Synchronize(context.Background()); err != nil {
		return nil, err
	}
	if !c.resident {
		rt.pumps.Go(c.pump)
	}
	return c, nil
}

// free gives back the memory. No launch is there.
func (c *cohort) free() error {
	var errs []error
	if c.stream != nil {
		errs = append(errs, c.stream.Close())
	}
	for _, b := range []*gpu.HostBuffer[uint64]{c.control, c.in, c.out} {
		errs = append(errs, b.Close())
	}
	errs = append(errs, c.cursors.Close())
	if c.states != nil {
		errs = append(errs, c.states.close())
	}
	return errors.Join(errs...)
}

// control words of an actor.
func (c *cohort) command(i int) *uint64 { return &c.words[i*actor.ControlWords+actor.Command] }
func (c *cohort) left(i int) *uint64    { return &c.words[i*actor.ControlWords+actor.Left] }

// add gives an actor a block. The mailbox is that block's.
func (c *cohort) add(a *core, active bool) error {
	if err := c.hold(); err != nil {
		return err
	}
	c.mu.Lock()
	i := len(c.actors)
	a.cohort, a.block = c, i
	slots := int(c.shape.Slots)
	inStep, outStep := uintptr(8*c.shape.InStep), uintptr(8*c.shape.OutStep)
	in, out := unsafe.Pointer(unsafe.SliceData(c.in.Data())), unsafe.Pointer(unsafe.SliceData(c.out.Data()))
	for level := range int(c.shape.Levels) {
		ring := uintptr((i*int(c.shape.Levels) + level) * slots)
		m := newMailbox(unsafe.Add(in, ring*inStep), unsafe.Add(out, ring*outStep), inStep, outStep, a.inSize, a.outSize, slots)
		m.shared = !c.resident
		a.mailboxes = append(a.mailboxes, m)
	}
	var err error
	if a.initial != nil {
		err = c.states.set(c.stream, i, a.initial)
	}
	if err == nil {
		c.actors = append(c.actors, a)
		a.setState(Launched)
		if active {
			a.setState(Active)
		}
	}
	c.mu.Unlock()
	return errors.Join(err, c.resume())
}

// begin launches the loops. c.mu is held.
func (c *cohort) begin() error {
	c.epoch++
	for i, a := range c.actors {
		command := uint64(1)
		if a.runs() {
			command = 0
		}
		atomic.StoreUint64(c.command(i), command)
		atomic.StoreUint64(c.left(i), 0)
	}
	shape := c.shape
	shape.Epoch = c.epoch
	if c.resident {
		shape.Life = int64(c.rt.config.Life)
		if c.rt.config.Bounded {
			shape.Leaves, shape.Idle, shape.Messages = 1, int64(c.rt.config.Idle), uint32(c.rt.config.Messages)
		}
	} else {
		shape.Leaves = 1
	}
	grid := gpu.Blocks(gpu.Dim3{X: len(c.actors)}, gpu.Dim3{X: c.program.Threads}).Shared(c.sharedBytes())
	l, err := c.program.Kernel.Begin(c.stream, grid)
	if err != nil {
		return err
	}
	gpu.Arg(l, shape)
	gpu.SliceArg(l, c.mapped[0])
	gpu.SliceArg(l, c.cursors)
	c.states.arg(l)
	gpu.SliceArg(l, c.mapped[1])
	gpu.SliceArg(l, c.mapped[2])
	return l.End()
}

// end waits for the end of a launch and looks at how each loop has left. c.mu is
// held.
func (c *cohort) end(ctx context.Context) error {
	err := c.stream.Synchronize(ctx)
	fault, _ := errors.AsType[*gpu.KernelError](err)
	if err != nil && fault == nil {
		return err
	}
	for i, a := range c.actors {
		switch left := atomic.LoadUint64(c.left(i)); {
		case left>>32 != uint64(c.epoch) && !c.resident && (fault == nil || fault.Block.X != i):
			// The launch has ended before the block's turn.
		case left>>32 != uint64(c.epoch):
			// None of its threads was left to say so.
			if err := c.settle(i, fault); err != nil {
				return err
			}
		case uint32(left) == actor.Stopped:
			a.stopped()
		case uint32(left) == actor.Failed:
			a.fail(c.cause(i, fault))
		}
	}
	return nil
}

// cause is why block i failed.
func (c *cohort) cause(i int, fault *gpu.KernelError) error {
	if fault != nil && fault.Block.X == i {
		return fault
	}
	return errors.New("threads of the handler stopped at a failed check or a panic; another actor's was recorded first")
}

// settle answers, in place of a loop that has ended without a word, the message
// that it was at.
func (c *cohort) settle(i int, fault *gpu.KernelError) error {
	cursors := make([]uint32, actor.CursorWords)
	at := c.cursors.Slice(i*actor.CursorWords, (i+1)*actor.CursorWords)
	if err := gpu.Download(context.Background(), c.stream, cursors, at); err != nil {
		return err
	}
	a := c.actors[i]
	level := cursors[actor.AtLevel]
	a.mailboxes[level].settle(uint64(cursors[level]), actor.HandlerFailed)
	cursors[level]++
	a.fail(c.cause(i, fault))
	return gpu.CopyIn(c.stream, at, cursors)
}

// hold ends the launch at a message boundary and keeps it from beginning again
// until resume. Messages wait in their mailboxes.
func (c *cohort) hold() error {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.closed {
		return ErrClosed
	}
	c.holds++
	if !c.running {
		return nil
	}
	for i := range c.actors {
		atomic.StoreUint64(c.command(i), 1)
	}
	ctx, cancel := context.WithTimeout(context.Background(), c.rt.config.Patience)
	defer cancel()
	err := c.end(ctx)
	if ctx.Err() != nil && errors.Is(err, ctx.Err()) {
		c.holds--
		return c.stuck()
	}
	c.running = false
	return err
}

// stuck is the error of actors that have not left.
func (c *cohort) stuck() error {
	e := &StuckError{After: c.rt.config.Patience}
	for i, a := range c.actors {
		if atomic.LoadUint64(c.left(i))>>32 != uint64(c.epoch) {
			e.Actors = append(e.Actors, a.name)
		}
	}
	return e
}

// resume ends a hold.
func (c *cohort) resume() error {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.holds--; c.holds > 0 || c.closed || !c.resident || c.running {
		return nil
	}
	if err := c.begin(); err != nil {
		return fmt.Errorf("ring: launch of %d actors: %w", len(c.actors), err)
	}
	c.running = true
	return nil
}

// restart ends the launch and begins it anew, which takes note of actors that
// have left or failed, or are to run.
func (c *cohort) restart() error {
	if err := c.hold(); err != nil {
		return err
	}
	return c.resume()
}

// serve handles what is in the mailboxes, where no launch is resident.
func (c *cohort) serve() error {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.closed || c.holds > 0 {
		return nil
	}
	if err := c.begin(); err != nil {
		return err
	}
	return c.end(context.Background())
}

// pump serves messages that nobody waits for.
func (c *cohort) pump() {
	for range c.wake {
		c.pumping.Store(false)
		if err := c.serve(); err != nil {
			c.rt.note(err)
		}
	}
}

// kick wakes the pump.
func (c *cohort) kick() {
	if !c.pumping.Swap(true) {
		select {
		case c.wake <- struct{}{}:
		default:
		}
	}
}

// close ends the launch for good.
func (c *cohort) close() error {
	err := c.hold()
	if stuck, ok := errors.AsType[*StuckError](err); ok {
		return stuck // its memory is in use
	}
	c.mu.Lock()
	c.closed = true
	c.mu.Unlock()
	close(c.wake)
	return err
}

// watch looks, without waiting, whether actors of a resident launch have failed or
// stopped, or have left by themselves and have messages, and restarts it then.
func (c *cohort) watch() error {
	faulted, err := c.stream.Faulted()
	if err != nil || !c.mu.TryLock() {
		return err
	}
	need := c.running && (faulted || slices.ContainsFunc(c.actors, c.absent))
	c.mu.Unlock()
	if !need {
		return nil
	}
	return c.restart()
}

// absent reports whether an actor that is to run has left, and would have
// something to do. c.mu is held.
func (c *cohort) absent(a *core) bool {
	left := atomic.LoadUint64(c.left(a.block))
	if left>>32 != uint64(c.epoch) || !a.runs() {
		return false
	}
	switch uint32(left) {
	case actor.Asked:
		return c.holds == 0 // after a hold that has given up
	case actor.Bounded:
		return slices.ContainsFunc(a.mailboxes, (*mailbox).pending)
	default:
		return true
	}
}

// StuckError means that actors did not come to the end of a message in time: their
// handlers do not return. The device is theirs until the process ends.
type StuckError struct {
	Actors []string
	After  time.Duration
}

// Error names the actors.
func (e *StuckError) Error() string {
	return fmt.Sprintf("ring: handlers of %q did not return within %v", e.Actors, e.After)
}
