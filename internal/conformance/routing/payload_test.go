package routing

import (
	"context"
	"errors"
	"strings"
	"sync"
	"testing"
	"time"

	"quern.dev/gpu"
	"quern.dev/kernel"
	"quern.dev/ring"
	"quern.dev/ring/actor"
)

type (
	worker = ring.Actor[Batch, Result]
	floats = ring.Payload[float32]
)

// payload makes one with values from 1 on.
func payload(t *testing.T, ctx context.Context, rt *ring.Runtime, n int) *floats {
	t.Helper()
	p := must[*floats](t)(ring.NewPayload[float32](rt, n))
	values := make([]float32, n)
	for i := range values {
		values[i] = float32(i + 1)
	}
	if err := p.Write(ctx, values); err != nil {
		t.Fatal(err)
	}
	return p
}

func releaseAll(t *testing.T, list ...*floats) {
	t.Helper()
	for _, p := range list {
		if err := p.Release(); err != nil {
			t.Error(err)
		}
	}
}

func TestHandlersReadAndWritePayloads(t *testing.T) {
	everyDevice(t, ring.Config{}, func(t *testing.T, ctx context.Context, rt *ring.Runtime) {
		before := payload(t, ctx, rt, 77)
		p := payload(t, ctx, rt, 1000)
		a := must[*worker](t)(SpawnWork(ctx, rt, ring.Options{}))
		for turn := range 3 {
			if r := must[Result](t)(a.Ask(ctx, Batch{Values: p.Ref()})); r.Sum != float32(500500*int(1)<<turn) {
				t.Errorf("turn %d: sum %v", turn, r.Sum)
			}
			must[Result](t)(a.Ask(ctx, Batch{Values: p.Ref(), Do: Scale}))
		}
		must[Result](t)(a.Ask(ctx, Batch{Values: p.Ref().Slice(10, 20), Do: Scale}))
		values := make([]float32, 1000)
		if err := p.Read(ctx, values); err != nil {
			t.Fatal(err)
		}
		for i, v := range values {
			want := float32(8 * (i + 1))
			if i >= 10 && i < 20 {
				want *= 2
			}
			if v != want {
				t.Fatalf("element %d is %v, want %v", i, v, want)
			}
		}
		if r := must[Result](t)(a.Ask(ctx, Batch{Values: before.Ref()})); r.Sum != 77*78/2 {
			t.Errorf("the payload before it: sum %v", r.Sum)
		}
		if err := gpu.Fill(rt.Device().DefaultStream(), p.Buffer(), 0.5); err != nil {
			t.Fatal(err)
		}
		if err := rt.Device().DefaultStream().Synchronize(ctx); err != nil {
			t.Fatal(err)
		}
		if r := must[Result](t)(a.Ask(ctx, Batch{Values: p.Ref()})); r.Sum != 500 {
			t.Errorf("filled through its buffer: sum %v", r.Sum)
		}
		releaseAll(t, before, p)
	})
}

