package actors

import (
	"context"
	"errors"
	"fmt"
	"math"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"quern.dev/gpu"
	"quern.dev/kernel"
	"quern.dev/ring"
)

// indexOf is the index that a failure names.
func indexOf(err error) (int64, bool) {
	var fault *gpu.KernelError
	if !errors.As(err, &fault) || fault.Length == 0 {
		return 0, false
	}
	return fault.Index, true
}

// TestEachFailureHasItsOwnError asks and tells actors that fail on what they get, again
// and again: callers and dead letters get the error of their message, not of another.
func TestEachFailureHasItsOwnError(t *testing.T) {
	each(t, func(t *testing.T, ctx context.Context, rt *ring.Runtime) {
		resume := func(ring.Failure) ring.Decision { return ring.Resume }
		a := spawned(t, ctx, rt, SpawnFirstOf, ring.Options{Supervisor: resume, MaxRestarts: math.MaxInt, Name: "failing"})
		const callers, each = 8, 20
		var told atomic.Int64
		var all sync.WaitGroup
		for caller := range int32(callers) {
			all.Go(func() {
				for i := range int32(each) {
					index := 1000 + caller*100 + i
					if i%2 == 0 {
						if retry(ctx, func() error { return a.Tell(ctx, [4]int32{index}) }) == nil {
							told.Add(1)
						}
						continue
					}
					err := retry(ctx, func() error { _, err := a.Ask(ctx, [4]int32{index}); return err })
					if got, ok := indexOf(err); !ok || got != int64(index) {
						t.Errorf("asked with index %d, told %v", index, err)
						return
					}
				}
			})
		}
		all.Wait()
		letters := rt.DeadLetters()
		for n := 0; n < callers*each; n++ {
			l, err := letters.Receive(ctx)
			if err != nil {
				t.Fatalf("letter %d of %d: %v", n, callers*each, err)
			}
			if l.Reason != ring.ReasonFailed {
				n-- // a StateError's
				continue
			}
			sent := l.Body.([4]int32)[0]
			if got, ok := indexOf(l.Err); !ok || got != int64(sent) {
				t.Errorf("letter of index %d has the error %v", sent, l.Err)
			}
		}
	})
}

// retry calls f again while it gives a StateError of an actor that has failed.
func retry(ctx context.Context, f func() error) error {
	for {
		err := f()
		var state *ring.StateError
		if !errors.As(err, &state) || state.State == ring.Terminated || ctx.Err() != nil {
			return err
		}
		time.Sleep(100 * time.Microsecond)
	}
}

func TestEachFailureOfAHostActorHasItsOwnError(t *testing.T) {
	rt := open(t, gpu.CPU)
	ctx := within(t, 20*time.Second)
	resume := func(ring.Failure) ring.Decision { return ring.Resume }
	a, err := ring.SpawnHost(ctx, rt, func(_ context.Context, _ *ring.HostContext, in, _ *int) kernel.Action {
		panic(*in)
	}, ring.Options{Supervisor: resume, MaxRestarts: math.MaxInt})
	if err != nil {
		t.Fatal(err)
	}
	const callers, each = 16, 50
	var all sync.WaitGroup
	for caller := range callers {
		all.Go(func() {
			for i := range each {
				v := caller*each + i
				err := retry(ctx, func() error { _, err := a.Ask(ctx, v); return err })
				var p *ring.PanicError
				if !errors.As(err, &p) || p.Value != v {
					t.Errorf("asked %d, told %v", v, err)
					return
				}
			}
		})
	}
	all.Wait()
	for l := range rt.DeadLetters().All() {
		var p *ring.PanicError
		if l.Reason == ring.ReasonFailed && (!errors.As(l.Err, &p) || p.Value != l.Body) {
			t.Errorf("letter of %v has the error %v", l.Body, l.Err)
		}
	}
}

// TestAStateErrorMeansThatTheMessageIsNotHandled asks an actor that fails while others
// wait for it. Whoever gets a StateError asks again, and each message is handled once.
func TestAStateErrorMeansThatTheMessageIsNotHandled(t *testing.T) {
	each(t, func(t *testing.T, ctx context.Context, rt *ring.Runtime) {
		for _, capacity := range []int{4, 64} {
			t.Run(fmt.Sprint("capacity ", capacity), func(t *testing.T) {
				release := make(chan struct{})
				a := spawned(t, ctx, rt, SpawnAccumulate, ring.Options{Capacity: capacity, Inactive: true, MaxRestarts: math.MaxInt, Supervisor: func(ring.Failure) ring.Decision {
					<-release
					return ring.Resume
				}})
				var sum, denied atomic.Int64
				var all sync.WaitGroup
				ask := func(s Sample) error {
					_, err := a.Ask(ctx, s)
					var state *ring.StateError
					if errors.As(err, &state) && !state.Uncertain {
						denied.Add(1)
					}
					return err
				}
				for range 1 + capacity/2 {
					all.Go(func() {
						var failed *ring.HandlerError
						if err := retry(ctx, func() error { return ask(Sample{Kind: Crash}) }); !errors.As(err, &failed) {
							t.Error(err)
						}
					})
					all.Go(func() {
						if err := retry(ctx, func() error { return ask(Sample{Value: 1}) }); err != nil {
							t.Error(err)
						}
						sum.Add(1)
					})
				}
				for a.Info().Queued < uint64(min(capacity, 2+capacity/2*2)) {
					time.Sleep(time.Millisecond)
				}
				if err := a.Activate(); err != nil {
					t.Fatal(err)
				}
				time.AfterFunc(50*time.Millisecond, func() {
					defer close(release)
					for denied.Load() == 0 && ctx.Err() == nil { // on a busy machine the others take longer
						time.Sleep(time.Millisecond)
					}
				})
				all.Wait()
				var r Reply
				err := retry(ctx, func() (err error) { // the supervisor may be at the last failure
					r, err = a.Ask(ctx, Sample{})
					return err
				})
				if err != nil || r.Sum != sum.Load() {
					t.Errorf("the actor has added up %d, %v; %d were asked for", r.Sum, err, sum.Load())
				}
				if denied.Load() == 0 {
					t.Error("nobody got a StateError")
				}
				i := a.Info()
				if i.Accepted != i.Queued+i.Handled+i.Failed+i.Expired+i.Dropped {
					t.Errorf("%+v does not add up", i)
				}
			})
		}
	})
}
