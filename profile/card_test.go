package profile_test

import (
	"bytes"
	"encoding/xml"
	"errors"
	"image/png"
	"io"
	"math"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"quern.dev/gpu"
	"quern.dev/profile"
)

// testCard returns a card of a device with plausible numbers.
func testCard(backend string) *profile.Card {
	c := &profile.Card{
		Version: 4, Device: "test", Backend: backend, Multiprocessors: 16,
		Machine: profile.Machine{CopyBandwidth: 5e10, Flops32: 8e10, Flops64: 8e10},
		Rates:   profile.Rates{Memory: 1e11, Integers: 6e10, Roots: 1e10, Functions: 1e9, Shared: 2e10, Cached: 3e10, Scattered: 3e9, Atomics: 5e8, Contended: 1e8, Threads: 3e9, Barriers: 2e10},
		Latency: profile.Latency{Launch: 1e-6, Wait: 1e-5, Kernel: 1e-6, Memory: 1e-7},
	}
	if backend == "cuda" {
		c.Multiprocessors, c.ClockRate = 132, 1_980_000
		c.Machine = profile.Machine{CopyBandwidth: 4.2e12, Flops32: 6.5e13, Flops64: 3.3e13}
		c.Rates = profile.Rates{Memory: 4.3e12, Integers: 2.4e13, Roots: 2.3e12, Functions: 4e12, Shared: 6e12, Cached: 1.9e12, Scattered: 4e10, Atomics: 4e11, Contended: 1.4e9, Threads: 6e11, Barriers: 4e12}
		rate := profile.Rate{Fixed: 8e-6, Bandwidth: 5e10, Points: []profile.Point{{Bytes: 4096, Seconds: 8e-6}, {Bytes: 1 << 28, Seconds: 5e-3}}}
		c.Transfer = profile.Transfer{PinnedIn: rate, PinnedOut: rate, PageableIn: rate, PageableOut: rate}
	}
	return c
}

func TestDevicesAreMeasured(t *testing.T) {
	d := open(t)
	t.Setenv("XDG_CACHE_HOME", t.TempDir())
	if d.Backend() == gpu.Sim {
		t.Skip("times of the simulator mean nothing")
	}
	if _, err := profile.SavedCard(d); !errors.Is(err, profile.ErrNoCard) {
		t.Errorf("before it was measured: %v", err)
	}
	steps := 0
	c, err := profile.MeasureTiny(t.Context(), d.DefaultStream(), func(step, of int, what string) {
		if steps++; step != steps || step > of || what == "" {
			t.Errorf("step %d of %d: %q", step, of, what)
		}
	})
	if err != nil {
		t.Fatal(err)
	}
	for _, name := range []string{"stream", "strided", "cache", "shared", "atomics", "transfer", "latency"} {
		p := c.Pattern(name)
		if p == nil {
			t.Errorf("there is no pattern %s", name)
			continue
		}
		for _, l := range p.Lines {
			for i, v := range l.Values {
				if !(v > 0) || math.IsInf(v, 0) {
					t.Errorf("%s, %s, %s: %v", name, l.Name, p.Labels[i], v)
				}
			}
		}
	}
	path, err := c.Save()
	if err != nil {
		t.Fatal(err)
	}
	back, err := profile.SavedCard(d)
	if err != nil || back.Rates != c.Rates || len(back.Patterns) != len(c.Patterns) {
		t.Errorf("the saved card is %+v, %v", back, err)
	}
	if err := os.WriteFile(path, []byte("{"), 0o600); err != nil {
		t.Fatal(err)
	}
	if _, err := profile.SavedCard(d); !errors.Is(err, profile.ErrNoCard) {
		t.Errorf("a damaged card: %v", err)
	}
	if left, _ := filepath.Glob(filepath.Join(filepath.Dir(path), ".card-*")); len(left) > 0 {
		t.Errorf("temporary files remain: %q", left)
	}
}

