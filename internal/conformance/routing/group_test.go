package routing

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"sync"
	"testing"

	"quern.dev/ring"
	"quern.dev/ring/actor"
)

type itemGroup = ring.Group[Item]

func group(t *testing.T, rt *ring.Runtime, name string, members ...*counter) *itemGroup {
	t.Helper()
	g := must[*itemGroup](t)(ring.NewGroup[Item](rt, name))
	for _, m := range members {
		if err := g.Add(m); err != nil {
			t.Fatal(err)
		}
	}
	return g
}

func TestWhatIsPublishedReachesEachMember(t *testing.T) {
	everyDevice(t, ring.Config{}, func(t *testing.T, ctx context.Context, rt *ring.Runtime) {
		members := tallies(t, ctx, rt, 3)
		topic := group(t, rt, "prices", members...)
		sender := must[*ring.Actor[Order, Sent]](t)(SpawnSend(ctx, rt, ring.Options{}))
		for i := range 10 {
			if n, err := topic.Publish(ctx, Item{Key: 1 << i, Value: 1}); n != 3 || err != nil {
				t.Fatal(n, err)
			}
			r := must[Sent](t)(sender.Ask(ctx, Order{To: topic.Ref(), How: Publish, Key: 1 << (i + 16), Value: 2}))
			if r != (Sent{Taken: 3, Members: 3}) {
				t.Fatalf("%+v", r)
			}
		}
		r := must[Sent](t)(sender.Ask(ctx, Order{To: topic.Ref(), How: Everyone, Value: 3}))
		if r != (Sent{Taken: 96, Members: 3}) {
			t.Fatalf("%+v", r)
		}
		for i, got := range counted(t, ctx, members, 3*52) {
			if got.Count != 52 || got.Values != 10+20+96 || got.Keys != 1023<<16|1023 {
				t.Errorf("member %d: %+v", i, got)
			}
		}
	})
}

func TestHostAndDeviceRouteAKeyToTheSameMember(t *testing.T) {
	everyDevice(t, ring.Config{}, func(t *testing.T, ctx context.Context, rt *ring.Runtime) {
		members := tallies(t, ctx, rt, 5)
		router := group(t, rt, "by key", members...)
		sender := must[*ring.Actor[Order, Sent]](t)(SpawnSend(ctx, rt, ring.Options{}))
		const rounds, block = 8, 32
		want := make([]Tally, len(members))
		for i := range uint64(rounds) {
			key := i * 0x9E3779B97F4A7C15
			r := must[Sent](t)(sender.Ask(ctx, Order{To: router.Ref(), How: Route, Key: key, Value: 1}))
			if r.Taken != block {
				t.Fatalf("%+v", r)
			}
			for k := range uint64(block) {
				if err := router.Route(ctx, key+k, Item{Key: key + k, Value: 1}); err != nil {
					t.Fatal(err)
				}
				want[actor.Pick(key+k, len(members))].Count += 2
			}
		}
		for i, got := range counted(t, ctx, members, 2*rounds*block) {
			if got.Keys != 0 || got.Count != want[i].Count {
				t.Errorf("member %d has %d items, want %d; exclusive or of keys %#x, want 0", i, got.Count, want[i].Count, got.Keys)
			}
			if got.Count == 0 {
				t.Errorf("member %d got nothing", i)
			}
		}
	})
}

func TestScatteredMessagesAreDealtOut(t *testing.T) {
	everyDevice(t, ring.Config{}, func(t *testing.T, ctx context.Context, rt *ring.Runtime) {
		members := tallies(t, ctx, rt, 3)
		g := group(t, rt, "workers", members...)
		items := make([]Item, 10)
		for i := range items {
			items[i].Value = int64(i)
		}
		if n, err := g.Scatter(ctx, items); n != 10 || err != nil {
			t.Fatal(n, err)
		}
		for i, got := range counted(t, ctx, members, 10) {
			if want := []int64{0 + 3 + 6 + 9, 1 + 4 + 7, 2 + 5 + 8}[i]; got.Values != want || got.Turned != 0 {
				t.Errorf("member %d: %+v, want values %d in order", i, got, want)
			}
		}
	})
}

func TestMembersComeAndGoWhileMessagesAreSent(t *testing.T) {
	everyDevice(t, ring.Config{}, func(t *testing.T, ctx context.Context, rt *ring.Runtime) {
		members := tallies(t, ctx, rt, 4)
		g := group(t, rt, "changing", members[0])
		sender := must[*ring.Actor[Order, Sent]](t)(SpawnSend(ctx, rt, ring.Options{}))
		var taken int
		var wg sync.WaitGroup
		stop := make(chan struct{})
		wg.Go(func() {
			for {
				select {
				case <-stop:
					return
				default:
				}
				r, err := sender.Ask(ctx, Order{To: g.Ref(), How: Publish, Value: 1})
				if err != nil || r.Members < 1 || r.Taken > r.Members { // a full mailbox takes none
					t.Errorf("%+v, %v", r, err)
					return
				}
				taken += int(r.Taken)
			}
		})
		for range 25 {
			for _, m := range members[1:] {
				if err := g.Add(m); err != nil {
					t.Error(err)
				}
			}
			if err := g.Remove(members[2], members[1], members[3]); err != nil {
				t.Error(err)
			}
		}
		close(stop)
		wg.Wait()
		if got := g.Members(); len(got) != 1 || got[0].Name() != "tally 0" {
			t.Errorf("members %v", got)
		}
		counted(t, ctx, members, taken)
	})
}

