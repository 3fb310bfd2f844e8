package gpu

import (
	"cmp"
	"slices"
	"sync"
	"unsafe"
)

// hostRanges is where the process has page-locked memory.
var hostRanges rangeTable

// rangeTable is a set of ranges of addresses that do not overlap.
type rangeTable struct {
	mu     sync.RWMutex
	ranges []hostRange // by lo
}

type hostRange struct {
	lo, hi uintptr // hi is behind the last byte
	mem    *memory // nil while it is made
}

// search returns the index of the first range that ends behind an address.
func (t *rangeTable) search(p uintptr) int {
	i, _ := slices.BinarySearchFunc(t.ranges, p, func(r hostRange, p uintptr) int { return cmp.Compare(r.hi, p+1) })
	return i
}

// reserve adds a range, or says that it overlaps another.
func (t *rangeTable) reserve(at unsafe.Pointer, size int64) error {
	t.mu.Lock()
	defer t.mu.Unlock()
	lo := uintptr(at)
	hi := lo + uintptr(size)
	i := t.search(lo)
	if i < len(t.ranges) && t.ranges[i].lo < hi {
		return invalid("part of the memory belongs to another host buffer")
	}
	t.ranges = slices.Insert(t.ranges, i, hostRange{lo: lo, hi: hi})
	return nil
}

// own says whose a range is that was reserved.
func (t *rangeTable) own(at unsafe.Pointer, m *memory) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.ranges[t.search(uintptr(at))].mem = m
}

// remove removes the range that begins at an address.
func (t *rangeTable) remove(at unsafe.Pointer) {
	t.mu.Lock()
	defer t.mu.Unlock()
	i := t.search(uintptr(at))
	t.ranges = slices.Delete(t.ranges, i, i+1)
}

// find returns the memory that holds a range, acquired, or nil.
func (t *rangeTable) find(at unsafe.Pointer, size int64) *memory {
	t.mu.RLock()
	defer t.mu.RUnlock()
	lo := uintptr(at)
	i := t.search(lo)
	if i == len(t.ranges) || t.ranges[i].lo > lo || t.ranges[i].hi < lo+uintptr(size) {
		return nil
	}
	if m := t.ranges[i].mem; m != nil && m.lease.Acquire() {
		return m
	}
	return nil
}
