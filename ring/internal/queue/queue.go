// Package queue implements the queues of an actor: a priority queue of messages, and FIFO
// queues of replies. Their user does not know the types of the values. It passes unsafe
// pointers, which must point to values of the queue's own type. The queue copies values by
// assignment and does not keep the pointers.
package queue

import (
	"math"
	"math/bits"
	"sync/atomic"
	"unsafe"
)

// MaxPriority is the highest priority.
const MaxPriority = 255

// Queue orders messages by priority, highest first, and messages of one priority by
// arrival. The user must serialize all calls except Len.
type Queue[V any] struct {
	Bodies Bodies // set before the first use

	length atomic.Int64 // messages

	chunks   [][]Entry[V]
	free     int32 // first free entry, -1 if there is none
	used     int   // entries that are not released
	lists    *[MaxPriority + 1]list
	occupied [(MaxPriority + 1) / 64]uint64 // one bit per list with messages
	earliest int64                          // no deadline is earlier; 0 if there is none
}

// list contains the messages of one priority.
type list struct{ first, last int32 }

// Entry is a message in the queue, or one that was removed and not released.
type Entry[V any] struct {
	Value V // belongs to the user; kept when the entry is reused

	priority   uint8
	deadline   int64 // 0 for none
	index      int32
	next, prev int32 // in the list; next also links free entries
}

// Chunks have 1<<chunkBits entries. An empty queue keeps at most keptChunks of them.
const (
	chunkBits  = 6
	chunkSize  = 1 << chunkBits
	keptChunks = 64
)

// Len returns the number of messages.
func (q *Queue[V]) Len() int { return int(q.length.Load()) }

// Used returns the number of entries that are not released.
func (q *Queue[V]) Used() int { return q.used }

// Body returns the message of an entry that has not been removed.
func (q *Queue[V]) Body(n *Entry[V]) unsafe.Pointer { return q.Bodies.at(int(n.index)) }

func (q *Queue[V]) at(i int32) *Entry[V] { return &q.chunks[i>>chunkBits][i&(chunkSize-1)] }

// Push adds a message. A deadline of 0 means none.
func (q *Queue[V]) Push(priority uint8, deadline int64, msg unsafe.Pointer) *Entry[V] {
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
	n.priority, n.deadline, n.next, n.prev = priority, deadline, -1, -1
	q.Bodies.set(int(n.index), msg)
	l := &q.lists[priority]
	if bit := uint64(1) << (priority & 63); q.occupied[priority>>6]&bit == 0 {
		q.occupied[priority>>6] |= bit
		l.first = n.index
	} else {
		n.prev = l.last
		q.at(l.last).next = n.index
	}
	l.last = n.index
	if deadline != 0 && (q.earliest == 0 || deadline < q.earliest) {
		q.earliest = deadline
	}
	q.length.Add(1)
	return n
}

func (q *Queue[V]) grow() {
	from := int32(len(q.chunks) << chunkBits)
	chunk := make([]Entry[V], chunkSize)
	for i := range chunk {
		chunk[i].index, chunk[i].next = from+int32(i), from+int32(i)+1
	}
	chunk[chunkSize-1].next = q.free
	q.free = from
	q.chunks = append(q.chunks, chunk)
	q.Bodies.grow()
}

// First returns the first message, or nil.
func (q *Queue[V]) First() *Entry[V] {
	for w := len(q.occupied) - 1; w >= 0; w-- {
		if set := q.occupied[w]; set != 0 {
			return q.at(q.lists[w<<6+bits.Len64(set)-1].first)
		}
	}
	return nil
}

// Lowest returns the oldest message of the lowest priority, or nil.
func (q *Queue[V]) Lowest() *Entry[V] {
	for w, set := range q.occupied {
		if set != 0 {
			return q.at(q.lists[w<<6+bits.TrailingZeros64(set)].first)
		}
	}
	return nil
}

// Remove removes a message. Its entry stays in use until Release.
func (q *Queue[V]) Remove(n *Entry[V]) {
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
	q.Bodies.clear(int(n.index))
	q.length.Add(-1)
}

// Release ends the use of a removed entry.
func (q *Queue[V]) Release(n *Entry[V]) {
	n.next = q.free
	q.free = n.index
	if q.used--; q.used == 0 && len(q.chunks) > keptChunks {
		q.chunks, q.free = nil, -1
		q.Bodies.drop()
	}
}

// HasDeadlines reports whether any message may have a deadline.
func (q *Queue[V]) HasDeadlines() bool { return q.earliest != 0 }

// Expired reports whether the deadline of a message has passed.
func (n *Entry[V]) Expired(now int64) bool { return n.deadline != 0 && now >= n.deadline }

// Expire calls f for each message whose deadline has passed. f must remove it.
func (q *Queue[V]) Expire(now int64, f func(*Entry[V])) {
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
				case n.Expired(now):
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

// FIFO is a queue of values in order of arrival.
type FIFO[T any] struct {
	items []T
	first int
}

// All returns the values, oldest first. The slice is valid until the next change.
func (f *FIFO[T]) All() []T { return f.items[f.first:] }

// Grow adds a zero value and returns a pointer to it, which is valid until the next change.
func (f *FIFO[T]) Grow() *T {
	n := len(f.items)
	if n < cap(f.items) {
		f.items = f.items[:n+1] // already zeroed by Drop
	} else {
		f.items = append(f.items, *new(T))
	}
	return &f.items[n]
}

// Front returns a pointer to the oldest value, which is valid until the next change.
func (f *FIFO[T]) Front() *T { return &f.items[f.first] }

// Drop removes the oldest value.
func (f *FIFO[T]) Drop() {
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
}

// Untyped is a FIFO whose type the user does not know.
type Untyped interface {
	Put(body unsafe.Pointer)
	Take(body unsafe.Pointer)
}

// Put adds a copy of a value of type T.
func (f *FIFO[T]) Put(body unsafe.Pointer) { *f.Grow() = *(*T)(body) }

// Take moves the oldest value to a variable of type T.
func (f *FIFO[T]) Take(body unsafe.Pointer) {
	*(*T)(body) = *f.Front()
	f.Drop()
}

// Bodies stores the messages of a Queue.
type Bodies interface {
	Blank() unsafe.Pointer        // returns a new zero message
	Value(msg unsafe.Pointer) any // returns a copy of a message

	set(i int, msg unsafe.Pointer)
	at(i int) unsafe.Pointer
	clear(i int)
	grow() // makes room for one more chunk
	drop() // frees all chunks
}

// BodiesOf returns the bodies of messages of type In.
func BodiesOf[In any]() Bodies { return &bodies[In]{} }

type bodies[In any] struct{ chunks [][]In }

func (b *bodies[In]) of(i int) *In { return &b.chunks[i>>chunkBits][i&(chunkSize-1)] }

func (b *bodies[In]) set(i int, msg unsafe.Pointer) { *b.of(i) = *(*In)(msg) }
func (b *bodies[In]) at(i int) unsafe.Pointer       { return unsafe.Pointer(b.of(i)) }
func (b *bodies[In]) clear(i int)                   { *b.of(i) = *new(In) }
func (b *bodies[In]) grow()                         { b.chunks = append(b.chunks, make([]In, chunkSize)) }
func (b *bodies[In]) drop()                         { b.chunks = nil }
func (b *bodies[In]) Blank() unsafe.Pointer         { return unsafe.Pointer(new(In)) }
func (b *bodies[In]) Value(msg unsafe.Pointer) any  { return *(*In)(msg) }
