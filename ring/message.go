package ring

import (
	"math"
	"reflect"
	"time"
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
func senderOf(s Sender) (c *core) {
	if s == nil || reflect.ValueOf(s).Kind() == reflect.Pointer && reflect.ValueOf(s).IsNil() {
		return nil
	}
	defer func() {
		if recover() != nil {
			c = nil // a type of the program, with an embedded Sender that is nil
		}
	}()
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
			e.id = c.rt.messages.newID()
			*o.id = e.id
		default:
			return e, invalid("zero MessageOption; use the functions of package ring that make one")
		}
	}
	return e, nil
}

// expired reports whether the deadline has passed.
func (e *envelope) expired(now int64) bool { return e.deadline != 0 && now >= e.deadline }

// The ID of a message in a ring consists of the number of a range, the number of the message
// in the range, and the index of the ring. Each actor has a range. When it has ended, another
// actor gets what is left of the range. The IDs of other messages, and those that senders
// request, are counted.
const (
	idSourceBits = 4
	idTicketBits = 42
	idCounted    = 1<<idSourceBits - 1 // source of IDs that are counted

	maxRanges = 1<<(64-idSourceBits-idTicketBits) - 1 // the range 0 is that of counted IDs
)

// idRange is a range of message IDs.
type idRange struct {
	number uint64 // from 1
	first  uint64 // number of the actor's first message
}

// newID returns an ID that is counted.
func (m *messages) newID() uint64 { return m.counted.Add(1)<<idSourceBits | idCounted }

// idOr returns the ID that the sender of a message has requested, or a new one.
func (m *messages) idOr(requested uint64) uint64 {
	if requested != 0 {
		return requested
	}
	return m.newID()
}

// newRange returns a range of IDs for an actor. It fails if there are too many actors.
func (m *messages) newRange() (r idRange, ok bool) {
	m.mu.Lock()
	defer m.mu.Unlock()
	if n := len(m.ranges); n > 0 {
		r = m.ranges[n-1]
		m.ranges = m.ranges[:n-1]
		return r, true
	}
	if m.ranged == maxRanges {
		return idRange{}, false
	}
	m.ranged++
	return idRange{number: m.ranged}, true
}

// returnRange returns the range of an actor that has ended, after it has had n messages in
// each ring at most.
func (m *messages) returnRange(r idRange, n uint64) {
	m.mu.Lock()
	defer m.mu.Unlock()
	if r.first += n; r.first < 1<<(idTicketBits-1) { // half of the range is more than an actor uses
		m.ranges = append(m.ranges, r)
	}
}

// mostTickets returns the number of messages in the ring that has had the most.
func (d *delivery) mostTickets() (n uint64) {
	for _, m := range d.mailboxes {
		n = max(n, m.accepted())
	}
	return n
}

// idOf returns the ID of a ticket: the one that the sender of the message has requested, or
// one from its position.
func (m *mailbox) idOf(ticket, requested uint64) uint64 {
	if requested != 0 {
		return requested
	}
	r := &m.owner.ids
	n := r.first + ticket - m.first
	return r.number<<(idSourceBits+idTicketBits) | n&(1<<idTicketBits-1)<<idSourceBits | uint64(m.source)
}