func TestAReleasedPayloadIsAnErrorAndNeverZeros(t *testing.T) {
	everyDevice(t, ring.Config{PayloadBytes: 4096}, func(t *testing.T, ctx context.Context, rt *ring.Runtime) {
		p := payload(t, ctx, rt, 10)
		stale := p.Ref()
		for _, c := range []struct {
			name string
			do   func(a *worker) error
			want string
		}{
			{"nothing", func(a *worker) error { _, err := a.Ask(ctx, Batch{}); return err }, "reference to no payload"},
			{"what it does not hold", func(a *worker) error { _, err := a.Ask(ctx, Batch{Do: Drop}); return err }, "reference to no payload"},
			{"what it has kept and dropped", func(a *worker) error {
				q := payload(t, ctx, rt, 10)
				must[Result](t)(a.Ask(ctx, Batch{Values: q.Ref(), Do: Keep}))
				releaseAll(t, q)
				if r := must[Result](t)(a.Ask(ctx, Batch{Do: Kept})); r.Sum != 55 {
					t.Errorf("what it has kept: sum %v", r.Sum)
				}
				must[Result](t)(a.Ask(ctx, Batch{Do: Drop}))
				_, err := a.Ask(ctx, Batch{Do: Kept})
				return err
			}, "payload was released"},
			{"what is another's", func(a *worker) error {
				q := payload(t, ctx, rt, 10)
				must[Result](t)(a.Ask(ctx, Batch{Values: q.Ref(), Do: Keep}))
				must[Result](t)(a.Ask(ctx, Batch{Do: Drop}))
				releaseAll(t, q)
				all := must[*floats](t)(ring.NewPayload[float32](rt, 1<<10-64))
				defer releaseAll(t, all)
				_, err := a.Ask(ctx, Batch{Do: Kept})
				return err
			}, "payload was released"},
			{"two drops", func(a *worker) error {
				q := payload(t, ctx, rt, 10)
				defer releaseAll(t, q)
				must[Result](t)(a.Ask(ctx, Batch{Values: q.Ref(), Do: Keep}))
				must[Result](t)(a.Ask(ctx, Batch{Do: Drop}))
				_, err := a.Ask(ctx, Batch{Do: Drop})
				return err
			}, "released more often than retained"},
		} {
			t.Run(c.name, func(t *testing.T) {
				a := must[*worker](t)(SpawnWork(ctx, rt, ring.Options{}))
				err := c.do(a)
				var failed *ring.HandlerError
				var fault *gpu.KernelError
				if !errors.As(err, &failed) || !errors.As(err, &fault) || !strings.Contains(err.Error(), c.want) {
					t.Errorf("got %v, want %q", err, c.want)
				}
			})
		}
		a := must[*worker](t)(SpawnWork(ctx, rt, ring.Options{}))
		releaseAll(t, p)
		_, err := a.Ask(ctx, Batch{Values: stale})
		if !errors.Is(err, ring.ErrReleased) {
			t.Errorf("asked: %v, want ErrReleased", err)
		}
		if err := a.Send(ctx, Batch{Values: stale}); !errors.Is(err, ring.ErrReleased) {
			t.Errorf("sent: %v, want ErrReleased", err)
		}
		if err := a.Tell(ctx, Batch{Values: actor.Payload[float32]{Entry: 1 << 20, Generation: 1, Length: 4}}); !errors.Is(err, ring.ErrReleased) {
			t.Errorf("what never was: %v, want ErrReleased", err)
		}
		if a.State() != ring.Active {
			t.Errorf("the actor is %v", a.State())
		}
	})
}

func TestQueuedMessagesHoldTheirPayloads(t *testing.T) {
	everyDevice(t, ring.Config{PayloadBytes: 4096}, func(t *testing.T, ctx context.Context, rt *ring.Runtime) {
		a := must[*worker](t)(SpawnWork(ctx, rt, ring.Options{Inactive: true}))
		p := payload(t, ctx, rt, 1000)
		for range 5 {
			if err := a.Send(ctx, Batch{Values: p.Ref()}); err != nil {
				t.Fatal(err)
			}
		}
		releaseAll(t, p)
		var full *ring.PayloadMemoryError
		if _, err := ring.NewPayload[float32](rt, 1000); !errors.As(err, &full) || full.Size != 4096 {
			t.Fatalf("a second payload: %v, want no room", err)
		}
		if err := a.Activate(); err != nil {
			t.Fatal(err)
		}
		for range 5 {
			if r := must[Result](t)(a.Receive(ctx)); r.Sum != 500500 {
				t.Errorf("sum %v", r.Sum)
			}
		}
		for range 100 {
			q := payload(t, ctx, rt, 1000)
			if err := a.Send(ctx, Batch{Values: q.Ref()}); err != nil {
				t.Fatal(err)
			}
			releaseAll(t, q)
			if r := must[Result](t)(a.Receive(ctx)); r.Sum != 500500 {
				t.Errorf("sum %v", r.Sum)
			}
		}
	})
}

func TestActorsPassPayloadsOn(t *testing.T) {
	everyDevice(t, ring.Config{PayloadBytes: 4096}, func(t *testing.T, ctx context.Context, rt *ring.Runtime) {
		a := must[*worker](t)(SpawnWork(ctx, rt, ring.Options{Name: "a"}))
		b := must[*worker](t)(SpawnWork(ctx, rt, ring.Options{Name: "b"}))
		for i := range 20 {
			p := payload(t, ctx, rt, 1000)
			if err := a.Tell(ctx, Batch{Values: p.Ref(), Do: Forward, Next: b.Ref()}); err != nil {
				t.Fatal(err)
			}
			releaseAll(t, p)
			q := must[*floats](t)(waitForRoom(ctx, rt, 1000)) // when b has done with p
			if err := q.Write(ctx, make([]float32, 1000)); err != nil {
				t.Fatal(err)
			}
			r := must[Result](t)(b.Ask(ctx, Batch{Values: q.Ref(), Do: Give}))
			if r.Given != int32(i+1) || r.Sum != float32(i+1)*1001000 {
				t.Fatalf("turn %d: %+v", i, r)
			}
			given := must[*floats](t)(ring.TakePayload(rt, r.Values))
			opened := must[*floats](t)(ring.OpenPayload(rt, r.Values))
			releaseAll(t, q, given, opened)
		}
	})
}

