package ring

import (
	"cmp"
	"context"
	"math/bits"
	"time"
	"unsafe"

	"quern.dev/gpu"
	"quern.dev/kernel"
	"quern.dev/kernel/host"
	"quern.dev/ring/actor"
	"quern.dev/ring/internal/loop"
	"quern.dev/ring/internal/mail"
)

// Program is a compiled handler. Those that quern gen writes for functions marked
// //quern:actor are used by the constructors beside them.
type Program struct {
	Name    string      // of the handler
	Kernel  *gpu.Kernel // the loop around it
	Threads int         // of a block

	// Payload adds the payload memory to the arguments of a launch, as elements of
	// the type that the handler sees; nil for handlers without.
	Payload func(*gpu.Launch, *PayloadMemory)
}

// sectorWords is how many words fill a sector, the least that a GPU reads at once.
const sectorWords = 4

// shapeOf is what launches of actors with these types have in common.
func shapeOf[In, Out any](o *Options) loop.Shape {
	var cell loop.Cell[In, Out]
	words := func(bytes uintptr) uint32 { return uint32((bytes + 3) / 4) }
	s := loop.Shape{
		Slots: uint32(o.slots()), SideSlots: uint32(o.sideSlots()),
		In: mail.InHeader + words(unsafe.Sizeof(cell.In)), Out: mail.OutHeader + words(unsafe.Sizeof(cell.Out)),
		Stride: words(unsafe.Sizeof(cell)), OutAt: words(unsafe.Offsetof(cell.Out)),
		Spin: int64(o.Spin), Nap: uint32(o.Nap.Nanoseconds()),
	}
	s.InStep = (s.In + sectorWords - 1) / sectorWords * sectorWords
	s.Reciprocal = uint32((1<<32 + uint64(s.In) - 1) / uint64(s.In))
	s.Batch = uint32(min(batchOf(o.Batch, &s), o.slots()))
	s.RawAt = rawAt(&s)
	s.OutStep = (s.Out + sectorWords - 1) / sectorWords * sectorWords
	return s
}

// The shared memory that messages taken at once have, if Options.Batch does not say how
// many they are, and the least number of them.
const (
	batchBytes = 16 << 10
	leastBatch = 8
)

// batchOf is how many messages an actor takes at once.
func batchOf(asked int, s *loop.Shape) int {
	if asked != 0 {
		return asked
	}
	return min(max(batchBytes/cellBytes(s), leastBatch), loop.MaxBatch)
}

// cellBytes is the shared memory for a message: its cell, which includes the reply, and
// the copy of its slot.
func cellBytes(s *loop.Shape) int { return 4*int(s.Stride) + 8*int(s.InStep) }

// rawAt is where messages are copied to in the shared memory of a block, behind the
// cells, in units of 16 bytes.
func rawAt(s *loop.Shape) uint32 { return (s.Batch*s.Stride + 3) / 4 }

// Policy is what happens to a message for a mailbox that is full.
type Policy uint8

// Policies.
const (
	Block  Policy = iota // its sender waits
	Reject               // its sender gets ErrQueueFull

	// The oldest message of the lowest priority is dropped, or the new one if its
	// priority is lower than all: it is a dead letter, and its sender or the caller of
	// Ask who waits for the reply gets ErrDropped. Messages that an active actor is
	// about to handle, up to 64 of them and 16 of each other level of priority, are not
	// dropped any more and do not count for the capacity.
	DropOldest
)

// Limits and defaults of options.
const (
	MaxCapacity     = 1_000_000
	DefaultCapacity = 4096

	defaultRestarts = 10
	defaultWindow   = 10 * time.Second
	defaultPatience = time.Minute
	defaultSpin     = 200 * time.Microsecond
	defaultNap      = 20 * time.Microsecond
)

