// Package rings reads and writes the host's end of the rings that package mail describes:
// an inbox of messages and an outbox of replies. It does not know who uses a slot.
//
// Messages and replies are plain data behind unsafe pointers. Each pointer that a caller
// passes points to a value of the size of the ring, and each slot has the words that this
// size requires.
package rings

import (
	"sync/atomic"
	"unsafe"

	"quern.dev/ring/internal/mail"
)

// Inbox is a ring of messages. The memory at At must stay reachable.
type Inbox struct {
	At     unsafe.Pointer // of the first slot, at a multiple of 8 bytes
	Step   uintptr        // bytes from slot to slot
	Size   uintptr        // bytes of a message
	Mask   uint64         // number of slots minus 1
	Shared bool           // the reader is Go code: every access is atomic
}

// Outbox is a ring of replies.
type Outbox struct {
	At   unsafe.Pointer
	Step uintptr
	Size uintptr // bytes of a reply
	Mask uint64
}

// Header is the metadata of a message.
type Header struct {
	Correlation uint64
	Deadline    uint32 // see loop.Shape.Clock; 0 for none
	Sender      uint32 // number of the actor, 0 for the program
	Priority    uint8
}

// tag returns the upper half of the words of a ticket.
func tag(ticket uint64) uint64 { return uint64(uint32(ticket)+1) << 32 }

func (r *Inbox) slot(ticket uint64) unsafe.Pointer {
	return unsafe.Add(r.At, uintptr(ticket&r.Mask)*r.Step)
}

func (r *Outbox) slot(ticket uint64) unsafe.Pointer {
	return unsafe.Add(r.At, uintptr(ticket&r.Mask)*r.Step)
}

// Body returns the first word of the message in the slot of a ticket.
func (r *Inbox) Body(ticket uint64) unsafe.Pointer {
	return unsafe.Add(r.slot(ticket), 8*mail.InHeader)
}

// Put writes the message with a ticket.
func (r *Inbox) Put(ticket uint64, h *Header, msg unsafe.Pointer) {
	at, tag := r.slot(ticket), tag(ticket)
	urgency := tag | uint64(h.Sender<<mail.PriorityBits|uint32(h.Priority))
	deadline, low, high := tag|uint64(h.Deadline), tag|uint64(uint32(h.Correlation)), tag|h.Correlation>>32
	if r.Shared {
		r.putShared(at, msg, tag)
		store(at, mail.CorrelationHigh, high)
		store(at, mail.CorrelationLow, low)
		store(at, mail.Deadline, deadline)
		store(at, mail.Urgency, urgency)
		return
	}
	// A GPU reads aligned 64-bit words as a whole, and the rings need no more. Atomic
	// stores would cost ten times as much.
	head := (*[mail.InHeader]uint64)(at)
	head[mail.Urgency] = urgency
	head[mail.Deadline] = deadline
	head[mail.CorrelationLow] = low
	head[mail.CorrelationHigh] = high
	r.putWords(unsafe.Add(at, 8*mail.InHeader), msg, tag)
}

// SetDeadline replaces the deadline of the message with a ticket.
func (r *Inbox) SetDeadline(ticket uint64, deadline uint32) {
	store(r.slot(ticket), mail.Deadline, tag(ticket)|uint64(deadline))
}

// Arrived reports whether all words of the message with a ticket have arrived.
func (r *Inbox) Arrived(ticket uint64) bool {
	return whole(r.slot(ticket), mail.InHeader+(r.Size+3)/4, ticket)
}

// Header returns the header of the message in the slot of a ticket.
func (r *Inbox) Header(ticket uint64) Header {
	at := r.slot(ticket)
	urgency := uint32(load(at, mail.Urgency))
	low, high := uint32(load(at, mail.CorrelationLow)), uint32(load(at, mail.CorrelationHigh))
	return Header{Priority: uint8(urgency), Sender: urgency >> mail.PriorityBits, Correlation: uint64(high)<<32 | uint64(low), Deadline: uint32(load(at, mail.Deadline))}
}

// Message copies the message in the slot of a ticket.
func (r *Inbox) Message(ticket uint64, msg unsafe.Pointer) {
	at := r.Body(ticket)
	n := r.Size / 4
	for i := range n {
		*(*uint32)(unsafe.Add(msg, 4*i)) = uint32(load(at, i))
	}
	if r.Size%4 != 0 {
		putRest(msg, r.Size, uint32(load(at, n)))
	}
}

// Handled reports whether all words of the reply to a ticket have arrived.
func (r *Outbox) Handled(ticket uint64) bool {
	return whole(r.slot(ticket), mail.OutHeader+(r.Size+3)/4, ticket)
}

// Outcome returns the outcome of a ticket, if its word has arrived.
func (r *Outbox) Outcome(ticket uint64) (uint32, bool) {
	v := load(r.slot(ticket), mail.Outcome)
	return uint32(v), uint32(v>>32) == uint32(ticket)+1
}

// Result is the header of a reply.
type Result struct{ Outcome, Cycles, Waited uint32 }

