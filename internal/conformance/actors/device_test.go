package actors

import (
	"context"
	"os"
	"slices"
	"sync"
	"testing"
	"time"

	"quern.dev/gpu"
	"quern.dev/ring"
)

// deviceVariable is the environment variable with the back end to measure: cuda
// for the figures of resident actors.
const deviceVariable = "QUERN_MEASURE_ACTORS"

func measured(t *testing.T) *ring.Runtime {
	if os.Getenv(deviceVariable) == "" {
		t.Skip("measures only if " + deviceVariable + " names a back end: cuda, cpu or sim")
	}
	return open(t, gpu.Backend(os.Getenv(deviceVariable)))
}

func percentiles(t *testing.T, name string, d []time.Duration) {
	slices.Sort(d)
	at := func(p float64) time.Duration { return d[int(p*float64(len(d)-1))] }
	t.Logf("%s: p50 %v p90 %v p99 %v p99.9 %v max %v (n=%d)", name, at(.5), at(.9), at(.99), at(.999), d[len(d)-1], len(d))
}

func TestMeasureLatency(t *testing.T) {
	rt := measured(t)
	ctx := context.Background()
	begin := time.Now()
	a, err := SpawnEcho(ctx, rt, ring.Options{})
	if err != nil {
		t.Fatal(err)
	}
	if _, err := a.Ask(ctx, Message{}); err != nil {
		t.Fatal(err)
	}
	t.Logf("spawn to first reply, cold: %v", time.Since(begin))
	begin = time.Now()
	b, err := SpawnEcho(ctx, rt, ring.Options{})
	if err != nil {
		t.Fatal(err)
	}
	if _, err := b.Ask(ctx, Message{}); err != nil {
		t.Fatal(err)
	}
	t.Logf("spawn to first reply, warm: %v", time.Since(begin))
	d := make([]time.Duration, 0, 200000)
	stop := time.Now().Add(3 * time.Second)
	for i := uint32(0); len(d) < cap(d) && time.Now().Before(stop); i++ {
		begin := time.Now()
		r, err := a.Ask(ctx, Message{[16]uint32{i, 15: i}})
		if err != nil {
			t.Fatal(err)
		}
		d = append(d, time.Since(begin))
		if r.Words[0] != i+1 || r.Words[15] != i+1 {
			t.Fatalf("%d: %v", i, r)
		}
	}
	percentiles(t, "ask", d)
	cancellable, cancel := context.WithCancel(ctx)
	defer cancel()
	for _, gap := range []time.Duration{0, 300 * time.Nanosecond, time.Microsecond, 2 * time.Microsecond} {
		d = d[:0]
		for range 20000 {
			for begin := time.Now(); time.Since(begin) < gap; {
			}
			begin := time.Now()
			if _, err := a.Ask(cancellable, Message{}); err != nil {
				t.Fatal(err)
			}
			d = append(d, time.Since(begin))
		}
		percentiles(t, "ask that can be cancelled, "+gap.String()+" after the last reply", d)
	}
	c, err := SpawnEcho(ctx, rt, ring.Options{Spin: time.Nanosecond})
	if err != nil {
		t.Fatal(err)
	}
	d = d[:0]
	for range 20000 {
		begin := time.Now()
		if _, err := c.Ask(ctx, Message{}); err != nil {
			t.Fatal(err)
		}
		d = append(d, time.Since(begin))
	}
	percentiles(t, "ask of an actor that pauses at once", d)
}

