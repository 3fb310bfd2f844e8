// Package addrs finds the owner of a range of addresses.
package addrs

import (
	"cmp"
	"slices"
	"sync"
	"unsafe"
)

// Table is a set of address ranges that do not overlap, each with an owner. The zero
// value is empty. It is safe for concurrent use.
type Table[T any] struct {
	mu     sync.RWMutex
	ranges []addressRange[T] // by lo
}

type addressRange[T any] struct {
	lo, hi uintptr // hi is the end, exclusive
	owner  *T      // nil until SetOwner
}

// search returns the index of the first range that ends after p.
func (t *Table[T]) search(p uintptr) int {
	i, _ := slices.BinarySearchFunc(t.ranges, p, func(r addressRange[T], p uintptr) int { return cmp.Compare(r.hi, p+1) })
	return i
}

// Reserve adds a range without an owner. It reports false if the range overlaps another.
func (t *Table[T]) Reserve(at unsafe.Pointer, size int64) bool {
	t.mu.Lock()
	defer t.mu.Unlock()
	lo := uintptr(at)
	hi := lo + uintptr(size)
	i := t.search(lo)
	if i < len(t.ranges) && t.ranges[i].lo < hi {
		return false
	}
	t.ranges = slices.Insert(t.ranges, i, addressRange[T]{lo: lo, hi: hi})
	return true
}

// SetOwner sets the owner of the range that begins at an address.
func (t *Table[T]) SetOwner(at unsafe.Pointer, owner *T) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.ranges[t.search(uintptr(at))].owner = owner
}

// Remove removes the range that begins at an address.
func (t *Table[T]) Remove(at unsafe.Pointer) {
	t.mu.Lock()
	defer t.mu.Unlock()
	i := t.search(uintptr(at))
	t.ranges = slices.Delete(t.ranges, i, i+1)
}

// Find returns the owner of the range that contains size bytes at an address, if use
// accepts it. Otherwise it returns nil. use is called with the table locked.
func (t *Table[T]) Find(at unsafe.Pointer, size int64, use func(*T) bool) *T {
	t.mu.RLock()
	defer t.mu.RUnlock()
	lo := uintptr(at)
	i := t.search(lo)
	if i == len(t.ranges) || t.ranges[i].lo > lo || t.ranges[i].hi < lo+uintptr(size) {
		return nil
	}
	if o := t.ranges[i].owner; o != nil && use(o) {
		return o
	}
	return nil
}
