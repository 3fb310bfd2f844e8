package gpu

import (
	"context"
	"errors"
	"slices"
	"strings"
	"sync"
	"testing"

	"quern.dev/gpu/compiled"
	"quern.dev/internal/driver/cuda/fakecuda"
)

// launchSaxpy is the launcher that quern gen would write.
func launchSaxpy(k *Kernel, s *Stream, g Grid, a float32, n int, x, y *Buffer[float32]) error {
	l, err := k.Begin(s, g)
	Arg(l, a)
	Arg(l, n)
	SliceArg(l, x)
	SliceArg(l, y)
	return l.EndBegun(err)
}

func ramp(n int) []float32 {
	list := make([]float32, n)
	for i := range list {
		list[i] = float32(i)
	}
	return list
}

func TestLaunchComputes(t *testing.T) {
	k := NewKernel(saxpyInfo)
	withoutHost := saxpyInfo
	withoutHost.Host = nil
	interpreted := NewKernel(withoutHost)
	everyDevice(t, func(t *testing.T, d *Device) {
		s := d.DefaultStream()
		const n = 1000
		x, y := upload(t, s, ramp(n)...), upload(t, s, ramp(n)...)
		for _, k := range []*Kernel{k, interpreted} {
			do(t, launchSaxpy(k, s, Linear(n), 2, n, x, y))
		}
		for i, v := range download(t, s, y) {
			if want := float32(5 * i); v != want {
				t.Fatalf("element %d is %v, want %v", i, v, want)
			}
		}
		closeAll(t, x, y)
	})
}

func TestLaunchBeyondTheLimitsUsesTheWideModule(t *testing.T) {
	k := NewKernel(saxpyInfo)
	everyDevice(t, func(t *testing.T, d *Device) {
		s := d.DefaultStream()
		x, y := upload(t, s, 100, float32(100)), upload(t, s, 1, float32(2))
		block := func(threads int) Grid { return Blocks(Dim3{X: 1}, Dim3{X: threads}) }
		do(t, launchSaxpy(k, s, block(2), 0, 1<<20+1, x, y))
		if got := download(t, s, y.Slice(0, 1)); got[0] != 101 {
			t.Errorf("got %v, want 101 of the wide module", got[0])
		}
		// Its checks have a separate table of sites.
		do(t, launchSaxpy(k, s, block(3), 0, 1<<20+1, x, y))
		fault, ok := errors.AsType[*KernelError](s.Synchronize(context.Background()))
		if !ok {
			t.Fatal("no fault for index 2 of 2 elements")
		}
		if d.Backend() != CPU && fault.Line != 161 {
			t.Errorf("fault in line %d, want 161 of the wide module", fault.Line)
		}
		closeAll(t, x, y)
	})
}