func TestGroupsSayWhatIsWrong(t *testing.T) {
	everyDevice(t, ring.Config{}, func(t *testing.T, ctx context.Context, rt *ring.Runtime) {
		a := tallies(t, ctx, rt, 1)[0]
		g := group(t, rt, "one", a)
		empty := group(t, rt, "empty")
		other := must[*ring.Group[Order]](t)(ring.NewGroup[Order](rt, "orders"))
		find := func(name string) error { _, err := ring.FindGroup[Item](rt, name); return err }
		create := func(name string) error { _, err := ring.NewGroup[Item](rt, name); return err }
		for _, c := range []struct {
			name string
			err  error
			is   error
			want string
		}{
			{"a name that is taken", create("one"), ring.ErrInvalid, `there is a group "one" already`},
			{"no name", create(""), ring.ErrInvalid, "is empty or only space"},
			{"messages of another type", find("orders"), ring.ErrInvalid, "takes messages of type routing.Order, not routing.Item"},
			{"a member twice", g.Add(a), ring.ErrInvalid, "actor tally 0 is already a member"},
			{"no member", g.Add(nil), ring.ErrInvalid, "actor is nil"},
			{"nobody to remove", empty.Remove(a), ring.ErrInvalid, "actor tally 0 is not a member"},
			{"routing to nobody", empty.Route(ctx, 1, Item{}), ring.ErrNoMembers, `group "empty"`},
		} {
			if !errors.Is(c.err, c.is) || !strings.Contains(c.err.Error(), c.want) {
				t.Errorf("%s: got %v, want %q", c.name, c.err, c.want)
			}
		}
		var unknown *ring.NameError
		if err := find("emty"); !errors.As(err, &unknown) || !strings.Contains(err.Error(), `no group "emty"; there are empty, one, orders`) {
			t.Errorf("an unknown name: %v", err)
		}
		if n, err := empty.Publish(ctx, Item{}); n != 0 || err != nil {
			t.Errorf("publishing to nobody: %d, %v", n, err)
		}
		if found := must[*itemGroup](t)(ring.FindGroup[Item](rt, "one")); found != g {
			t.Error("another group was found")
		}
		if err := errors.Join(empty.Close(), other.Close(), empty.Close()); err != nil {
			t.Error(err)
		}
		if err := empty.Add(a); !errors.Is(err, ring.ErrClosed) {
			t.Errorf("a member for a closed group: %v, want ErrClosed", err)
		}
		if got := fmt.Sprint(rt.Groups()); got != "[one]" {
			t.Errorf("groups %s", got)
		}
		sender := must[*ring.Actor[Order, Sent]](t)(SpawnSend(ctx, rt, ring.Options{}))
		for _, to := range []actor.Group[Item]{{}, empty.Ref()} {
			if r := must[Sent](t)(sender.Ask(ctx, Order{To: to, How: Everyone})); r != (Sent{}) {
				t.Errorf("sending to nobody: %+v", r)
			}
			if r := must[Sent](t)(sender.Ask(ctx, Order{To: to, How: Route})); r != (Sent{}) {
				t.Errorf("routing to nobody: %+v", r)
			}
		}
		if _, err := sender.Ask(ctx, Order{To: g.Ref(), How: Member, Member: 1}); err == nil || !strings.Contains(err.Error(), "no member of this number") {
			t.Errorf("a member that there is not: %v", err)
		}
	})
}

func TestATerminatedMemberGetsNothing(t *testing.T) {
	everyDevice(t, ring.Config{}, func(t *testing.T, ctx context.Context, rt *ring.Runtime) {
		members := tallies(t, ctx, rt, 2)
		g := group(t, rt, "pair", members...)
		sender := must[*ring.Actor[Order, Sent]](t)(SpawnSend(ctx, rt, ring.Options{}))
		if _, err := members[0].Terminate(ctx); err != nil {
			t.Fatal(err)
		}
		n, err := g.Publish(ctx, Item{Value: 1})
		var state *ring.StateError
		if n != 1 || !errors.As(err, &state) || state.Actor != "tally 0" {
			t.Errorf("%d, %v", n, err)
		}
		heir := must[*counter](t)(SpawnTally(ctx, rt, ring.Options{Name: "heir"})) // may get its place
		if r := must[Sent](t)(sender.Ask(ctx, Order{To: g.Ref(), How: Publish, Value: 1})); r.Taken != 1 {
			t.Errorf("%+v", r)
		}
		if err := g.Remove(members[0]); err != nil {
			t.Error(err)
		}
		if r := must[Sent](t)(sender.Ask(ctx, Order{To: g.Ref(), How: Publish, Value: 1})); r != (Sent{Taken: 1, Members: 1}) {
			t.Errorf("%+v", r)
		}
		counted(t, ctx, members[1:], 3)
		counted(t, ctx, []*counter{heir}, 0)
	})
}

func TestGatherNamesTheActorsThatDoNotReply(t *testing.T) {
	everyDevice(t, ring.Config{}, func(t *testing.T, ctx context.Context, rt *ring.Runtime) {
		actors := tallies(t, ctx, rt, 3)
		if _, err := actors[1].Terminate(ctx); err != nil {
			t.Fatal(err)
		}
		got, err := ring.Gather(ctx, actors, []Item{{Ask: 1}, {Ask: 1}, {Value: 1}})
		if len(got) != 3 || !errors.Is(err, ring.ErrNoReply) || !strings.Contains(err.Error(), "actor tally 2:") || !strings.Contains(err.Error(), "actor tally 1 is terminated") {
			t.Errorf("%v, %v", got, err)
		}
		if _, err := ring.Gather(ctx, actors, []Item{{}}); !errors.Is(err, ring.ErrInvalid) {
			t.Errorf("one message for three actors: %v", err)
		}
	})
}