func flood(t *testing.T, actors, feeders, total int) {
	rt := measured(t)
	ctx := context.Background()
	var list []*ring.Actor[Message, Message]
	for range actors {
		a, err := SpawnEcho(ctx, rt, ring.Options{})
		if err != nil {
			t.Fatal(err)
		}
		list = append(list, a)
	}
	var wg sync.WaitGroup
	begin := time.Now()
	for f := range feeders {
		wg.Go(func() {
			const batch = 256
			msgs, got := make([]Message, batch), make([]Message, batch)
			var mine []*ring.Actor[Message, Message]
			for i := f; i < actors; i += feeders {
				mine = append(mine, list[i])
			}
			sent, recv := make([]int, len(mine)), make([]int, len(mine))
			n := total / actors
			for left := len(mine); left > 0; {
				for k, a := range mine {
					for sent[k] < n && sent[k]-recv[k] <= 2048-batch {
						for j := range msgs {
							msgs[j].Words[0] = uint32(sent[k] + j)
						}
						m, err := a.SendBatch(ctx, msgs[:min(batch, n-sent[k])])
						if err != nil {
							t.Error(err)
							return
						}
						sent[k] += m
					}
					if recv[k] == n {
						continue
					}
					m, err := a.ReceiveBatch(ctx, got)
					if err != nil {
						t.Error(err)
						return
					}
					for j := range m {
						if got[j].Words[0] != uint32(recv[k]+j+1) {
							t.Errorf("reply %d is %d", recv[k]+j, got[j].Words[0])
							return
						}
					}
					if recv[k] += m; recv[k] == n {
						left--
					}
				}
			}
		})
	}
	wg.Wait()
	took := time.Since(begin)
	i := list[0].Info()
	t.Logf("handler %v, waiting %v", i.Handler, i.Waiting)
	t.Logf("%d actors, %d feeders: %d messages of 64 bytes in %v: %.2f M/s", actors, feeders, total, took, float64(total)/took.Seconds()/1e6)
}

func TestMeasureThroughputOne(t *testing.T)    { flood(t, 1, 1, 4_000_000) }
func TestMeasureThroughput64(t *testing.T)     { flood(t, 64, 8, 32_000_000) }
func TestMeasureThroughput64of4(t *testing.T)  { flood(t, 64, 4, 16_000_000) }
func TestMeasureThroughput64of14(t *testing.T) { flood(t, 64, 14, 32_000_000) }

func TestMeasureQuiesce(t *testing.T) {
	rt := measured(t)
	dev := rt.Device()
	ctx := within(t, 15*time.Second)
	var list []*ring.Actor[Message, Message]
	for range 8 {
		a, err := SpawnEcho(ctx, rt, ring.Options{})
		if err != nil {
			t.Fatal(err)
		}
		list = append(list, a)
	}
	stop := make(chan struct{})
	var wg sync.WaitGroup
	counts := make([]uint32, len(list))
	var worst [8]time.Duration
	for k, a := range list {
		wg.Go(func() {
			for i := uint32(0); ; i++ {
				select {
				case <-stop:
					counts[k] = i
					return
				default:
				}
				begin := time.Now()
				r, err := a.Ask(ctx, Message{[16]uint32{i}})
				worst[k] = max(worst[k], time.Since(begin))
				if err != nil || r.Words[0] != i+1 {
					t.Errorf("actor %d, message %d: %v %v", k, i, r.Words[0], err)
					return
				}
			}
		})
	}
	measure := func(name string, n int, f func() error) {
		d := make([]time.Duration, 0, n)
		for range n {
			begin := time.Now()
			if err := f(); err != nil {
				t.Errorf("%s: %v", name, err)
			}
			d = append(d, time.Since(begin))
		}
		percentiles(t, name, d)
	}
	measure("pause", 200, func() error {
		if err := rt.Quiesce("test"); err != nil {
			return err
		}
		return rt.Resume()
	})
	measure("alloc and free", 100, func() error {
		b, err := gpu.Alloc[float32](dev, 1<<20)
		if err != nil {
			return err
		}
		return b.Close()
	})
	measure("host alloc and free", 30, func() error {
		b, err := gpu.AllocHost[float32](dev, 1<<16)
		if err != nil {
			return err
		}
		return b.Close()
	})
	s := dev.DefaultStream()
	measure("upload and download", 50, func() error {
		b, err := gpu.Upload(s, make([]float32, 1<<16))
		if err != nil {
			return err
		}
		err = gpu.Download(ctx, s, make([]float32, 1<<16), b)
		b.Close()
		return err
	})
	measure("load a kernel", 1, func() error { return quernFirstOfActor.Prepare(dev) })
	close(stop)
	wg.Wait()
	t.Log(counts, worst)
}