func TestKernelFaultIsReportedOnceByTheNextWait(t *testing.T) {
	k := NewKernel(saxpyInfo)
	waits := map[string]func(d *Device, s *Stream, b *Buffer[float32]) error{
		"stream": func(_ *Device, s *Stream, _ *Buffer[float32]) error {
			return s.Synchronize(context.Background())
		},
		"stream with a context": func(_ *Device, s *Stream, _ *Buffer[float32]) error {
			ctx, cancel := context.WithCancel(context.Background())
			defer cancel()
			return s.Synchronize(ctx)
		},
		"device": func(d *Device, _ *Stream, _ *Buffer[float32]) error {
			return d.Synchronize(context.Background())
		},
		"download": func(_ *Device, s *Stream, b *Buffer[float32]) error {
			return Download(context.Background(), s, make([]float32, b.Len()), b)
		},
		"event": func(d *Device, s *Stream, _ *Buffer[float32]) error {
			e, err := d.NewEvent()
			if err != nil {
				return err
			}
			defer e.Close()
			if err := s.Record(e); err != nil {
				return err
			}
			return e.Synchronize(context.Background())
		},
	}
	for name, wait := range waits {
		t.Run(name, func(t *testing.T) {
			everyDevice(t, func(t *testing.T, d *Device) {
				s := d.DefaultStream()
				x, y := upload(t, s, ramp(5)...), upload(t, s, ramp(8)...)
				do(t, launchSaxpy(k, s, Linear(8), 1, 8, x, y))
				err := wait(d, s, y)
				fault, ok := errors.AsType[*KernelError](err)
				if !ok {
					t.Fatalf("got error %v, want a KernelError", err)
				}
				if fault.Index < 5 || fault.Index > 7 || fault.Thread.X != int(fault.Index) {
					t.Errorf("index %d in thread %v", fault.Index, fault.Thread)
				}
				fault.Index, fault.Thread = 5, Dim3{X: 5}
				fault.Reason = strings.NewReplacer("index 6", "index 5", "index 7", "index 5").Replace(fault.Reason)
				const want = "saxpy.go:16: kernel saxpy: index 5 out of range [0,5) in block (0,0,0) thread (5,0,0)"
				if got := err.Error(); got != want {
					t.Errorf("got  %s\nwant %s", got, want)
				}
				if fault.Kind != OutOfRange || fault.Length != 5 {
					t.Errorf("kind %v, length %d", fault.Kind, fault.Length)
				}
				do(t, wait(d, s, y))
				do(t, launchSaxpy(k, s, Linear(5), 1, 5, x, y))
				if got := download(t, s, y)[3]; got != 9 {
					t.Errorf("after the fault: element 3 is %v, want 9", got)
				}
				closeAll(t, x, y)
			})
		})
	}
}

func TestKernelErrorsReadAlikeForAllChecks(t *testing.T) {
	tests := []struct {
		site          compiled.SiteKind
		index, length int64
		kind          FaultKind
		want          string
	}{
		{compiled.IndexSite, -1, 5, OutOfRange, "outcome.go:10: kernel outcome: index -1 out of range [0,5)"},
		{compiled.SliceSite, 9, 8, OutOfRange, "outcome.go:11: kernel outcome: slice bound 9 out of range [0,8]"},
		{compiled.DivideSite, 0, 0, DivideByZero, "outcome.go:12: kernel outcome: integer divide by zero"},
		{compiled.ShiftSite, -3, 0, BadShift, "outcome.go:13: kernel outcome: negative shift amount"},
		{compiled.PanicSite, 0, 0, Panic, "outcome.go:14: kernel outcome: panic: no such thing"},
		{compiled.NilSite, 0, 0, NilPointer, "outcome.go:15: kernel outcome: nil pointer dereference"},
		{compiled.SiteKind(99), 0, 0, FaultKind(0), "kernel outcome: failed check number 99"},
	}
	k := NewKernel(outcomeInfo)
	oneThread := Blocks(Dim3{X: 1}, Dim3{X: 1})
	everyDevice(t, func(t *testing.T, d *Device) {
		s := d.DefaultStream()
		out := upload(t, s, int64(0))
		for _, test := range tests {
			do(t, k.Launch(s, oneThread, params{uint32(test.site), test.index, test.length}, out))
			fault, ok := errors.AsType[*KernelError](s.Synchronize(context.Background()))
			if !ok {
				t.Fatalf("site %d: no fault", test.site)
			}
			if got := fault.Error(); got != test.want+" in block (0,0,0) thread (0,0,0)" || fault.Kind != test.kind {
				t.Errorf("got %q (%v), want %q (%v)", got, fault.Kind, test.want, test.kind)
			}
		}
		do(t, k.Launch(s, oneThread, params{100, 40, 2}, out))
		if got := download(t, s, out)[0]; got != 42 {
			t.Errorf("a struct argument arrived as %d, want 42", got)
		}
		closeAll(t, out)
	})
}