// waitForRoom makes a payload as soon as there is room.
func waitForRoom(ctx context.Context, rt *ring.Runtime, n int) (*floats, error) {
	for {
		p, err := ring.NewPayload[float32](rt, n)
		var full *ring.PayloadMemoryError
		if !errors.As(err, &full) || ctx.Err() != nil {
			return p, err
		}
	}
}

func TestAskingWithAPayloadAllocatesNothing(t *testing.T) {
	everyDevice(t, ring.Config{}, func(t *testing.T, ctx context.Context, rt *ring.Runtime) {
		if rt.Device().Backend() == gpu.Sim {
			t.Skip("the simulator itself allocates: other devices are tested")
		}
		if raceEnabled {
			t.Skip("the race detector allocates: tested without it")
		}
		a := must[*worker](t)(SpawnWork(ctx, rt, ring.Options{}))
		p := payload(t, ctx, rt, 64)
		defer releaseAll(t, p)
		batch := Batch{Values: p.Ref()}
		ctx = context.Background() // without a timer
		if n := testing.AllocsPerRun(100, func() {
			if _, err := a.Ask(ctx, batch); err != nil {
				t.Fatal(err)
			}
		}); n >= 1 {
			t.Errorf("%v allocations for each message", n)
		}
	})
}

func BenchmarkAskWithAPayload(b *testing.B) {
	dev, err := gpu.Open(gpu.Config{})
	if err != nil {
		b.Fatal(err)
	}
	defer dev.Close()
	rt, err := ring.New(dev, ring.Config{})
	if err != nil {
		b.Fatal(err)
	}
	defer rt.Close()
	ctx := context.Background()
	a, err := SpawnWork(ctx, rt, ring.Options{})
	if err != nil {
		b.Fatal(err)
	}
	p, err := ring.NewPayload[float32](rt, 1<<10)
	if err != nil {
		b.Fatal(err)
	}
	defer p.Release()
	if err := p.Write(ctx, make([]float32, 1<<10)); err != nil {
		b.Fatal(err)
	}
	b.ReportAllocs()
	b.SetBytes(4 << 10)
	for b.Loop() {
		if _, err := a.Ask(ctx, Batch{Values: p.Ref()}); err != nil {
			b.Fatal(err)
		}
	}
}

func TestMessagesThatAreNotHandledLetGoOfTheirPayloads(t *testing.T) {
	for _, c := range []struct {
		name    string
		options ring.Options
		send    func(t *testing.T, ctx context.Context, a *worker, b Batch)
	}{
		{"expired", ring.Options{Inactive: true}, func(t *testing.T, ctx context.Context, a *worker, b Batch) {
			if err := a.Tell(ctx, b, ring.TTL(5*time.Millisecond)); err != nil && !errors.Is(err, ring.ErrExpired) {
				t.Fatal(err)
			}
		}},
		{"dropped", ring.Options{Inactive: true, Capacity: 1, Full: ring.DropOldest}, func(t *testing.T, ctx context.Context, a *worker, b Batch) {
			if err := errors.Join(a.Tell(ctx, b), a.Tell(ctx, Batch{})); err != nil {
				t.Fatal(err)
			}
		}},
		{"rejected", ring.Options{Inactive: true, Capacity: 1, Full: ring.Reject}, func(t *testing.T, ctx context.Context, a *worker, b Batch) {
			if err := a.Tell(ctx, Batch{}); err != nil {
				t.Fatal(err)
			}
			if err := a.Tell(ctx, b); !errors.Is(err, ring.ErrQueueFull) {
				t.Fatal(err)
			}
		}},
		{"left when the actor ends", ring.Options{Inactive: true}, func(t *testing.T, ctx context.Context, a *worker, b Batch) {
			if err := a.Tell(ctx, b); err != nil {
				t.Fatal(err)
			}
			if _, err := a.Terminate(ctx); err != nil {
				t.Fatal(err)
			}
		}},
		{"handled with a failure", ring.Options{}, func(t *testing.T, ctx context.Context, a *worker, b Batch) {
			b.Do = Drop // what it does not have
			if err := a.Tell(ctx, b); err != nil {
				t.Fatal(err)
			}
		}},
		{"handled without a reader", ring.Options{}, func(t *testing.T, ctx context.Context, a *worker, b Batch) {
			if err := a.Tell(ctx, b); err != nil {
				t.Fatal(err)
			}
		}},
	} {
		t.Run(c.name, func(t *testing.T) {
			everyDevice(t, ring.Config{PayloadBytes: 4096}, func(t *testing.T, ctx context.Context, rt *ring.Runtime) {
				a := must[*worker](t)(SpawnWork(ctx, rt, c.options))
				p := payload(t, ctx, rt, 1024)
				c.send(t, ctx, a, Batch{Values: p.Ref()})
				releaseAll(t, p)
				releaseAll(t, must[*floats](t)(waitForRoom(ctx, rt, 1024)))
				if a.State() != ring.Terminated {
					if _, err := a.Terminate(ctx); err != nil {
						t.Error(err)
					}
				}
			})
		})
	}
}