// Options say how an actor is made. The zero value is an actor with a generated
// name, a zero state and the defaults that the fields name.
type Options struct {
	Name  string // unique in the runtime; "handler-1" and so on if empty
	State any    // of the handler's type, or nil for zero

	// Capacity is how many messages of the program wait to be handled, from 1 to
	// MaxCapacity, 0 for DefaultCapacity, and Full what happens to one more.
	//
	// Messages of actors on the device wait in a mailbox beside these, which has 8 to
	// 256 slots, as many as fit into 64 KiB. When it is full, actor.Send returns
	// false, whatever Full says, and the message is counted as refused. A host actor's
	// messages go on from there to those of the program as long as these are fewer
	// than Capacity, and with [DropOldest] always: then Full holds for them, too. With
	// [Block] and [Reject] the rest stay where they are, and none is rejected.
	Capacity int
	Full     Policy

	// Batch is the number of messages that the actor takes out of its mailbox at
	// once, up to 64. They need shared memory, and so does each other actor on the
	// same multiprocessor; 0 is as many as 16 KiB have room for, at least 8: 52 of 64
	// bytes with replies of 64 bytes.
	Batch int
	// Spin is how long an actor on a GPU looks for messages without a pause after
	// the last one, Nap the longest pause between looks after that: less power and
	// traffic, and more time until the next message is seen. 0 is 200 and 20
	// microseconds. Nap is at most a millisecond.
	Spin, Nap time.Duration
	// Supervisor, if not nil, is called when the handler has failed, on a goroutine
	// of its own, and decides what happens to the actor. If it is nil, the runtime's
	// supervisor decides; if that is nil too, the actor stays failed.
	Supervisor func(Failure) Decision
	// An actor that its supervisor would restart more than MaxRestarts times within
	// RestartWindow is the runtime's supervisor's case instead. 0 is 10 times within
	// 10 seconds.
	MaxRestarts   int
	RestartWindow time.Duration
	// Patience is how long the handler of an actor in Go may take for a message; after
	// that the actor has failed. 0 is a minute.
	Patience time.Duration
	// Inactive actors keep messages until they are activated.
	Inactive bool
}

// Messages in rings, the rest waits in the queue. Messages in rings cannot be
// dropped, or overtaken by others of their level.
const (
	maxSlots     = 1024 // at the level of the default priority
	dropSlots    = 64   // the same, of actors that drop messages
	maxSideSlots = 16   // at each other level

	// Actors with a larger capacity than this have rings with less room in all than
	// that, so that looking at a ring is enough to know that there is room.
	smallCapacity = 64
)

// slots is the size of the ring of the default priority.
func (o *Options) slots() int {
	most := min(o.Capacity, maxSlots)
	if o.Full == DropOldest {
		most = min(most, dropSlots)
	}
	n := 1 << (bits.Len(uint(most)) - 1)
	for o.Capacity >= smallCapacity && ringed(n) > o.Capacity {
		n /= 2
	}
	return n
}

// sideSlots is the size of the rings of other levels.
func (o *Options) sideSlots() int { return min(o.slots(), maxSideSlots) }

// ringed is how many messages the rings of an actor take.
func ringed(slots int) int {
	return slots + (mail.Levels-1)*min(slots, maxSideSlots)
}

// roomy reports whether there is always room for as many messages as the rings
// take.
func (o *Options) roomy() bool { return o.Full == DropOldest || ringed(o.slots()) <= o.Capacity }

// normalise sets defaults and reports what is wrong.
func (o *Options) normalise() error {
	o.Capacity = cmp.Or(o.Capacity, DefaultCapacity)
	o.Spin, o.Nap = cmp.Or(o.Spin, defaultSpin), cmp.Or(o.Nap, defaultNap)
	o.Patience = cmp.Or(o.Patience, defaultPatience)
	o.MaxRestarts, o.RestartWindow = cmp.Or(o.MaxRestarts, defaultRestarts), cmp.Or(o.RestartWindow, defaultWindow)
	switch {
	case o.Patience < 0:
		return invalid("Patience is %v; it is more than 0", o.Patience)
	case o.MaxRestarts < 0 || o.RestartWindow < 0:
		return invalid("MaxRestarts is %d and RestartWindow %v; neither may be negative", o.MaxRestarts, o.RestartWindow)
	case o.Capacity < 1 || o.Capacity > MaxCapacity:
		return invalid("a capacity of %d messages; it is 1 to %d", o.Capacity, MaxCapacity)
	case o.Batch < 0 || o.Batch > loop.MaxBatch:
		return invalid("a batch of %d messages; it is 1 to %d", o.Batch, loop.MaxBatch)
	case o.Full > DropOldest:
		return invalid("unknown policy %d for a full mailbox", o.Full)
	case o.Spin < 0 || o.Nap < 0 || o.Nap > time.Millisecond:
		return invalid("Spin is %v and Nap %v; Spin is at least 0, Nap at most 1ms", o.Spin, o.Nap)
	}
	return nil
}