func TestBadLaunchesNameKernelAndArgument(t *testing.T) {
	saxpy, block64 := NewKernel(saxpyInfo), NewKernel(block64Info)
	everyDevice(t, func(t *testing.T, d *Device) {
		other := must[*Device](t)(Open(Config{Device: "cpu"}))
		defer other.Close()
		s := d.DefaultStream()
		x, y := upload(t, s, ramp(4)...), upload(t, s, ramp(4)...)
		words := upload(t, s, make([]int32, 64)...)
		doubles := upload(t, s, 1.5)
		foreign := upload(t, other.DefaultStream(), ramp(4)...)
		closed := upload(t, s, ramp(4)...)
		closedStream := must[*Stream](t)(d.NewStream(context.Background()))
		closeAll(t, closed, closedStream)

		one := Dim3{X: 1, Y: 1, Z: 1}
		launch := func(s *Stream, g Grid, x, y *Buffer[float32]) func() error {
			return func() error { return launchSaxpy(saxpy, s, g, 1, 4, x, y) }
		}
		dynamic := func(args ...any) func() error {
			return func() error { return saxpy.Launch(s, Linear(4), args...) }
		}
		tests := []struct {
			name string
			run  func() error
			is   error
			want string
		}{
			{"nil buffer", launch(s, Linear(4), nil, y), ErrInvalid, "argument x: buffer is nil"},
			{"closed buffer", launch(s, Linear(4), x, closed), ErrClosed, "argument y: buffer is closed"},
			{"part of a closed buffer", launch(s, Linear(4), x, closed.Slice(0, 4)), ErrClosed, "argument y: buffer is closed"},
			{"another device's buffer", launch(s, Linear(4), foreign, y), ErrInvalid, "argument x: buffer is of another "},
			{"range outside a buffer", launch(s, Linear(4), x.Slice(2, 9), y), ErrInvalid, "argument x: sub-buffer [2:9] of a buffer of 4 elements"},
			{"part of a range outside a buffer", launch(s, Linear(4), x.Slice(-1, 3).Slice(0, 1), y), ErrInvalid, "argument x: sub-buffer [-1:3] of a buffer of 4 elements"},
			{"the first of two errors", launch(s, Linear(4), nil, closed), ErrInvalid, "argument x: buffer is nil"},
			{"nil stream", launch(nil, Linear(4), x, y), ErrInvalid, "stream is nil"},
			{"closed stream", launch(closedStream, Linear(4), x, y), ErrClosed, "stream is closed"},
			{"zero grid", launch(s, Grid{}, x, y), ErrInvalid, "is empty"},
			{"empty grid", launch(s, Linear(0), x, y), ErrInvalid, "grid Linear(0) is empty"},
			{"negative plane", launch(s, Plane(3, -1), x, y), ErrInvalid, "grid Plane(3, -1) has a negative extent"},
			{"empty block", launch(s, Blocks(one, Dim3{X: 0}), x, y), ErrInvalid, "is empty"},
			{"oversized grid", launch(s, Blocks(Dim3{X: 1, Y: 65536, Z: 1}, one), x, y), ErrInvalid, "is too large: 1x65536x1 blocks, at most 2147483647x65535x65535"},
			{"oversized volume", launch(s, Volume(1, 1, 1<<20), x, y), ErrInvalid, "grid Volume(1, 1, 1048576) is too large"},
			{"oversized block", launch(s, Blocks(one, Dim3{X: 1025}), x, y), ErrInvalid, "block 1025x1x1 is too large, the device allows 1024x1024x64"},
			{"block whose size overflows", launch(s, Blocks(one, Dim3{X: 1 << 40, Y: 1 << 40, Z: 1 << 40}), x, y), ErrInvalid, "the device allows 1024"},
			{"block too deep", launch(s, Blocks(one, Dim3{X: 1, Y: 1, Z: 128}), x, y), ErrInvalid, "block 1x1x128 is too large, the device allows 1024x1024x64"},
			{"block of too many threads", launch(s, Blocks(one, Dim3{X: 64, Y: 32}), x, y), ErrInvalid, "block 64x32x1 has 2048 threads, the device allows 1024"},
			{"too much shared memory", launch(s, Linear(4).Shared(1<<20), x, y), ErrInvalid, "bytes of dynamic and 0 bytes of static shared memory"},
			{"negative shared memory", launch(s, Linear(4).Shared(-1), x, y), ErrInvalid, "negative size of dynamic shared memory"},
			{"a single argument", dynamic(float32(1)), ErrInvalid, "1 argument, want 4"},
			{"too few arguments", dynamic(float32(1), 4, x), ErrInvalid, "3 arguments, want 4"},
			{"too many arguments", dynamic(float32(1), 4, x, y, 5), ErrInvalid, "5 arguments, want 4"},
			{"number of another type", dynamic(1.0, 4, x, y), ErrInvalid, "argument a: have float64, want float32"},
			{"number of another type and the same size", dynamic(uint32(1), 4, x, y), ErrInvalid, "argument a: have uint32, want float32"},
			{"untyped nil", dynamic(float32(1), nil, x, y), ErrInvalid, "argument n: have nil, want int"},
			{"number for a slice", dynamic(float32(1), 4, 4, y), ErrInvalid, "argument x: have int, want *gpu.Buffer[float32]"},
			{"Go slice for a slice", dynamic(float32(1), 4, ramp(4), y), ErrInvalid, "argument x: have []float32, want *gpu.Buffer[float32]"},
			{"buffer for a number", dynamic(x, 4, x, y), ErrInvalid, "argument a: have *gpu.Buffer[float32], want float32"},
			{"buffer of another element size", dynamic(float32(1), 4, doubles, y), ErrInvalid, "argument x: have *gpu.Buffer[float64], want *gpu.Buffer[float32]"},
			{"buffer of another element type", dynamic(float32(1), 4, words, y), ErrInvalid, "argument x: have *gpu.Buffer[int32], want *gpu.Buffer[float32]"},
			{"block that the kernel does not declare", func() error {
				return block64.Launch(s, Blocks(one, Dim3{X: 32}), words)
			}, ErrInvalid, "block 32x1x1, but the kernel declares block 64x1x1"},
		}
		for _, test := range tests {
			err := test.run()
			if err == nil {
				t.Errorf("%s: no error", test.name)
				continue
			}
			if !errors.Is(err, test.is) {
				t.Errorf("%s: %v does not match %v", test.name, err, test.is)
			}
			kernel := "gpu: launch saxpy: "
			if strings.Contains(test.name, "declare") {
				kernel = "gpu: launch block64: "
			}
			if !strings.HasPrefix(err.Error(), kernel) || !strings.Contains(err.Error(), test.want) {
				t.Errorf("%s: %q, want %q", test.name, err, kernel+"..."+test.want)
			}
		}
		do(t, s.Synchronize(context.Background()))
		do(t, launchSaxpy(saxpy, s, Linear(4), 1, 4, x, y))
		if got := download(t, s, y); !slices.Equal(got, []float32{0, 2, 4, 6}) {
			t.Errorf("a good launch after the bad ones: %v", got)
		}
		closeAll(t, x, y, words, doubles, foreign)
	})
}

