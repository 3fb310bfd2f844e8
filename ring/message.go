package ring

import (
	"math"
	"reflect"
	"time"

	"quern.dev/ring/internal/mail"
)

// Priorities of messages. Higher priorities come first.
const (
	DefaultPriority = 128
	MaxPriority     = 255
)

// Message is a reply with the metadata of the message that it answers.
type Message[T any] struct {
	ID          uint64 // of the message, unique in the runtime
	Correlation uint64 // set by the sender, or 0
	Priority    int
	Sender      string // name of the actor that sent the message, "" for the program and for an actor that ended long ago
	Body        T      // the reply
}

// MessageOption is an option of a message: see [Priority], [TTL], [Deadline],
// [Correlation], [From] and [ID]. If there are several of one kind, the last one
// counts.
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

// Priority sets the priority of a message, from 0 to [MaxPriority]. The default is
// [DefaultPriority]. An actor handles messages of a higher priority first, and
// messages of one priority in the order of their arrival. Messages that are already
// in the actor's rings are ordered only by 8 levels of 32 priorities each; messages
// of one level are handled in the order in which they entered the ring.
func Priority(p int) MessageOption { return MessageOption{kind: priorityOption, value: int64(p)} }

// TTL sets how long a message is valid after it was sent. An actor does not handle
// expired messages: they become dead letters, and Ask returns [ErrExpired].
func TTL(d time.Duration) MessageOption { return MessageOption{kind: ttlOption, value: int64(d)} }

// Deadline sets the time at which a message expires; see [TTL]. If the time has
// already passed, the error is ErrExpired at once.
func Deadline(t time.Time) MessageOption {
	switch {
	case t.Year() > 2200:
		return MessageOption{kind: deadlineOption, value: math.MaxInt64}
	case t.Year() < 1970:
		return MessageOption{kind: deadlineOption}
	}
	return MessageOption{kind: deadlineOption, value: t.UnixNano()}
}

// Correlation sets a number that handlers, replies and dead letters see, for example
// the ID of the message that caused this one.
func Correlation(id uint64) MessageOption {
	return MessageOption{kind: correlationOption, value: int64(id)}
}

// Sender is an actor that can be the sender of a message.
type Sender interface {
	Name() string
	sender() *core
}

// senderOf returns the core of a sender, or nil for nil and zero values.
func senderOf(s Sender) *core {
	if s == nil || reflect.ValueOf(s).Kind() == reflect.Pointer && reflect.ValueOf(s).IsNil() {
		return nil
	}
	return s.sender()
}

// From sets the sender of a message. The default is the program.
func From(sender Sender) MessageOption { return MessageOption{kind: fromOption, from: sender} }

// ID stores the ID of the message in *id before it is sent: the same number as
// [Message.ID], [HostContext.ID] and [DeadLetter.ID], unique in the runtime. A message
// that is not accepted uses up its number. ID is for a single message: SendBatch returns
// an error, and after Publish *id is the ID of the last one.
func ID(id *uint64) MessageOption { return MessageOption{kind: idOption, id: id} }

func (a *Actor[In, Out]) sender() *core {
	if a == nil {
		return nil
	}
	return a.core
}

// envelope is the metadata of a message.
type envelope struct {
	correlation uint64
	deadline    int64  // by the runtime's clock, 0 for none
	sender      uint32 // number of the actor, 0 for the program
	priority    uint8
	id          uint64 // that the sender has requested; 0 for none
}

// address makes the envelope of a message.
func (c *core) address(op string, opts []MessageOption) (envelope, error) {
	e := envelope{priority: DefaultPriority}
	for i := range opts {
		switch o := &opts[i]; o.kind {
		case priorityOption:
			if o.value < 0 || o.value > MaxPriority {
				return e, invalid("priority is %d; want 0 to %d", o.value, MaxPriority)
			}
			e.priority = uint8(o.value)
		case ttlOption:
			if o.value <= 0 {
				return e, invalid("TTL is %v; want more than 0", time.Duration(o.value))
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
				return e, invalid("From needs a sender")
			}
			if s.rt != c.rt {
				return e, invalid("the sender %s is an actor of another runtime", s.name)
			}
			e.sender = s.number
		case idOption:
			if o.id == nil {
				return e, invalid("ID needs a pointer that is not nil")
			}
			e.id = c.id(idGiven, c.given.Add(1))
			*o.id = e.id
		default:
			return e, invalid("zero MessageOption; use the functions of package ring that make one")
		}
	}
	return e, nil
}

// expired reports whether the deadline has passed.
func (e *envelope) expired(now int64) bool { return e.deadline != 0 && now >= e.deadline }

// word returns the deadline in the form of the rings.
func (e *envelope) word(now int64) uint32 {
	if e.deadline == 0 || e.deadline-now > mail.FarAhead {
		return 0
	}
	return max(1, uint32(e.deadline>>mail.DeadlineShift))
}

// deadlineOf returns the deadline of a word in a ring, 0 if there is none.
func deadlineOf(word uint32, now int64) int64 {
	if word == 0 {
		return 0
	}
	ahead := int32(word - uint32(now>>mail.DeadlineShift))
	return (now>>mail.DeadlineShift + int64(ahead)) << mail.DeadlineShift
}

// An ID consists of the number of the receiving actor, the number of the message in
// one of its rings or among the messages that never entered a ring, and the index of
// that ring. IDs are unique for the first 1<<42 messages of an actor.
const (
	idSourceBits = 4
	idTicketBits = 42
	idQueue      = 1<<idSourceBits - 1 // source of messages that entered no ring
	idGiven      = idQueue - 1         // source of messages whose senders requested the ID
)

// idOf returns the ID of a message: the one that its sender requested, or one from
// its position.
func (i *identity) idOf(e *envelope, source int, ticket uint64) uint64 {
	if e.id != 0 {
		return e.id
	}
	return i.id(source, ticket)
}

func (i *identity) id(source int, ticket uint64) uint64 {
	return uint64(i.number)<<(idSourceBits+idTicketBits) | ticket&(1<<idTicketBits-1)<<idSourceBits | uint64(source)
}
