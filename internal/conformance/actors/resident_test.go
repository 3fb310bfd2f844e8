package actors

import (
	"errors"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"quern.dev/gpu"
	"quern.dev/internal/driver/cuda"
	"quern.dev/internal/driver/cuda/fakecuda"
	"quern.dev/ring"
)

// double is a runtime of a stand-in for a GPU, whose kernels run beside the
// program, so many blocks of each at a time.
func double(t *testing.T, blocks int, config ring.Config) (*ring.Runtime, *fakecuda.Library) {
	lib := fakecuda.New(1)
	lib.Blocks = blocks
	t.Cleanup(cuda.Substitute(lib))
	dev, err := gpu.Open(gpu.Config{Device: "cuda:0"})
	if err != nil {
		t.Fatal(err)
	}
	rt, err := ring.New(dev, config)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := rt.Close(); err != nil {
			t.Error(err)
		}
		if err := dev.Close(); err != nil {
			t.Error(err)
		}
		if left := lib.Left(); left != "" {
			t.Error("left in the driver:", left)
		}
	})
	return rt, lib
}

func TestResidentActorsOfTheDouble(t *testing.T) {
	rt, _ := double(t, 32, ring.Config{})
	ctx := within(t, 20*time.Second)
	a, err := SpawnEcho(ctx, rt, ring.Options{})
	if err != nil {
		t.Fatal(err)
	}
	for i := range uint32(20) {
		if r, err := a.Ask(ctx, Message{[16]uint32{i}}); err != nil || r.Words[0] != i+1 {
			t.Fatal(i, r, err)
		}
	}
}

func TestBoundedLaunchesLeaveAndComeBack(t *testing.T) {
	for _, tt := range []struct {
		name   string
		config ring.Config
	}{
		{"when there are no messages", ring.Config{Bounded: true, Idle: time.Microsecond}},
		{"after some messages", ring.Config{Bounded: true, Messages: 3, Idle: time.Hour}},
		{"after some time", ring.Config{Life: time.Millisecond}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			rt, _ := double(t, 32, tt.config)
			ctx := within(t, 20*time.Second)
			a, err := SpawnEcho(ctx, rt, ring.Options{})
			if err != nil {
				t.Fatal(err)
			}
			for i := uint32(0); rt.Stats().Launches < 4; i++ {
				if r, err := a.Ask(ctx, Message{[16]uint32{i}}); err != nil || r.Words[0] != i+1 {
					t.Fatal(i, r, err)
				}
			}
			for range 10 {
				if err := a.Tell(ctx, Message{}); err != nil {
					t.Fatal(err)
				}
			}
			if f, err := a.Terminate(ctx); err != nil || f.Dropped != 0 {
				t.Errorf("%+v, %v", f, err)
			}
		})
	}
}

// Of the double's 4 multiprocessors actors have 3, each of which holds 2 that are
// bulky.
const bulkyActors = 6

func TestMoreActorsThanCanBeResident(t *testing.T) {
	rt, _ := double(t, bulkyActors, ring.Config{})
	ctx := within(t, 20*time.Second)
	for i := range bulkyActors + 1 {
		_, err := SpawnBulky(ctx, rt, ring.Options{Capacity: 4})
		var full *ring.ResidencyError
		if i < bulkyActors && err != nil {
			t.Fatal(err)
		}
		if i == bulkyActors && (!errors.As(err, &full) || full.Active != bulkyActors || full.PerProcessor != 2 || full.Multiprocessors != 3) {
			t.Errorf("actor %d: %v, want a ResidencyError", i, err)
		}
	}
}

func TestActorsTakeTurnsWhereNotAllCanBeResident(t *testing.T) {
	rt, _ := double(t, bulkyActors, ring.Config{Bounded: true})
	ctx := within(t, 30*time.Second)
	var all sync.WaitGroup
	for range 3 * bulkyActors {
		a, err := SpawnBulky(ctx, rt, ring.Options{Capacity: 4})
		if err != nil {
			t.Fatal(err)
		}
		all.Go(func() {
			for i := range uint32(30) {
				if r, err := a.Ask(ctx, i); err != nil || r != i+1 {
					t.Errorf("%s, message %d: %d, %v", a.Name(), i, r, err)
					return
				}
			}
		})
	}
	all.Wait()
}

