package ring_test

import (
	"context"
	"errors"
	"slices"
	"testing"

	"quern.dev/kernel"
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

func TestGatherTakesMoreMessagesThanAnActorHasRoomFor(t *testing.T) {
	for _, capacity := range []int{1, 4, 4096} {
		rt, ctx := open(t, ring.Config{}), within(t)
		var handled []int
		a := spawn(t, rt, ring.Options{Capacity: capacity}, func(_ context.Context, _ *ring.HostContext, in, out *int) kernel.Action {
			handled = append(handled, *in)
			*out = 2 * *in
			return kernel.Reply
		})
		msgs := make([]int, 5000)
		for i := range msgs {
			msgs[i] = i
		}
		replies, err := ring.Gather(ctx, slices.Repeat([]*ring.Actor[int, int]{a}, len(msgs)), msgs)
		if err != nil {
			t.Fatalf("capacity %d: %v", capacity, err)
		}
		for i, r := range replies {
			if r != 2*i || handled[i] != i {
				t.Fatalf("capacity %d: message %d: the reply is %d, and the actor handled %d", capacity, i, r, handled[i])
			}
		}
	}
}

func TestGatherTakesRepliesInAnyOrder(t *testing.T) {
	rt, ctx := open(t, ring.Config{}), within(t)
	answered := make(chan bool, 2)
	second := spawn(t, rt, ring.Options{Capacity: 1}, func(_ context.Context, _ *ring.HostContext, in, out *int) kernel.Action {
		*out = 2 * *in
		answered <- true
		return kernel.Reply
	})
	first := spawn(t, rt, ring.Options{}, func(ctx context.Context, _ *ring.HostContext, in, out *int) kernel.Action {
		<-answered // the only slot of second is in use until Gather takes the reply
		r, err := second.Ask(ctx, *in)
		if err != nil {
			panic(err)
		}
		*out = r
		return kernel.Reply
	})
	replies, err := ring.Gather(ctx, []*ring.Actor[int, int]{first, second}, []int{1, 2})
	if err != nil || !slices.Equal(replies, []int{2, 4}) {
		t.Errorf("%v, %v, want 2 and 4", replies, err)
	}
}

func TestGatherNamesTheActorsWithoutAReply(t *testing.T) {
	rt, ctx := open(t, ring.Config{}), within(t)
	cancelled, cancel := context.WithCancel(ctx)
	begun := make(chan bool)
	fails := spawn(t, rt, ring.Options{Name: "fails"}, func(context.Context, *ring.HostContext, *int, *int) kernel.Action { panic("asked to") })
	rests := spawn(t, rt, ring.Options{Name: "rests", Inactive: true, Capacity: 1}, double)
	a := spawn(t, rt, ring.Options{}, func(_ context.Context, _ *ring.HostContext, in, out *int) kernel.Action {
		*out = 2 * *in
		begun <- true
		return kernel.Reply
	})
	go func() {
		<-begun
		for fails.State() != ring.Failed {
		}
		cancel()
	}()
	replies, err := ring.Gather(cancelled, []*ring.Actor[int, int]{a, fails, rests, rests}, []int{1, 2, 3, 4})
	failed, ok := errors.AsType[*ring.HandlerError](err)
	if !ok || failed.Actor != "fails" || !errors.Is(err, context.Canceled) || !slices.Equal(replies, []int{2, 0, 0, 0}) {
		t.Errorf("%v, %v", replies, err)
	}
	if i := rests.Info(); i.Accepted != 1 {
		t.Errorf("%d messages were accepted where there was room for 1", i.Accepted)
	}
	if _, err := rests.Terminate(ctx); err != nil {
		t.Error(err)
	}
}
