package gpu

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"runtime"
	"slices"
	"strings"
	"sync"
	"testing"

	"quern.dev/internal/driver/cuda/fakecuda"
)

func TestCallsRunInTheOrderOfTheStream(t *testing.T) {
	k := NewKernel(saxpyInfo)
	everyDevice(t, func(t *testing.T, d *Device) {
		s := must[*Stream](t)(d.NewStream(context.Background()))
		x, y := upload(t, s, ramp(64)...), upload(t, s, ramp(64)...)
		var order []int
		for i := range 50 {
			do(t, launchSaxpy(k, s, Linear(64), 1, 64, x, y))
			do(t, s.Call(func() error {
				order = append(order, i)
				return nil
			}))
		}
		do(t, s.Synchronize(context.Background()))
		if len(order) != 50 || !slices.IsSorted(order) {
			t.Errorf("the functions ran as %v", order)
		}
		if got := download(t, s, y)[1]; got != 51 {
			t.Errorf("after 50 launches %v, want 51", got)
		}
		closeAll(t, x, y, s)
	})
}

func TestLaterWorkSeesWhatAFunctionDid(t *testing.T) {
	everyDevice(t, func(t *testing.T, d *Device) {
		s := d.DefaultStream()
		values := []float32{1}
		x := must[*Buffer[float32]](t)(Alloc[float32](d, 1))
		do(t, s.Call(func() error {
			values[0] = 2
			return nil
		}))
		do(t, s.Synchronize(context.Background()))
		do(t, CopyIn(s, x, values))
		if got := download(t, s, x)[0]; got != 2 {
			t.Errorf("the copy reads %v, want 2", got)
		}
		closeAll(t, x)
	})
}

func TestAWaitReturnsTheErrorOfAFunctionOnce(t *testing.T) {
	ctx := context.Background()
	failing := func() error { return fs.ErrNotExist }
	for name, wait := range map[string]func(*Device, *Stream) error{
		"stream": func(_ *Device, s *Stream) error { return s.Synchronize(ctx) },
		"device": func(d *Device, _ *Stream) error { return d.Synchronize(ctx) },
		"event": func(d *Device, s *Stream) error {
			e, err := d.NewEvent()
			return errors.Join(err, s.Record(e), e.Synchronize(ctx), e.Close())
		},
		"close": func(_ *Device, s *Stream) error { return s.Close() },
	} {
		t.Run(name, func(t *testing.T) {
			everyDevice(t, func(t *testing.T, d *Device) {
				s := must[*Stream](t)(d.NewStream(ctx))
				ran := false
				do(t, s.Call(failing))
				do(t, s.Call(func() error { ran = true; return errors.New("a later error") }))
				err := wait(d, s)
				if !errors.Is(err, fs.ErrNotExist) || !strings.Contains(err.Error(), "gpu: call: file does not exist") {
					t.Errorf("got %v", err)
				}
				if !ran {
					t.Error("the function after one that failed did not run")
				}
				do(t, wait(d, s))
				closeAll(t, s)
			})
		})
	}
}

func TestAPanicIsAnErrorOfTheWait(t *testing.T) {
	everyDevice(t, func(t *testing.T, d *Device) {
		s := d.DefaultStream()
		for _, test := range []struct {
			name string
			f    func() error
			want string
			is   error
		}{
			{"a panic with a text", func() error { panic("no such thing") }, "gpu: call: panic: no such thing", nil},
			{"a panic with an error", func() error { panic(fs.ErrClosed) }, "gpu: call: panic: file already closed", fs.ErrClosed},
			{"the end of the goroutine", func() error { runtime.Goexit(); return nil }, "gpu: call: the function ended its goroutine", nil},
		} {
			do(t, s.Call(test.f))
			err := s.Synchronize(context.Background())
			if err == nil || err.Error() != test.want || test.is != nil && !errors.Is(err, test.is) {
				t.Errorf("%s: %v, want %s", test.name, err, test.want)
			}
			if e, ok := errors.AsType[*PanicError](err); ok && !strings.Contains(string(e.Stack), "stream_call_test.go") {
				t.Errorf("%s: the stack does not lead here:\n%s", test.name, e.Stack)
			}
		}
		do(t, s.Synchronize(context.Background()))
	})
}

