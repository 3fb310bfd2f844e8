package top

import (
	"fmt"
	"math"
	"regexp"
	"strings"
	"testing"
	"time"
	"unicode/utf8"

	"quern.dev/internal/nvml"
	"quern.dev/internal/nvml/fakenvml"
	"quern.dev/monitor"
)

// snapshot returns the second snapshot of a machine, so that rates are known.
func snapshot(t *testing.T, gpus ...*fakenvml.GPU) *monitor.Snapshot {
	t.Helper()
	t.Cleanup(nvml.Substitute(fakenvml.New(gpus...).Open))
	n := 0
	for s := range monitor.Sample(t.Context(), monitor.MinInterval) {
		if n++; n == 2 {
			return s
		}
	}
	t.Fatal("no snapshot")
	return nil
}

var sequences = regexp.MustCompile("\x1b\\[[0-9;]*m")

func TestFramesFillTheTerminalExactly(t *testing.T) {
	machines := map[string]*monitor.Snapshot{"none yet": nil, "no GPU": snapshot(t), "one": snapshot(t, fakenvml.H200(0))}
	var many []*fakenvml.GPU
	for i := range 16 {
		g := fakenvml.H200(i)
		g.Lost = i == 3
		for k := range 20 {
			g.Compute = append(g.Compute, nvml.Process{PID: uint32(5_000_000 + 100*i + k)})
		}
		many = append(many, g)
	}
	machines["sixteen"] = snapshot(t, many...)
	for name, s := range machines {
		for _, size := range [][2]int{{1, 1}, {40, 10}, {79, 24}, {80, 24}, {81, 25}, {120, 30}, {200, 50}, {400, 120}} {
			for _, look := range []Look{{Color: true, Unicode: true}, {}} {
				v := &View{Look: look, Interval: time.Second}
				if s != nil {
					v.Update(s)
				}
				for _, keys := range []string{"", "/abc", "\r", "\x1b", "h", "hsg", "\x1b[Bjjjk"} {
					v.Keys(keys)
					lines := v.Frame(size[0], size[1])
					if len(lines) != size[1] {
						t.Fatalf("%s, %v: %d lines", name, size, len(lines))
					}
					for i, l := range lines {
						text := sequences.ReplaceAllString(l, "")
						if n := utf8.RuneCountInString(text); n > size[0] || strings.ContainsAny(text, "\x1b\n") {
							t.Fatalf("%s, %v: line %d has %d columns: %q", name, size, i, n, text)
						}
						if !look.Unicode && len(text) != utf8.RuneCountInString(text) {
							t.Fatalf("%s: line %d is not ASCII: %q", name, i, text)
						}
					}
				}
			}
		}
	}
}

// frame returns the text of a frame.
func frame(v *View) string {
	return sequences.ReplaceAllString(strings.Join(v.Frame(80, 24), "\n"), "")
}

func TestKeysSortFilterPauseAndQuit(t *testing.T) {
	a, b := fakenvml.H200(0), fakenvml.H200(1)
	b.Utilization = 99
	b.Compute = []nvml.Process{{PID: 77, Memory: 1 << 40, KnowsMemory: true}}
	v := &View{Interval: time.Second}
	v.Update(snapshot(t, a, b))
	order := func(first, second string) {
		t.Helper()
		text := frame(v)
		if i, k := strings.Index(text, first), strings.Index(text, second); i < 0 || k < i {
			t.Errorf("want %q before %q in\n%s", first, second, text)
		}
	}
	order("  0 H200", "  1 H200")
	v.Keys("g")
	order("  1 H200", "  0 H200")
	order("      77", " 4000001")
	v.Keys("s")
	order(" 4000001", "      77")
	v.Keys("/4000q\x7f\r")
	if text := frame(v); !strings.Contains(text, `1 match "4000"`) || strings.Contains(text, "      77") {
		t.Errorf("the filter shows\n%s", text)
	}
	v.Keys("\x1b ")
	v.Update(snapshot(t))
	if text := frame(v); !strings.Contains(text, "PAUSED") || !strings.Contains(text, "      77") {
		t.Errorf("paused, without filter:\n%s", text)
	}
	if v.Keys("xyz"); v.quit {
		t.Error("an unknown key quits")
	}
	if v.Keys("/q\x03"); !v.quit {
		t.Error("Ctrl-C does not quit")
	}
}

func TestForeignProcessNumbersAreExplained(t *testing.T) {
	s := *snapshot(t, fakenvml.H200(0))
	s.ForeignPIDs = true
	v := &View{}
	v.Update(&s)
	if text := frame(v); !strings.Contains(text, "names are not visible in this container") {
		t.Errorf("no explanation in\n%s", text)
	}
}

func TestChartsLeaveGapsForAbsentValues(t *testing.T) {
	values := []float64{0, math.NaN(), 50, 100}
	for _, tt := range []struct {
		look   Look
		height int
		want   string
	}{
		{Look{Unicode: true}, 1, `["     ▄█"]`},
		{Look{Unicode: true}, 2, `["      █" "     ██"]`},
		{Look{}, 1, `["     =@"]`},
		{Look{}, 2, `["      #" "     ##"]`},
	} {
		if got := fmt.Sprintf("%q", tt.look.chart(values, 100, 7, tt.height)); got != tt.want {
			t.Errorf("%+v, height %d: %s, want %s", tt.look, tt.height, got, tt.want)
		}
	}
}
