package ring

import (
	"math"
	"reflect"
	"time"

	"quern.dev/ring/internal/mail"
)

// Priorities: higher ones come first.
const (
	DefaultPriority = 128
	MaxPriority     = 255
)

// Message is a reply with what belongs to the message that it answers.
type Message[T any] struct {
	ID          uint64 // of the message, unique in the runtime
	Correlation uint64 // that its sender gave it, or 0
	Priority    int
	Sender      string // name of the actor that the message was from, "" for the program and one that ended long ago
	Body        T      // the reply
}

// MessageOption says something of a message: see [Priority], [TTL], [Deadline],
// [Correlation], [From] and [ID]. Of options of a kind the last one counts.
type MessageOption struct {
	kind  optionKind
	value int64
	from  Sender
	id    *uint64
}

type optionKind uint8

const (
	noOption optionKind = iota
	priorityOption
	ttlOption
	deadlineOption
	correlationOption
	fromOption
	idOption
)

// Priority is how urgent a message is, from 0 to [MaxPriority]; [DefaultPriority]
// without it. An actor handles messages of a higher priority first, and those of
// one priority in the order in which they came. Messages that are already in the
// actor's rings are kept apart by 8 levels of 32 priorities each; those of a level
// are handled in the order in which they went there.
func Priority(p int) MessageOption { return MessageOption{kind: priorityOption, value: int64(p)} }

// TTL is how long a message is valid after it was sent. An actor does not handle
// messages that have expired: they are dead letters, and Ask returns [ErrExpired].
func TTL(d time.Duration) MessageOption { return MessageOption{kind: ttlOption, value: int64(d)} }

// Deadline is [TTL] with the time at which the message expires. A time that has
// passed is ErrExpired at once.
func Deadline(t time.Time) MessageOption {
	switch {
	case t.Year() > 2200:
		return MessageOption{kind: deadlineOption, value: math.MaxInt64}
	case t.Year() < 1970:
		return MessageOption{kind: deadlineOption}
	}
	return MessageOption{kind: deadlineOption, value: t.UnixNano()}
}

// Correlation is a number for the message that handlers, replies and dead letters
// have, too: for instance the ID of the message that caused it.
func Correlation(id uint64) MessageOption {
	return MessageOption{kind: correlationOption, value: int64(id)}
}

// Sender is an actor that a message can be from.
type Sender interface {
	Name() string
	sender() *core
}

// senderOf is the core of a sender, nil if nobody has made it.
func senderOf(s Sender) *core {
	if s == nil || reflect.ValueOf(s).Kind() == reflect.Pointer && reflect.ValueOf(s).IsNil() {
		return nil
	}
	return s.sender()
}

// From is who a message is from; without it that is the program.
func From(sender Sender) MessageOption { return MessageOption{kind: fromOption, from: sender} }

// ID sets *id to the number of the message, before it is sent: that of [Message.ID],
// [HostContext.ID] and [DeadLetter.ID], unique in the runtime. A message that is not
// accepted has taken its number with it. It is for one message: SendBatch refuses it, and
// after Publish *id is the number of the last.
func ID(id *uint64) MessageOption { return MessageOption{kind: idOption, id: id} }

func (a *Actor[In, Out]) sender() *core {
	if a == nil {
		return nil
	}
	return a.core
}

// envelope is what an actor learns of a message beside its body.
type envelope struct {
	correlation uint64
	deadline    int64  // by the runtime's clock, 0 for none
	sender      uint32 // number of the actor, 0 for the program
	priority    uint8
	id          uint64 // that its sender knows, 0 if it has asked for none
}

// address makes an envelope.
func (c *core) address(op string, opts []MessageOption) (envelope, error) {
	e := envelope{priority: DefaultPriority}
	for i := range opts {
		switch o := &opts[i]; o.kind {
		case priorityOption:
			if o.value < 0 || o.value > MaxPriority {
				return e, invalid("a priority of %d; it is 0 to %d", o.value, MaxPriority)
			}
			e.priority = uint8(o.value)
		case ttlOption:
			if o.value <= 0 {
				return e, invalid("a TTL of %v; it is more than 0", time.Duration(o.value))
			}
			e.deadline = c.rt.clock() + min(o.value, math.MaxInt64/2)
		case deadlineOption:
			left := o.value - time.Now().UnixNano()
			if left <= 0 {
				return e, c.about(op, ErrExpired)
			}
			e.deadline = c.rt.clock() + min(left, math.MaxInt64/2)
		case correlationOption:
			e.correlation = uint64(o.value)
		case fromOption:
			s := senderOf(o.from)
			if s == nil {
				return e, invalid("From without a sender")
			}
			if s.rt != c.rt {
				return e, invalid("a message from actor %s of another runtime", s.name)
			}
			e.sender = s.number
		case idOption:
			if o.id == nil {
				return e, invalid("ID without a place for the number")
			}
			e.id = c.id(idGiven, c.given.Add(1))
			*o.id = e.id
		default:
			return e, invalid("a MessageOption that no function of the package has made")
		}
	}
	return e, nil
}

// expired reports whether the deadline has passed.
func (e *envelope) expired(now int64) bool { return e.deadline != 0 && now >= e.deadline }

// word is the deadline as the rings have it.
func (e *envelope) word(now int64) uint32 {
	if e.deadline == 0 || e.deadline-now > mail.FarAhead {
		return 0
	}
	return max(1, uint32(e.deadline>>mail.DeadlineShift))
}

// deadlineOf is the deadline of a word in a ring, 0 if there is none.
func deadlineOf(word uint32, now int64) int64 {
	if word == 0 {
		return 0
	}
	ahead := int32(word - uint32(now>>mail.DeadlineShift))
	return (now>>mail.DeadlineShift + int64(ahead)) << mail.DeadlineShift
}

// An id is the number of the actor that the message is for, the number of the
// message in one of its rings or among those that never came to a ring, and which
// of these: they stay unique for 1<<42 messages of an actor.
const (
	idSourceBits = 4
	idTicketBits = 42
	idQueue      = 1<<idSourceBits - 1 // the source of those that came to no ring
	idGiven      = idQueue - 1         // the source of those whose senders have asked for the ID
)

// idOf is the ID of a message: the one that its sender knows, or where it is.
func (i *identity) idOf(e *envelope, source int, ticket uint64) uint64 {
	if e.id != 0 {
		return e.id
	}
	return i.id(source, ticket)
}

func (i *identity) id(source int, ticket uint64) uint64 {
	return uint64(i.number)<<(idSourceBits+idTicketBits) | ticket&(1<<idTicketBits-1)<<idSourceBits | uint64(source)
}
