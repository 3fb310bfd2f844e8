package ring

import (
	"runtime"
	"sync"
	"sync/atomic"
	"time"
	"unsafe"

	"quern.dev/ring/actor"
)

// What a slot of a mailbox is in use for: the lower bits of its state.
const (
	vacant  = iota // by nobody: the next ticket for it may be taken
	asked          // the reply goes to the caller of Ask that has the ticket
	sent           // the reply goes to Receive
	unheard        // nobody waits for the reply

	useBits = 2
	useMask = 1<<useBits - 1
)

// mailbox is the host's half of a mailbox; package actor describes the rings. It
// is safe for concurrent use. Tickets count in 64 bits, of which the rings know 32.
//
// The state of a slot is a ticket and what it is used for. A slot goes from
// (n, vacant) through (n, asked), (n, sent) or (n, unheard) to (n+slots, vacant):
// at any time one ticket owns it.
type mailbox struct {
	in, out         unsafe.Pointer // the rings
	inStep, outStep uintptr        // bytes from slot to slot
	inSize, outSize uintptr        // bytes of a message and of a reply
	mask            uint64
	shared          bool // Go code is on the other side too: every access is atomic

	state []atomic.Uint64 // by slot

	_    [64]byte
	tail atomic.Uint64 // the next ticket
	_    [64]byte

	receiving sync.Mutex    // one Receive at a time
	received  atomic.Uint64 // tickets below it are not for Receive any more
}

func newMailbox(in, out unsafe.Pointer, inStep, outStep, inSize, outSize uintptr, slots int) *mailbox {
	m := &mailbox{in: in, out: out, inStep: inStep, outStep: outStep, inSize: inSize, outSize: outSize, mask: uint64(slots - 1)}
	m.state = make([]atomic.Uint64, slots)
	for i := range m.state {
		m.state[i].Store(uint64(i) << useBits)
	}
	return m
}

func (m *mailbox) slot(ticket uint64) *atomic.Uint64 { return &m.state[ticket&m.mask] }

// claim takes the next ticket, if its slot is vacant.
func (m *mailbox) claim(use uint64) (ticket uint64, ok bool) {
	for {
		t := m.tail.Load()
		s := m.slot(t)
		switch v := s.Load(); {
		case v == t<<useBits:
			if m.tail.CompareAndSwap(t, t+1) {
				s.Store(t<<useBits | use)
				return t, true
			}
		case v>>useBits > t: // another has taken t
		case v&useMask == unheard && m.handled(v>>useBits):
			s.CompareAndSwap(v, t<<useBits)
		case v&useMask == sent && m.handled(v>>useBits) && !replies(m.outcome(v>>useBits)):
			s.CompareAndSwap(v, t<<useBits)
		default:
			if m.tail.Load() == t {
				return 0, false
			}
		}
	}
}

// free ends the use of a ticket's slot.
func (m *mailbox) free(ticket uint64) {
	m.slot(ticket).Store((ticket + m.mask + 1) << useBits)
}

// abandon leaves the reply to whoever needs the slot next.
func (m *mailbox) abandon(ticket uint64) {
	m.slot(ticket).Store(ticket<<useBits | unheard)
}

// tag is the upper half of the words of a ticket.
func tag(ticket uint64) uint64 { return uint64(uint32(ticket)+1) << 32 }

func (m *mailbox) inbox(ticket uint64) unsafe.Pointer {
	return unsafe.Add(m.in, uintptr(ticket&m.mask)*m.inStep)
}

func (m *mailbox) outbox(ticket uint64) unsafe.Pointer {
	return unsafe.Add(m.out, uintptr(ticket&m.mask)*m.outStep)
}

// put writes the message with a ticket.
func (m *mailbox) put(ticket uint64, msg unsafe.Pointer) {
	at, tag := m.inbox(ticket), tag(ticket)
	if m.shared {
		m.putShared(at, msg, tag)
		return
	}
	// A GPU sees aligned words of 64 bits as wholes, which is all that the rings
	// need; atomic stores would cost ten times as much.
	*(*uint64)(at) = tag
	n := m.inSize / 4
	for i := uintptr(0); i < n; i++ {
		at = unsafe.Add(at, 8)
		*(*uint64)(at) = tag | uint64(*(*uint32)(unsafe.Add(msg, 4*i)))
	}
	if m.inSize%4 != 0 {
		*(*uint64)(unsafe.Add(at, 8)) = tag | uint64(rest(msg, m.inSize))
	}
}

