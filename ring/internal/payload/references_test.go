package payload

import (
	"slices"
	"testing"
	"unsafe"

	"quern.dev/ring/actor"
)

func TestReferencesInMessages(t *testing.T) {
	type inner struct {
		_ byte
		P actor.Payload[float32]
	}
	type message struct {
		N    int64
		Some [2]inner
		One  actor.Payload[float32]
	}
	some := unsafe.Offsetof(message{}.Some)
	want := []uintptr{some + 4, some + 4 + unsafe.Sizeof(inner{}), unsafe.Offsetof(message{}.One)}
	if refs := ReferencesIn[message](nil, nil); !slices.Equal(refs.at, want) {
		t.Errorf("references at %v, want %v", refs.at, want)
	}
	if ReferencesIn[struct{ X [8]uint64 }](nil, nil) != nil {
		t.Error("references in messages without any")
	}
}

func TestExtentsAreMerged(t *testing.T) {
	var free extents
	free.add(extent{0, 100})
	first, _ := free.take(10, 1)
	second, _ := free.take(20, 16)
	if first != 0 || second != 16 {
		t.Fatalf("extents at %d and %d, want 0 and 16", first, second)
	}
	if sum, largest := free.sizes(); sum != 70 || largest != 64 {
		t.Errorf("%d bytes are free, %d in one piece, want 70 and 64", sum, largest)
	}
	if _, ok := free.take(65, 1); ok {
		t.Error("65 bytes fit into 64")
	}
	free.add(extent{16, 36})
	free.add(extent{0, 10})
	if !slices.Equal(free, extents{{0, 100}}) {
		t.Errorf("free extents are %v", free)
	}
}