// Take copies the reply to a ticket, and reports whether all of it has arrived.
func (r *Outbox) Take(ticket uint64, reply unsafe.Pointer) (_ Result, ok bool) {
	at, want := r.slot(ticket), tag(ticket)
	head := load(at, mail.Outcome)
	if head&^(1<<32-1) != want {
		return Result{}, false
	}
	cycles, waited := load(at, mail.Cycles), load(at, mail.Waited)
	wrong := (cycles ^ want) | (waited ^ want)
	result := Result{Outcome: uint32(head), Cycles: uint32(cycles), Waited: uint32(waited)}
	at = unsafe.Add(at, 8*mail.OutHeader)
	n := r.Size / 4
	i := uintptr(0)
	for ; i+4 <= n; i += 4 {
		w := (*[4]uint64)(unsafe.Add(at, 8*i))
		a, b, c, d := atomic.LoadUint64(&w[0]), atomic.LoadUint64(&w[1]), atomic.LoadUint64(&w[2]), atomic.LoadUint64(&w[3])
		wrong |= (a ^ want) | (b ^ want) | (c ^ want) | (d ^ want)
		*(*[4]uint32)(unsafe.Add(reply, 4*i)) = [4]uint32{uint32(a), uint32(b), uint32(c), uint32(d)}
	}
	for ; i < n; i++ {
		v := load(at, i)
		wrong |= v ^ want
		*(*uint32)(unsafe.Add(reply, 4*i)) = uint32(v)
	}
	if r.Size%4 != 0 {
		v := load(at, n)
		wrong |= v ^ want
		putRest(reply, r.Size, uint32(v))
	}
	if wrong>>32 != 0 {
		return Result{}, false
	}
	return result, true
}

// Settle writes an outcome without a reply, instead of the device. The device must not
// be using the ring.
func (r *Outbox) Settle(ticket uint64, outcome uint32) {
	at := r.slot(ticket)
	end := mail.OutHeader + (r.Size+3)/4
	for i := range end {
		v := tag(ticket)
		if i == mail.Outcome {
			v |= uint64(outcome)
		}
		store(at, i, v)
	}
}

// Answer writes an outcome and the cycles that the handler took, without a reply.
func (r *Outbox) Answer(ticket uint64, outcome, cycles uint32) {
	at, tag := r.slot(ticket), tag(ticket)
	for i := uintptr(mail.Outcome + 1); i < mail.OutHeader; i++ {
		store(at, i, tag)
	}
	store(at, mail.Cycles, tag|uint64(cycles))
	store(at, mail.Outcome, tag|uint64(outcome))
}

// putWords copies a message of Size bytes of plain data into a slot. It writes only the
// words that the message fills.
func (r *Inbox) putWords(at, msg unsafe.Pointer, tag uint64) {
	n := r.Size / 4
	words, data := unsafe.Slice((*uint64)(at), n), unsafe.Slice((*uint32)(msg), n)
	for len(data) >= 8 && len(words) >= 8 {
		w, d := (*[8]uint64)(words), (*[8]uint32)(data)
		w[0], w[1], w[2], w[3] = tag|uint64(d[0]), tag|uint64(d[1]), tag|uint64(d[2]), tag|uint64(d[3])
		w[4], w[5], w[6], w[7] = tag|uint64(d[4]), tag|uint64(d[5]), tag|uint64(d[6]), tag|uint64(d[7])
		words, data = words[8:], data[8:]
	}
	for i := range data {
		words[i] = tag | uint64(data[i])
	}
	if r.Size%4 != 0 {
		*(*uint64)(unsafe.Add(at, 8*n)) = tag | uint64(rest(msg, r.Size))
	}
}

// putShared is putWords with atomic stores.
func (r *Inbox) putShared(at, msg unsafe.Pointer, tag uint64) {
	n := r.Size / 4
	for i := range n {
		store(at, mail.InHeader+i, tag|uint64(*(*uint32)(unsafe.Add(msg, 4*i))))
	}
	if r.Size%4 != 0 {
		store(at, mail.InHeader+n, tag|uint64(rest(msg, r.Size)))
	}
}

// rest returns the last bytes of size bytes at p that do not fill a word.
func rest(p unsafe.Pointer, size uintptr) uint32 {
	word := uint32(0)
	for i := size &^ 3; i < size; i++ {
		word |= uint32(*(*byte)(unsafe.Add(p, i))) << (8 * (i & 3))
	}
	return word
}

// putRest is the inverse of rest.
func putRest(p unsafe.Pointer, size uintptr, word uint32) {
	for i := size &^ 3; i < size; i++ {
		*(*byte)(unsafe.Add(p, i)) = byte(word >> (8 * (i & 3)))
	}
}

// whole reports whether all words have the tag of a ticket.
func whole(at unsafe.Pointer, words uintptr, ticket uint64) bool {
	want := uint32(ticket) + 1
	for i := range words {
		if uint32(load(at, i)>>32) != want {
			return false
		}
	}
	return true
}

// load reads a word of a slot, and store writes one. Slots begin at multiples of 8
// bytes and have as many words as the sizes of the caller require.
func load(p unsafe.Pointer, word uintptr) uint64 {
	return atomic.LoadUint64((*uint64)(unsafe.Add(p, 8*word)))
}

func store(p unsafe.Pointer, word uintptr, v uint64) {
	atomic.StoreUint64((*uint64)(unsafe.Add(p, 8*word)), v)
}
