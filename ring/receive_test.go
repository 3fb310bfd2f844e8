package ring_test

import (
	"context"
	"errors"
	"math"
	"sync"
	"testing"
	"time"

	"quern.dev/kernel"
	"quern.dev/ring"
)

func TestRepliesOfAnActorThatHasEndedAreReceived(t *testing.T) {
	rt, ctx := open(t, ring.Config{}), within(t)
	for round := range 150 {
		a := spawn(t, rt, ring.Options{}, double)
		const n = 20
		var receiver sync.WaitGroup
		receiver.Go(func() { // while the actor ends
			for i := range n {
				if r, err := a.Receive(ctx); r != 2*i || err != nil {
					t.Errorf("round %d, reply %d: %d, %v", round, i, r, err)
					return
				}
			}
			var state *ring.StateError
			if _, err := a.Receive(ctx); !errors.As(err, &state) || state.State != ring.Terminated {
				t.Errorf("after the last: %v", err)
			}
		})
		for i := range n {
			if err := a.Send(ctx, i); err != nil {
				t.Fatal(err)
			}
		}
		if f, err := a.Terminate(ctx); err != nil || f.DeadLettered+f.Dropped > 0 {
			t.Fatal(f, err)
		}
		receiver.Wait()
		if t.Failed() {
			return
		}
	}
}

func TestRepliesAreReceivedAfterClose(t *testing.T) {
	rt, ctx := openAlone(t, ring.Config{}), within(t)
	a := spawn(t, rt, ring.Options{}, double)
	for i := range 300 { // more than the actor has slots
		if err := a.Send(ctx, i); err != nil {
			t.Fatal(err)
		}
	}
	for a.Info().Handled < 300 {
		time.Sleep(time.Millisecond)
	}
	var left *ring.LeftError
	if err := rt.Close(); !errors.As(err, &left) || left.Replies != 300 || left.Messages != 0 {
		t.Fatal(err)
	}
	for i := range 300 {
		if r, err := a.Receive(ctx); r != 2*i || err != nil {
			t.Fatalf("reply %d: %d, %v", i, r, err)
		}
	}
	var state *ring.StateError
	if _, err := a.Receive(ctx); !errors.As(err, &state) {
		t.Errorf("after the last: %v", err)
	}
}

// A receiver that counts gets as many results as there were messages.
func TestNoFailureIsSkipped(t *testing.T) {
	for _, capacity := range []int{1, 8, 4096} {
		rt, ctx := open(t, ring.Config{}), within(t)
		a := spawn(t, rt, ring.Options{Capacity: capacity, MaxRestarts: math.MaxInt, Supervisor: func(ring.Failure) ring.Decision { return ring.Resume }},
			func(_ context.Context, _ *ring.HostContext, in, out *int) kernel.Action {
				if *in%3 == 0 {
					panic(*in)
				}
				*out = *in
				return kernel.Reply
			})
		const n = 60
		var sender sync.WaitGroup
		sender.Go(func() {
			for i := range n {
				for {
					err := a.Send(ctx, i)
					var state *ring.StateError
					if errors.As(err, &state) {
						continue // it is being restarted
					}
					if err != nil {
						t.Error(err)
					}
					break
				}
			}
		})
		for i := 0; i < n; {
			r, err := a.Receive(ctx)
			var failed *ring.HandlerError
			var state *ring.StateError
			var p *ring.PanicError
			switch {
			case errors.As(err, &state):
				continue
			case i%3 == 0 && errors.As(err, &failed) && errors.As(err, &p) && p.Value == i:
			case i%3 != 0 && err == nil && r == i:
			default:
				t.Fatalf("capacity %d: result %d is %d, %v", capacity, i, r, err)
			}
			i++
		}
		sender.Wait()
	}
}

func TestReceiveKeepsItsDeadlineWhileAnotherWaits(t *testing.T) {
	rt, ctx := open(t, ring.Config{}), within(t)
	a := spawn(t, rt, ring.Options{}, double)
	long, cancel := context.WithCancel(ctx)
	defer cancel()
	first := make(chan error)
	go func() {
		_, err := a.Receive(long)
		first <- err
	}()
	time.Sleep(10 * time.Millisecond)
	short, end := context.WithTimeout(ctx, 20*time.Millisecond)
	defer end()
	begin := time.Now()
	if _, err := a.Receive(short); !errors.Is(err, context.DeadlineExceeded) {
		t.Error(err)
	}
	if took := time.Since(begin); took > 5*time.Second {
		t.Errorf("the second Receive took %v", took)
	}
	cancel()
	if err := <-first; !errors.Is(err, context.Canceled) {
		t.Error(err)
	}
}