func TestHostActorsOpenPayloads(t *testing.T) {
	everyDevice(t, ring.Config{PayloadBytes: 4096}, func(t *testing.T, ctx context.Context, rt *ring.Runtime) {
		sum := func(ctx context.Context, c *ring.HostContext, in *Batch, out *Result) kernel.Action {
			p, err := ring.OpenPayload(c.Runtime(), in.Values)
			if err != nil {
				panic(err)
			}
			defer p.Release()
			values := make([]float32, p.Len())
			if err := p.Read(ctx, values); err != nil {
				panic(err)
			}
			for _, v := range values {
				out.Sum += v
			}
			return kernel.Reply
		}
		a := must[*worker](t)(ring.SpawnHost(ctx, rt, sum, ring.Options{}))
		for range 20 {
			p := payload(t, ctx, rt, 1000)
			if err := a.Send(ctx, Batch{Values: p.Ref()}); err != nil {
				t.Fatal(err)
			}
			releaseAll(t, p)
			if r := must[Result](t)(a.Receive(ctx)); r.Sum != 500500 {
				t.Errorf("sum %v", r.Sum)
			}
		}
	})
}

func TestManyThreadsSendPayloads(t *testing.T) {
	everyDevice(t, ring.Config{PayloadBytes: 64 << 10}, func(t *testing.T, ctx context.Context, rt *ring.Runtime) {
		var workers []*worker
		for range 4 {
			workers = append(workers, must[*worker](t)(SpawnWork(ctx, rt, ring.Options{})))
		}
		turns := 100
		if rt.Device().Backend() == gpu.Sim {
			turns = 15
		}
		var wg sync.WaitGroup
		for g := range 8 {
			wg.Go(func() {
				for i := range turns {
					n := 1 + (g*131+i*17)%1500
					p, err := waitForRoom(ctx, rt, n)
					if err != nil {
						t.Error(err)
						return
					}
					values := make([]float32, n)
					for k := range values {
						values[k] = float32(g + 1)
					}
					if err := p.Write(ctx, values); err != nil {
						t.Error(err)
					}
					a := workers[(g+i)%len(workers)]
					batch := Batch{Values: p.Ref()}
					if err := a.Tell(ctx, batch); err != nil {
						t.Error(err)
					}
					r, err := a.Ask(ctx, batch)
					if err != nil || r.Sum != float32((g+1)*n) {
						t.Errorf("%d values of %d: sum %v, %v", n, g+1, r.Sum, err)
					}
					if err := p.Release(); err != nil {
						t.Error(err)
					}
				}
			})
		}
		wg.Wait()
	})
}

// TestOneReleaseTooManyAfterTheProgramHasTakenAHold: it is an error, and takes no hold of
// another actor.
func TestOneReleaseTooManyAfterTheProgramHasTakenAHold(t *testing.T) {
	everyDevice(t, ring.Config{}, func(t *testing.T, ctx context.Context, rt *ring.Runtime) {
		spawn := func(name string) *ring.Actor[Batch, Result] {
			return must[*ring.Actor[Batch, Result]](t)(SpawnWork(ctx, rt, ring.Options{Name: name}))
		}
		ask := func(a *ring.Actor[Batch, Result], b Batch) Result {
			t.Helper()
			return must[Result](t)(a.Ask(ctx, b))
		}
		gives, keeps, drops := spawn("gives"), spawn("keeps"), spawn("drops")
		p := must[*ring.Payload[float32]](t)(ring.NewPayload[float32](rt, 64))
		if err := gpu.Fill(rt.Device().DefaultStream(), p.Buffer(), 1); err != nil {
			t.Fatal(err)
		}
		if err := rt.Device().Synchronize(ctx); err != nil {
			t.Fatal(err)
		}
		given := ask(gives, Batch{Values: p.Ref(), Do: Give})
		taken := must[*ring.Payload[float32]](t)(ring.TakePayload(rt, given.Values))
		ask(keeps, Batch{Values: p.Ref(), Do: Keep})
		ask(drops, Batch{Values: p.Ref(), Do: Keep})
		ask(drops, Batch{Do: Drop})
		ask(keeps, Batch{Do: Drop}) // now only the program has holds
		if _, err := drops.Ask(ctx, Batch{Do: Drop}); err == nil || !strings.Contains(err.Error(), "released more often than retained") {
			t.Errorf("one release too many: %v", err)
		}
		if err := errors.Join(p.Release(), taken.Release()); err != nil {
			t.Error(err)
		}
	})
}