func TestTheSimulatorIsNotMeasured(t *testing.T) {
	d, err := gpu.Open(gpu.Config{Device: "sim"})
	if err != nil {
		t.Fatal(err)
	}
	defer d.Close()
	if _, err := profile.MeasureCard(t.Context(), d.DefaultStream(), nil); !errors.Is(err, errors.ErrUnsupported) {
		t.Errorf("the error is %v", err)
	}
	if _, err := profile.MeasureCard(t.Context(), nil, nil); err == nil {
		t.Error("no stream is no error")
	}
}

func TestCardsThatCannotBeUsedAreErrors(t *testing.T) {
	var good bytes.Buffer
	if err := testCard("cuda").WriteJSON(&good); err != nil {
		t.Fatal(err)
	}
	if _, err := profile.ReadCard(bytes.NewReader(good.Bytes())); err != nil {
		t.Fatal(err)
	}
	for name, bad := range map[string]string{
		"no JSON":            "x",
		"another version":    strings.Replace(good.String(), `"version": 4`, `"version": 1`, 1),
		"a rate of zero":     strings.Replace(good.String(), `"integers": 24000000000000`, `"integers": 0`, 1),
		"a line too short":   strings.Replace(good.String(), `"patterns": null`, `"patterns": [{"name":"x","labels":["a"],"lines":[{"name":"y","values":[]}]}]`, 1),
		"a negative latency": strings.Replace(good.String(), `"wait": 0.00001`, `"wait": -1`, 1),
	} {
		if bad == good.String() {
			t.Errorf("%s: the test changes nothing", name)
		}
		if _, err := profile.ReadCard(strings.NewReader(bad)); err == nil {
			t.Errorf("%s: no error", name)
		}
	}
}

func TestPatternsAreTablesAndPlots(t *testing.T) {
	p := profile.Pattern{Name: "x", Title: "Copies & <others>", Axis: "size", Unit: "B/s", Labels: []string{"1", "2", "4"},
		Lines: []profile.Line{{Name: "in", Values: []float64{1e9, 2e9, 0}}, {Name: "out", Values: []float64{2e9, 3e9, 4e9}}}}
	var svg, image, text bytes.Buffer
	if err := p.WriteSVG(&svg); err != nil {
		t.Fatal(err)
	}
	x := xml.NewDecoder(bytes.NewReader(svg.Bytes()))
	for {
		if _, err := x.Token(); err == io.EOF {
			break
		} else if err != nil {
			t.Fatal(err)
		}
	}
	if s := svg.String(); strings.Count(s, "<polyline") != 2 || !strings.Contains(s, "Copies &amp; &lt;others&gt;") || !strings.Contains(s, "prefers-color-scheme:dark") {
		t.Error(s)
	}
	if err := p.WritePNG(&image); err != nil {
		t.Fatal(err)
	}
	i, err := png.Decode(&image)
	if err != nil || i.Bounds().Dx() != 1440 {
		t.Fatalf("%v", err)
	}
	colors := map[[3]uint32]bool{}
	for y := range i.Bounds().Dy() {
		for x := range i.Bounds().Dx() {
			r, g, b, _ := i.At(x, y).RGBA()
			colors[[3]uint32{r >> 8, g >> 8, b >> 8}] = true
		}
	}
	for _, want := range [][3]uint32{{255, 255, 255}, {0x09, 0x69, 0xda}, {0xbc, 0x4c, 0x00}, {0x1f, 0x23, 0x28}} {
		if !colors[want] {
			t.Errorf("the image has no pixel of color %x", want)
		}
	}
	c := testCard("cpu")
	c.Patterns = []profile.Pattern{p}
	if err := c.WriteMarkdown(&text); err != nil || !strings.Contains(text.String(), "| 4 |  | 4.00 GB/s |") {
		t.Errorf("%v:\n%s", err, &text)
	}
}

func TestCopiesAreInterpolated(t *testing.T) {
	r := profile.Rate{Fixed: 1, Points: []profile.Point{{Bytes: 10, Seconds: 1}, {Bytes: 20, Seconds: 3}}}
	for bytes, want := range map[float64]float64{0: 0, 5: 1, 10: 1, 15: 2, 20: 3, 40: 6} {
		if got := r.Seconds(bytes); got != want {
			t.Errorf("%v bytes take %v, want %v", bytes, got, want)
		}
	}
}
