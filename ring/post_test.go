package ring

import (
	"context"
	"fmt"
	"testing"

	"quern.dev/gpu"
	"quern.dev/kernel"
)

func TestListsOfRoutesAreFreed(t *testing.T) {
	dev, err := gpu.Open(gpu.Config{Require: gpu.CPU})
	if err != nil {
		t.Fatal(err)
	}
	defer dev.Close()
	rt, err := New(dev, Config{})
	if err != nil {
		t.Fatal(err)
	}
	defer rt.Close()
	behind := uint32(0)
	for i := range 100 {
		var r routing
		for _, boxes := range [][]uint64{{1, 2, 3}, make([]uint64, 40), nil, {4}} {
			if _, _, err := r.set(rt.post, boxes, 8); err != nil {
				t.Fatal(err)
			}
		}
		r.free(rt.post)
		if r.list != 0 || r.saved != 0 {
			t.Fatalf("list %d and saved reply %d are left", r.list, r.saved)
		}
		size := 1024 + 16*i // no released words have this size, so these come after all others
		at, err := rt.post.Reserve(size)
		if err != nil {
			t.Fatal(err)
		}
		if i > 0 && at != behind {
			t.Fatalf("list %d uses %d words more", i+1, at-behind)
		}
		behind = at + uint32(size)
	}
}

func TestNamesOfActorsThatEndedLongAgoAreForgotten(t *testing.T) {
	m := messages{names: map[uint32]string{}}
	const n = 3 * keptNames
	for i := range uint32(n) {
		m.name(i+1, fmt.Sprint(i+1))
		m.forget(i + 1)
	}
	m.name(n+1, "living")
	if len(m.names) != keptNames+1 {
		t.Errorf("%d names are kept, want %d", len(m.names), keptNames+1)
	}
	for number, want := range map[uint32]string{0: "", 1: "", n - keptNames: "", n - keptNames + 1: fmt.Sprint(n - keptNames + 1), n: fmt.Sprint(n), n + 1: "living"} {
		if got := m.nameOf(number); got != want {
			t.Errorf("actor %d is %q, want %q", number, got, want)
		}
	}
}

// If the mailbox of a host actor could not be taken back because some handler is
// stuck, Info may still be called after the runtime was closed.
func TestFreedMemoryIsNotRead(t *testing.T) {
	dev, err := gpu.Open(gpu.Config{Require: gpu.CPU})
	if err != nil {
		t.Fatal(err)
	}
	defer dev.Close()
	rt, err := New(dev, Config{})
	if err != nil {
		t.Fatal(err)
	}
	a, err := SpawnHost(t.Context(), rt, func(context.Context, *HostContext, *int, *int) kernel.Action { return kernel.Done }, Options{})
	if err != nil {
		t.Fatal(err)
	}
	a.Ref()
	inbox := a.core.server.(*hostActor).inbox.Load()
	if err := rt.Close(); err != nil {
		t.Fatal(err)
	}
	if n := inbox.collect() + inbox.box.Waiting(); n != 0 {
		t.Errorf("%d messages in memory that was given back", n)
	}
	if rt.post.Rung(0) {
		t.Error("a bell has rung that was given back")
	}
}
