package endless

import (
	"context"
	"errors"
	"math"
	"os"
	"path"
	"slices"
	"strings"
	"testing"
	"time"

	"quern.dev/gpu"
)

var one = gpu.Blocks(gpu.Dim3{X: 1}, gpu.Dim3{X: 1})

var endless = []struct {
	name   string
	launch func(s *gpu.Stream, x *gpu.Buffer[int32]) error
}{
	{"forever", func(s *gpu.Stream, x *gpu.Buffer[int32]) error { return LaunchForever(s, gpu.Linear(64), x) }},
	{"whileTrue", func(s *gpu.Stream, x *gpu.Buffer[int32]) error { return LaunchWhileTrue(s, one, x) }},
	{"ordered", func(s *gpu.Stream, x *gpu.Buffer[int32]) error { return LaunchOrdered(s, one, x) }},
	{"manyIterations", func(s *gpu.Stream, x *gpu.Buffer[int32]) error {
		return LaunchManyIterations(s, one, 1<<62, x)
	}},
	{"wraps", func(s *gpu.Stream, x *gpu.Buffer[int32]) error { return LaunchWraps(s, one, x) }},
	{"nested", func(s *gpu.Stream, x *gpu.Buffer[int32]) error { return LaunchNested(s, one, x) }},
	{"inFunction", func(s *gpu.Stream, x *gpu.Buffer[int32]) error { return LaunchInFunction(s, gpu.Linear(64), x) }},
	{"inCalls", func(s *gpu.Stream, x *gpu.Buffer[int32]) error { return LaunchInCalls(s, one, x) }},
	{"inClosure", func(s *gpu.Stream, x *gpu.Buffer[int32]) error { return LaunchInClosure(s, one, x) }},
	{"withBarriers", func(s *gpu.Stream, x *gpu.Buffer[int32]) error { return LaunchWithBarriers(s, gpu.Linear(64), x) }},
	{"withWarps", func(s *gpu.Stream, x *gpu.Buffer[int32]) error { return LaunchWithWarps(s, gpu.Linear(32), x) }},
	{"besselFirst", func(s *gpu.Stream, x *gpu.Buffer[int32]) error { return LaunchBesselFirst(s, one, 1<<40, 2.5, x) }},
	{"besselFirst", func(s *gpu.Stream, x *gpu.Buffer[int32]) error { return LaunchBesselFirst(s, one, 1<<40, 1e80, x) }},
	{"besselSecond", func(s *gpu.Stream, x *gpu.Buffer[int32]) error { return LaunchBesselSecond(s, one, 1<<40, 1e80, x) }},
	{"longMath", func(s *gpu.Stream, x *gpu.Buffer[int32]) error { return LaunchLongMath(s, one, 1e-300, x) }},
	{"searches", func(s *gpu.Stream, x *gpu.Buffer[int32]) error { return LaunchSearches(s, one, x) }},
	{"gridWaits", func(s *gpu.Stream, x *gpu.Buffer[int32]) error { return LaunchGridWaits(s, gpu.Linear(64), x) }},
}

// timeout is longer than a launch that ends takes, even on a slow machine.
const timeout = 100 * time.Millisecond

// soon is much longer than a launch takes to notice that it was canceled.
const soon = 5 * time.Second

// inCaller runs a test on the devices that run kernels in the calling goroutine.
func inCaller(t *testing.T, config gpu.Config, test func(t *testing.T, d *gpu.Device)) {
	for _, backend := range []gpu.Backend{gpu.CPU, gpu.Sim} {
		t.Run(string(backend), func(t *testing.T) {
			config.Device = string(backend)
			d, err := gpu.Open(config)
			if err != nil {
				t.Fatal(err)
			}
			test(t, d)
			if err := d.Close(); err != nil {
				t.Error(err)
			}
		})
	}
}

// TestContextEndsLaunch cancels every kernel while it runs.
func TestContextEndsLaunch(t *testing.T) {
	reason := errors.New("the user has left")
	inCaller(t, gpu.Config{}, func(t *testing.T, d *gpu.Device) {
		for _, k := range endless {
			t.Run(k.name, func(t *testing.T) {
				ctx, cancel := context.WithCancelCause(t.Context())
				s, x := streamAndData(t, d, ctx, 8192)
				time.AfterFunc(10*time.Millisecond, func() { cancel(reason) })
				start := time.Now()
				err := k.launch(s, x)
				checkGivenUp(t, err, k.name, reason)
				if took := time.Since(start); took > soon {
					t.Errorf("the launch took %v", took)
				}
				if err := k.launch(s, x); !errors.Is(err, reason) || !strings.Contains(err.Error(), "the context of the stream has ended") {
					t.Errorf("a launch after it: %v", err)
				}
				stillWorks(t, d, x)
				if err := errors.Join(s.Close(), x.Close()); err != nil {
					t.Error(err)
				}
			})
		}
	})
}

