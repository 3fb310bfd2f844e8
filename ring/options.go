package ring

import (
	"math/bits"
	"time"

	"quern.dev/ring/actor"
)

// Policy is what happens to a message for a mailbox that is full.
type Policy uint8

// Policies.
const (
	Block  Policy = iota // its sender waits
	Reject               // its sender gets ErrQueueFull
)

// Limits and defaults of options.
const (
	MaxCapacity     = 1_000_000
	DefaultCapacity = 4096

	defaultBatch = 32
	defaultSpin  = 200 * time.Microsecond
	defaultNap   = 20 * time.Microsecond
)

// Options say how an actor is made. The zero value is an actor with a generated
// name, a zero state and the defaults that the fields name.
type Options struct {
	Name     string // unique in the runtime; "handler-1" and so on if empty
	State    any    // of the handler's type, or nil for zero
	Capacity int    // messages in the mailbox, from 1 to MaxCapacity; 0 is DefaultCapacity. Powers of two are used whole, others rounded up
	Full     Policy // what happens when it is full

	// Levels is the number of mailboxes, each of Capacity messages, that messages of
	// different priority are kept in, from 1 to 8; 0 is 1. A level has the priorities
	// of the same range, 256 divided by Levels. The actor takes messages of the
	// highest level that has any, and those of a level in their order. See
	// [Actor.Priority].
	Levels int
	// Batch is the number of messages that the actor takes out of its mailbox at
	// once, up to 64; 0 is 32. They need shared memory.
	Batch int
	// Spin is how long an actor on a GPU looks for messages without a pause after
	// the last one, Nap the longest pause between looks after that: less power and
	// traffic, and more time until the next message is seen. 0 is 200 and 20
	// microseconds. Nap is at most a millisecond.
	Spin, Nap time.Duration
	// Supervisor, if not nil, is called when the handler has failed, on a goroutine
	// of its own, and says what happens to the actor. Without one it stays failed.
	Supervisor func(Failure) Decision
	// Inactive actors keep messages until they are activated.
	Inactive bool
}

// slots is the size of the rings.
func (o *Options) slots() int { return 1 << bits.Len(uint(o.Capacity-1)) }

// normalise sets defaults and reports what is wrong.
func (o *Options) normalise() error {
	if o.Capacity == 0 {
		o.Capacity = DefaultCapacity
	}
	if o.Levels == 0 {
		o.Levels = 1
	}
	if o.Batch == 0 {
		o.Batch = defaultBatch
	}
	if o.Spin == 0 {
		o.Spin = defaultSpin
	}
	if o.Nap == 0 {
		o.Nap = defaultNap
	}
	switch {
	case o.Capacity < 1 || o.Capacity > MaxCapacity:
		return invalid("a capacity of %d messages; it is 1 to %d", o.Capacity, MaxCapacity)
	case o.Levels < 1 || o.Levels > actor.MaxLevels:
		return invalid("%d levels of priority; they are 1 to %d", o.Levels, actor.MaxLevels)
	case o.Batch < 1 || o.Batch > actor.MaxBatch:
		return invalid("a batch of %d messages; it is 1 to %d", o.Batch, actor.MaxBatch)
	case o.Full > Reject:
		return invalid("unknown policy %d for a full mailbox", o.Full)
	case o.Spin < 0 || o.Nap < 0 || o.Nap > time.Millisecond:
		return invalid("Spin is %v and Nap %v; Spin is at least 0, Nap at most 1ms", o.Spin, o.Nap)
	}
	o.Batch = min(o.Batch, o.slots())
	return nil
}
