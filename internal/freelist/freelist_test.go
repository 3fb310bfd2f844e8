package freelist

import (
	"slices"
	"testing"
)

func values(l *List[string]) []string {
	var out []string
	for it := range l.All() {
		out = append(out, it.Value)
	}
	return out
}

func TestItemsAreFoundByClassAndByTheTimeTheyWereFreed(t *testing.T) {
	var l List[string]
	for _, it := range []Item[string]{{Value: "a", Size: 10, Class: 2}, {Value: "b", Size: 20, Class: 0}, {Value: "c", Size: 11, Class: 2}} {
		l.Add(&it)
	}
	if got := values(&l); !slices.Equal(got, []string{"a", "b", "c"}) || l.Bytes() != 41 {
		t.Fatalf("%v, %d bytes", got, l.Bytes())
	}
	if n := len(l.Class(1)) + len(l.Class(9)); n > 0 {
		t.Errorf("%d items of classes that nothing is in", n)
	}
	if it := l.Take(2, 1); it.Value != "c" || l.Bytes() != 30 {
		t.Errorf("took %s, %d bytes left", it.Value, l.Bytes())
	}
	if got := l.Class(2); len(got) != 1 || got[0].Value != "a" {
		t.Errorf("class 2 has %d items", len(got))
	}
}

func TestEvictTakesTheOldestUntilThereIsEnough(t *testing.T) {
	for _, test := range []struct {
		bytes int64
		want  []string
	}{
		{-1, nil},
		{0, nil},
		{1, []string{"a"}},
		{10, []string{"a"}},
		{11, []string{"a", "b"}},
		{1 << 40, []string{"a", "b", "c"}},
	} {
		var l List[string]
		for i, v := range []string{"a", "b", "c"} {
			l.Add(&Item[string]{Value: v, Size: 10, Class: i % 2})
		}
		if got := l.Evict(test.bytes); !slices.Equal(got, test.want) {
			t.Errorf("%d bytes: %v, want %v", test.bytes, got, test.want)
		}
		if want := 30 - 10*int64(len(test.want)); l.Bytes() != want {
			t.Errorf("%d bytes are left, want %d", l.Bytes(), want)
		}
	}
}

func TestQueuesKeepTheOrder(t *testing.T) {
	var q Queue[int]
	items := []Item[int]{{Value: 0}, {Value: 1}, {Value: 2}, {Value: 3}}
	for i := range items {
		q.Add(&items[i])
	}
	for _, i := range []int{1, 3, 0} {
		q.Remove(&items[i])
	}
	q.Add(&items[1])
	var got []int
	for it := range q.All() {
		got = append(got, it.Value)
	}
	if !slices.Equal(got, []int{2, 1}) {
		t.Errorf("got %v", got)
	}
}