func TestLaunchTimeoutEndsLaunch(t *testing.T) {
	inCaller(t, gpu.Config{LaunchTimeout: timeout}, func(t *testing.T, d *gpu.Device) {
		for _, k := range endless {
			t.Run(k.name, func(t *testing.T) {
				s, x := streamAndData(t, d, context.Background(), 8192)
				checkGivenUp(t, k.launch(s, x), k.name, context.DeadlineExceeded)
				stillWorks(t, d, x)
				if err := errors.Join(s.Close(), x.Close()); err != nil {
					t.Error(err)
				}
			})
		}
	})
}

// TestBesselFunctionsAreThoseOfTheLibrary compares the forms that can be canceled.
func TestBesselFunctionsAreThoseOfTheLibrary(t *testing.T) {
	d, err := gpu.Open(gpu.Config{Device: string(gpu.CPU)})
	if err != nil {
		t.Fatal(err)
	}
	defer d.Close()
	s, x := streamAndData(t, d, t.Context(), 2)
	defer x.Close()
	defer s.Close()
	values := []float64{math.NaN(), math.Inf(1), math.Inf(-1), 0, math.Copysign(0, -1), 1e-12, 0.3, -0.7, 1, 2.5, 17, -17.25, 400, 1e9, 1e91, -1e91, math.MaxFloat64}
	for _, f := range []struct {
		name   string
		launch func(*gpu.Stream, gpu.Grid, int, float64, *gpu.Buffer[int32]) error
		want   func(int, float64) float64
	}{{"Jn", LaunchBesselFirst, math.Jn}, {"Yn", LaunchBesselSecond, math.Yn}} {
		for _, n := range []int{-301, -8, -3, -2, -1, 0, 1, 2, 3, 4, 5, 33, 34, 150, 1000} {
			for _, v := range values {
				got := make([]int32, 2)
				if err := errors.Join(f.launch(s, one, n, v, x), gpu.Download(t.Context(), s, got, x)); err != nil {
					t.Fatal(err)
				}
				bits, want := uint64(uint32(got[1]))<<32|uint64(uint32(got[0])), f.want(n, v)
				if g := math.Float64frombits(bits); bits != math.Float64bits(want) && !(math.IsNaN(g) && math.IsNaN(want)) {
					t.Errorf("%s(%d, %v) = %v, want %v", f.name, n, v, g, want)
				}
			}
		}
	}
}

// TestGraphIsCanceled cancels a graph loop that has short kernels but never ends.
func TestGraphIsCanceled(t *testing.T) {
	inCaller(t, gpu.Config{LaunchTimeout: timeout}, func(t *testing.T, d *gpu.Device) {
		going, err := gpu.Upload(d.DefaultStream(), []uint32{1})
		if err != nil {
			t.Fatal(err)
		}
		defer going.Close()
		g, err := d.Capture(func(s *gpu.Stream) error {
			return gpu.While(s, going, func(s *gpu.Stream) error { return LaunchStill(s, one, going) })
		})
		if err != nil {
			t.Fatal(err)
		}
		e, err := g.Instantiate()
		if err != nil {
			t.Fatal(err)
		}
		defer e.Close()
		for range 2 {
			if err := e.Launch(d.DefaultStream()); !errors.Is(err, context.DeadlineExceeded) {
				t.Errorf("got %v", err)
			}
		}
		ctx, cancel := context.WithCancel(t.Context())
		s, x := streamAndData(t, d, ctx, 1)
		cancel()
		if err := e.Launch(s); !errors.Is(err, context.Canceled) {
			t.Errorf("on a stream whose context has ended: %v", err)
		}
		stillWorks(t, d, x)
		if err := errors.Join(s.Close(), x.Close()); err != nil {
			t.Error(err)
		}
	})
}

// TestWaitForTurnIsCanceled cancels a launch that waits for another launch's turn. On the
// CPU the streams run concurrently.
func TestWaitForTurnIsCanceled(t *testing.T) {
	inCaller(t, gpu.Config{}, func(t *testing.T, d *gpu.Device) {
		first, cancelFirst := context.WithCancel(t.Context())
		second, cancelSecond := context.WithCancel(t.Context())
		s, x := streamAndData(t, d, first, 8)
		other, y := streamAndData(t, d, second, 8) // before the launch: an upload waits for its turn, too
		ended := make(chan error)
		go func() { ended <- LaunchForever(s, gpu.Linear(64), x) }()
		time.AfterFunc(30*time.Millisecond, cancelSecond)
		if err := LaunchForever(other, gpu.Linear(64), y); !errors.Is(err, context.Canceled) {
			t.Errorf("got %v", err)
		}
		cancelFirst()
		if err := <-ended; !errors.Is(err, context.Canceled) {
			t.Errorf("the first: %v", err)
		}
		if err := errors.Join(s.Close(), other.Close(), x.Close(), y.Close()); err != nil {
			t.Error(err)
		}
	})
}

