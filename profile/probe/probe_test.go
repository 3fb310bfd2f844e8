package probe_test

import (
	"bytes"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"quern.dev/gpu"
	"quern.dev/profile"
	"quern.dev/profile/probe"
)

const source = `package p

import "quern.dev/kernel"

//quern:kernel
func add(t kernel.Thread, x, y []float32) {
	if i := t.Global(); i < len(y) {
		y[i] += x[i]
	}
}
`

func TestRequestsThatFailSayWhatToDo(t *testing.T) {
	d, err := gpu.Open(gpu.Config{Device: "sim"})
	if err != nil {
		t.Fatal(err)
	}
	defer d.Close()
	k, err := d.Compile(t.Context(), source, "add")
	if err != nil {
		t.Fatal(err)
	}
	defer k.Close()
	dir := t.TempDir()
	for _, c := range []struct {
		name string
		r    probe.Request
		want []string
	}{
		{"a slice that is too short", probe.Request{Command: "bench", Device: "cpu", Args: map[string]string{"x": "n/2"}},
			[]string{"out of range", "The arguments are made up", "--arg", "--threads"}},
		{"an unknown parameter", probe.Request{Command: "validate", Device: "cpu", Args: map[string]string{"z": "n"}}, []string{"no parameter z; it has x, y"}},
		{"a missing card", probe.Request{Command: "advise", GPUCard: filepath.Join(dir, "missing")}, []string{"missing"}},
		{"a card that is none", probe.Request{Command: "advise", GPUCard: write(t, filepath.Join(dir, "go"), "package p")}, []string{filepath.Join(dir, "go") + ": profile: read card"}},
		{"a card of a CPU", probe.Request{Command: "advise", GPUCard: write(t, filepath.Join(dir, "cpu"), card(t))}, []string{"is the card of Test, which is no GPU"}},
	} {
		c.r.Kernel, c.r.Sizes = "add", []int{64}
		err := c.r.Run(t.Context(), io.Discard, io.Discard, []*gpu.Kernel{k})
		for _, want := range c.want {
			if err == nil || !strings.Contains(err.Error(), want) {
				t.Errorf("%s: %v does not say %q", c.name, err, want)
			}
		}
	}
}

func write(t *testing.T, name, text string) string {
	t.Helper()
	if err := os.WriteFile(name, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	return name
}

// card returns the card of a CPU.
func card(t *testing.T) string {
	c := profile.Card{
		Version: 4, Device: "Test", Backend: "cpu",
		Machine: profile.Machine{CopyBandwidth: 1, Flops32: 1, Flops64: 1},
		Rates:   profile.Rates{Memory: 1, Integers: 1, Roots: 1, Functions: 1, Shared: 1, Cached: 1, Scattered: 1, Atomics: 1, Contended: 1, Threads: 1, Barriers: 1},
		Latency: profile.Latency{Wait: 1},
	}
	var b bytes.Buffer
	if err := c.WriteJSON(&b); err != nil {
		t.Fatal(err)
	}
	return b.String()
}
