package ring_test

import (
	"context"
	"fmt"
	"maps"
	"runtime"
	"slices"
	"testing"
	"time"

	"quern.dev/kernel"
	"quern.dev/ring"
)

// parcel has one field of each kind of type that contains pointers.
type parcel struct {
	Text    string
	Bytes   []byte
	Table   map[string]int
	Next    *parcel
	Any     any
	Call    func() int
	Pointer *[64]int
	Names   [3]string
	Done    chan struct{}
}

// newParcel is inlined into its callers, so its values may be on their stacks.
func newParcel(n int, next *parcel) parcel {
	return parcel{
		Text:  "number " + fmt.Sprint(n),
		Bytes: []byte{byte(n), byte(n >> 8), byte(n >> 16)},
		Table: map[string]int{"n": n}, Next: next, Any: [2]int{n, -n}, Call: func() int { return n },
		Pointer: &[64]int{63: n}, Names: [3]string{2: "n" + fmt.Sprint(n)}, Done: make(chan struct{}, 1),
	}
}

// wrong describes how a parcel differs from newParcel's.
func (p *parcel) wrong(n int) error {
	switch {
	case p.Text != fmt.Sprint("number ", n):
		return fmt.Errorf("text %q, want number %d", p.Text, n)
	case !slices.Equal(p.Bytes, []byte{byte(n), byte(n >> 8), byte(n >> 16)}):
		return fmt.Errorf("bytes %v of %d", p.Bytes, n)
	case !maps.Equal(p.Table, map[string]int{"n": n}):
		return fmt.Errorf("table %v of %d", p.Table, n)
	case p.Any != any([2]int{n, -n}):
		return fmt.Errorf("interface value %v of %d", p.Any, n)
	case p.Call() != n:
		return fmt.Errorf("the function returns %d, want %d", p.Call(), n)
	case p.Pointer[63] != n:
		return fmt.Errorf("array behind a pointer has %d, want %d", p.Pointer[63], n)
	case p.Names[2] != fmt.Sprint("n", n):
		return fmt.Errorf("name %q of %d", p.Names[2], n)
	case cap(p.Done) != 1:
		return fmt.Errorf("a channel of %d", cap(p.Done))
	case p.Next != nil:
		return p.Next.wrong(n + 1)
	}
	return nil
}

// dirtyStack overwrites the stack below the caller's frame.
//
//go:noinline
func dirtyStack(depth int) (sum int) {
	var junk [256]int
	for i := range junk {
		junk[i] = 0x5a5a5a5a5a5a
	}
	if depth > 0 {
		sum = dirtyStack(depth - 1)
	}
	for _, v := range junk {
		sum += v
	}
	return sum
}

// giveUp calls f with contexts that end soon, until the actor has accepted a message.
func giveUp(ctx context.Context, a *ring.Actor[parcel, parcel], f func(context.Context)) {
	for before := a.Info().Accepted; a.Info().Accepted == before; {
		ctx, cancel := context.WithTimeout(ctx, time.Millisecond)
		f(ctx)
		cancel()
	}
}