func TestAFunctionHoldsUpItsStreamAndNoOther(t *testing.T) {
	k := NewKernel(saxpyInfo)
	everyDevice(t, func(t *testing.T, d *Device) {
		ctx := context.Background()
		s, other := must[*Stream](t)(d.NewStream(ctx)), must[*Stream](t)(d.NewStream(ctx))
		x, y := upload(t, other, ramp(64)...), upload(t, other, ramp(64)...)
		do(t, k.Prepare(d)) // loading a kernel waits for the whole device
		begun, release := make(chan struct{}), make(chan struct{})
		var group sync.WaitGroup
		var after bool
		group.Go(func() {
			err := errors.Join(
				s.Call(func() error { close(begun); <-release; return nil }),
				s.Call(func() error { after = true; return nil }),
				s.Synchronize(ctx))
			if err != nil || !after {
				t.Errorf("the stream that was held up: %v, went on: %v", err, after)
			}
		})
		<-begun
		do(t, launchSaxpy(k, other, Linear(64), 1, 64, x, y))
		if got := download(t, other, y)[1]; got != 2 {
			t.Errorf("the other stream reads %v, want 2", got)
		}
		close(release)
		group.Wait()
		closeAll(t, x, y, s, other)
	})
}

func TestBadCallsNameTheMistake(t *testing.T) {
	everyDevice(t, func(t *testing.T, d *Device) {
		closed := must[*Stream](t)(d.NewStream(context.Background()))
		do(t, closed.Close())
		nothing := func() error { return nil }
		for want, err := range map[string]error{
			"gpu: call: function is nil":                  d.DefaultStream().Call(nil),
			"gpu: call: stream is closed":                 closed.Call(nothing),
			"gpu: call: stream is nil":                    (*Stream)(nil).Call(nothing),
			"gpu: call: stream was not made by NewStream": new(Stream).Call(nothing),
		} {
			if err == nil || err.Error() != want {
				t.Errorf("got %v, want %s", err, want)
			}
		}
	})
}

// TestAFunctionThatUsesItsStreamGetsAnError makes calls in functions of a stream that
// would wait for the function itself.
func TestAFunctionThatUsesItsStreamGetsAnError(t *testing.T) {
	k := NewKernel(saxpyInfo)
	everyDevice(t, func(t *testing.T, d *Device) {
		ctx := context.Background()
		s, other := must[*Stream](t)(d.NewStream(ctx)), must[*Stream](t)(d.NewStream(ctx))
		event := must[*Event](t)(d.NewEvent())
		x, y := upload(t, s, ramp(8)...), upload(t, s, ramp(8)...)
		do(t, k.Prepare(d))
		do(t, s.Synchronize(ctx))
		_, e := captured(t, d, func(s *Stream) error { return Zero(s, x) })
		uses := map[string]func() error{
			"synchronize":             func() error { return s.Synchronize(ctx) },
			"synchronize device":      func() error { return d.Synchronize(ctx) },
			"call":                    func() error { return s.Call(func() error { return nil }) },
			"fill":                    func() error { return Zero(s, x) },
			"copy in":                 func() error { return CopyIn(s, x, ramp(8)) },
			"download":                func() error { return Download(ctx, s, make([]float32, 8), x) },
			"launch":                  func() error { return launchSaxpy(k, s, Linear(8), 1, 8, x, y) },
			"launch graph":            func() error { return e.Launch(s) },
			"record event":            func() error { return s.Record(event) },
			"wait for event":          func() error { return s.Wait(event) },
			"go on after it":          func() error { return other.After(s) },
			"go on after another one": func() error { return s.After(other) },
			"close":                   func() error { return s.Close() },
			"close device":            func() error { return d.Close() },
		}
		for name, use := range uses {
			var got error
			do(t, s.Call(func() error { got = use(); return nil }))
			do(t, s.Synchronize(ctx))
			if !errors.Is(got, ErrInvalid) || !strings.Contains(got.Error(), "the stream is waiting for the function that makes this call") {
				t.Errorf("%s in a function of the stream: %v", name, got)
			}
			_, calling := captured(t, d, func(s *Stream) error {
				return s.Call(func() error { got = use(); return nil })
			})
			got = nil
			do(t, calling.Launch(s))
			do(t, s.Synchronize(ctx))
			if !errors.Is(got, ErrInvalid) {
				t.Errorf("%s in a function of a graph that runs on the stream: %v", name, got)
			}
			closeAll(t, calling)
		}
		do(t, Fill(s, x, 3)) // the stream continues
		if got := download(t, s, x)[0]; got != 3 {
			t.Errorf("after all of that the stream reads %v, want 3", got)
		}
		closeAll(t, e, event, x, y, s, other)
	})
}

