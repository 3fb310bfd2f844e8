package gpu

import (
	"context"
	"errors"
	"slices"
	"strings"
	"sync/atomic"
	"testing"

	"quern.dev/internal/cupti"
	"quern.dev/internal/cupti/fakecupti"
	"quern.dev/internal/driver/cuda/fakecuda"
	"quern.dev/internal/trace"
)

// recordTrace calls f and returns the events.
func recordTrace(t *testing.T, f func()) (list []trace.Event, m *trace.Memory) {
	t.Helper()
	m = trace.NewMemory(1 << 12)
	stop := trace.Start(m)
	f()
	do(t, stop())
	return m.All(), m
}

// withoutCUPTI makes recordings use events.
func withoutCUPTI(t *testing.T) {
	t.Cleanup(trace.SetLibrary(func() (cupti.Library, error) { return nil, errors.New("CUPTI was not found") }))
}

// withCUPTI makes recordings use a substitute, which reports a kernel of 5 us for each
// operation that is marked.
func withCUPTI(t testing.TB) *fakecupti.Library {
	var correlation atomic.Uint32
	lib := &fakecupti.Library{Epoch: 1 << 60}
	lib.OnPop = func(l *fakecupti.Library, mark uint64) {
		c, now := correlation.Add(1), l.Now()
		l.Kernel("entry", c, 7, now, now+5000) // before its mark, as happens
		l.External(mark, c)
		l.DriverCall(307, 42, c, now-2000, now)
	}
	t.Cleanup(trace.SetLibrary(func() (cupti.Library, error) { return lib, nil }))
	return lib
}

func find(list []trace.Event, kind trace.Kind, onDevice bool) (found []trace.Event) {
	for _, e := range list {
		if e.Kind == kind && e.OnDevice == onDevice {
			found = append(found, e)
		}
	}
	return found
}

func calledBy(s trace.Stack, function string) bool {
	for _, f := range s.Frames() {
		if strings.Contains(f.Function, function) {
			return true
		}
	}
	return false
}

func TestOperationsAreRecorded(t *testing.T) {
	withoutCUPTI(t)
	k := NewKernel(saxpyInfo)
	run := func(t *testing.T, d *Device) {
		s := d.DefaultStream()
		const n = 1000
		list, _ := recordTrace(t, func() {
			x, y := upload(t, s, ramp(n)...), upload(t, s, ramp(n)...)
			z := must[*Buffer[float32]](t)(Alloc[float32](d, n))
			do(t, Fill(s, z, 3))
			do(t, Copy(s, z, x))
			for range 3 {
				do(t, launchSaxpy(k, s, Linear(n), 2, n, x, y))
			}
			do(t, s.Synchronize(context.Background()))
			download(t, s, y)
			closeAll(t, x, y, z)
		})
		for _, c := range []struct {
			kind         trace.Kind
			label        string
			count, bytes int
		}{
			{trace.Launch, "saxpy", 3, 0}, {trace.CopyIn, "copy to device", 2, 4 * n}, {trace.CopyOut, "copy to host", 1, 4 * n},
			{trace.CopyWithin, "copy within device", 1, 4 * n}, {trace.Fill, "fill", 1, 4 * n},
		} {
			for _, onDevice := range []bool{false, true} {
				events := find(list, c.kind, onDevice)
				if len(events) != c.count {
					t.Errorf("%d events of %v, on the device: %v, want %d", len(events), c.kind, onDevice, c.count)
				}
				for _, e := range events {
					if e.Label.Name != c.label || e.Bytes != int64(c.bytes) || e.Duration < 0 || e.Start <= 0 {
						t.Errorf("%+v %q", e, e.Label.Name)
					}
					if !calledBy(e.Stack, "TestOperationsAreRecorded") {
						t.Errorf("the call stack of %v is %v", c.kind, e.Stack.Frames())
					}
					if onDevice != (e.Track.Process == d.ID() && e.Track.Thread == "default stream") {
						t.Errorf("%v is on the track %s, %s", c.kind, e.Track.Process, e.Track.Thread)
					}
				}
			}
		}
		if waits := find(list, trace.Wait, false); (len(waits) > 0) != d.async {
			t.Errorf("%d waits", len(waits))
		}
	}
	everyDevice(t, func(t *testing.T, d *Device) {
		run(t, d)
		run(t, d) // without CUPTI, with a timer for another recording
	})
}

func TestKernelsHaveTheirPosition(t *testing.T) {
	l := NewKernel(saxpyInfo).traceLabel()
	if file, line, _ := strings.Cut(saxpyInfo.Pos, ":"); !strings.HasSuffix(l.File, file) || line == "" && l.Line != 0 {
		t.Errorf("the kernel at %q is at %s:%d", saxpyInfo.Pos, l.File, l.Line)
	}
}

