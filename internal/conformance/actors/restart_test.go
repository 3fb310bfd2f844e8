package actors

import (
	"context"
	"errors"
	"fmt"
	"math"
	"sync"
	"testing"
	"time"

	"quern.dev/gpu"
	"quern.dev/kernel"
	"quern.dev/ring"
)

// A restarted actor handles what other actors send to it, without a message of the
// program in between.
func TestRestartedActorsHearOtherActors(t *testing.T) {
	for _, b := range backends {
		for _, thread := range []int32{0, 5, -1} {
			for _, bounded := range []bool{false, true} {
				t.Run(fmt.Sprintf("%s/thread=%d/bounded=%v", b, thread, bounded), func(t *testing.T) {
					restartAndSend(t, b, thread, bounded)
				})
			}
		}
	}
}

func restartAndSend(t *testing.T, b gpu.Backend, thread int32, bounded bool) {
	rt := openWith(t, b, ring.Config{Bounded: bounded})
	ctx := within(t, 10*time.Second)
	const flaw = -7
	failing := spawned(t, ctx, rt, SpawnFlawed, ring.Options{State: Flaw{Number: flaw, Thread: thread}})
	sender := spawned(t, ctx, rt, SpawnScatter, ring.Options{})
	send := func(first int64, n int32) {
		t.Helper()
		if r, err := sender.Ask(ctx, Burst{To: failing.Ref(), First: first, Count: n}); err != nil || r != n {
			t.Fatal(r, err)
		}
	}
	handled := func(want uint64) {
		t.Helper()
		for failing.Info().Handled < want {
			if ctx.Err() != nil {
				t.Fatalf("%+v, want %d messages handled", failing.Info(), want)
			}
			time.Sleep(time.Millisecond)
		}
	}
	send(1, 3)
	handled(3)
	for round := range uint64(2) {
		var err error
		if round == 0 { // from the program
			_, err = failing.Ask(ctx, flaw)
		} else { // from another actor
			send(flaw, 1)
			for failing.State() != ring.Failed && ctx.Err() == nil {
				time.Sleep(time.Millisecond)
			}
			err = failing.Info().Err
		}
		if err == nil {
			t.Fatal("no failure")
		}
		if err := failing.Restart(false); err != nil {
			t.Fatal(err)
		}
		send(1, 3)
		handled(6 + 3*round)
	}
}

// TestARestartingHostActorRefusesNothing: what the device sends it stays in its mailbox
// until the actor goes on.
func TestARestartingHostActorRefusesNothing(t *testing.T) {
	each(t, func(t *testing.T, ctx context.Context, rt *ring.Runtime) {
		const senders, n = 4, 100
		bursts := 60
		if rt.Device().Backend() == gpu.Sim || slowness > 1 { // a message takes fifty times as long
			bursts = 5
		}
		failed := errors.New("asked to")
		host, err := ring.SpawnHost(ctx, rt, func(_ context.Context, _ *ring.HostContext, in, _ *int64) kernel.Action {
			if *in%5 == 0 {
				panic(failed)
			}
			return kernel.Done
		}, ring.Options{MaxRestarts: math.MaxInt, Supervisor: func(ring.Failure) ring.Decision { return ring.Resume }})
		if err != nil {
			t.Fatal(err)
		}
		var all sync.WaitGroup
		for range senders {
			s := spawned(t, ctx, rt, SpawnScatter, ring.Options{})
			all.Go(func() {
				for range bursts {
					if r, err := s.Ask(ctx, Burst{To: host.Ref(), Count: n}); err != nil || r != n {
						t.Error(r, err)
						return
					}
				}
			})
		}
		all.Wait()
		for host.Info().Queued > 0 && ctx.Err() == nil {
			time.Sleep(time.Millisecond)
		}
		if n := rt.DeadLetters().Count(ring.ReasonRefused); n != 0 {
			t.Errorf("%d messages were refused", n)
		}
		sent := uint64(senders * bursts * n)
		if i := host.Info(); i.Accepted != sent || i.Handled != sent*4/5 || i.Failed != sent/5 {
			t.Errorf("%+v, want %d messages, a fifth of them failed", i, sent)
		}
	})
}
