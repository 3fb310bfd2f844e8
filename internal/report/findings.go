package report

import "fmt"

// Finding is something that stands out.
type Finding struct {
	Topic   string `json:"topic"`
	Text    string `json:"text"`
	Section string `json:"section"` // of the page
	Warn    bool   `json:"warn"`
}

const (
	idleShare   = 0.3 // of a device's time
	hotShare    = 0.3 // of the time of all kernels
	adviceShare = 0.1
)

// findings lists what stands out, most important first.
func (rep *Report) findings() []Finding {
	var list []Finding
	add := func(warn bool, topic, section, format string, args ...any) {
		list = append(list, Finding{topic, fmt.Sprintf(format, args...), section, warn})
	}
	for _, t := range rep.Trips {
		if t.Kind == roundTrip {
			add(true, "round trip", "copies", "%s went to the host and back without a change, %s: %s, then %s", byteText(t.Bytes), plural(t.Count, "time", "times"), t.From, t.To)
		} else {
			add(true, "upload", "copies", "the same %s were uploaded again, %s, by %s", byteText(t.Bytes), plural(t.Count, "time", "times"), t.To)
		}
		if len(list) == 3 {
			break
		}
	}
	for _, m := range rep.Memory {
		var left, n int64
		for _, p := range m.Places {
			if !p.Pool {
				left += p.Left
				n += p.Leaks
			}
		}
		if n > 0 {
			add(true, "leak", "memory", "%s in %s of %s were not freed", byteText(left), plural(n, "allocation", "allocations"), m.Process)
		}
	}
	for _, d := range rep.Devices {
		if idle := d.Span - d.Busy; d.Span > 0 && float64(idle) > idleShare*float64(d.Span) {
			add(true, "idle", "gaps", "%s had nothing to do in %.0f %% of the time between its first and its last work", d.Process, 100*float64(idle)/float64(d.Span))
		}
	}
	for i := range rep.Kernels {
		k := &rep.Kernels[i]
		share := float64(k.Total) / float64(max(rep.Totals.Kernels, 1))
		if i == 0 && share > hotShare {
			add(false, "hot", "kernels", "%s takes %.0f %% of the time of all kernels: %s in %s", k.Name, 100*share, timeText(k.Total), plural(k.Calls, "launch", "launches"))
		}
		if share > adviceShare && len(k.Advice) > 0 {
			add(true, "kernel", "kernels", "%s: %s", k.Name, k.Advice[0])
		}
	}
	if n := rep.Totals.Copies; n > rep.Totals.Kernels && n > 0 {
		add(true, "copies", "copies", "copies take more time than kernels: %s against %s", timeText(n), timeText(rep.Totals.Kernels))
	}
	return list
}

func plural(n int64, one, more string) string {
	if n == 1 {
		return "1 " + one
	}
	return count(uint64(n)) + " " + more
}

func byteText(n int64) string {
	switch {
	case n < 10<<10:
		return fmt.Sprintf("%d bytes", n)
	case n < 10<<20:
		return fmt.Sprintf("%d KiB", n>>10)
	case n < 10<<30:
		return fmt.Sprintf("%d MiB", n>>20)
	default:
		return fmt.Sprintf("%d GiB", n>>30)
	}
}

// timeText returns a time with three digits.
func timeText(ns int64) string {
	switch v := float64(ns); {
	case v < 1e3:
		return fmt.Sprintf("%d ns", ns)
	case v < 1e6:
		return fmt.Sprintf("%.3g us", v/1e3)
	case v < 1e9:
		return fmt.Sprintf("%.3g ms", v/1e6)
	default:
		return fmt.Sprintf("%.3g s", v/1e9)
	}
}