func TestCUPTIMeasuresOperations(t *testing.T) {
	withCUPTI(t)
	k := NewKernel(saxpyInfo)
	d := openFake(t, fakecuda.New(1))
	s := d.DefaultStream()
	list, m := recordTrace(t, func() {
		x, y := upload(t, s, ramp(100)...), upload(t, s, ramp(100)...)
		for range 5 {
			do(t, launchSaxpy(k, s, Linear(100), 2, 100, x, y))
		}
		download(t, s, y)
		closeAll(t, x, y)
	})
	kernels := slices.DeleteFunc(find(list, trace.Launch, true), func(e trace.Event) bool { return e.Label.Name != "saxpy" })
	if len(kernels) != 5 {
		t.Fatalf("%d kernels, want 5", len(kernels))
	}
	launches := find(list, trace.Launch, false)
	for i, e := range kernels {
		if e.Duration != 5000 || e.Block[0] != 256 || e.Track != &s.track {
			t.Errorf("kernel %d: %+v", i, e)
		}
		at := slices.IndexFunc(launches, func(l trace.Event) bool { return l.Op == e.Op })
		if at < 0 || launches[at].Stack != e.Stack || e.Start < launches[at].Start || e.Start > launches[at].Start+1e9 {
			t.Errorf("kernel %d at %d does not belong to its launch", i, e.Start)
		}
	}
	calls := find(list, trace.Call, false)
	if len(calls) == 0 || calls[0].Label.Name != "cuLaunchKernel" || !calledBy(calls[0].Stack, "TestCUPTIMeasures") {
		t.Errorf("calls of the driver: %v", calls)
	}
	if m.Note() != "times are from CUPTI 13.0" || m.Lost() != 0 {
		t.Errorf("%q, %d events lost", m.Note(), m.Lost())
	}
}

func TestWorkOfOthersIsRecordedWithoutACallStack(t *testing.T) {
	lib := withCUPTI(t)
	d := openFake(t, fakecuda.New(1))
	s := d.DefaultStream()
	list, _ := recordTrace(t, func() {
		closeAll(t, upload(t, s, ramp(100)...))
		lib.Kernel("ampere_sgemm", 1<<20, 13, lib.Now(), lib.Now()+1000)
	})
	for _, e := range find(list, trace.Launch, true) {
		if e.Label.Name == "ampere_sgemm" && e.Stack == 0 && e.Track.Thread == "other work, stream 13" {
			return
		}
	}
	t.Error("the kernel of a library is missing")
}

// What keeps CUPTI from measuring must not keep the program from running, or a recording from
// having its kernels.
func TestWithoutCUPTITheReasonIsKept(t *testing.T) {
	fails := func(function string, code int) func() (cupti.Library, error) {
		lib := &fakecupti.Library{Fail: map[string]int{function: code}}
		return func() (cupti.Library, error) { return lib, nil }
	}
	k := NewKernel(saxpyInfo)
	for name, c := range map[string]struct {
		open   func() (cupti.Library, error)
		reason string
	}{
		"it is not installed":     {func() (cupti.Library, error) { return nil, errors.New("CUPTI was not found") }, "CUPTI was not found"},
		"another tool uses it":    {fails("cuptiSubscribe", 39), "another tool uses CUPTI in this process"},
		"permissions are missing": {fails("cuptiActivityEnable", 35), "the driver allows profiling for administrators only"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Cleanup(trace.SetLibrary(c.open))
			d := openFake(t, fakecuda.New(1))
			s := d.DefaultStream()
			list, m := recordTrace(t, func() {
				x, y := upload(t, s, ramp(100)...), upload(t, s, ramp(100)...)
				do(t, launchSaxpy(k, s, Linear(100), 2, 100, x, y))
				do(t, s.Synchronize(context.Background()))
				closeAll(t, x, y)
			})
			if want := "times are from events in the streams: " + c.reason; !strings.HasPrefix(m.Note(), want) {
				t.Errorf("%q, want %q", m.Note(), want)
			}
			if n := len(find(list, trace.Launch, true)); n != 1 {
				t.Errorf("%d kernels, want 1", n)
			}
		})
	}
}

func TestARecordingFromTheBeginningOfADevice(t *testing.T) {
	withoutCUPTI(t)
	k := NewKernel(saxpyInfo)
	list, _ := recordTrace(t, func() {
		d := openFake(t, fakecuda.New(1))
		d.AddPersistent(idle{}) // from now on, streams are not made for recordings
		s := d.DefaultStream()
		x, y := upload(t, s, ramp(64)...), upload(t, s, ramp(64)...)
		do(t, launchSaxpy(k, s, Linear(64), 1, 64, x, y))
		do(t, s.Synchronize(context.Background()))
		closeAll(t, x, y)
		d.RemovePersistent(idle{})
	})
	if n := len(find(list, trace.Launch, true)); n != 1 {
		t.Errorf("%d kernels, want 1", n)
	}
}

