package gputest_test

import (
	"context"
	"os"
	"os/exec"
	"strings"
	"testing"

	"quern.dev/gpu"
	"quern.dev/gputest"
)

const source = `package kernels

import "quern.dev/kernel"

//quern:kernel
func saxpy(t kernel.Thread, a float32, x, y []float32) {
	if i := t.Global(); i < len(y) {
		y[i] += a * x[i]
	}
}

//quern:kernel
func double(t kernel.Thread, n int, x, out []float32) {
	if i := t.Global(); i < n {
		out[i] = 2 * x[i]
	}
}

//quern:kernel
func accumulate(t kernel.Thread, x, out []int32) {
	if i := t.Global(); i < len(out) {
		out[i] += x[i]
	}
}

//quern:kernel
func beyond(t kernel.Thread, x []float32) {
	x[t.Global()+1] = 0
}
`

// kernels compiles the kernels for a stream's device once.
var kernels = map[string]*gpu.Kernel{}

func launch(s *gpu.Stream, name string, n int, args ...any) error {
	if kernels[name] == nil {
		k, err := s.Device().Compile(context.Background(), source, name)
		if err != nil {
			return err
		}
		kernels[name] = k
	}
	return kernels[name].Launch(s, gpu.Linear(n), args...)
}

func ramp(n int) []float32 {
	list := make([]float32, n)
	for i := range list {
		list[i] = float32(i) / 3
	}
	return list
}

func TestCompare(t *testing.T) {
	x, y := gputest.Slice("x", ramp(1000)), gputest.Slice("y", ramp(1000), gputest.ULP(1))
	gputest.Compare(t,
		func(s *gpu.Stream) error { return launch(s, "saxpy", 1000, float32(2), x.Device(), y.Device()) },
		func() {
			for i := range y.Host() {
				y.Host()[i] += 2 * x.Host()[i]
			}
		},
		x, y)
}

// Neither side writes the last elements.
func TestComparePartiallyWrittenOutputs(t *testing.T) {
	x, out := gputest.Slice("x", ramp(100)), gputest.Output[float32]("out", 100)
	gputest.Compare(t,
		func(s *gpu.Stream) error { return launch(s, "double", 90, 90, x.Device(), out.Device()) },
		func() {
			for i := range 90 {
				out.Host()[i] = 2 * x.Host()[i]
			}
		},
		x, out)
}

func TestEachRunsOnTheNamedDevices(t *testing.T) {
	t.Setenv(gputest.DevicesVariable, "sim, cpu,sim")
	var ran []string
	gputest.Each(t, func(t *testing.T, dev *gpu.Device) {
		ran = append(ran, dev.ID())
		b := gputest.Alloc[int32](t, dev, 3)
		gputest.Equal(t, gputest.Download(t, dev, b), []int32{-1515870811, -1515870811, -1515870811})
		gputest.Equal(t, gputest.Download(t, dev, gputest.Upload(t, dev, []int8{1, 2})), []int8{1, 2})
	})
	if got := strings.Join(ran, " "); got != "sim cpu" {
		t.Errorf("ran on %s", got)
	}
}

