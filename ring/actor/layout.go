package actor

// Words of the control block of an actor.
const (
	Command = 0 // written by the host: not 0 asks the loop to leave
	Left    = 8 // written by the loop when it leaves: Shape.Epoch in the upper half, a reason in the lower

	ControlWords = 16 // two lines of the cache, one for each writer
)

// Reasons to leave.
const (
	Asked   = 1 + iota // by the host
	Bounded            // idle, or after as many messages as the launch may handle
	Stopped            // by the handler
	Failed             // threads of the handler have stopped
	Aged               // after Shape.Life
)

// Words of the headers of slots.
const (
	InHeader  = 1 // a word without data, so that a message without bytes has one
	Outcome   = 0 // the handler's Action, or one of those below
	Cycles    = 1 // that the handler took
	OutHeader = 2
)

// HandlerFailed is the outcome beside the actions of handlers: a thread of the
// handler has stopped.
const HandlerFailed = 0x100

// MaxLevels is the number of mailboxes that an actor has, at most.
const MaxLevels = 8

// Cursors of an actor: the ticket of the next message of each level, then the
// level of the message that the loop is at.
const (
	AtLevel     = MaxLevels
	CursorWords = MaxLevels + 1
)

// MaxBatch is the number of messages that a loop takes at once, at most.
const MaxBatch = 64

// Shape is what a launch of loops has in common.
type Shape struct {
	Epoch uint32 // of the launch, for Left
	Slots uint32 // of a ring, a power of two
	// Levels is the number of mailboxes of an actor. Before it handles messages
	// of one the loop looks whether there are any in one with a higher number.
	Levels uint32

	// Words of a slot of the inbox and of the outbox, with the header, and from
	// one slot to the next.
	In, InStep   uint32
	Out, OutStep uint32

	// The block keeps a message and its reply in a cell of its shared memory.
	Batch  uint32 // cells
	Stride uint32 // words of 32 bits of a cell
	OutAt  uint32 // where the reply is in a cell, in words of 32 bits

	Messages uint32 // after which the loop leaves, 0 for any number
	Leaves   uint32 // 1: it leaves when it has been idle for Idle
	Idle     int64  // nanoseconds
	Life     int64  // nanoseconds after which it leaves, so that a host which is gone leaves no loop behind; 0 for none
	Spin     int64  // nanoseconds without a message after which the loop begins to pause between looks
	Nap      uint32 // nanoseconds, the longest pause
}

// Cell is a message with its reply in shared memory. The padding makes both
// begin at a multiple of 4 bytes and end before one.
type Cell[In, Out any] struct {
	In    In
	InPad uint32
	Out   Out
	Pad   uint32
}
