package loop

import "quern.dev/ring/internal/mail"

// MaxBatch is the number of messages that a loop takes at once, at most.
const MaxBatch = 64

// Shape is what a launch of loops has in common.
type Shape struct {
	Epoch uint32 // of the launch, for Left
	First uint32 // the actor of the first block

	Slots     uint32 // of the rings of MiddleLevel, a power of two
	SideSlots uint32 // of those of other levels, a power of two

	// Words of a slot of the inbox and of the outbox, with the header, and from
	// one slot to the next.
	In, InStep   uint32
	Out, OutStep uint32

	// Reciprocal is 1<<32 divided by In, rounded up.
	Reciprocal uint32

	// The block keeps a message and its reply in a cell of its shared memory.
	Batch  uint32 // cells
	Stride uint32 // words of 32 bits of a cell
	OutAt  uint32 // where the reply is in a cell, in words of 32 bits
	RawAt  uint32 // where slots of the inbox are copied to behind the cells, in pairs of words of 64 bits

	Messages uint32 // after which the loop leaves, 0 for any number
	Leaves   uint32 // 1: it leaves when it has been idle for Idle
	Alone    uint32 // 1: other actors do not run while the block does
	Wakes    uint32 // 1: loops of the runtime may have left while actors send to each other
	Nap      uint32 // nanoseconds, the longest pause between looks
	Idle     int64  // nanoseconds
	Life     int64  // nanoseconds after which it leaves, so that a host which is gone leaves no loop behind; 0 for none
	Spin     int64  // nanoseconds without a message after which the loop begins to pause between looks

	// Clock is the time of the launch in nanoseconds. A deadline is such a time
	// divided by 1<<mail.DeadlineShift, modulo 1<<32, and never 0; one that is
	// less than 1<<31 units ago has passed.
	Clock int64
}

// Cell is a message with its reply in shared memory. The padding makes both
// begin at a multiple of 4 bytes and end before one.
type Cell[In, Out any] struct {
	Head  [mail.InHeader]uint32
	In    In
	InPad uint32
	Out   Out
	Pad   uint32
}
