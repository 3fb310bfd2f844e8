package main

import (
	"bytes"
	"context"
	"encoding/csv"
	"encoding/json"
	"encoding/xml"
	"io"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"quern.dev/gpu"
	"quern.dev/gputest"
)

var names = []string{"copy", "reduce", "scan", "select", "histogram", "sort", "fft", "gemm"}

func TestJSONHasAllFigures(t *testing.T) {
	for _, device := range []string{"cpu", "sim"} {
		var text bytes.Buffer
		if err := run(t.Context(), options{shortly: true, device: device, n: 256, asJSON: true}, &text, io.Discard); err != nil {
			t.Fatal(err)
		}
		var r Report
		if err := json.Unmarshal(text.Bytes(), &r); err != nil {
			t.Fatal(err)
		}
		if len(r.Figures) != len(names) || !r.Complete || r.Backend != device {
			t.Fatalf("the report is %+v", r)
		}
		for i, f := range r.Figures {
			if f.Name != names[i] || f.Elements != 256 || f.Seconds <= 0 || f.GBs <= 0 || f.CopyGBs != r.Figures[0].GBs || (f.TFlops > 0) != (i >= 6) {
				t.Errorf("figure %d: %+v", i, f)
			}
		}
	}
}

func TestTableHasAllFigures(t *testing.T) {
	var text bytes.Buffer
	if err := run(t.Context(), options{shortly: true, device: "cpu", n: 100}, &text, io.Discard); err != nil {
		t.Fatal(err)
	}
	for _, name := range names {
		if !strings.Contains(text.String(), "\n"+name+" ") {
			t.Errorf("the table lacks %s:\n%s", name, &text)
		}
	}
}

func TestSweepIsCSV(t *testing.T) {
	var text bytes.Buffer
	if err := run(t.Context(), options{shortly: true, device: "cpu", n: 3000, sweep: true}, &text, io.Discard); err != nil {
		t.Fatal(err)
	}
	table, err := csv.NewReader(&text).ReadAll()
	if err != nil {
		t.Fatal(err)
	}
	if len(table) != 1+2*len(names) || table[1][1] != "1024" || table[len(names)+1][1] != "2048" || table[2][0] != "reduce" {
		t.Errorf("the table is %q", table)
	}
}

func TestPlotHasDashedCurvesOfPeers(t *testing.T) {
	const peers = "algorithm,elements,seconds,gb_per_second\nsort,1024,1e-5,3.7\nsort,2048,1e-5,7.4\nother,1024,1,1\n"
	figures, err := readPeers(strings.NewReader(peers))
	if err != nil {
		t.Fatal(err)
	}
	var plot strings.Builder
	r := &Report{Figures: []Figure{{Name: "sort", Elements: 1024, GBs: 1}, {Name: "sort", Elements: 2048, GBs: 2}}}
	if err := writePlot(&plot, r, figures); err != nil {
		t.Fatal(err)
	}
	if n := strings.Count(plot.String(), "stroke-dasharray"); n != 1 {
		t.Errorf("%d dashed curves, want 1", n)
	}
	for _, bad := range []string{"a\nsort,1,1\n", "a,b,c,d\nsort,x,1,1\n", "a,b,c,d\nsort,1024,1,-1\n"} {
		if _, err := readPeers(strings.NewReader(bad)); err == nil {
			t.Errorf("%q was accepted", bad)
		}
	}
}

func TestPlotHasACurvePerAlgorithm(t *testing.T) {
	file := filepath.Join(t.TempDir(), "sweep.svg")
	if err := run(t.Context(), options{shortly: true, device: "cpu", n: 5000, sweep: true, plot: file}, io.Discard, io.Discard); err != nil {
		t.Fatal(err)
	}
	text, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	var image struct {
		Lines []struct {
			Points string `xml:"points,attr"`
		} `xml:"polyline"`
		Texts []string `xml:"text"`
	}
	if err := xml.Unmarshal(text, &image); err != nil {
		t.Fatal(err)
	}
	if len(image.Lines) != len(names) {
		t.Fatalf("%d curves, want %d", len(image.Lines), len(names))
	}
	for i, l := range image.Lines {
		if len(strings.Fields(l.Points)) != 3 || !slices.Contains(image.Texts, names[i]) {
			t.Errorf("the curve of %s is %q, the texts are %q", names[i], l.Points, image.Texts)
		}
	}
	if err := run(t.Context(), options{shortly: true, device: "cpu", n: 1024, sweep: true, plot: t.TempDir()}, io.Discard, io.Discard); err == nil {
		t.Error("a folder was accepted as the file of a plot")
	}
}

func TestSizesOfASweep(t *testing.T) {
	o := options{n: 1 << 28, sweep: true}
	if s := o.sizes(); len(s) != 19 || s[0] != 1<<10 || s[18] != 1<<28 {
		t.Errorf("sizes are %v", s)
	}
}

func TestInterruptIsAnError(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if err := run(ctx, options{shortly: true, device: "cpu", n: 100}, io.Discard, io.Discard); err == nil || !strings.Contains(err.Error(), "interrupted") {
		t.Errorf("the error is %v", err)
	}
}

// TestAlgorithmsComputeWhatTheyAreNamedAfter looks at what the measured calls have written.
func TestAlgorithmsComputeWhatTheyAreNamedAfter(t *testing.T) {
	gputest.Each(t, func(t *testing.T, dev *gpu.Device) {
		s, n := dev.DefaultStream(), 300
		err := dev.Pool().Scope(s, func(scope *gpu.Scope) error {
			b, err := newBuffers(s, scope, n)
			if err != nil {
				return err
			}
			x, z := gputest.Download(t, dev, b.x), gputest.Download(t, dev, b.z)
			sum := 0.0
			for _, v := range x {
				sum += float64(v)
			}
			check := map[string]func() bool{
				"reduce": func() bool { return math.Abs(float64(gputest.Download(t, dev, b.one)[0])-sum) < 1e-3 },
				"scan":   func() bool { return math.Abs(float64(gputest.Download(t, dev, b.y)[n-1])-sum) < 1e-3 },
				"select": func() bool {
					kept := 0
					for _, v := range gputest.Download(t, dev, b.coins) {
						kept += int(v)
					}
					return kept > 0 && kept < n && gputest.Download(t, dev, b.count)[0] == kept
				},
				"histogram": func() bool {
					total := uint32(0)
					for _, v := range gputest.Download(t, dev, b.bins) {
						total += v
					}
					return total == uint32(n)
				},
				"sort": func() bool { return slices.IsSorted(gputest.Download(t, dev, b.out)) },
				"fft": func() bool {
					var first complex128
					for i := range n {
						first += complex(float64(z[2*i]), float64(z[2*i+1]))
					}
					y := gputest.Download(t, dev, b.y)
					return math.Hypot(float64(y[0])-real(first), float64(y[1])-imag(first)) < 1e-3
				},
				"gemm": func() bool {
					first := 0.0
					for k := range side(n) {
						first += float64(x[k]) * float64(z[k*side(n)])
					}
					return math.Abs(float64(gputest.Download(t, dev, b.y)[0])-first) < 1e-4
				},
			}
			for _, a := range algorithms {
				m, err := a.open(b)
				if err != nil {
					return err
				}
				if err := m.submit(); err != nil {
					return err
				}
				if !check[a.name]() {
					t.Errorf("%s has written something else", a.name)
				}
				if m.close != nil {
					if err := m.close(); err != nil {
						return err
					}
				}
			}
			return nil
		})
		if err != nil {
			t.Fatal(err)
		}
	})
}
