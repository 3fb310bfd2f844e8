package ringbench

import (
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	"quern.dev/gpu"
)

// backends lists the backends that the tests use if they have a device.
var backends = []gpu.Backend{gpu.CPU, gpu.Sim, gpu.CUDA}

func open(t *testing.T, b gpu.Backend) *gpu.Device {
	dev, err := gpu.Open(gpu.Config{Require: b})
	if err != nil {
		t.Skipf("no %s device: %v; go tool quern doctor says what to do", b, err)
	}
	t.Cleanup(func() {
		if err := dev.Close(); err != nil {
			t.Error(err)
		}
	})
	return dev
}

func TestEveryMessageIsAnswered(t *testing.T) {
	for _, b := range backends {
		for _, k := range kinds {
			t.Run(fmt.Sprintf("%s, %d bytes", b, k.bytes), func(t *testing.T) {
				err := within(t.Context(), open(t, b), k.bytes, 3, func(e echoes) error {
					// Two senders: one has actors 0 and 2, the other one actor 1.
					for from, lanes := range []int{2, 1} {
						turns := 0
						n, err := e.stream(t.Context(), from, 2, 5, func() bool { turns++; return turns > 2 })
						if err != nil {
							return err
						}
						if n < 2*lanes*5*inFlight/2 || n%5 != 0 {
							t.Errorf("sender %d received %d replies", from, n)
						}
					}
					return e.asker(1)(t.Context(), 1<<32-2)
				})
				if err != nil {
					t.Error(err)
				}
			})
		}
	}
}

func TestWrongReplyIsDetected(t *testing.T) {
	m := &Message16{[4]uint32{8, 0, 0, 9}}
	_, ok := errors.AsType[*WrongReply](check[Message16](m, 7))
	if !ok {
		t.Error("a wrong last word passes")
	}
	m.Words[3] = 8
	if err := check[Message16](m, 7); err != nil {
		t.Error(err)
	}
}

func TestVerdictNamesMissedGoals(t *testing.T) {
	goal := &Goal{Bound: 1, AtMost: true}
	yes, no := true, false
	met, missed, free := Figure{Name: "fast", Goal: goal, Met: &yes}, Figure{Name: "slow", Goal: goal, Met: &no}, Figure{Name: "free"}
	for _, c := range []struct {
		name    string
		figures []Figure
		want    string
	}{
		{"all are met", []Figure{met, free}, "Result: a box (cpu) meets all 1 goals.\nNext: without --check"},
		{"one is missed", []Figure{met, missed, free}, "Result: a box (cpu) misses 1 of 2 goals: slow.\nNext: other programs slow this down"},
		{"there are none", []Figure{free}, "Result: there are no goals for a box (cpu).\nNext: --device"},
	} {
		var text strings.Builder
		(&Text{W: &text}).Verdict(Place{Device: "a box", ID: "cpu"}, c.figures)
		if !strings.Contains(text.String(), c.want) {
			t.Errorf("%s: %q, want %q", c.name, text.String(), c.want)
		}
	}
}

func TestGoalsDependOnDevice(t *testing.T) {
	var shown []string
	c := &Checker{Device: open(t, gpu.CPU), Duration: time.Millisecond}
	c.Show = func(f Figure) {
		var line strings.Builder
		(&Text{W: &line}).Figure(f)
		shown = append(shown, strings.Join(strings.Fields(line.String()), " "))
	}
	c.Add("small", 2, "µs", AtMost(1, 2))
	c.Add("large", 2, "M msg/s", AtLeast(1, 3))
	c.Add("free", 2, "µs", [2]*Goal{AtMost(1, 1)[0]})
	want := []string{"small 2 µs (at most 2: ok)", "large 2 M msg/s (at least 3: MISSED)", "free 2 µs"}
	if strings.Join(shown, "\n") != strings.Join(want, "\n") {
		t.Errorf("shown is %q, want %q", shown, want)
	}
	if c.Met() {
		t.Error("a goal that was missed is not reported")
	}
	text, err := json.Marshal(c.Figures)
	if err != nil {
		t.Fatal(err)
	}
	if s := string(text); !strings.Contains(s, `"name":"free","value":2,"unit":"µs"}`) || strings.Count(s, `"met":true`) != 1 || strings.Count(s, `"met":false`) != 1 {
		t.Errorf("as JSON: %s", s)
	}
}