func TestHandlersThatDoNotReturn(t *testing.T) {
	// Less than slow takes, and enough for the others beside whatever the machine does.
	rt, _ := double(t, 32, ring.Config{HandlerTimeout: 400 * time.Millisecond})
	ctx := within(t, 2*time.Minute)
	told := make(chan ring.Failure, 1)
	slow, err := SpawnLinger(ctx, rt, ring.Options{Name: "slow", Supervisor: func(f ring.Failure) ring.Decision {
		told <- f
		return ring.Leave
	}})
	if err != nil {
		t.Fatal(err)
	}
	other, err := SpawnLinger(ctx, rt, ring.Options{Name: "other"})
	if err != nil {
		t.Fatal(err)
	}
	registered, err := gpu.RegisterHost(rt.Device(), make([]int32, 1<<10))
	if err != nil {
		t.Fatal(err)
	}
	b, err := gpu.Alloc[int32](rt.Device(), 4)
	if err != nil {
		t.Fatal(err)
	}
	// The double takes instructions for nanoseconds. Of a few calls, the fastest waited least for other programs.
	const some, calls = 1_000_000, 5
	took := time.Hour
	for range calls {
		begin := time.Now()
		if _, err := slow.Ask(ctx, some); err != nil {
			t.Fatal(err)
		}
		took = min(took, time.Since(begin))
	}
	_, err = slow.Ask(ctx, some*int64(3*time.Second/took))
	named := func(err error) bool {
		var stuck *ring.StuckError
		return errors.As(err, &stuck) && len(stuck.Actors) == 1 && stuck.Actors[0] == "slow"
	}
	if !named(err) {
		t.Fatalf("asking it: %v, want a StuckError", err)
	}
	if i := slow.Info(); i.State != ring.Failed || !named(i.Err) {
		t.Errorf("it is %v: %v", i.State, i.Err)
	}
	if f := <-told; f.Actor != "slow" || !named(f.Err) {
		t.Errorf("the supervisor learns of %+v", f)
	}
	if err := slow.Restart(false); !named(err) {
		t.Errorf("restarting it at once: %v, want a StuckError", err)
	}
	if err := registered.Close(); !named(err) {
		t.Errorf("ending a registration: %v, want a StuckError", err)
	}
	if err := b.Close(); err != nil {
		t.Errorf("freeing memory that was made beside it: %v", err)
	}
	if n, err := other.Ask(ctx, 1); n != 1 || err != nil {
		t.Errorf("the other actor: %d, %v", n, err)
	}
	third, err := SpawnLinger(ctx, rt, ring.Options{Name: "third"}) // for which the launch is begun anew
	if err != nil {
		t.Fatal(err)
	}
	for i, a := range []*ring.Actor[int64, int64]{third, other} {
		if n, err := a.Ask(ctx, 1); n != int64(i+1) || err != nil {
			t.Errorf("%s: %d, %v", a.Name(), n, err)
		}
	}
	for err = slow.Restart(false); named(err) && ctx.Err() == nil; err = slow.Restart(false) {
	}
	if err != nil {
		t.Fatal(err)
	}
	if n, err := slow.Ask(ctx, 1); n != calls+2 || err != nil {
		t.Errorf("it has returned and was restarted: %d, %v", n, err)
	}
}

func TestClosingBesideAHandlerThatNeverReturns(t *testing.T) {
	lib := fakecuda.New(1)
	lib.Blocks = 32
	defer cuda.Substitute(lib)()
	defer lib.Kill()
	dev, err := gpu.Open(gpu.Config{Device: "cuda:0"})
	if err != nil {
		t.Fatal(err)
	}
	rt, err := ring.New(dev, ring.Config{HandlerTimeout: 50 * time.Millisecond})
	if err != nil {
		t.Fatal(err)
	}
	ctx := within(t, 10*time.Second)
	a, err := SpawnAccumulate(ctx, rt, ring.Options{})
	if err != nil {
		t.Fatal(err)
	}
	var stuck *ring.StuckError
	if _, err := a.Ask(ctx, Sample{Kind: Forever}); !errors.As(err, &stuck) {
		t.Fatalf("%v, want a StuckError", err)
	}
	for _, c := range []struct {
		name  string
		close func() error
	}{{"the runtime", rt.Close}, {"the device", dev.Close}} {
		begin := time.Now()
		if err := c.close(); !errors.As(err, &stuck) {
			t.Errorf("closing %s: %v, want a StuckError", c.name, err)
		}
		if took := time.Since(begin); took > slowness*2*time.Second {
			t.Errorf("closing %s took %v", c.name, took)
		}
	}
}

