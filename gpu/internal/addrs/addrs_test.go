package addrs

import (
	"testing"
	"unsafe"
)

// data does not move, unlike a variable on a stack.
var data [100]byte

func TestRangesHaveOneOwner(t *testing.T) {
	var table Table[int]
	at := func(i int) unsafe.Pointer { return unsafe.Pointer(&data[i]) }
	yes, one, two := func(*int) bool { return true }, 1, 2
	for _, r := range []struct {
		from int
		size int64
		want bool
	}{{10, 10, true}, {20, 10, true}, {19, 1, false}, {5, 6, false}, {0, 100, false}, {0, 10, true}} {
		if got := table.Reserve(at(r.from), r.size); got != r.want {
			t.Errorf("reserve %d bytes at %d: %v", r.size, r.from, got)
		}
	}
	if table.Find(at(10), 1, yes) != nil {
		t.Error("a range without an owner is found")
	}
	table.SetOwner(at(10), &one)
	table.SetOwner(at(20), &two)
	for _, r := range []struct {
		from int
		size int64
		want *int
	}{{10, 10, &one}, {19, 1, &one}, {20, 10, &two}, {15, 10, nil}, {29, 1, &two}, {30, 1, nil}, {9, 1, nil}} {
		if got := table.Find(at(r.from), r.size, yes); got != r.want {
			t.Errorf("find %d bytes at %d: %v", r.size, r.from, got)
		}
	}
	if table.Find(at(10), 1, func(*int) bool { return false }) != nil {
		t.Error("an owner that is not accepted is found")
	}
	table.Remove(at(10))
	if table.Find(at(10), 1, yes) != nil || table.Find(at(20), 1, yes) != &two {
		t.Error("the wrong range was removed")
	}
}
