// Package freelist keeps pieces of memory that are free, by size, for whoever asks next
// for one of about the same size.
//
// A [List] finds the pieces of a class of sizes, those that were freed last or first, and
// the piece that has been free for the longest time of all. Pieces link themselves: an
// [Item] is a field of what it stands for, so adding and removing allocate nothing but
// what the list grows by. A [Queue] keeps items in order only, such as those in use. The
// types are not safe for concurrent use.
package freelist

import (
	"iter"
	"slices"
)

// Item is a piece of memory. It is in one List or Queue at a time.
type Item[T any] struct {
	Value T     // what the item is a field of
	Size  int64 // bytes
	Class int   // of sizes, from 0

	previous, next *Item[T]
}

// Queue keeps items in the order in which they were added. The zero value is empty.
type Queue[T any] struct{ first, last *Item[T] }

// Add adds an item at the end.
func (q *Queue[T]) Add(it *Item[T]) {
	it.previous, it.next = q.last, nil
	if q.last == nil {
		q.first = it
	} else {
		q.last.next = it
	}
	q.last = it
}

// Remove removes an item.
func (q *Queue[T]) Remove(it *Item[T]) {
	if it.previous == nil {
		q.first = it.next
	} else {
		it.previous.next = it.next
	}
	if it.next == nil {
		q.last = it.previous
	} else {
		it.next.previous = it.previous
	}
	it.previous, it.next = nil, nil
}

// All gives the items, the one that was added first at the beginning.
func (q *Queue[T]) All() iter.Seq[*Item[T]] {
	return func(yield func(*Item[T]) bool) {
		for it := q.first; it != nil; it = it.next {
			if !yield(it) {
				return
			}
		}
	}
}

// List keeps free items by class. The zero value is empty.
type List[T any] struct {
	order   Queue[T]
	classes [][]*Item[T]
	bytes   int64
}

// Add adds an item to its class.
func (l *List[T]) Add(it *Item[T]) {
	for it.Class >= len(l.classes) {
		l.classes = append(l.classes, nil)
	}
	l.classes[it.Class] = append(l.classes[it.Class], it)
	l.order.Add(it)
	l.bytes += it.Size
}

// Class returns the items of a class in the order in which they were added. It is valid
// until the list is changed.
func (l *List[T]) Class(class int) []*Item[T] {
	if class >= len(l.classes) {
		return nil
	}
	return l.classes[class]
}

// Take removes item i of a class.
func (l *List[T]) Take(class, i int) *Item[T] {
	it := l.classes[class][i]
	l.classes[class] = slices.Delete(l.classes[class], i, i+1)
	l.order.Remove(it)
	l.bytes -= it.Size
	return it
}

// Evict removes items of at least n bytes together, those that have been free for the
// longest time, or all.
func (l *List[T]) Evict(n int64) []T {
	var out []T
	for n > 0 && l.order.first != nil {
		it := l.order.first
		l.Take(it.Class, slices.Index(l.classes[it.Class], it))
		n -= it.Size
		out = append(out, it.Value)
	}
	return out
}

// Bytes returns the size of all items.
func (l *List[T]) Bytes() int64 { return l.bytes }

// All gives the items, the one that has been free for the longest time first.
func (l *List[T]) All() iter.Seq[*Item[T]] { return l.order.All() }
