package ring_test

import (
	"errors"
	"testing"

	"quern.dev/ring"
)

func TestGroupsEndWithTheirRuntime(t *testing.T) {
	rt := openAlone(t, ring.Config{})
	a, b := spawn(t, rt, ring.Options{Name: "a"}, double), spawn(t, rt, ring.Options{Name: "b"}, double)
	g, err := ring.NewGroup[int](rt, "workers")
	if err != nil {
		t.Fatal(err)
	}
	if err := errors.Join(g.Add(a), rt.Close()); err != nil {
		t.Fatal(err)
	}
	for name, change := range map[string]func() error{
		"adding":   func() error { return g.Add(b) },
		"removing": func() error { return g.Remove(a) },
	} {
		if err := change(); !errors.Is(err, ring.ErrClosed) {
			t.Errorf("%s: %v, want ErrClosed", name, err)
		}
	}
	if names := rt.Groups(); len(names) > 0 {
		t.Errorf("a runtime that is closed has the groups %q", names)
	}
	for range 2 {
		if err := g.Close(); err != nil {
			t.Error("closing the group:", err)
		}
	}
	if n := len(g.Members()); n > 0 {
		t.Errorf("a group that is closed has %d members", n)
	}
}

func TestGatherRefusesActorsThatAreNil(t *testing.T) {
	rt := open(t, ring.Config{})
	a := spawn(t, rt, ring.Options{}, double)
	replies, err := ring.Gather(within(t), []*ring.Actor[int, int]{a, nil}, make([]int, 2))
	if !errors.Is(err, ring.ErrInvalid) || replies != nil {
		t.Errorf("%v, %v, want ErrInvalid", replies, err)
	}
	if i := a.Info(); i.Accepted != 0 {
		t.Errorf("an actor was asked %d times before the other was refused", i.Accepted)
	}
}