// Those who wait for replies look after loops that have left, but not in a pause.
func TestAPauseBeginsEachLaunchOnce(t *testing.T) {
	rt, _ := double(t, 32, ring.Config{})
	ctx := within(t, 30*time.Second)
	const actors, pauses = 8, 20 // in two cohorts
	var stop atomic.Bool
	var asking sync.WaitGroup
	var list []*ring.Actor[Message, Message]
	for range actors {
		a, err := SpawnEcho(ctx, rt, ring.Options{})
		if err != nil {
			t.Fatal(err)
		}
		list = append(list, a)
	}
	for _, a := range list {
		asking.Go(func() {
			for i := uint32(0); !stop.Load(); i++ {
				if r, err := a.Ask(ctx, Message{[16]uint32{i}}); err != nil || r.Words[0] != i+1 {
					t.Errorf("%s, message %d: %d, %v", a.Name(), i, r.Words[0], err)
					return
				}
			}
		})
	}
	before := rt.Stats().Launches
	for range pauses {
		if _, err := list[0].Ask(ctx, Message{}); err != nil {
			t.Fatal(err)
		}
		if err := rt.Quiesce("test"); err != nil {
			t.Fatal(err)
		}
		if n := rt.Stats().Launches; n != before {
			t.Errorf("%d launches began in a pause", n-before)
		}
		if err := rt.Resume(); err != nil {
			t.Fatal(err)
		}
		if n := rt.Stats().Launches - before; n != 2 {
			t.Errorf("a pause ended with %d launches for two cohorts", n)
		}
		before = rt.Stats().Launches
	}
	stop.Store(true)
	asking.Wait()
	for _, p := range rt.Stats().Pauses {
		if p.Cause == "test" && (p.Duration.Count != pauses || p.Leaving.Sum+p.Ending.Sum+p.Away.Sum+p.Beginning.Sum != p.Duration.Sum) {
			t.Errorf("the pauses are %+v", p)
		}
	}
}

// Of a kernel a launch loads the form that it needs, once.
func TestAFirstLaunchPausesActorsOnce(t *testing.T) {
	rt, _ := double(t, 32, ring.Config{})
	ctx := within(t, 30*time.Second)
	a, err := SpawnEcho(ctx, rt, ring.Options{})
	if err != nil {
		t.Fatal(err)
	}
	dev := rt.Device()
	k, err := dev.Compile(t.Context(), `package p
import "quern.dev/kernel"
//quern:kernel specialise=n:4
func power(t kernel.Thread, n int, x []float32) {
	i := t.Global()
	v := float32(1)
	for range n { v *= x[i] }
	x[i] = v
}
`, "")
	if err != nil {
		t.Fatal(err)
	}
	s := dev.DefaultStream()
	x, err := gpu.Upload(s, []float32{2, 3})
	if err != nil {
		t.Fatal(err)
	}
	var stop atomic.Bool
	var asking sync.WaitGroup
	asked := uint64(0)
	asking.Go(func() {
		for ; !stop.Load(); asked++ {
			i := uint32(asked)
			if r, err := a.Ask(ctx, Message{[16]uint32{i}}); err != nil || r.Words[0] != i+1 {
				t.Errorf("message %d: %d, %v", i, r.Words[0], err)
				return
			}
		}
	})
	for _, c := range []struct {
		name   string
		n      int
		want   [2]float32
		pauses uint64
	}{
		{"the special form", 4, [2]float32{16, 81}, 1},
		{"the special form again", 4, [2]float32{65536, 43046721}, 0},
		{"the other form", 0, [2]float32{1, 1}, 1},
		{"the other form again", 3, [2]float32{1, 1}, 0},
	} {
		before := pausesOf(rt)
		got := make([]float32, 2)
		err := errors.Join(k.Launch(s, gpu.Blocks(gpu.Dim3{X: 1}, gpu.Dim3{X: 2}), c.n, x), gpu.Download(ctx, s, got, x))
		if err != nil || [2]float32(got) != c.want {
			t.Errorf("%s: got %v, want %v; %v", c.name, got, c.want, err)
		}
		if n := pausesOf(rt) - before; n != c.pauses {
			t.Errorf("%s: %d pauses, want %d", c.name, n, c.pauses)
		}
	}
	stop.Store(true)
	asking.Wait()
	if i := a.Info(); i.Accepted != asked || i.Handled != asked || i.Queued != 0 {
		t.Errorf("of %d messages %d were accepted, %d handled and %d are queued", asked, i.Accepted, i.Handled, i.Queued)
	}
	if err := x.Close(); err != nil {
		t.Error(err)
	}
}