// TestInterpretedKernelsAreCanceled covers kernels compiled at run time, which the CPU
// device interprets.
func TestInterpretedKernelsAreCanceled(t *testing.T) {
	inCaller(t, gpu.Config{LaunchTimeout: timeout}, func(t *testing.T, d *gpu.Device) {
		k, err := d.Compile(t.Context(), `package p

import "quern.dev/kernel"

//quern:kernel
func spin(t kernel.Thread, x []int32) {
	if i := t.Global(); i < len(x) {
		for {
			x[i]++
		}
	}
}
`, "")
		if err != nil {
			t.Fatal(err)
		}
		s, x := streamAndData(t, d, context.Background(), 64)
		err = k.Launch(s, gpu.Linear(64), x)
		if e, ok := errors.AsType[*gpu.KernelError](err); !ok || e.Kernel != "spin" || e.Line < 8 || e.Line > 9 || !errors.Is(err, context.DeadlineExceeded) {
			t.Errorf("got %v", err)
		}
		stillWorks(t, d, x)
		if err := errors.Join(s.Close(), x.Close()); err != nil {
			t.Error(err)
		}
	})
}

func TestSimulatorHasStepBudget(t *testing.T) {
	d, err := gpu.Open(gpu.Config{Device: "sim", Sim: gpu.SimOptions{Steps: 1 << 20}})
	if err != nil {
		t.Fatal(err)
	}
	s, x := streamAndData(t, d, t.Context(), 8)
	if err := LaunchForever(s, gpu.Linear(64), x); err != nil {
		t.Fatal(err)
	}
	err = s.Synchronize(t.Context())
	if e, ok := errors.AsType[*gpu.KernelError](err); !ok || e.Kind != gpu.StepBudget || e.Kernel != "forever" {
		t.Errorf("got %v", err)
	}
	stillWorks(t, d, x)
	if err := errors.Join(s.Close(), x.Close(), d.Close()); err != nil {
		t.Error(err)
	}
}

func streamAndData(t *testing.T, d *gpu.Device, ctx context.Context, n int) (*gpu.Stream, *gpu.Buffer[int32]) {
	t.Helper()
	s, err := d.NewStream(ctx)
	if err != nil {
		t.Fatal(err)
	}
	x, err := gpu.Upload(s, make([]int32, n))
	if err != nil {
		t.Fatal(err)
	}
	return s, x
}

// checkGivenUp checks that an error names the kernel, and a line of the standard library
// or a line that is near a comment with the kernel's name or near its declaration.
func checkGivenUp(t *testing.T, err error, kernel string, cause error) {
	t.Helper()
	e, ok := errors.AsType[*gpu.KernelError](err)
	if !ok || e.Kind != gpu.GivenUp || e.Kernel != kernel || !errors.Is(err, cause) {
		t.Fatalf("got %v", err)
	}
	if pkg := path.Dir(e.File); pkg == "math" || pkg == "slices" {
		return
	}
	source, err := os.ReadFile("kernels.go")
	if err != nil {
		t.Log("kernels.go not found: lines are not compared")
		return
	}
	lines := strings.Split(string(source), "\n")
	near := lines[max(0, e.Line-2):min(len(lines), e.Line+1)]
	if !slices.ContainsFunc(near, func(l string) bool {
		return strings.Contains(l, "// "+kernel) || strings.HasPrefix(l, "func "+kernel+"(")
	}) {
		t.Errorf("%v: the line is %q", e, lines[max(0, e.Line-1)])
	}
}

// stillWorks checks that the device works after a canceled launch.
func stillWorks(t *testing.T, d *gpu.Device, x *gpu.Buffer[int32]) {
	t.Helper()
	s := d.DefaultStream()
	got := make([]int32, x.Len())
	err := errors.Join(gpu.Zero(s, x), LaunchAdd(s, gpu.Linear(x.Len()), x), gpu.Download(t.Context(), s, got, x))
	if err != nil || slices.ContainsFunc(got, func(v int32) bool { return v != 1 }) {
		t.Errorf("after the canceled launch: %v", err)
	}
}
