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

// Program is a compiled handler. quern gen writes one, and a constructor that uses
// it, for each function marked //quern:actor.
type Program struct {
	Name    string      // of the handler
	Kernel  *gpu.Kernel // the loop around it
	Threads int         // per block
	Sends   bool        // the handler has a context, so it can send messages, to itself at least

	// Payload adds the payload memory to the arguments of a launch, as elements of
	// the handler's type. It is nil for handlers without payload memory.
	Payload func(*gpu.Launch, *PayloadMemory)
}

// sectorWords is the number of words in a sector, the smallest unit that a GPU reads.
const sectorWords = 4

// shapeOf returns the common shape of launches of actors with these types.
func shapeOf[In, Out any](o *Options) loop.Shape {
	var cell loop.Cell[In, Out]
	words := func(bytes uintptr) uint32 { return uint32((bytes + 3) / 4) }
	s := loop.Shape{
		Slots: uint32(o.slots()), SideSlots: uint32(o.sideSlots()),
		In: mail.InHeader + words(unsafe.Sizeof(cell.In)), Out: mail.OutHeader + words(unsafe.Sizeof(cell.Out)),
		Stride: words(unsafe.Sizeof(cell)), OutAt: words(unsafe.Offsetof(cell.Out)),
		Spin: int64(o.Spin), MaxPause: uint32(o.MaxPause.Nanoseconds()),
	}
	s.InStep = (s.In + sectorWords - 1) / sectorWords * sectorWords
	s.Reciprocal = uint32((1<<32 + uint64(s.In) - 1) / uint64(s.In))
	s.Batch = uint32(min(batchOf(o.Batch, &s), o.slots()))
	s.RawAt = rawAt(&s)
	s.OutStep = (s.Out + sectorWords - 1) / sectorWords * sectorWords
	return s
}

// The shared memory for messages that are taken at once if Options.Batch does not set
// their number, and the minimum number.
const (
	batchBytes = 16 << 10
	leastBatch = 8
)

// batchOf returns the number of messages that an actor takes at once.
func batchOf(asked int, s *loop.Shape) int {
	if asked != 0 {
		return asked
	}
	return min(max(batchBytes/cellBytes(s), leastBatch), loop.MaxBatch)
}

// cellBytes returns the shared memory for a message: its cell, which includes the
// reply, and the copy of its slot.
func cellBytes(s *loop.Shape) int { return 4*int(s.Stride) + 8*int(s.InStep) }

// rawAt returns where slots are copied to in the shared memory of a block, behind the
// cells, in units of 16 bytes.
func rawAt(s *loop.Shape) uint32 { return (s.Batch*s.Stride + 3) / 4 }

// Policy decides what happens to a message for a full mailbox.
type Policy uint8

// Policies.
const (
	Block  Policy = iota // the sender waits
	Reject               // the sender gets ErrQueueFull

	// The oldest message of the lowest priority is dropped, or the new message if its
	// priority is lower than all others. It becomes a dead letter, and its sender, or
	// the caller of Ask that waits for the reply, gets ErrDropped. Messages that an
	// active actor is about to handle are no longer dropped, and do not count toward
	// the capacity: up to 64 of the default level of priority and 16 of each other
	// level.
	DropOldest
)

// Limits and defaults of options.
const (
	MaxCapacity     = 1_000_000
	DefaultCapacity = 4096

	defaultRestarts = 10
	defaultWindow   = 10 * time.Second
	defaultTimeout  = time.Minute
	defaultSpin     = 200 * time.Microsecond
	defaultMaxPause = 20 * time.Microsecond
)

// Options configure an actor. The zero value means a generated name, a zero state and
// the defaults that the fields name.
type Options struct {
	Name  string // unique in the runtime, printable, up to 255 bytes; if empty, the name is "handler-1" and so on
	State any    // of the handler's type; nil means zero

	// Capacity is the maximum number of messages from the program that wait to be
	// handled, from 1 to MaxCapacity; 0 means DefaultCapacity. Full decides what
	// happens beyond that.
	//
	// Messages from actors on the device wait in a separate mailbox with 8 to 256
	// slots, as many as fit into 64 KiB. When that is full, actor.Send returns false,
	// regardless of Full, and the message is counted as refused. For a host actor,
	// these messages move on to those of the program while there are fewer than
	// Capacity, and with [DropOldest] always: then Full applies to them too. With
	// [Block] and [Reject] the rest stay in the separate mailbox, and none is
	// rejected.
	Capacity int
	Full     Policy

	// Batch is the number of messages that the actor takes out of its mailbox at
	// once, up to 64. They need shared memory, which all actors on a multiprocessor
	// share. 0 means as many as fit into 16 KiB, but at least 8: for messages and
	// replies of 64 bytes, 52.
	Batch int
	// Spin is how long an actor on a GPU polls for messages without a pause after the
	// last one. MaxPause is the longest pause between polls after that. Long pauses
	// save power and bus traffic, and delay the next message. 0 means 200
	// microseconds for Spin and 20 for MaxPause. MaxPause is at most a millisecond.
	Spin, MaxPause time.Duration
	// Supervisor, if not nil, is called when the handler has failed, on its own
	// goroutine, and decides what happens to the actor. If it is nil, the runtime's
	// supervisor decides. If that is nil too, the actor stays failed.
	Supervisor func(Failure) Decision
	// If the actor's supervisor would restart it more than MaxRestarts times within
	// RestartWindow, the runtime's supervisor decides instead. 0 means 10 times
	// within 10 seconds.
	MaxRestarts   int
	RestartWindow time.Duration
	// HandlerTimeout is how long the handler of a host actor may take for a message;
	// after that the actor fails. 0 means a minute. Actors on the device use
	// Config.HandlerTimeout.
	HandlerTimeout time.Duration
	// Inactive makes an actor that keeps its messages until it is activated.
	Inactive bool
}

