package ring

import (
	"math"
	"math/bits"
	"sync"
	"sync/atomic"
	"unsafe"
)

// queue keeps the messages of an actor that its rings have no room for, and all of
// an actor that does not run: those of a higher priority before others, and those
// of one priority in the order in which they came. mu is held by whoever calls its
// methods.
type queue struct {
	mu     sync.Mutex
	length atomic.Int64 // messages; read without mu, too
	// removed counts messages that have left the queue, but not for a ring.
	removed uint64

	pushed uint64 // messages

	types    types
	chunks   [][]entry
	free     int32 // the first entry that is in use by nobody, -1 if there is none
	used     int   // entries, with those whose callers of Ask have not looked yet
	lists    *[MaxPriority + 1]list
	occupied [(MaxPriority + 1) / 64]uint64 // a bit for each list with messages
	earliest int64                          // no deadline is before it; 0 if there is none
}

// list is the messages of a priority.
type list struct{ first, last int32 }

// entry is a message in the queue, or one that has left it and whose caller of Ask
// does not know yet.
type entry struct {
	envelope
	use        uint8
	index      int32
	came       int64 // by the runtime's clock; 0 if it is not measured how long the message waits
	next, prev int32 // in the list; next in the list of free ones, too
	place      atomic.Uint64
	ring       *mailbox // that it is in, once it is placed
}

// Places of the message of an entry: in the queue, gone for a reason, or in a ring
// with a ticket.
const (
	queued = iota
	gone   // one more for each Reason
	placed = gone + uint64(reasons)
)

// Chunks have 1<<chunkBits entries. What is kept of chunks when the queue becomes
// empty is keptChunks.
const (
	chunkBits  = 6
	chunkSize  = 1 << chunkBits
	keptChunks = 64
)

func (q *queue) at(i int32) *entry { return &q.chunks[i>>chunkBits][i&(chunkSize-1)] }

// push adds a message.
func (q *queue) push(e *envelope, use uint8, msg unsafe.Pointer) *entry {
	if q.lists == nil {
		q.lists = new([MaxPriority + 1]list)
		q.free = -1
	}
	if q.free < 0 {
		q.grow()
	}
	n := q.at(q.free)
	q.free = n.next
	q.used++
	n.envelope, n.use, n.next, n.prev = *e, use, -1, -1
	n.place.Store(queued)
	q.types.set(int(n.index), msg)
	l := &q.lists[e.priority]
	if bit := uint64(1) << (e.priority & 63); q.occupied[e.priority>>6]&bit == 0 {
		q.occupied[e.priority>>6] |= bit
		l.first = n.index
	} else {
		n.prev = l.last
		q.at(l.last).next = n.index
	}
	l.last = n.index
	if e.deadline != 0 && (q.earliest == 0 || e.deadline < q.earliest) {
		q.earliest = e.deadline
	}
	q.length.Add(1)
	return n
}

func (q *queue) grow() {
	from := int32(len(q.chunks) << chunkBits)
	chunk := make([]entry, chunkSize)
	for i := range chunk {
		chunk[i].index, chunk[i].next = from+int32(i), from+int32(i)+1
	}
	chunk[chunkSize-1].next = q.free
	q.free = from
	q.chunks = append(q.chunks, chunk)
	q.types.grow()
}

// next is the message that comes first, or nil.
func (q *queue) next() *entry {
	for w := len(q.occupied) - 1; w >= 0; w-- {
		if set := q.occupied[w]; set != 0 {
			return q.at(q.lists[w<<6+bits.Len64(set)-1].first)
		}
	}
	return nil
}

// least is the oldest message of the lowest priority, or nil.
func (q *queue) least() *entry {
	for w, set := range q.occupied {
		if set != 0 {
			return q.at(q.lists[w<<6+bits.TrailingZeros64(set)].first)
		}
	}
	return nil
}

// take takes a message out of its list. Its entry stays in use.
func (q *queue) take(n *entry) {
	l := &q.lists[n.priority]
	switch {
	case n.prev >= 0:
		q.at(n.prev).next = n.next
	case n.next >= 0:
		l.first = n.next
	default:
		q.occupied[n.priority>>6] &^= 1 << (n.priority & 63)
	}
	switch {
	case n.next >= 0:
		q.at(n.next).prev = n.prev
	case n.prev >= 0:
		l.last = n.prev
	}
}