// Loop returns the Go form of an actor's kernel: the loop around a function that handles
// one message with all threads of a block. Code that quern gen writes calls it, and the
// two functions below for handlers with a context or with payload memory.
func Loop[State, In, Out any](handle func(r *host.Run, state *State, in *In, out *Out, action *kernel.Action)) host.Func {
	return func(r *host.Run) {
		loop.GoLoop(r, 1, func(r *host.Run, _ []actor.Context, state *State, in *In, out *Out, action *kernel.Action) {
			handle(r, state, in, out, action)
		})
	}
}

// LoopWithContext is Loop for handlers that take a context. Each thread has its own.
func LoopWithContext[State, In, Out any](handle func(r *host.Run, contexts []actor.Context, state *State, in *In, out *Out, action *kernel.Action)) host.Func {
	return func(r *host.Run) { loop.GoLoop(r, r.BlockDim.Count(), handle) }
}

// LoopWithPayload is LoopWithContext for handlers that take payload memory, too.
func LoopWithPayload[Element, State, In, Out any](handle func(r *host.Run, contexts []actor.Context, payload []Element, state *State, in *In, out *Out, action *kernel.Action)) host.Func {
	return func(r *host.Run) {
		payload := loop.PayloadMemory[Element](r)
		loop.GoLoop(r, r.BlockDim.Count(), func(r *host.Run, contexts []actor.Context, state *State, in *In, out *Out, action *kernel.Action) {
			handle(r, contexts, payload, state, in, out, action)
		})
	}
}

// spawns reports, as an error, why no actor can be spawned.
func spawns(ctx context.Context, rt *Runtime, name string) error {
	if err := rt.usable("spawn " + name); err != nil {
		return err
	}
	if ctx == nil {
		return during("spawn "+name, errNilContext)
	}
	if err := ctx.Err(); err != nil {
		return during("spawn "+name, err)
	}
	return nil
}

// Spawn makes an actor with a compiled handler. The constructors that quern gen
// writes call it.
func Spawn[State, In, Out any](ctx context.Context, rt *Runtime, p *Program, o Options) (*Actor[In, Out], error) {
	if p == nil || p.Kernel == nil {
		return nil, invalid("spawn %s: the program is nil, or was not made by quern gen", o.Name)
	}
	name := cmp.Or(o.Name, p.Name)
	if err := spawns(ctx, rt, name); err != nil {
		return nil, err
	}
	if err := during("spawn "+name, o.normalise()); err != nil {
		return nil, err
	}
	if o.State != nil {
		if _, ok := o.State.(State); !ok {
			var want State
			return nil, during("spawn "+name, invalid("the state of %s is a %T, want a %T", p.Name, o.State, want))
		}
	}
	rt.spawning.Lock()
	defer rt.spawning.Unlock()
	a := &Actor[In, Out]{core: newCore[In, Out](rt, o)}
	shape := shapeOf[In, Out](&o)
	if err := rt.fitBatch(p, &shape); err != nil {
		return nil, err
	}
	if err := rt.reserve(a.core, p.Name); err != nil {
		return nil, err
	}
	var err error
	c := rt.place(p, shape)
	if c == nil {
		if err = p.Kernel.Prepare(rt.dev); err == nil && p.Payload != nil {
			err = rt.payloads.m.Make()
		}
		if err == nil {
			c, err = newCohort[State, In, Out](rt, p, shape, rt.sizeOf(p, shape))
		}
		if err == nil {
			rt.mu.Lock()
			rt.cohorts = append(rt.cohorts, c)
			if rt.quiet && rt.resident {
				c.holds.Add(1)
				rt.held = append(rt.held, c)
			}
			rt.mu.Unlock()
		}
	}
	if err == nil && !o.Inactive {
		err = c.executor.room(a.core.name)
	}
	if err == nil {
		err = c.add(a.core, !o.Inactive)
	}
	if err != nil {
		rt.unregister(a.core)
		return nil, during("spawn "+p.Name, err)
	}
	if err := rt.enrol(a.core); err != nil {
		return nil, err
	}
	return a, nil
}