// The ways to send, each in a function whose frame is gone when the handler runs.
var waysToSend = map[string]func(ctx context.Context, a *ring.Actor[parcel, parcel], g *ring.Group[parcel], n int) error{
	"Tell": func(ctx context.Context, a *ring.Actor[parcel, parcel], _ *ring.Group[parcel], n int) error {
		next := newParcel(n+1, nil)
		return a.Tell(ctx, newParcel(n, &next))
	},
	"Send": func(ctx context.Context, a *ring.Actor[parcel, parcel], _ *ring.Group[parcel], n int) error {
		next := newParcel(n+1, nil)
		return a.Send(ctx, newParcel(n, &next))
	},
	"SendBatch": func(ctx context.Context, a *ring.Actor[parcel, parcel], _ *ring.Group[parcel], n int) error {
		next := newParcel(n+1, nil)
		_, err := a.SendBatch(ctx, []parcel{newParcel(n, &next)})
		return err
	},
	"Ask, and give up": func(ctx context.Context, a *ring.Actor[parcel, parcel], _ *ring.Group[parcel], n int) error {
		next := newParcel(n+1, nil)
		giveUp(ctx, a, func(ctx context.Context) { _, _ = a.Ask(ctx, newParcel(n, &next)) })
		return nil
	},
	"Gather, and give up": func(ctx context.Context, a *ring.Actor[parcel, parcel], _ *ring.Group[parcel], n int) error {
		next := newParcel(n+1, nil)
		giveUp(ctx, a, func(ctx context.Context) {
			_, _ = ring.Gather(ctx, []*ring.Actor[parcel, parcel]{a}, []parcel{newParcel(n, &next)})
		})
		return nil
	},
	"Publish": func(ctx context.Context, _ *ring.Actor[parcel, parcel], g *ring.Group[parcel], n int) error {
		next := newParcel(n+1, nil)
		_, err := g.Publish(ctx, newParcel(n, &next))
		return err
	},
	"Route": func(ctx context.Context, _ *ring.Actor[parcel, parcel], g *ring.Group[parcel], n int) error {
		next := newParcel(n+1, nil)
		return g.Route(ctx, uint64(n), newParcel(n, &next))
	},
	"Scatter": func(ctx context.Context, _ *ring.Actor[parcel, parcel], g *ring.Group[parcel], n int) error {
		next := newParcel(n+1, nil)
		_, err := g.Scatter(ctx, []parcel{newParcel(n, &next)})
		return err
	},
}

func TestMessagesWithPointersArriveUnchanged(t *testing.T) {
	for name, send := range waysToSend {
		for _, inactive := range []bool{false, true} {
			t.Run(fmt.Sprintf("%s/inactive=%v", name, inactive), func(t *testing.T) {
				rt := open(t, ring.Config{})
				const messages = 200
				numbers, errs := make(chan int, messages), make(chan error, messages)
				a := spawn(t, rt, ring.Options{Inactive: inactive, Capacity: messages}, func(_ context.Context, _ *ring.HostContext, in, out *parcel) kernel.Action {
					n := in.Pointer[63]
					if err := in.wrong(n); err != nil {
						errs <- err
					}
					numbers <- n
					*out = newParcel(n, nil)
					return kernel.Done
				})
				g, err := ring.NewGroup[parcel](rt, "group")
				if err != nil {
					t.Fatal(err)
				}
				if err := g.Add(a); err != nil {
					t.Fatal(err)
				}
				for n := range messages {
					if err := send(t.Context(), a, g, n); err != nil {
						t.Fatal(err)
					}
					dirtyStack(20)
					if n%20 == 0 {
						runtime.GC()
					}
				}
				runtime.GC()
				if inactive {
					if err := a.Activate(); err != nil {
						t.Fatal(err)
					}
				}
				for want := range messages {
					select {
					case err := <-errs:
						t.Fatal(err)
					case n := <-numbers:
						if n != want {
							t.Fatalf("message %d arrived, want %d", n, want)
						}
					}
				}
			})
		}
	}
}

// Replies live on the receiver's stack until it copies them.
func TestRepliesWithPointersArriveUnchanged(t *testing.T) {
	rt := open(t, ring.Config{})
	a := spawn(t, rt, ring.Options{}, func(_ context.Context, _ *ring.HostContext, in *int, out *parcel) kernel.Action {
		next := newParcel(*in+1, nil)
		*out = newParcel(*in, &next)
		return kernel.Reply
	})
	check := func(n int, p parcel, err error) {
		t.Helper()
		runtime.GC()
		dirtyStack(20)
		if err == nil {
			err = p.wrong(n)
		}
		if err != nil {
			t.Fatal(err)
		}
	}
	for n := range 50 {
		p, err := a.Ask(t.Context(), n)
		check(n, p, err)
		if err := a.Send(t.Context(), n); err != nil {
			t.Fatal(err)
		}
		p, err = a.Receive(t.Context())
		check(n, p, err)
		if err := a.Send(t.Context(), n); err != nil {
			t.Fatal(err)
		}
		m, err := a.ReceiveMessage(t.Context())
		check(n, m.Body, err)
		batch := make([]parcel, 1)
		if err := a.Send(t.Context(), n); err != nil {
			t.Fatal(err)
		}
		_, err = a.ReceiveBatch(t.Context(), batch)
		check(n, batch[0], err)
	}
}
