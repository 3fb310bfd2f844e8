package gpu

import (
	"context"
	"errors"
	"slices"
	"strings"
	"testing"

	"quern.dev/internal/driver/cuda/fakecuda"
)

// operationFixture contains the objects that TestErrorsNameTheOperation uses.
type operationFixture struct {
	d, other     *Device
	s, side      *Stream
	a, b, far    *Buffer[float32]
	host         *HostBuffer[float32]
	event, end   *Event
	graph        *Graph
	exec         *GraphExec
	pool         *Pool
	hostPool     *HostPool
	u            *Unified[float32]
	managed      *Managed[float32]
	texture      *Texture2D[float32]
	distributed  *Distributed[float32]
	fresh, known *Kernel // not loaded yet, and loaded
}

func newOperationFixture(t *testing.T, lib *fakecuda.Library) *operationFixture {
	x := &operationFixture{d: openFake(t, lib)}
	x.other = must[*Device](t)(Open(Config{Device: "cuda:1"}))
	x.s, x.side = x.d.DefaultStream(), must[*Stream](t)(x.d.NewStream(t.Context()))
	x.a, x.b, x.far = upload(t, x.s, ramp(64)...), upload(t, x.s, ramp(64)...), upload(t, x.other.DefaultStream(), ramp(64)...)
	x.host = must[*HostBuffer[float32]](t)(AllocHost[float32](x.d, 64))
	x.event, x.end = must[*Event](t)(x.d.NewEvent()), must[*Event](t)(x.d.NewEvent())
	do(t, errors.Join(x.s.Record(x.event), x.s.Record(x.end)))
	x.graph, x.exec = captured(t, x.d, func(s *Stream) error { return Zero(s, x.a) })
	x.pool, x.hostPool = must[*Pool](t)(x.d.NewPool(PoolConfig{})), must[*HostPool](t)(x.d.NewHostPool(PoolConfig{}))
	x.u = must[*Unified[float32]](t)(NewUnified[float32](x.d, 64))
	fillHost(t, x.u, 1)
	do(t, Fill(x.side, must[*Buffer[float32]](t)(x.u.Slice(0, 32).WriteDevice(x.side)), 2))
	x.managed = must[*Managed[float32]](t)(AllocManaged[float32](x.d, 64))
	x.texture = must[*Texture2D[float32]](t)(NewTexture2D[float32](x.s, 8, 8, ramp(64), TextureOptions{}))
	x.distributed = must[*Distributed[float32]](t)(AllocDistributed[float32]([]*Device{x.d, x.other}, 8, 8))
	x.fresh, x.known = NewKernel(saxpyInfo), NewKernel(saxpyInfo)
	do(t, x.known.Prepare(x.d))
	return x
}

