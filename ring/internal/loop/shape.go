package loop

import "quern.dev/ring/internal/mail"

// MaxBatch is the maximum number of messages that a loop takes at once.
const MaxBatch = 64

// Shape contains the common parameters of a launch of loops.
type Shape struct {
	Epoch uint32 // of the launch, for Left
	First uint32 // the actor of the first block

	Slots     uint32 // of the rings of MiddleLevel, a power of two
	SideSlots uint32 // of those of other levels, a power of two

	// The number of words in a slot of the inbox and the outbox, including the
	// header, and the distance between slots.
	In, InStep   uint32
	Out, OutStep uint32

	// Reciprocal is 1<<32 divided by In, rounded up.
	Reciprocal uint32

	// The block stores a message and its reply in a cell of its shared memory.
	Batch  uint32 // cells
	Stride uint32 // 32-bit words per cell
	OutAt  uint32 // offset of the reply in a cell, in 32-bit words
	RawAt  uint32 // where inbox slots are copied to behind the cells, in pairs of 64-bit words

	Messages uint32 // number of messages after which the loop leaves, 0 for any number
	Leaves   uint32 // 1: it leaves when it has been idle for Idle
	Alone    uint32 // 1: other actors do not run while the block does
	Wakes    uint32 // 1: loops of the runtime may have left while actors send to each other
	MaxPause uint32 // nanoseconds, the longest pause between polls
	Idle     int64  // nanoseconds
	Life     int64  // nanoseconds after which it leaves, so that a host that is gone leaves no loop behind; 0 for none
	Spin     int64  // nanoseconds without a message after which the loop pauses between polls

	// Clock is the time of the launch in nanoseconds. A deadline is a time divided by
	// 1<<mail.DeadlineShift, modulo 1<<32, and never 0. A deadline that is less than
	// 1<<31 units ago has passed.
	Clock int64
}

// Cell is a message with its reply in shared memory. The padding makes both begin and
// end at a multiple of 4 bytes.
type Cell[In, Out any] struct {
	Head  [mail.InHeader]uint32
	In    In
	InPad uint32
	Out   Out
	Pad   uint32
}
