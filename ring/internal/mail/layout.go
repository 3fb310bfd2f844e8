package mail

// Words of the control block of an actor.
const (
	Command = 0 // written by the host: a lower half that is not 0 asks the loop to leave; the upper half counts messages put into levels other than MiddleLevel
	Left    = 8 // written by the loop when it leaves: Shape.Epoch in the upper half, a reason in the lower

	// In Go the loop lists the mailboxes it has sent to whose receivers the host is to
	// wake: their number, then two mailboxes per word. If there are more than MostRung,
	// the bells of the others ring and the number is larger.
	Rung     = 9
	MostRung = 12

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

// Words of the header of a message.
const (
	Urgency         = 0 // priority in the lowest 8 bits, above them the number of the actor that sent it, 0 for the program
	Deadline        = 1 // see Shape.Clock; 0 for none
	CorrelationLow  = 2
	CorrelationHigh = 3

	InHeader = 4
)

// Words of the header of what became of a message.
const (
	Outcome = 0 // the handler's Action, or one of those below
	Cycles  = 1 // of the device's clock that the handler took
	Waited  = 2 // cycles from the message's arrival in the block to the handler's begin; in Go from the launch's begin

	OutHeader = 3
)

// Outcomes beside the actions of handlers.
const (
	HandlerFailed = 0x100 // a thread of the handler has stopped
	Expired       = 0x101 // the message's deadline had passed
)

// Levels of priority: a level has the messages of 32 priorities. The loop takes
// those of a higher level first.
const (
	Levels      = 8
	MiddleLevel = 4 // of the default priority

	PriorityBits    = 8
	DefaultPriority = 128
	levelBits       = 5 // of a priority, that its level leaves out

	// Post is the source after the levels: messages of actors on the device.
	Post = Levels
)

// LevelOf is the level of a priority.
func LevelOf(priority int) int { return priority >> levelBits }

// Cursors of an actor.
const (
	// The first are the tickets of the next message of each level, stored when
	// the loop leaves or takes another source.
	AtSource = Levels // that the loop is at
	Box      = 9      // mailbox in the post memory, 0 if there is none
	Number   = 10     // of the actor
	Routes   = 11     // where in the post memory the list of mailboxes is to which replies go on, 0 for none
	Pending  = 12     // one more than the position in the list that the last reply goes to next, 0 if it has gone to all
	Saved    = 13     // where in the post memory the words of that reply are kept

	CursorWords = 16
)

// Words of a mailbox in the post memory. Its place there is a multiple of
// BoxWords; messages have the same form as in the inbox. The host writes those
// that do not say who else does.
const (
	BoxTail    = 0  // senders: the next ticket
	BoxRefused = 1  // senders: messages that were not taken
	BoxExpired = 2  // the receiver: messages whose deadline had passed; not of a host actor's
	BoxHead    = 8  // the receiver: the ticket that it handles next. For a host actor's, what senders know of it
	BoxAsleep  = 9  // the receiver: 1 while it looks at its mailbox only if the bell rings
	BoxOwner   = 10 // the number of the actor that it is for, 0 if it takes no messages
	BoxSlots   = 11 // a power of two
	BoxStep    = 12 // words from slot to slot
	BoxKind    = 13
	BoxRing    = 14 // where its ring begins, in the post memory or in the host's
	BoxBell    = 15 // where in the host's memory its bell is; the word after it is a host actor's head

	BoxWords = 16
)

// AnyBell is where the bell is that rings with every other.
const AnyBell = 0

// Kinds of mailboxes.
const (
	DeviceBox = 0 // its ring is in the post memory
	HostBox   = 1 // its ring is in memory of the host
)

// DeadlineShift makes units of deadlines of nanoseconds.
const DeadlineShift = 10

// FarAhead is how far ahead a deadline is at most that a word can tell from one that has
// passed, in nanoseconds. Messages with later ones have none.
const FarAhead = 30 * 60 * 1_000_000_000

// Words of the entry of a payload in the post memory.
const (
	PayloadHost   = 0 // by the host: generation<<32, holds that it has taken over from actors<<1, and 1 if it holds the payload
	PayloadActors = 1 // by actors: generation<<32, and how many holds they have taken
	PayloadRange  = 2 // by the host: elements<<32, and the first in the payload memory

	PayloadWords = 4
)

// A group in the post memory is one word: in the lower half where the list of its
// members is, in the upper half their number. A member is a word, its mailbox in the
// lower half and its own number in the upper one. Group and list
// change only while no loop runs, but for the word of a member that has terminated,
// which becomes 0.

// GroupWord is the word of a group whose list of n mailboxes is at a place.
func GroupWord(at uint32, n int) uint64 { return uint64(n)<<32 | uint64(at) }