func TestDamagedKernelsAreErrors(t *testing.T) {
	damage := map[string]struct {
		change func(*compiled.Kernel)
		want   string
	}{
		"limits": {func(i *compiled.Kernel) {
			i.Variants = []compiled.Variant{{Name: "narrow", Limits: []int64{3}}, {Name: "wide"}}
		}, "limits"},
		"no module":     {func(i *compiled.Kernel) { i.Code = codeOf(module("other", "narrow", "")) }, "quern_gen.zip has no code for variant narrow of kernel saxpy: the file is damaged or out of date; run go generate"},
		"syntax":        {func(i *compiled.Kernel) { i.Code = onlyCode(ptxHeader + ".visible .entry saxpy(") }, "gpu: launch saxpy: "},
		"negative size": {func(i *compiled.Kernel) { i.Params = []compiled.Param{{Name: "a", Size: -4}} }, "parameter a has a size of -4 bytes"},
	}
	for name, test := range damage {
		t.Run(name, func(t *testing.T) {
			info := saxpyInfo
			info.Host = nil
			test.change(&info)
			k := NewKernel(info)
			everyDevice(t, func(t *testing.T, d *Device) {
				s := d.DefaultStream()
				x := upload(t, s, ramp(4)...)
				err := launchSaxpy(k, s, Linear(4), 1, 4, x, x)
				if err == nil || !strings.Contains(err.Error(), test.want) {
					t.Errorf("got %v, want %q", err, test.want)
				}
				closeAll(t, x)
			})
		})
	}
	if err := (*Kernel)(nil).Launch(nil, Linear(1)); !errors.Is(err, ErrInvalid) {
		t.Errorf("nil kernel: %v", err)
	}
}