func TestAFunctionThatUsesItsGraphGetsAnError(t *testing.T) {
	everyDevice(t, func(t *testing.T, d *Device) {
		ctx := context.Background()
		s, other := d.DefaultStream(), must[*Stream](t)(d.NewStream(ctx))
		var use func() error
		var got error
		call := func(s *Stream) error { return s.Call(func() error { got = use(); return nil }) }
		g, e := captured(t, d, call)
		uses := map[string]func() error{
			"launch":     func() error { return e.Launch(other) },
			"update":     func() error { return e.Update(g.Nodes()[0], call) },
			"update all": func() error { return e.UpdateAll(g) },
			"close":      func() error { return e.Close() },
		}
		check := func(name string) {
			t.Helper()
			got = nil
			do(t, e.Launch(s))
			do(t, s.Synchronize(ctx))
			if !errors.Is(got, ErrInvalid) || !strings.Contains(got.Error(), "the graph is waiting for the function that makes this call") {
				t.Errorf("%s: %v", name, got)
			}
		}
		for name := range uses {
			use = uses[name]
			check(name)
		}
		do(t, e.Update(g.Nodes()[0], call))
		check("close after an update")
		closeAll(t, e, other)
	})
}

func TestAFunctionOfAClosedStreamsGraphDoesNotCloseTheDevice(t *testing.T) {
	for _, id := range []string{"cpu", "sim"} {
		d := must[*Device](t)(Open(Config{Device: id}))
		s := must[*Stream](t)(d.NewStream(context.Background()))
		begun, release := make(chan struct{}), make(chan struct{})
		var got error
		_, e := captured(t, d, func(s *Stream) error {
			return s.Call(func() error { close(begun); <-release; got = d.Close(); return nil })
		})
		launched := make(chan error)
		go func() { launched <- e.Launch(s) }()
		<-begun
		do(t, s.Close())
		close(release)
		do(t, <-launched)
		if !errors.Is(got, ErrInvalid) || !strings.Contains(got.Error(), "gpu: close: the graph is waiting for the function") {
			t.Errorf("%s: %v", id, got)
		}
		closeAll(t, e, d)
	}
}

// TestAStreamIsUsedBySomeoneElseWhileItsFunctionRuns makes other goroutines wait for
// a function, including one that it started.
func TestAStreamIsUsedBySomeoneElseWhileItsFunctionRuns(t *testing.T) {
	everyDevice(t, func(t *testing.T, d *Device) {
		ctx := context.Background()
		s := must[*Stream](t)(d.NewStream(ctx))
		x := upload(t, s, ramp(8)...)
		do(t, s.Synchronize(ctx))
		begun, release, results := make(chan struct{}), make(chan struct{}), make(chan error, 3)
		use := func() { results <- errors.Join(Fill(s, x, 4), s.Call(func() error { return nil }), s.Synchronize(ctx)) }
		go func() {
			results <- s.Call(func() error { go use(); close(begun); <-release; return nil })
		}()
		<-begun
		go use()
		close(release)
		for range cap(results) {
			do(t, <-results)
		}
		if got := download(t, s, x)[0]; got != 4 {
			t.Errorf("got %v, want 4", got)
		}
		closeAll(t, x, s)
	})
}

