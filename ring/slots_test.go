package ring_test

import (
	"context"
	"errors"
	"fmt"
	"sync/atomic"
	"testing"
	"time"

	"quern.dev/kernel"
	"quern.dev/ring"
)

// full is a host actor whose slots all contain replies that have not been taken.
type full struct {
	actor   *ring.Actor[int, int]
	handled atomic.Int64
	release chan struct{} // closed: the replies are taken
	taken   chan error
}

func fullActor(t *testing.T, rt *ring.Runtime, capacity int) *full {
	t.Helper()
	f := &full{release: make(chan struct{}), taken: make(chan error, 1)}
	f.actor = spawn(t, rt, ring.Options{Capacity: capacity}, func(_ context.Context, _ *ring.HostContext, in, out *int) kernel.Action {
		*out = *in
		f.handled.Add(1)
		return kernel.Reply
	})
	slots := min(capacity, 256)
	ctx := within(t)
	asked := make([]func() error, slots)
	for i := range asked {
		asked[i] = ring.AskAndHold(ctx, f.actor, i)
	}
	go func() {
		<-f.release
		var errs []error
		for _, take := range asked {
			errs = append(errs, take())
		}
		f.taken <- errors.Join(errs...)
	}()
	f.wait(t, int64(slots))
	return f
}

// wait waits until the given number of messages have been handled.
func (f *full) wait(t *testing.T, messages int64) {
	t.Helper()
	for end := time.Now().Add(20 * time.Second); f.handled.Load() < messages; time.Sleep(time.Millisecond) {
		if time.Now().After(end) {
			t.Fatalf("%d messages handled, want %d", f.handled.Load(), messages)
		}
	}
}

func TestHostActorsHandleWhatWaitedForASlot(t *testing.T) {
	for _, capacity := range []int{1, 8, 4096} {
		t.Run(fmt.Sprint("taken, capacity ", capacity), func(t *testing.T) {
			f := fullActor(t, open(t, ring.Config{}), capacity)
			if err := f.actor.Tell(t.Context(), 1); err != nil {
				t.Fatal(err)
			}
			time.Sleep(20 * time.Millisecond) // so that the actor finds no free slot
			close(f.release)
			if err := <-f.taken; err != nil {
				t.Fatal(err)
			}
			f.wait(t, int64(min(capacity, 256))+1)
		})
		t.Run(fmt.Sprint("given up, capacity ", capacity), func(t *testing.T) {
			rt := open(t, ring.Config{})
			started, release := make(chan struct{}, 1), make(chan struct{})
			var handled atomic.Int64
			a := spawn(t, rt, ring.Options{Capacity: capacity}, func(_ context.Context, _ *ring.HostContext, in, out *int) kernel.Action {
				if handled.Add(1) == 1 {
					started <- struct{}{}
					<-release
				}
				return kernel.Reply
			})
			ctx, cancel := context.WithCancel(t.Context())
			asked := make(chan error, 1)
			go func() {
				_, err := a.Ask(ctx, 0)
				asked <- err
			}()
			<-started
			cancel()
			if err := <-asked; !errors.Is(err, context.Canceled) {
				t.Fatal(err)
			}
			told := make(chan error, 1)
			go func() { told <- a.Tell(t.Context(), 1) }()
			time.Sleep(20 * time.Millisecond)
			close(release)
			if err := <-told; err != nil {
				t.Fatal(err)
			}
			for end := time.Now().Add(20 * time.Second); handled.Load() < 2; time.Sleep(time.Millisecond) {
				if time.Now().After(end) {
					t.Fatal("the message that waited was not handled")
				}
			}
		})
	}
}