// Whatever fails below, the message begins with the operation that the program
// called.
func TestErrorsNameTheOperation(t *testing.T) {
	box, line := Rect(0, 0, 8, 8, 8), Strided{Shape: []int{64}, Stride: []int{1}}
	take := func(*Stream) error { return nil }
	operations := []struct {
		name string // that errors begin with
		do   func(ctx context.Context, x *operationFixture) error
	}{
		{"alloc", func(_ context.Context, x *operationFixture) error { return second(Alloc[float32](x.d, 64)) }},
		{"upload", func(_ context.Context, x *operationFixture) error { return second(Upload(x.s, ramp(64))) }},
		{"upload", func(_ context.Context, x *operationFixture) error { return second(Upload(x.s, make([]byte, 8<<20))) }},
		{"copy in", func(_ context.Context, x *operationFixture) error { return CopyIn(x.s, x.a, ramp(64)) }},
		{"download", func(ctx context.Context, x *operationFixture) error { return Download(ctx, x.s, ramp(64), x.a) }},
		{"copy", func(_ context.Context, x *operationFixture) error { return Copy(x.s, x.a, x.b) }},
		{"fill", func(_ context.Context, x *operationFixture) error { return Fill(x.s, x.a, 1) }},
		{"zero", func(_ context.Context, x *operationFixture) error { return Zero(x.s, x.a) }},
		{"copy box in", func(_ context.Context, x *operationFixture) error { return CopyInBox(x.s, x.a, box, ramp(64), box) }},
		{"download box", func(ctx context.Context, x *operationFixture) error {
			return DownloadBox(ctx, x.s, ramp(64), box, x.a, box)
		}},
		{"copy box", func(_ context.Context, x *operationFixture) error { return CopyBox(x.s, x.a, box, x.b, box) }},
		{"copy box in", func(_ context.Context, x *operationFixture) error { return CopyInBoxAsync(x.s, x.a, box, x.host, box) }},
		{"copy box out", func(_ context.Context, x *operationFixture) error {
			return CopyOutBoxAsync(x.s, x.host, box, x.a, box)
		}},
		{"copy strided in", func(_ context.Context, x *operationFixture) error { return CopyInStrided(x.s, x.a, ramp(64), line) }},
		{"download strided", func(ctx context.Context, x *operationFixture) error {
			return DownloadStrided(ctx, x.s, ramp(64), line, x.a)
		}},
		{"copy in", func(_ context.Context, x *operationFixture) error { return CopyInAsync(x.s, x.a, x.host) }},
		{"copy out", func(_ context.Context, x *operationFixture) error { return CopyOutAsync(x.s, x.host, x.a) }},
		{"copy between devices", func(_ context.Context, x *operationFixture) error { return CopyPeer(x.s, x.far, x.a) }},
		{"copy between devices", func(_ context.Context, x *operationFixture) error { return CopyPeer(x.s, x.b, x.a) }},
		{"alloc host", func(_ context.Context, x *operationFixture) error { return second(AllocHost[float32](x.d, 64)) }},
		{"alloc host", func(_ context.Context, x *operationFixture) error { return second(AllocHost[float32](x.d, 1<<20)) }},
		{"register host", func(_ context.Context, x *operationFixture) error { return second(RegisterHost(x.d, ramp(64))) }},
		{"map host buffer", func(_ context.Context, x *operationFixture) error { return second(x.host.Mapped()) }},
		{"alloc managed", func(_ context.Context, x *operationFixture) error { return second(AllocManaged[float32](x.d, 64)) }},
		{"host view", func(ctx context.Context, x *operationFixture) error { return second(x.managed.Host(ctx)) }},
		{"prefetch", func(_ context.Context, x *operationFixture) error { return x.managed.Prefetch(x.s) }},
		{"prefetch to host", func(_ context.Context, x *operationFixture) error { return x.managed.PrefetchHost(x.s) }},
		{"advise", func(_ context.Context, x *operationFixture) error { return x.managed.Advise(AdviseReadMostly) }},
		{"new texture", func(_ context.Context, x *operationFixture) error {
			return second(NewTexture2D[float32](x.s, 8, 8, ramp(64), TextureOptions{}))
		}},
		{"store texture", func(_ context.Context, x *operationFixture) error { return Store(x.s, x.texture, ramp(64)) }},
		{"new stream", func(ctx context.Context, x *operationFixture) error { return second(x.d.NewStream(ctx)) }},
		{"new event", func(_ context.Context, x *operationFixture) error { return second(x.d.NewEvent()) }},
		{"synchronize", func(ctx context.Context, x *operationFixture) error { return x.s.Synchronize(ctx) }},
		{"synchronize", func(ctx context.Context, x *operationFixture) error { return x.d.Synchronize(ctx) }},
		{"record event", func(_ context.Context, x *operationFixture) error { return x.s.Record(x.event) }},
		{"wait for event", func(_ context.Context, x *operationFixture) error { return x.s.Wait(x.event) }},
		{"wait for stream", func(_ context.Context, x *operationFixture) error { return x.s.After(x.side) }},
		{"synchronize event", func(ctx context.Context, x *operationFixture) error { return x.event.Synchronize(ctx) }},
		{"query event", func(_ context.Context, x *operationFixture) error { return second(x.event.Done()) }},
		{"elapsed time", func(_ context.Context, x *operationFixture) error { return second(Elapsed(x.event, x.end)) }},
		{"call", func(_ context.Context, x *operationFixture) error { return x.s.Call(func() error { return nil }) }},
		{"query fault", func(_ context.Context, x *operationFixture) error { return second(x.s.Faulted()) }},
		{"launch saxpy", func(_ context.Context, x *operationFixture) error {
			return launchSaxpy(x.fresh, x.s, Linear(64), 1, 64, x.a, x.b)
		}},
		{"launch saxpy", func(_ context.Context, x *operationFixture) error {
			return launchSaxpy(x.known, x.s, Linear(64), 1, 64, x.a, x.b)
		}},
		{"prepare saxpy", func(_ context.Context, x *operationFixture) error { return x.fresh.Prepare(x.d) }},
		{"resources of saxpy", func(_ context.Context, x *operationFixture) error { return second(x.fresh.Resources(x.d)) }},
		{"occupancy of saxpy", func(_ context.Context, x *operationFixture) error {
			return second(x.fresh.Occupancy(x.d, Dim3{X: 32}, 0))
		}},
		{"layout of saxpy", func(_ context.Context, x *operationFixture) error {
			_, _, err := x.fresh.Layout(x.d, Linear(64))
			return err
		}},
		{"close kernel saxpy", func(_ context.Context, x *operationFixture) error { return x.known.Close() }},
		{"new pool", func(_ context.Context, x *operationFixture) error { return second(x.d.NewPool(PoolConfig{})) }},
		{"acquire", func(_ context.Context, x *operationFixture) error { return second(Acquire[float32](x.pool, x.s, 64)) }},
		{"acquire host", func(_ context.Context, x *operationFixture) error {
			return second(AcquireHost[float32](x.hostPool, 64))
		}},
		{"scope", func(_ context.Context, x *operationFixture) error {
			return x.pool.Scope(x.s, func(scope *Scope) error {
				_, err := AcquireIn[float32](scope, 64)
				if err != nil && strings.HasPrefix(err.Error(), "gpu: acquire in scope: ") {
					return nil
				}
				return err
			})
		}},
		{"trim pool", func(_ context.Context, x *operationFixture) error { return x.pool.Trim() }},
		{"new unified", func(_ context.Context, x *operationFixture) error { return second(NewUnified[float32](x.d, 64)) }},
		{"read on the host", func(ctx context.Context, x *operationFixture) error { return x.u.ReadHost(ctx, func([]float32) {}) }},
		{"write on the host", func(ctx context.Context, x *operationFixture) error { return x.u.WriteHost(ctx, func([]float32) {}) }},
		{"read on the device", func(_ context.Context, x *operationFixture) error { return second(x.u.ReadDevice(x.s)) }},
		{"write on the device", func(_ context.Context, x *operationFixture) error { return second(x.u.WriteDevice(x.s)) }},
		{"sync to host", func(ctx context.Context, x *operationFixture) error { return x.u.SyncToHost(ctx) }},
		{"sync to device", func(_ context.Context, x *operationFixture) error { return x.u.SyncToDevice(x.s) }},
		{"discard", func(_ context.Context, x *operationFixture) error { return x.u.Discard() }},
		{"capture", func(_ context.Context, x *operationFixture) error { return second(x.d.Capture(take)) }},
		{"add to graph", func(_ context.Context, x *operationFixture) error { return second(x.graph.Add(take)) }},
		{"instantiate graph", func(_ context.Context, x *operationFixture) error { return second(x.graph.Instantiate()) }},
		{"launch graph", func(_ context.Context, x *operationFixture) error { return x.exec.Launch(x.s) }},
		{"update graph", func(_ context.Context, x *operationFixture) error {
			return x.exec.Update(x.graph.Nodes()[0], func(s *Stream) error { return Fill(s, x.b, 3) })
		}},
		{"alloc distributed", func(_ context.Context, x *operationFixture) error {
			return second(AllocDistributed[float32]([]*Device{x.d, x.other}, 8, 8))
		}},
		{"distribute", func(_ context.Context, x *operationFixture) error {
			return second(Distribute([]*Device{x.d, x.other}, 8, 8, ramp(64)))
		}},
		{"gather", func(ctx context.Context, x *operationFixture) error { return x.distributed.Gather(ctx, ramp(64)) }},
		{"overlap", func(ctx context.Context, x *operationFixture) error {
			for _, err := range Overlap(ctx, x.d, 2, upTo(3), func(s *Stream, _ int, i int) (func() (int, error), error) {
				return nil, nil
			}) {
				if err != nil {
					return err
				}
			}
			return nil
		}},
		{"overlap slices", func(ctx context.Context, x *operationFixture) error {
			items := slices.Values([][]float32{ramp(8), ramp(8)})
			for _, err := range OverlapSlices(ctx, x.d, 1, 8, 8, items, func(_ *Stream, _, in *Buffer[float32]) (*Buffer[float32], error) { return in, nil }) {
				if err != nil {
					return err
				}
			}
			return nil
		}},
		{"tune t", func(ctx context.Context, x *operationFixture) error {
			_, err := Tune(ctx, x.s, Tuning{Name: "t", Dir: t.TempDir(), Candidates: []Candidate{{"one", func(*Stream) error { return nil }}}})
			return err
		}},
		{"export dlpack", func(_ context.Context, x *operationFixture) error { return second(ExportDLPack(x.a, DLManagedTensor)) }},
		{"ipc handle", func(_ context.Context, x *operationFixture) error { return second(x.a.IPCHandle()) }},
		{"array interface", func(_ context.Context, x *operationFixture) error { return second(x.a.CUDAArrayInterface(nil)) }},
		{"close buffer", func(_ context.Context, x *operationFixture) error { return x.a.Close() }},
		{"close host buffer", func(_ context.Context, x *operationFixture) error { return x.host.Close() }},
		{"close managed array", func(_ context.Context, x *operationFixture) error { return x.managed.Close() }},
		{"close texture", func(_ context.Context, x *operationFixture) error { return x.texture.Close() }},
		{"close unified array", func(_ context.Context, x *operationFixture) error { return x.u.Close() }},
		{"close distributed matrix", func(_ context.Context, x *operationFixture) error { return x.distributed.Close() }},
		{"close stream", func(_ context.Context, x *operationFixture) error { return x.side.Close() }},
		{"close event", func(_ context.Context, x *operationFixture) error { return x.event.Close() }},
		{"close graph", func(_ context.Context, x *operationFixture) error { return x.exec.Close() }},
		{"close pool", func(_ context.Context, x *operationFixture) error { return x.pool.Close() }},
		{"close host pool", func(_ context.Context, x *operationFixture) error { return x.hostPool.Close() }},
		{"close cuda:0", func(_ context.Context, x *operationFixture) error { return x.d.Close() }},
	}
	// check reports messages that begin differently, including those of joined
	// errors.
	check := func(name, when string, err error) {
		if err == nil {
			return
		}
		for message := range strings.Lines(err.Error()) {
			told := strings.HasPrefix(message, "gpu: "+name) || strings.Contains(message, "not closed") || strings.HasPrefix(message, "\t")
			if !told {
				t.Errorf("%s, %s: %s", name, when, strings.TrimSpace(message))
			}
		}
	}
	cancelled, cancel := context.WithCancel(context.Background())
	cancel()
	for _, op := range operations {
		lib := fakecuda.New(2)
		x := newOperationFixture(t, lib)
		lib.Watch()
		if err := op.do(t.Context(), x); err != nil && op.name != "close cuda:0" { // which leaks
			t.Fatalf("%s: %v", op.name, err)
		}
		called := lib.Watched()
		x.d.Close()
		x.other.Close()
		for f := range called {
			lib := fakecuda.New(2)
			x := newOperationFixture(t, lib)
			lib.Fail(f, fakecuda.OutOfMemory)
			check(op.name, f+" fails", op.do(t.Context(), x))
			x.d.Close()
			x.other.Close()
		}
		lib = fakecuda.New(2)
		x = newOperationFixture(t, lib)
		busy := lib.Occupy()
		done := make(chan error, 1)
		go func() { done <- op.do(cancelled, x) }()
		close(busy)
		check(op.name, "cancelled", <-done)
		x.d.Close()
		err := op.do(t.Context(), x)
		check(op.name, "the device is closed", err)
		if errors.Is(err, ErrClosed) && !strings.Contains(err.Error(), "device cuda:0 is closed") {
			t.Errorf("%s, the device is closed: %v", op.name, err)
		}
		x.other.Close()
	}
}
