package ring_test

import (
	"context"
	"strings"
	"testing"

	"quern.dev/kernel"
	"quern.dev/ring"
)

type description struct {
	ID     uint64
	Sender string
}

// describe replies with the ID of the message and the name of its sender.
func describe(_ context.Context, c *ring.HostContext, _ *int, out *description) kernel.Action {
	out.ID, out.Sender = c.ID(), c.Sender()
	return kernel.Reply
}

func TestIDsOfManyActorsAreUnique(t *testing.T) {
	rt, ctx := open(t, ring.Config{}), within(t)
	ring.Count(rt, 0, 1<<18-3) // two more actors can exist
	ids := map[uint64]bool{}
	add := func(id uint64) {
		t.Helper()
		if ids[id] {
			t.Errorf("ID %d is that of two messages", id)
		}
		ids[id] = true
	}
	first := spawn(t, rt, ring.Options{}, describe)
	for round := range 10 {
		a := spawn(t, rt, ring.Options{}, describe)
		if _, err := ring.SpawnHost(ctx, rt, describe, ring.Options{Name: "third"}); err == nil || !strings.Contains(err.Error(), "262143 actors") {
			t.Fatalf("one more than there are IDs for: %v", err)
		}
		for _, a := range []*ring.Actor[int, description]{first, a} {
			for range 1 + round%3 {
				r, err := a.Ask(ctx, 1)
				if err != nil {
					t.Fatal(err)
				}
				add(r.ID)
			}
			var id uint64
			if r, err := a.Ask(ctx, 1, ring.ID(&id)); err != nil || r.ID != id {
				t.Fatal(r, err)
			}
			add(id)
		}
		if err := a.Deactivate(); err != nil {
			t.Fatal(err)
		}
		if err := a.Tell(ctx, 1); err != nil {
			t.Fatal(err)
		}
		if _, err := a.Terminate(ctx); err != nil {
			t.Fatal(err)
		}
	}
	for l := range rt.DeadLetters().All() {
		add(l.ID)
	}
	if want := 10*(2*1+2+1) + 2*(0+1+2+0+1+2+0+1+2+0); len(ids) != want {
		t.Errorf("%d IDs, want %d", len(ids), want)
	}
}

func TestSendersAmongManyActorsAreNamed(t *testing.T) {
	rt, ctx := open(t, ring.Config{}), within(t)
	spawn(t, rt, ring.Options{Name: "first"}, double)
	a := spawn(t, rt, ring.Options{}, describe)
	for round := range 3 {
		ring.Count(rt, (1+round)<<24-1, 0) // the header of a message has 24 bits for the sender
		late := spawn(t, rt, ring.Options{Name: "late"}, double)
		if err := a.Send(ctx, 1, ring.From(late)); err != nil {
			t.Fatal(err)
		}
		if m, err := a.ReceiveMessage(ctx); err != nil || m.Sender != "late" || m.Body.Sender != "late" {
			t.Errorf("%+v, %v, want late as the sender", m, err)
		}
		if _, err := late.Terminate(ctx); err != nil {
			t.Fatal(err)
		}
	}
	ring.Count(rt, 1<<32-1, 0)
	if _, err := ring.SpawnHost(ctx, rt, double, ring.Options{}); err == nil || !strings.Contains(err.Error(), "4294967295 actors") {
		t.Errorf("after as many actors as there are numbers: %v", err)
	}
}
