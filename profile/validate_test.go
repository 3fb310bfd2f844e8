package profile_test

import (
	"bytes"
	"strings"
	"testing"

	"quern.dev/gpu"
	"quern.dev/profile"
	"quern.dev/profile/internal/kernels"
)

// kernelNamed returns a kernel of package kernels.
func kernelNamed(t *testing.T, name string) *gpu.Kernel {
	t.Helper()
	for _, k := range kernels.All() {
		if k.Name() == name {
			return k
		}
	}
	t.Fatalf("there is no kernel %s", name)
	return nil
}

// devices opens the CPU and the simulator.
func devices(t *testing.T) (cpu, sim *gpu.Device) {
	t.Helper()
	var list [2]*gpu.Device
	for i, id := range []string{"cpu", "sim"} {
		d, err := gpu.Open(gpu.Config{Device: id})
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() {
			if err := d.Close(); err != nil {
				t.Error(err)
			}
		})
		list[i] = d
	}
	return list[0], list[1]
}

func TestResultsOfTwoDevicesAreCompared(t *testing.T) {
	cpu, sim := devices(t)
	v, err := profile.Validate(t.Context(), profile.Call{Kernel: kernelNamed(t, "streamTriad")}, cpu, sim, []int{100, 1000})
	if err != nil {
		t.Fatal(err)
	}
	if len(v.Rows) != 6 {
		t.Fatalf("%d rows", len(v.Rows))
	}
	for _, r := range v.Rows {
		if r.Err != "" || r.Numbers != r.Size || r.Seconds <= 0 {
			t.Errorf("%+v", r)
		}
		if r.Input != profile.Edges && (r.ULP > 1 && r.Absolute > 1e-15 || r.Mismatches > 0) {
			t.Errorf("%+v", r)
		}
	}
	var b bytes.Buffer
	if err := v.WriteMarkdown(&b); err != nil || !strings.Contains(b.String(), "| 1000 | edges | 1000 |") {
		t.Errorf("%v\n%s", err, &b)
	}
}

func TestKernelsThatFailAreRows(t *testing.T) {
	cpu, sim := devices(t)
	k := kernelNamed(t, "strided")
	v, err := profile.Validate(t.Context(), profile.Call{Kernel: kernelNamed(t, "touch"), Args: map[string]string{"out": "0*n"}}, cpu, sim, []int{100})
	if err != nil || v.Rows[0].Numbers != 0 {
		t.Errorf("an empty slice: %+v, %v", v, err)
	}
	for name, c := range map[string]profile.Call{
		"no kernel":             {},
		"an unknown parameter":  {Kernel: k, Args: map[string]string{"z": "1"}},
		"no expression":         {Kernel: k, Args: map[string]string{"x": "n n"}},
		"another name":          {Kernel: k, Args: map[string]string{"x": "m"}},
		"a length below zero":   {Kernel: k, Args: map[string]string{"x": "-n"}},
		"a length without end":  {Kernel: k, Args: map[string]string{"x": "n/0"}},
		"too many dimensions":   {Kernel: k, Threads: "n,n,n,n"},
		"a length out of range": {Kernel: k, Args: map[string]string{"x": "1e18"}},
	} {
		if _, err := profile.Validate(t.Context(), c, cpu, sim, []int{100}); err == nil || !strings.HasPrefix(err.Error(), "profile: validate") {
			t.Errorf("%s: %v", name, err)
		}
	}
}

func TestAKernelIsAnalyzed(t *testing.T) {
	cpu, sim := devices(t)
	card := testCard("cpu")
	a, err := profile.Analyze(t.Context(), profile.Call{Kernel: kernelNamed(t, "streamTriad")}, 20_000, cpu, cpu, card, card)
	if err != nil {
		t.Fatal(err)
	}
	if a.Roofline.Intensity < 0.08 || a.Roofline.Intensity > 0.09 || a.Baseline.Total <= 0 || a.Coalesced < 0.97 || a.Lanes < 0.9 || len(a.Steps) < 4 {
		t.Errorf("%+v", a)
	}
	for _, s := range a.Steps {
		if s.Result == "different results" {
			t.Errorf("%+v", s)
		}
	}
	var b bytes.Buffer
	if err := a.WriteMarkdown(&b); err != nil || !strings.Contains(b.String(), "| float32 instead of float64 |") {
		t.Errorf("%v\n%s", err, &b)
	}
	if _, err := profile.Analyze(t.Context(), profile.Call{Kernel: kernelNamed(t, "streamTriad")}, 100, sim, cpu, card, card); err == nil {
		t.Error("the simulator was analyzed")
	}
}