func TestDriversThatNeedTheContextForALaunchGetIt(t *testing.T) {
	lib := fakecuda.New(1)
	lib.OldLaunch = true
	d := openFake(t, lib)
	s := d.DefaultStream()
	x, y := upload(t, s, ramp(8)...), upload(t, s, ramp(8)...)
	do(t, launchSaxpy(NewKernel(saxpyInfo), s, Linear(8), 1, 8, x, y))
	if got := download(t, s, y)[7]; got != 14 {
		t.Errorf("got %v, want 14", got)
	}
	closeAll(t, x, y, d)
}

func TestDeclaredBlockIsUsed(t *testing.T) {
	k := NewKernel(block64Info)
	everyDevice(t, func(t *testing.T, d *Device) {
		s := d.DefaultStream()
		out := upload(t, s, make([]int32, 192)...)
		do(t, k.Launch(s, Linear(130), out))
		if got := download(t, s, out); got[0] != 3 || got[191] != 3 {
			t.Errorf("130 threads in blocks of 64 are %d blocks, want 3", got[0])
		}
		closeAll(t, out)
	})
}

func TestConcurrentLaunchesAndCloses(t *testing.T) {
	k := NewKernel(saxpyInfo)
	everyDevice(t, func(t *testing.T, d *Device) {
		var group sync.WaitGroup
		for range 4 {
			group.Go(func() {
				s, err := d.NewStream(context.Background())
				if err != nil {
					t.Error(err)
					return
				}
				for range 20 {
					x, _ := Upload(s, ramp(64))
					y, _ := Upload(s, ramp(64))
					err := launchSaxpy(k, s, Linear(64), 1, 64, x, y)
					host := make([]float32, 64)
					err = errors.Join(err, Download(context.Background(), s, host, y), x.Close(), y.Close())
					if err != nil || host[63] != 126 {
						t.Errorf("got %v, error %v", host[63], err)
						return
					}
				}
				if err := s.Close(); err != nil {
					t.Error(err)
				}
			})
		}
		// Closing a buffer while other goroutines launch with it results in an error
		// there, never in a bad access.
		s := d.DefaultStream()
		x, y := upload(t, s, ramp(64)...), upload(t, s, ramp(64)...)
		for range 2 {
			group.Go(func() {
				for {
					if err := launchSaxpy(k, s, Linear(64), 1, 64, x, y); err != nil {
						if !errors.Is(err, ErrClosed) {
							t.Error(err)
						}
						return
					}
				}
			})
		}
		group.Go(func() { closeAll(t, y, x) })
		group.Wait()
		do(t, d.Synchronize(context.Background()))
	})
}

func TestLaunchAllocatesNothing(t *testing.T) {
	if raceEnabled {
		t.Skip("the race detector allocates: run it without -race")
	}
	k := NewKernel(saxpyInfo)
	run := func(t *testing.T, d *Device) {
		s := d.DefaultStream()
		x, y := upload(t, s, ramp(64)...), upload(t, s, ramp(64)...)
		launch := func() { do(t, launchSaxpy(k, s, Linear(64), 1, 64, x, y)) }
		launch()
		if n := testing.AllocsPerRun(100, launch); n != 0 {
			t.Errorf("%v allocations a launch", n)
		}
		closeAll(t, x, y)
	}
	for _, info := range Devices() {
		if info.Err != nil || info.Backend == Sim {
			continue // the interpreter allocates
		}
		t.Run(info.ID, func(t *testing.T) {
			d := must[*Device](t)(Open(Config{Device: info.ID}))
			run(t, d)
			do(t, d.Close())
		})
	}
	t.Run("fake cuda", func(t *testing.T) {
		lib := fakecuda.New(1)
		d := openFake(t, lib)
		do(t, k.Prepare(d))
		lib.Idle = true
		run(t, d)
	})
}