// The sizes of rings. Other messages wait in the queue. Messages in rings cannot be
// dropped, or overtaken by others of their level.
const (
	maxSlots     = 1024 // at the level of the default priority
	dropSlots    = 64   // the same, for actors that drop messages
	maxSideSlots = 16   // at each other level

	// Actors with a larger capacity have rings with fewer slots in total than that
	// capacity. So a vacant slot is enough to know that there is room.
	smallCapacity = 64
)

// slots returns the size of the ring for the default priority.
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

// sideSlots returns the size of the rings of the other levels.
func (o *Options) sideSlots() int { return min(o.slots(), maxSideSlots) }

// ringed returns the total number of messages in the rings of an actor.
func ringed(slots int) int {
	return slots + (mail.Levels-1)*min(slots, maxSideSlots)
}

// roomy reports whether the capacity allows all messages that the rings can hold.
func (o *Options) roomy() bool { return o.Full == DropOldest || ringed(o.slots()) <= o.Capacity }

// normalise sets defaults and checks the options.
func (o *Options) normalise() error {
	if o.Name != "" { // otherwise it is generated
		if err := checkName(o.Name); err != nil {
			return err
		}
	}
	o.Capacity = cmp.Or(o.Capacity, DefaultCapacity)
	o.Spin, o.MaxPause = cmp.Or(o.Spin, defaultSpin), cmp.Or(o.MaxPause, defaultMaxPause)
	o.HandlerTimeout = cmp.Or(o.HandlerTimeout, defaultTimeout)
	o.MaxRestarts, o.RestartWindow = cmp.Or(o.MaxRestarts, defaultRestarts), cmp.Or(o.RestartWindow, defaultWindow)
	switch {
	case o.HandlerTimeout < 0:
		return invalid("HandlerTimeout is %v; want 0 or more", o.HandlerTimeout)
	case o.MaxRestarts < 0 || o.RestartWindow < 0:
		return invalid("MaxRestarts is %d and RestartWindow %v; neither may be negative", o.MaxRestarts, o.RestartWindow)
	case o.Capacity < 1 || o.Capacity > MaxCapacity:
		return invalid("Capacity is %d; want 1 to %d", o.Capacity, MaxCapacity)
	case o.Batch < 0 || o.Batch > loop.MaxBatch:
		return invalid("Batch is %d; want 1 to %d", o.Batch, loop.MaxBatch)
	case o.Full > DropOldest:
		return invalid("unknown policy %d for a full mailbox", o.Full)
	case o.Spin < 0 || o.MaxPause < 0 || o.MaxPause > time.Millisecond:
		return invalid("Spin is %v and MaxPause %v; want at least 0, and MaxPause at most 1ms", o.Spin, o.MaxPause)
	}
	return nil
}

// Loop returns the Go form of an actor's kernel: the loop around a function that handles
// one message with all threads of a block. Generated code calls it, or one of the two
// functions below for handlers with a context or with payload memory.
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

// LoopWithPayload is LoopWithContext for handlers that also take payload memory.
func LoopWithPayload[Element, State, In, Out any](handle func(r *host.Run, contexts []actor.Context, payload []Element, state *State, in *In, out *Out, action *kernel.Action)) host.Func {
	return func(r *host.Run) {
		payload := loop.PayloadMemory[Element](r)
		loop.GoLoop(r, r.BlockDim.Count(), func(r *host.Run, contexts []actor.Context, state *State, in *In, out *Out, action *kernel.Action) {
			handle(r, contexts, payload, state, in, out, action)
		})
	}
}

// spawns returns an error if no actor can be spawned.
func spawns(ctx context.Context, rt *Runtime, name string) error {
	if err := rt.usable("spawn " + name); err != nil {
		return err
	}
	if err := ctx.Err(); err != nil {
		return during("spawn "+name, err)
	}
	return nil
}

// Spawn makes an actor with a compiled handler. The generated constructors call it.
func Spawn[State, In, Out any](ctx context.Context, rt *Runtime, p *Program, o Options) (*Actor[In, Out], error) {
	if p == nil || p.Kernel == nil {
		return nil, invalid("spawn %s: the program is nil, or was not made by quern gen", o.Name)
	}
	name := cmp.Or(o.Name, p.Name)
	if err := spawns(orBackground(ctx), rt, name); err != nil {
		return nil, err
	}
	if err := during("spawn "+shown(name), o.normalise()); err != nil {
		return nil, err
	}
	if o.State != nil {
		if _, ok := o.State.(State); !ok {
			var want State
			return nil, during("spawn "+name, invalid("the state of %s is a %T, want a %T", p.Name, o.State, want))
		}
	}
	if err := rt.beginSpawning("spawn " + name); err != nil {
		return nil, err
	}
	defer rt.spawning.unlock()
	a := &Actor[In, Out]{core: newCore[In, Out](rt, o)}
	shape := shapeOf[In, Out](&o)
	if err := rt.fitBatch(p, &shape); err != nil {
		return nil, err
	}
	if err := rt.reserve(a.core, p.Name); err != nil {
		return nil, err
	}
	if p.Sends {
		rt.referred.Store(true)
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
