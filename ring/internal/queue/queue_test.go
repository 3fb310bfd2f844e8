package queue

import (
	"slices"
	"testing"
	"unsafe"
)

func TestOrderAndReuse(t *testing.T) {
	q := Queue[int]{Bodies: BodiesOf[int]()}
	const n = 10_000
	for range 3 {
		for i := range n {
			q.Push(uint8(i%7), 0, unsafe.Pointer(&i)).Value = i
		}
		if low := q.Lowest(); low.Value != 0 {
			t.Fatalf("the oldest message of the lowest priority is %d, want 0", low.Value)
		}
		last := -1
		for i := range n {
			e := q.First()
			if body := *(*int)(q.Body(e)); body != e.Value {
				t.Fatalf("message %d is %d", e.Value, body)
			}
			if last >= 0 && (e.Value%7 > last%7 || e.Value%7 == last%7 && e.Value < last) {
				t.Fatalf("message %d after %d", e.Value, last)
			}
			last = e.Value
			q.Remove(e)
			if q.Len() != n-1-i || q.Used() != n-i {
				t.Fatalf("%d messages and %d entries, want %d and %d", q.Len(), q.Used(), n-1-i, n-i)
			}
			q.Release(e)
		}
		if q.First() != nil || len(q.chunks) > keptChunks {
			t.Fatalf("an empty queue has messages, or %d chunks", len(q.chunks))
		}
	}
}

func TestExpire(t *testing.T) {
	q := Queue[int]{Bodies: BodiesOf[int]()}
	for i := range 100 {
		q.Push(uint8(i), int64(i), unsafe.Pointer(&i)).Value = i
	}
	var gone []int
	expire := func(now int64) {
		q.Expire(now, func(e *Entry[int]) {
			gone = append(gone, e.Value)
			q.Remove(e)
			q.Release(e)
		})
	}
	expire(3)
	if !slices.Equal(gone, []int{1, 2, 3}) {
		t.Errorf("%v expired", gone)
	}
	expire(1000)
	if q.Len() != 1 || q.HasDeadlines() {
		t.Errorf("%d messages are left, want the one without a deadline", q.Len())
	}
}

func TestFIFO(t *testing.T) {
	var f FIFO[int]
	var u Untyped = &f
	in, out := 0, 0
	for range 1000 {
		for range 3 {
			u.Put(unsafe.Pointer(&in))
			in++
		}
		for range 2 {
			v := 0
			if u.Take(unsafe.Pointer(&v)); v != out {
				t.Fatalf("%d, want %d", v, out)
			}
			out++
		}
	}
	if all := f.All(); len(all) != in-out || all[0] != out {
		t.Errorf("%d values are left, want %d", len(all), in-out)
	}
}