// idle is the owner of persistent kernels that do not run.
type idle struct{}

func (idle) Quiesce(Operation) error { return nil }
func (idle) Resume() error           { return nil }

func TestAGraphIsRecordedUnderItsName(t *testing.T) {
	withoutCUPTI(t)
	k := NewKernel(saxpyInfo)
	everyDevice(t, func(t *testing.T, d *Device) {
		s := d.DefaultStream()
		x, y := upload(t, s, ramp(64)...), upload(t, s, ramp(64)...)
		g := must[*Graph](t)(d.Capture(func(s *Stream) error { return launchSaxpy(k, s, Linear(64), 2, 64, x, y) }))
		e := must[*GraphExec](t)(g.Instantiate())
		list, _ := recordTrace(t, func() { do(t, e.Launch(s)); do(t, s.Synchronize(context.Background())) })
		if runs := find(list, trace.Graph, true); len(runs) != 1 || runs[0].Label.Name != "graph with saxpy" {
			t.Errorf("runs of graphs: %v", runs)
		}
		do(t, e.Close())
		closeAll(t, x, y)
	})
}

func TestRecordingAllocatesNothing(t *testing.T) {
	if raceEnabled {
		t.Skip("the race detector allocates: run it without -race")
	}
	k := NewKernel(saxpyInfo)
	run := func(t *testing.T, d *Device) {
		s := d.DefaultStream()
		x, y := upload(t, s, ramp(64)...), upload(t, s, ramp(64)...)
		launch := func() { do(t, launchSaxpy(k, s, Linear(64), 1, 64, x, y)) }
		recordTrace(t, func() {
			launch()
			if n := testing.AllocsPerRun(100, launch); n != 0 {
				t.Errorf("%v allocations a launch", n)
			}
		})
		closeAll(t, x, y)
	}
	t.Run("cpu", func(t *testing.T) {
		d := must[*Device](t)(Open(Config{Device: "cpu"}))
		run(t, d)
		do(t, d.Close())
	})
	t.Run("fake cuda", func(t *testing.T) {
		lib := withCUPTI(t)
		lib.OnPop = nil
		fake := fakecuda.New(1)
		d := openFake(t, fake)
		do(t, k.Prepare(d))
		fake.Idle = true
		run(t, d)
	})
}

// BenchmarkRecorded measures what a recording adds to the host's part of a launch, and of a launch
// with a wait for it. The driver and CUPTI are substitutes that do nothing.
func BenchmarkRecorded(b *testing.B) {
	k := NewKernel(saxpyInfo)
	fake := fakecuda.New(1)
	d := openFake(b, fake)
	do(b, k.Prepare(d))
	s := d.DefaultStream()
	x, y := upload(b, s, ramp(1)...), upload(b, s, ramp(1)...)
	launch := func() { do(b, launchSaxpy(k, s, Linear(1), 1, 1, x, y)) }
	for _, operation := range []struct {
		name string
		do   func()
	}{
		{"launch", launch},
		{"launch and wait", func() { launch(); do(b, s.Synchronize(context.Background())) }},
	} {
		for _, mode := range []string{"off", "sample", "all"} {
			b.Run(operation.name+"/"+mode, func(b *testing.B) {
				withCUPTI(b).OnPop = nil
				if mode != "off" {
					fake.Idle = false
					stop := trace.Start(trace.NewMemory(1 << 10))
					defer func() { do(b, stop()) }()
					operation.do() // starts CUPTI
					t := d.timerFor(trace.Active())
					t.mu.Lock()
					do(b, t.rebase()) // what a sample needs
					t.mu.Unlock()
				}
				if mode == "all" {
					trace.Active().RecordAll()
				}
				fake.Idle = true
				defer func() { fake.Idle = false }()
				b.ReportAllocs()
				for b.Loop() {
					operation.do()
				}
			})
		}
	}
}

func BenchmarkLaunchRecorded(b *testing.B) {
	k := NewKernel(saxpyInfo)
	d := must[*Device](b)(Open(Config{Device: "cpu"}))
	defer d.Close()
	s := d.DefaultStream()
	x, y := upload(b, s, ramp(1)...), upload(b, s, ramp(1)...)
	defer closeAll(b, x, y)
	launch := func(b *testing.B) {
		b.ReportAllocs()
		for b.Loop() {
			do(b, launchSaxpy(k, s, Linear(1), 1, 1, x, y))
		}
	}
	b.Run("off", launch)
	b.Run("on", func(b *testing.B) {
		stop := trace.Start(trace.NewMemory(1 << 10))
		launch(b)
		do(b, stop())
	})
}