func TestCallsOfADriverThatFails(t *testing.T) {
	for _, function := range []string{"cuMemHostAlloc", "cuMemHostGetDevicePointer_v2", "cuEventCreate", "cuEventRecord", "cuStreamWaitValue32_v2"} {
		t.Run(function, func(t *testing.T) {
			lib := fakecuda.New(1)
			d := openFake(t, lib)
			s := must[*Stream](t)(d.NewStream(context.Background()))
			lib.Fail(function, fakecuda.OutOfMemory)
			ran := 0
			f := func() error { ran++; return nil }
			if err := s.Call(f); !errors.Is(err, ErrOutOfMemory) {
				t.Errorf("call: %v", err)
			}
			do(t, s.Call(f))
			do(t, s.Synchronize(context.Background()))
			if ran != 1 {
				t.Errorf("the function ran %d times, want once", ran)
			}
			closeAll(t, s, d)
			if left := lib.Left(); left != "" {
				t.Errorf("left in the driver: %s", left)
			}
		})
	}
}

func TestAFunctionDoesNotRunIfTheDeviceFailsBefore(t *testing.T) {
	lib := fakecuda.New(1)
	d := openFake(t, lib)
	s := must[*Stream](t)(d.NewStream(context.Background()))
	lib.Fail("cuEventSynchronize", fakecuda.IllegalAddress)
	do(t, s.Call(func() error { t.Error("it ran"); return nil }))
	do(t, s.Synchronize(context.Background()))
	closeAll(t, s, d)
	if left := lib.Left(); left != "" {
		t.Errorf("left in the driver: %s", left)
	}
}

func TestWhereStreamsCannotWaitForMemoryTheCallerDoes(t *testing.T) {
	missing, refusing := fakecuda.New(1), fakecuda.New(1)
	missing.Missing = map[string]bool{"cuStreamWaitValue32_v2": true}
	for name, lib := range map[string]*fakecuda.Library{"an old driver": missing, "an old device": refusing} {
		t.Run(name, func(t *testing.T) {
			d := openFake(t, lib)
			s := must[*Stream](t)(d.NewStream(context.Background()))
			for i := range 3 {
				if lib == refusing {
					lib.Fail("cuStreamWaitValue32_v2", fakecuda.NotSupported)
				}
				ran := false
				do(t, s.Call(func() error { ran = true; return fmt.Errorf("error %d", i) }))
				if err := s.Synchronize(context.Background()); !ran || err == nil {
					t.Errorf("ran: %v, error %v", ran, err)
				}
			}
			closeAll(t, s, d)
			if left := lib.Left(); left != "" {
				t.Errorf("left in the driver: %s", left)
			}
		})
	}
}

func TestClosingAStreamWaitsForItsCalls(t *testing.T) {
	lib := fakecuda.New(1)
	d := openFake(t, lib)
	s := must[*Stream](t)(d.NewStream(context.Background()))
	lib.Busy = make(chan struct{})
	ran := false
	do(t, s.Call(func() error { ran = true; return nil }))
	go close(lib.Busy)
	do(t, s.Close())
	if !ran {
		t.Error("the function did not run")
	}
	closeAll(t, d)
	if left := lib.Left(); left != "" {
		t.Errorf("left in the driver: %s", left)
	}
}

// BenchmarkCall measures a call in a stream and the wait for it.
func BenchmarkCall(b *testing.B) {
	everyDeviceB(b, func(b *testing.B, d *Device) {
		s := d.DefaultStream()
		b.ReportAllocs()
		for b.Loop() {
			do(b, s.Call(func() error { return nil }))
			do(b, s.Synchronize(context.Background()))
		}
	})
}