// failing lists tests that fail. TestTheHelpersFail runs them in another process.
var failing = map[string]func(t *testing.T){
	"a result that is wrong": func(t *testing.T) {
		x, y := gputest.Slice("x", ramp(10)), gputest.Slice("y", ramp(10))
		gputest.Compare(t,
			func(s *gpu.Stream) error { return launch(s, "saxpy", 10, float32(2), x.Device(), y.Device()) },
			func() { y.Host()[3] = 7 },
			x, y)
	},
	"an element that only plain Go writes": func(t *testing.T) {
		x, out := gputest.Slice("x", ramp(10)), gputest.Output[float32]("out", 10)
		gputest.Compare(t,
			func(s *gpu.Stream) error { return launch(s, "double", 10, 9, x.Device(), out.Device()) },
			func() {
				for i := range out.Host() {
					out.Host()[i] = 2 * x.Host()[i]
				}
			},
			x, out)
	},
	"an element that only the kernel writes": func(t *testing.T) {
		x, out := gputest.Slice("x", ramp(10)), gputest.Output[float32]("out", 10)
		gputest.Compare(t,
			func(s *gpu.Stream) error { return launch(s, "double", 10, 10, x.Device(), out.Device()) },
			func() {
				for i := range 9 {
					out.Host()[i] = 2 * x.Host()[i]
				}
			},
			x, out)
	},
	"an output that is read": func(t *testing.T) {
		x, out := gputest.Slice("x", []int32{1, 2, 3, 4}), gputest.Output[int32]("out", 4)
		gputest.Compare(t,
			func(s *gpu.Stream) error { return launch(s, "accumulate", 4, x.Device(), out.Device()) },
			func() {
				for i := range out.Host() {
					out.Host()[i] += x.Host()[i]
				}
			},
			x, out)
	},
	"a kernel that fails": func(t *testing.T) {
		x := gputest.Slice("x", ramp(4))
		gputest.Compare(t, func(s *gpu.Stream) error { return launch(s, "beyond", 4, x.Device()) }, func() {}, x)
	},
	"a launch that is refused": func(t *testing.T) {
		x := gputest.Slice("x", ramp(4))
		gputest.Compare(t, func(s *gpu.Stream) error { return launch(s, "beyond", 4, 1, x.Device()) }, func() {}, x)
	},
	"elements that cannot be compared": func(t *testing.T) {
		x := gputest.Slice("x", []string{"a"})
		gputest.Compare(t, func(*gpu.Stream) error { return nil }, func() {}, x)
	},
	"a buffer that is not closed": func(t *testing.T) {
		gputest.Each(t, func(t *testing.T, dev *gpu.Device) {
			if _, err := gpu.Alloc[int32](dev, 5); err != nil {
				t.Fatal(err)
			}
		})
	},
	"a device that there is not": func(t *testing.T) {
		t.Setenv(gputest.DevicesVariable, "cpu,cuda:77")
		gputest.Each(t, func(*testing.T, *gpu.Device) {})
	},
	"a device that cannot be": func(t *testing.T) {
		t.Setenv(gputest.DevicesVariable, "tpu")
		gputest.Each(t, func(*testing.T, *gpu.Device) {})
	},
	"a download after a failure": func(t *testing.T) {
		dev := gputest.Open(t, gpu.Config{Device: "cpu"})
		b := gputest.Upload(t, dev, ramp(4))
		if err := launch(dev.DefaultStream(), "beyond", 4, b); err != nil {
			t.Fatal(err)
		}
		gputest.Download(t, dev, b)
	},
}

const failingVariable = "GPUTEST_FAILING"

func TestFailing(t *testing.T) {
	f := failing[os.Getenv(failingVariable)]
	if f == nil {
		t.Skip("TestTheHelpersFail runs it")
	}
	f(t)
}

func TestTheHelpersFail(t *testing.T) {
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	for name, want := range map[string][]string{
		"a result that is wrong":                 {"--- FAIL: TestFailing/cpu", "--- FAIL: TestFailing/sim", "compare_test.go:", "y: 9 of 10 elements differ:\n", "[3]: got 3, want 7 ("},
		"an element that only plain Go writes":   {"--- FAIL: TestFailing/cpu", "out: 1 of 10 elements differs:\n", "[9]: got nothing (it was not written), want 6\n"},
		"an element that only the kernel writes": {"--- FAIL: TestFailing/cpu", "out: 1 of 10 elements differs:\n", "[9]: got 6, want nothing (it was not written)\n"},
		"an output that is read":                 {"--- FAIL: TestFailing/cpu", "--- FAIL: TestFailing/sim", "read of uninitialised memory: global load of 4 bytes: out[0]"},
		"a kernel that fails":                    {"--- FAIL: TestFailing/cpu", "--- FAIL: TestFailing/sim", "kernel beyond: index 4 out of range [0,4)"},
		"a launch that is refused":               {"--- FAIL: TestFailing/cpu", "gpu: launch beyond: argument x: have int, want *gpu.Buffer[float32]"},
		"elements that cannot be compared":       {"--- FAIL: TestFailing", "gputest.Compare: values of type string cannot be compared"},
		"a buffer that is not closed":            {"--- FAIL: TestFailing/cpu", "--- FAIL: TestFailing/sim", "1 buffer was not closed (20 bytes): ", "compare_test.go:"},
		"a device that there is not":             {"--- FAIL: TestFailing", "gputest: QUERN_TEST_DEVICES=cpu,cuda:77: cuda:77: "},
		"a device that cannot be":                {"--- FAIL: TestFailing", "gputest: QUERN_TEST_DEVICES=tpu: tpu: no such device; use cpu, sim, cuda or cuda:1"},
		"a download after a failure":             {"--- FAIL: TestFailing", "kernel beyond: index 4 out of range [0,4)"},
	} {
		t.Run(name, func(t *testing.T) {
			if failing[name] == nil {
				t.Fatal("there is no such test")
			}
			cmd := exec.CommandContext(t.Context(), self, "-test.run=^TestFailing$")
			cmd.Env = append(os.Environ(), failingVariable+"="+name, gputest.DevicesVariable+"=cpu,sim")
			out, err := cmd.CombinedOutput()
			if _, failed := err.(*exec.ExitError); !failed {
				t.Errorf("the process ended with %v", err)
			}
			for _, w := range want {
				if !strings.Contains(string(out), w) {
					t.Errorf("the output does not have %q:\n%s", w, out)
				}
			}
		})
	}
	if len(failing) != 11 {
		t.Errorf("%d tests that fail, 11 are run", len(failing))
	}
}