// leave is take, after which the message is in a place. The caller of Ask, or if
// there is none the queue, ends the use of the entry.
func (q *queue) leave(n *entry, place uint64) {
	q.take(n)
	q.types.clear(int(n.index))
	if place < placed {
		q.removed++
	}
	q.length.Add(-1)
	if n.use == asked {
		n.place.Store(place)
		return
	}
	q.release(n)
}

// release ends the use of an entry that has left.
func (q *queue) release(n *entry) {
	n.next = q.free
	q.free = n.index
	if q.used--; q.used == 0 && len(q.chunks) > keptChunks {
		q.chunks, q.free = nil, -1
		q.types.drop()
	}
}

// overdue calls f with each message that has expired.
func (q *queue) overdue(now int64, f func(*entry)) {
	if q.earliest == 0 || now < q.earliest {
		return
	}
	earliest := int64(math.MaxInt64)
	for w, set := range q.occupied {
		for ; set != 0; set &= set - 1 {
			for i := q.lists[w<<6+bits.TrailingZeros64(set)].first; i >= 0; {
				n := q.at(i)
				i = n.next
				switch {
				case n.expired(now):
					f(n)
				case n.deadline != 0:
					earliest = min(earliest, n.deadline)
				}
			}
		}
	}
	if q.earliest = earliest; earliest == math.MaxInt64 {
		q.earliest = 0
	}
}

// fifo is values in the order in which they came.
type fifo[T any] struct {
	items []T
	first int
}

func (f *fifo[T]) len() int { return len(f.items) - f.first }

func (f *fifo[T]) push(v T) { f.items = append(f.items, v) }

func (f *fifo[T]) pop() T {
	v := f.items[f.first]
	f.items[f.first] = *new(T)
	f.first++
	switch {
	case f.first == len(f.items):
		f.items, f.first = f.items[:0], 0
	case f.first >= chunkSize && f.first > len(f.items)/2:
		n := copy(f.items, f.items[f.first:])
		clear(f.items[n:])
		f.items, f.first = f.items[:n], 0
	}
	return v
}

// bodyFIFO is a fifo of values of a type that who uses it does not know.
type bodyFIFO interface {
	put(body unsafe.Pointer)
	take(body unsafe.Pointer)
}

// The pointers are to values of the queue's own types; see escape.go.
func (f *fifo[T]) put(body unsafe.Pointer)  { f.push(*(*T)(body)) }
func (f *fifo[T]) take(body unsafe.Pointer) { *(*T)(body) = f.pop() }

// types is what a core knows of the types of its messages, and their bodies in the
// queue.
type types interface {
	set(i int, msg unsafe.Pointer) // keeps a message
	at(i int) unsafe.Pointer       // the message
	clear(i int)                   // forgets it
	grow()                         // makes room for a chunk more
	drop()                         // gives all room back

	blank() unsafe.Pointer        // a message to write to
	value(msg unsafe.Pointer) any // a copy of a message
}

// bodies is the types of an actor that takes messages of type In.
type bodies[In any] struct{ chunks [][]In }

func (b *bodies[In]) of(i int) *In { return &b.chunks[i>>chunkBits][i&(chunkSize-1)] }

// The pointers are to values of type In; see escape.go.
func (b *bodies[In]) set(i int, msg unsafe.Pointer) { *b.of(i) = *(*In)(msg) }
func (b *bodies[In]) at(i int) unsafe.Pointer       { return unsafe.Pointer(b.of(i)) }
func (b *bodies[In]) clear(i int)                   { *b.of(i) = *new(In) }
func (b *bodies[In]) grow()                         { b.chunks = append(b.chunks, make([]In, chunkSize)) }
func (b *bodies[In]) drop()                         { b.chunks = nil }
func (b *bodies[In]) blank() unsafe.Pointer         { return unsafe.Pointer(new(In)) }
func (b *bodies[In]) value(msg unsafe.Pointer) any  { return *(*In)(msg) }
