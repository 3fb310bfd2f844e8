package profile

import (
	"encoding/json"
	"fmt"
	"io"
	"strings"
)

// WriteJSON writes the analysis as JSON.
func (a *Analysis) WriteJSON(w io.Writer) error {
	enc := json.NewEncoder(w)
	enc.SetIndent("", "\t")
	if err := enc.Encode(a); err != nil {
		return fmt.Errorf("profile: write analysis: %w", err)
	}
	return nil
}

// WriteMarkdown writes the report.
func (a *Analysis) WriteMarkdown(w io.Writer) error {
	var b strings.Builder
	fmt.Fprintf(&b, "# %s, size %d, on %s\n\n## Analysis\n\n", a.Kernel, a.Size, a.Device)
	b.WriteString(markdown(a.facts()))
	b.WriteString("\n## Strategy\n\n")
	rows := [][]string{{"step", "why", "time", "speed-up", "result"}}
	for _, s := range a.Steps {
		speedup := ""
		if s.Speedup > 0 {
			speedup = fmt.Sprintf("%.2f", s.Speedup)
		}
		rows = append(rows, []string{s.Name, s.Why, seconds(s.Seconds), speedup, s.Result})
	}
	b.WriteString(markdown(rows))
	b.WriteString("\n## Result\n\n")
	if a.BestName == plainly {
		fmt.Fprintf(&b, "Nothing that was tried is faster than the %s as it is.", seconds(a.Best))
	} else {
		fmt.Fprintf(&b, "Fastest: %s, %s, %.2f times as fast as it is.", a.BestName, seconds(a.Best), a.Baseline.Total/a.Best)
	}
	if a.OnHost > 0 {
		fmt.Fprintf(&b, " The CPU (%s) takes %s: the device is %s.", a.Host, seconds(a.OnHost), a.compared())
	}
	b.WriteString("\n\n")
	if _, err := io.WriteString(w, b.String()); err != nil {
		return fmt.Errorf("profile: write analysis: %w", err)
	}
	if a.Validation == nil {
		return nil
	}
	return a.Validation.WriteMarkdown(w)
}

// compared compares the best time with that of the CPU.
func (a *Analysis) compared() string {
	if a.Best <= a.OnHost {
		return fmt.Sprintf("%.2f times as fast", a.OnHost/a.Best)
	}
	return fmt.Sprintf("%.2f times as slow", a.Best/a.OnHost)
}

// facts returns the first table.
func (a *Analysis) facts() [][]string {
	r, t := &a.Roofline, &a.Baseline
	unit := "FLOP/s"
	if r.Intensity == 0 {
		unit = "B/s"
	}
	rows := [][]string{
		{"", "value"},
		{"class", r.Class},
		{"operations per byte", fmt.Sprintf("%.3g (memory is the limit below %.3g)", r.Intensity, r.Ridge)},
		{"attained", fmt.Sprintf("%s of %s (%s)", orZero(rate(r.Attained, unit)), rate(r.Limit, unit), orZero(share(r.Attained/r.Limit)))},
		{"the model's bound", t.Bound},
		{"lanes that work", share(a.Lanes)},
		{"bytes used of those moved", share(a.Coalesced)},
		{"memory read, written", orZero(rate(a.Work.ReadBytes, "B")) + ", " + orZero(rate(a.Work.WrittenBytes, "B"))},
		{"copy to the device", seconds(t.In)},
		{"kernel", seconds(t.Kernel)},
		{"copy from the device", seconds(t.Out)},
		{"together", seconds(t.Total)},
	}
	return rows
}

func orZero(text string) string {
	if text == "" {
		return "0"
	}
	return text
}
