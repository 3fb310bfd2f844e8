package actors

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"testing"
	"time"

	"quern.dev/gpu"
	"quern.dev/internal/driver/cuda"
	"quern.dev/internal/driver/cuda/fakecuda"
	"quern.dev/kernel"
	"quern.dev/ring"
	"quern.dev/ring/actor"
)

// Two devices of one GPU have a runtime each.
func TestRuntimesOfOneGPUMakeWayForEachOther(t *testing.T) {
	lib := fakecuda.New(1)
	lib.Blocks = 32
	t.Cleanup(cuda.Substitute(lib))
	var runtimes [2]*ring.Runtime
	for i := range runtimes {
		dev, err := gpu.Open(gpu.Config{Device: "cuda:0"})
		if err == nil {
			runtimes[i], err = ring.New(dev, ring.Config{Life: time.Hour})
		}
		if err != nil {
			t.Fatal(err)
		}
	}
	ctx := within(t, 60*time.Second)
	work := func(rt *ring.Runtime, times int) error {
		for i := range times {
			a, err := SpawnEcho(ctx, rt, ring.Options{Capacity: 16})
			if err != nil {
				return err
			}
			if r, err := a.Ask(ctx, Message{[16]uint32{7}}); err != nil || r.Words[0] != 8 {
				return fmt.Errorf("actor %d: %d, %w", i, r.Words[0], err)
			}
			if err := errors.Join(makeWay(rt.Device()), a.Deactivate()); err != nil {
				return err
			}
		}
		return nil
	}
	var all sync.WaitGroup
	for _, rt := range runtimes {
		all.Go(func() {
			if err := work(rt, 16); err != nil {
				t.Error(err)
			}
		})
	}
	all.Wait()
	all.Go(func() {
		if err := errors.Join(runtimes[1].Close(), runtimes[1].Device().Close()); err != nil {
			t.Error(err)
		}
	})
	if err := work(runtimes[0], 4); err != nil {
		t.Error(err)
	}
	all.Wait()
	if err := errors.Join(work(runtimes[0], 1), runtimes[0].Close(), runtimes[0].Device().Close()); err != nil {
		t.Error(err)
	}
	if left := lib.Left(); left != "" {
		t.Error("left in the driver:", left)
	}
}

// The mailboxes that actors have for each other lie in memory that grows with the
// first of these, which is freed beside actors that run.
func TestManyActorsBesideOthersThatWork(t *testing.T) {
	rt, _ := double(t, 256, ring.Config{})
	ctx := within(t, 60*time.Second)
	first, err := SpawnEcho(ctx, rt, ring.Options{})
	if err != nil {
		t.Fatal(err)
	}
	stop, done := make(chan struct{}), make(chan struct{})
	go func() {
		defer close(done)
		for i := uint32(0); ; i++ {
			if r, err := first.Ask(ctx, Message{[16]uint32{i}}); err != nil || r.Words[0] != i+1 {
				t.Errorf("message %d: %d, %v", i, r.Words[0], err)
				return
			}
			if err := makeWay(rt.Device()); err != nil {
				t.Error(err)
				return
			}
			select {
			case <-stop:
				return
			default:
			}
		}
	}()
	for i := range 63 { // inactive, since the double takes the processor for those that look for messages
		a, err := SpawnEcho(ctx, rt, ring.Options{Capacity: 16, Inactive: true})
		if err == nil && i%16 == 0 {
			if err = a.Activate(); err == nil {
				_, err = a.Ask(ctx, Message{})
			}
		}
		if err != nil {
			t.Fatalf("actor %d: %v", i, err)
		}
	}
	close(stop)
	<-done
}

func TestActorsPlayBallAfterTheirMailboxesHaveMoved(t *testing.T) {
	each(t, func(t *testing.T, ctx context.Context, rt *ring.Runtime) {
		const turns = 20
		end := spawned(t, ctx, rt, SpawnCount, ring.Options{})
		a := spawned(t, ctx, rt, SpawnBounce, ring.Options{State: Match{Result: end.Ref()}})
		b := spawned(t, ctx, rt, SpawnBounce, ring.Options{State: Match{Result: end.Ref()}})
		for game := range uint32(2) {
			if err := a.Tell(ctx, Ball{Back: b.Ref(), Left: turns}); err != nil {
				t.Fatal(err)
			}
			for got := (Ball{}); got.Count != game+1; {
				var err error
				if got, err = end.Ask(ctx, Ball{}); err != nil {
					t.Fatalf("game %d: %v", game, err)
				}
			}
			for range 40 {
				spawned(t, ctx, rt, SpawnEcho, ring.Options{Capacity: 16, Inactive: true})
			}
		}
	})
}

func TestClosingTheDeviceBeforeTheRuntime(t *testing.T) {
	lib := fakecuda.New(1)
	lib.Blocks = 32
	t.Cleanup(cuda.Substitute(lib))
	dev, err := gpu.Open(gpu.Config{Device: "cuda:0"})
	if err != nil {
		t.Fatal(err)
	}
	rt, err := ring.New(dev, ring.Config{})
	if err != nil {
		t.Fatal(err)
	}
	ctx := within(t, 20*time.Second)
	spawned(t, ctx, rt, SpawnEcho, ring.Options{})
	host, err := ring.SpawnHost(ctx, rt, func(context.Context, *ring.HostContext, *Ball, *Ball) kernel.Action { return kernel.Done }, ring.Options{})
	if err != nil {
		t.Fatal(err)
	}
	if host.Ref() == (actor.Ref[Ball]{}) {
		t.Error("the host actor cannot be reached from the device")
	}
	done := make(chan struct{})
	go func() {
		defer close(done)
		if err := errors.Join(dev.Close(), rt.Close()); err != nil {
			t.Error(err)
		}
		if left := lib.Left(); left != "" {
			t.Error("left in the driver:", left)
		}
	}()
	select {
	case <-done:
	case <-ctx.Done():
		t.Error("does not end")
	}
}

// A launch that stays keeps one of the driver's queues, and where there are too few of
// them, the next waits for one to leave: so many actors are in dozens of launches.
func TestAThousandActorsAreThereAtOnce(t *testing.T) {
	const actors, most = 1000, 5 * time.Second // a launch stays for 10
	each(t, func(t *testing.T, ctx context.Context, rt *ring.Runtime) {
		begin := time.Now()
		list := make([]*ring.Actor[Message, Message], actors)
		for i := range list {
			a, err := SpawnEcho(ctx, rt, ring.Options{})
			if err != nil {
				t.Fatal(err)
			}
			list[i] = a
		}
		for i, a := range list {
			if r, err := a.Ask(ctx, Message{[16]uint32{uint32(i)}}); err != nil || r.Words[0] != uint32(i)+1 {
				t.Fatalf("actor %d: %d, %v", i, r.Words[0], err)
			}
		}
		if took := time.Since(begin); took > slowness*most {
			t.Errorf("%d actors answered after %v, want %v at most", actors, took, most)
		}
	})
}
