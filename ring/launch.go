package ring

import (
	"context"
	"errors"
	"fmt"
	"sync/atomic"
	"time"

	"quern.dev/gpu"
	"quern.dev/ring/internal/mail"
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
