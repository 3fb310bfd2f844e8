package mail

// Words of the control block of an actor.
const (
	Command = 0 // written by the host: a lower half other than 0 asks the loop to leave; the upper half counts messages put into levels other than MiddleLevel
	Left    = 8 // written by the loop when it leaves: Shape.Epoch in the upper half, a reason in the lower

	// In Go the loop lists mailboxes that it has sent to and whose receivers the host
	// must wake: their number, then two mailboxes per word. If there are more than
	// MostRung, the number is larger, and the loop rings the bells of the others.
	Rung     = 9
	MostRung = 12

	ControlWords = 16 // two cache lines, one per writer
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
	Urgency         = 0 // priority in the lowest 8 bits, above them the number of the sending actor, 0 for the program
	Deadline        = 1 // see Shape.Clock; 0 for none
	CorrelationLow  = 2
	CorrelationHigh = 3

	InHeader = 4
)

// Words of the header of a reply.
const (
	Outcome = 0 // the handler's Action, or one of the outcomes below
	Cycles  = 1 // of the device's clock that the handler took
	Waited  = 2 // cycles from the message's arrival in the block to the call of the handler; in Go from the start of the launch

	OutHeader = 3
)

// Outcomes in addition to the actions of handlers.
const (
	HandlerFailed = 0x100 // a thread of the handler has stopped
	Expired       = 0x101 // the message's deadline had passed
)

// Levels of priority. A level contains the messages of 32 priorities. The loop takes
// messages of a higher level first.
const (
	Levels      = 8
	MiddleLevel = 4 // of the default priority

	PriorityBits    = 8
	DefaultPriority = 128
	levelBits       = 5 // low bits of a priority that do not affect its level

	// Post is the source with the number after the levels: messages of actors on the device.
	Post = Levels
)

// LevelOf returns the level of a priority.
func LevelOf(priority uint8) int { return int(priority >> levelBits) }

// Cursors of an actor.
const (
	// The first ones are the tickets of the next message of each level, stored when
	// the loop leaves or changes its source.
	AtSource = Levels // current source of the loop
	Box      = 9      // mailbox in the post memory, 0 if there is none
	Number   = 10     // of the actor
	Routes   = 11     // position in the post memory of the list of mailboxes that replies go on to, 0 for none
	Pending  = 12     // 1 plus the position in the list that the last reply goes to next, 0 if it has gone to all
	Saved    = 13     // position in the post memory of the words of that reply

	CursorWords = 16
)

// Words of a mailbox in the post memory. Its position is a multiple of BoxWords.
// Messages have the same form as in the inbox. The host writes the words for which no
// other writer is named.
const (
	BoxTail    = 0  // senders: the next ticket
	BoxRefused = 1  // senders: messages that were not accepted
	BoxExpired = 2  // the receiver: messages whose deadline had passed; not used for host actors
	BoxHead    = 8  // the receiver: the ticket that it handles next; for a host actor, a copy for senders
	BoxAsleep  = 9  // the receiver: 1 while it checks its mailbox only if the bell rings
	BoxOwner   = 10 // number of the actor that owns it, 0 if it accepts no messages
	BoxSlots   = 11 // a power of two
	BoxStep    = 12 // words per slot
	BoxKind    = 13
	BoxRing    = 14 // position of its ring, in the post memory or in host memory
	BoxBell    = 15 // position of its bell in host memory; the next word is a host actor's head

	BoxWords = 16
)

// AnyBell is the position of the bell that rings with every other bell.
const AnyBell = 0

// Kinds of mailboxes.
const (
	DeviceBox = 0 // its ring is in the post memory
	HostBox   = 1 // its ring is in host memory
)

// DeadlineShift converts nanoseconds to units of deadlines.
const DeadlineShift = 10

// FarAhead is the longest time in nanoseconds until a deadline that the word in a header
// can represent. Messages with later deadlines have none.
const FarAhead = 30 * 60 * 1_000_000_000

// Words of the entry of a payload in the post memory.
const (
	PayloadHost   = 0 // by the host: generation<<32, the holds that it has taken over from actors<<1, and 1 if it holds the payload
	PayloadActors = 1 // by actors: generation<<32, and the number of holds they have taken
	PayloadRange  = 2 // by the host: number of elements<<32, and the first element in the payload memory

	PayloadWords = 4
)

// A group in the post memory is one word: in the lower half the position of the list
// of its members, in the upper half their number. A member is one word, with its
// mailbox in the lower half and its own number in the upper half. Group and list
// change only while no loop runs. The exception is the word of a terminated member,
// which becomes 0.

// GroupWord returns the word of a group whose list of n members is at a position.
func GroupWord(at uint32, n int) uint64 { return uint64(n)<<32 | uint64(at) }