func (m *mailbox) putShared(at, msg unsafe.Pointer, tag uint64) {
	for i := uintptr(0); i < m.inSize; i += 4 {
		word := uint32(0)
		if i+4 <= m.inSize {
			word = *(*uint32)(unsafe.Add(msg, i))
		} else {
			word = rest(msg, m.inSize)
		}
		atomic.StoreUint64((*uint64)(unsafe.Add(at, 8*actor.InHeader+2*i)), tag|uint64(word))
	}
	atomic.StoreUint64((*uint64)(at), tag)
}

// rest returns the last bytes of size bytes at p, which are no whole word.
func rest(p unsafe.Pointer, size uintptr) uint32 {
	word := uint32(0)
	for i := size &^ 3; i < size; i++ {
		word |= uint32(*(*byte)(unsafe.Add(p, i))) << (8 * (i & 3))
	}
	return word
}

func load(p unsafe.Pointer) uint64 { return atomic.LoadUint64((*uint64)(p)) }

// handled reports whether all words of what became of a ticket have arrived.
func (m *mailbox) handled(ticket uint64) bool {
	at, want := m.outbox(ticket), uint32(ticket)+1
	end := actor.OutHeader + (m.outSize+3)/4
	for i := uintptr(0); i < end; i++ {
		if uint32(load(unsafe.Add(at, 8*i))>>32) != want {
			return false
		}
	}
	return true
}

// pending reports whether the last ticket is not handled.
func (m *mailbox) pending() bool {
	tail := m.tail.Load()
	return tail > 0 && m.slot(tail-1).Load()>>useBits == tail-1 && !m.handled(tail-1)
}

// outcome is what became of a ticket that is handled.
func (m *mailbox) outcome(ticket uint64) uint32 {
	return uint32(load(unsafe.Add(m.outbox(ticket), 8*actor.Outcome)))
}

// cycles is how long the handler took.
func (m *mailbox) cycles(ticket uint64) uint32 {
	return uint32(load(unsafe.Add(m.outbox(ticket), 8*actor.Cycles)))
}

// take copies the reply of a ticket that is handled.
func (m *mailbox) take(ticket uint64, reply unsafe.Pointer) {
	at := unsafe.Add(m.outbox(ticket), 8*actor.OutHeader)
	i := uintptr(0)
	for ; i+4 <= m.outSize; i += 4 {
		*(*uint32)(unsafe.Add(reply, i)) = uint32(load(at))
		at = unsafe.Add(at, 8)
	}
	if i == m.outSize {
		return
	}
	for word := uint32(load(at)); i < m.outSize; i++ {
		*(*byte)(unsafe.Add(reply, i)) = byte(word >> (8 * (i & 3)))
	}
}

// settle writes what became of a ticket in place of the device, which must not be
// at work on the mailbox.
func (m *mailbox) settle(ticket uint64, outcome uint32) {
	at := m.outbox(ticket)
	end := actor.OutHeader + (m.outSize+3)/4
	for i := uintptr(0); i < end; i++ {
		v := tag(ticket)
		if i == actor.Outcome {
			v |= uint64(outcome)
		}
		atomic.StoreUint64((*uint64)(unsafe.Add(at, 8*i)), v)
	}
}

// patience is how a wait goes from looking again at once, over letting other
// goroutines run, to sleeping.
type patience struct{ turns int }

// Turns of each kind: looking takes some tens of microseconds, yielding around a
// millisecond.
const (
	looking  = 4000
	yielding = 8000
)

// pause waits before the next look. It reports whether that is also the time to
// look at what is rare: cancelled contexts, actors that have failed.
func (p *patience) pause() bool {
	p.turns++
	switch {
	case p.turns < looking:
		return p.turns&255 == 0
	case p.turns < looking+yielding:
		runtime.Gosched()
		return p.turns&15 == 0
	default:
		time.Sleep(50 * time.Microsecond)
		return true
	}
}
