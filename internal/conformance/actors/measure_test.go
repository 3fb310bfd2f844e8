package actors

import (
	"context"
	"sync"
	"testing"
	"time"

	"quern.dev/ring"
)

func TestMeasureClosing(t *testing.T) {
	for _, capacity := range []int{0, 512, 64} {
		rt := measured(t)
		ctx := context.Background()
		begin := time.Now()
		var list []*ring.Actor[Message, Message]
		for range 1000 {
			a, err := SpawnEcho(ctx, rt, ring.Options{Capacity: capacity})
			if err != nil {
				t.Fatal(err)
			}
			list = append(list, a)
		}
		spawned := time.Since(begin)
		for _, a := range list {
			if _, err := a.Ask(ctx, Message{}); err != nil {
				t.Fatal(err)
			}
		}
		begin = time.Now()
		if err := rt.Close(); err != nil {
			t.Error(err)
		}
		t.Logf("capacity %d: 1000 actors spawned in %v, closed in %v", capacity, spawned, time.Since(begin))
	}
}

func TestMeasureBounded(t *testing.T) {
	dev := measured(t).Device()
	rt, err := ring.New(dev, ring.Config{Bounded: true, Idle: 100 * time.Microsecond})
	if err != nil {
		t.Fatal(err)
	}
	defer rt.Close()
	ctx := context.Background()
	a, err := SpawnEcho(ctx, rt, ring.Options{})
	if err != nil {
		t.Fatal(err)
	}
	d := make([]time.Duration, 0, 300)
	for range 300 {
		begin := time.Now()
		if _, err := a.Ask(ctx, Message{}); err != nil {
			t.Fatal(err)
		}
		d = append(d, time.Since(begin))
		time.Sleep(2 * time.Millisecond)
	}
	t.Logf("%d launches", rt.Stats().Launches)
	percentiles(t, "ask of an actor that has left", d)
}

// TestMeasureTurns has three times as many actors as can be resident.
func TestMeasureTurns(t *testing.T) {
	dev := measured(t).Device()
	rt, err := ring.New(dev, ring.Config{Bounded: true})
	if err != nil {
		t.Fatal(err)
	}
	defer rt.Close()
	ctx := within(t, 20*time.Second)
	n := 3 * 2 * (dev.Attributes().Multiprocessors - 1)
	var mu sync.Mutex
	var d []time.Duration
	var all sync.WaitGroup
	begin := time.Now()
	var list []*ring.Actor[uint32, uint32]
	for range n {
		a, err := SpawnBulky(ctx, rt, ring.Options{Capacity: 16})
		if err != nil {
			t.Fatal(err)
		}
		list = append(list, a)
	}
	t.Logf("%d actors spawned in %v", n, time.Since(begin))
	begin = time.Now()
	for _, a := range list {
		all.Go(func() {
			for i := range uint32(20) {
				begin := time.Now()
				if r, err := a.Ask(ctx, i); err != nil || r != i+1 {
					t.Errorf("%s, message %d: %d, %v", a.Name(), i, r, err)
					return
				}
				mu.Lock()
				d = append(d, time.Since(begin))
				mu.Unlock()
			}
		})
	}
	all.Wait()
	t.Logf("%d messages in %v, %d launches", len(d), time.Since(begin), rt.Stats().Launches)
	if len(d) > 0 {
		percentiles(t, "ask of one of them", d)
	}
}
