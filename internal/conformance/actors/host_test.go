package actors

import (
	"context"
	"testing"
	"time"

	"quern.dev/kernel"
	"quern.dev/ring"
)

func TestActorsOnTheDeviceSendToHostActors(t *testing.T) {
	each(t, func(t *testing.T, ctx context.Context, rt *ring.Runtime) {
		const n = 3000
		type result struct {
			sum    int64
			count  int
			sender string
		}
		var got result
		results := make(chan result, 1)
		// Its capacity is less than what is sent: senders wait.
		adder, err := ring.SpawnHost(ctx, rt, func(_ context.Context, c *ring.HostContext, in *int64, _ *int64) kernel.Action {
			got.sum += *in
			got.sender = c.Sender()
			if got.count++; got.count == 2*n {
				results <- got
			}
			return kernel.Done
		}, ring.Options{Name: "adder", Capacity: 100})
		if err != nil {
			t.Fatal(err)
		}
		if first, again := adder.Ref(), adder.Ref(); first != again || first.Mailbox == 0 {
			t.Fatal("the host actor has no mailbox")
		}
		a, err := SpawnScatter(ctx, rt, ring.Options{Name: "scatter"})
		if err != nil {
			t.Fatal(err)
		}
		for i := range int64(2) {
			if r, err := a.Ask(ctx, Burst{To: adder.Ref(), First: 1 + i*n, Count: n}); err != nil || r != n {
				t.Fatal(r, err)
			}
		}
		select {
		case r := <-results:
			if r.sum != n*(2*n+1) || r.sender != "scatter" {
				t.Errorf("%+v, want a sum of %d from scatter", r, n*(2*n+1))
			}
		case <-ctx.Done():
			t.Fatalf("the messages do not arrive: %+v", adder.Info())
		}
		if _, err := adder.Terminate(ctx); err != nil {
			t.Fatal(err)
		}
		if i := adder.Info(); i.Accepted != 2*n || i.Queued != 0 {
			t.Errorf("%+v, want %d messages", i, 2*n)
		}
	})
}

func TestMessagesFromTheDeviceForHostActorsThatEnd(t *testing.T) {
	each(t, func(t *testing.T, ctx context.Context, rt *ring.Runtime) {
		host, err := ring.SpawnHost(ctx, rt, func(context.Context, *ring.HostContext, *int64, *int64) kernel.Action { return kernel.Done }, ring.Options{Inactive: true})
		if err != nil {
			t.Fatal(err)
		}
		a, err := SpawnScatter(ctx, rt, ring.Options{})
		if err != nil {
			t.Fatal(err)
		}
		if r, err := a.Ask(ctx, Burst{To: host.Ref(), First: 1, Count: 50}); err != nil || r != 50 {
			t.Fatal(r, err)
		}
		if f, err := host.Terminate(ctx); err != nil || f.Drained != 0 {
			t.Errorf("%+v, %v", f, err)
		}
		sum := int64(0)
		for l := range rt.DeadLetters().All() {
			sum += l.Body.(int64)
		}
		if sum != 50*51/2 {
			t.Errorf("the dead letters have a sum of %d, want %d", sum, 50*51/2)
		}
	})
}

// A Ref of a host actor that has ended names nobody.
func TestMessagesFromTheDeviceForHostActorsThatHaveEnded(t *testing.T) {
	for _, b := range backends {
		t.Run(string(b), func(t *testing.T) {
			rt, ctx := open(t, b), within(t, 20*time.Second)
			host, err := ring.SpawnHost(ctx, rt, func(context.Context, *ring.HostContext, *int64, *int64) kernel.Action { return kernel.Done }, ring.Options{})
			if err != nil {
				t.Fatal(err)
			}
			to := host.Ref()
			if _, err := host.Terminate(ctx); err != nil {
				t.Fatal(err)
			}
			a := spawned(t, ctx, rt, SpawnScatter, ring.Options{})
			if r, err := a.Ask(ctx, Burst{To: to, Count: 3}); err != nil || r != -1 {
				t.Errorf("sending: %d, %v, want -1", r, err)
			}
			if i := host.Info(); i.Refused != 3 || i.Accepted != 0 {
				t.Errorf("%+v, want 3 refused", i)
			}
			if s := rt.Stats(); s.Refused != 3 || s.DeadLetters != 0 {
				t.Errorf("%+v, want 3 refused", s)
			}
			if err := rt.Close(); err != nil {
				t.Fatal(err)
			}
			if s := rt.Stats(); s.Refused != 3 {
				t.Errorf("closed: %+v, want 3 refused", s)
			}
		})
	}
}

func TestHostActorsThatTheDeviceCannotReach(t *testing.T) {
	each(t, func(t *testing.T, ctx context.Context, rt *ring.Runtime) {
		host, err := ring.SpawnHost(ctx, rt, func(context.Context, *ring.HostContext, *struct{ Text string }, *int) kernel.Action {
			return kernel.Done
		}, ring.Options{})
		if err != nil {
			t.Fatal(err)
		}
		if r := host.Ref(); r.Mailbox != 0 {
			t.Errorf("messages with text have a mailbox on the device: %v", r)
		}
	})
}
