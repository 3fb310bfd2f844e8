package ringbench

import (
	"fmt"
	"io"
	"strings"
	"time"
)

// Text prints measurements as tables, row by row.
type Text struct {
	W     io.Writer
	table string // table whose rows are being printed
}

// Place prints where the measurements are made.
func (t *Text) Place(p Place) {
	fmt.Fprintf(t.W, "%s (%s), host %s with %d processors, %s, %s\n",
		p.Device, p.ID, p.Platform, p.Processors, p.Go, p.Time.Format(time.DateTime))
}

// begin prints the header of a table before its first row.
func (t *Text) begin(table, head string) {
	if t.table != table {
		t.table = table
		fmt.Fprintf(t.W, "\n%s\n%s\n", table, head)
	}
}

// Latency prints one row.
func (t *Text) Latency(l Latency) {
	t.begin("Ask: round trip of one message at a time", "  actors  payload         p50         p90         p99       p99.9         max   messages  allocs")
	fmt.Fprintf(t.W, "%8d %6d B %11s %11s %11s %11s %11s %10d %7.2f\n",
		l.Actors, l.Payload, show(l.P50), show(l.P90), show(l.P99), show(l.P999), show(l.Max), l.Messages, l.Allocations)
}

// Throughput prints one row.
func (t *Text) Throughput(p Throughput) {
	t.begin("Send and Receive: host to device and back", "  actors  payload   batch  senders     M msg/s  GB/s each way    ns/message")
	fmt.Fprintf(t.W, "%8d %6d B %7d %8d %11.3f %14.3f %13.1f\n",
		p.Actors, p.Payload, p.Batch, p.Senders, p.Rate()/1e6, p.Rate()*float64(p.Payload)/1e9, 1e9/p.Rate())
}

// Relaying prints one row.
func (t *Text) Relaying(r Relaying) {
	t.begin("Send on the device: actor to actor, in a circle", "  actors  payload     in flight   p50 of a lap   p99 of a lap     M msg/s    ns/message")
	p50, p99 := "-", "-"
	if r.P50 > 0 {
		p50, p99 = show(r.P50), show(r.P99)
	}
	fmt.Fprintf(t.W, "%8d %6d B %13d %14s %14s %11.3f %13.1f\n", r.Actors, r.Payload, r.Balls, p50, p99, r.Rate()/1e6, 1e9/r.Rate())
}

// Peer prints figures published by others.
func (t *Text) Peer(p Published) {
	fmt.Fprintf(t.W, "\nFor comparison, %s: p50 %s, p99 %s, %.3f M msg/s\n", p.Name, show(p.P50), show(p.P99), p.Messages/1e6)
}

// Result prints one line with the result of the measurements and one line with the next
// step.
func (t *Text) Result(r *Report) {
	if len(r.Latency) == 0 || len(r.Throughput) == 0 {
		return
	}
	p50, rate := r.Latency[0].P50, 0.0
	for _, l := range r.Latency {
		p50 = min(p50, l.P50)
	}
	for _, p := range r.Throughput {
		rate = max(rate, p.Rate())
	}
	fmt.Fprintf(t.W, "\nResult: on %s (%s) Ask takes at best %s (p50), and at most %.3g M messages per second go to the device and back; all replies were correct.\n", r.Device, r.ID, show(p50), rate/1e6)
	fmt.Fprintln(t.W, "Next: --check compares with the goals for the device; --json prints this as JSON.")
}

// Verdict prints one line with the missed goals and one line with the next step.
func (t *Text) Verdict(p Place, figures []Figure) {
	goals, missed := 0, []string{}
	for _, f := range figures {
		if f.Goal != nil {
			goals++
		}
		if f.Missed() {
			missed = append(missed, f.Name)
		}
	}
	if goals == 0 {
		fmt.Fprintf(t.W, "\nResult: there are no goals for %s (%s).\nNext: --device cpu or cuda has some.\n", p.Device, p.ID)
		return
	}
	if len(missed) == 0 {
		fmt.Fprintf(t.W, "\nResult: %s (%s) meets all %d goals.\nNext: without --check, other numbers of actors and payloads are measured.\n", p.Device, p.ID, goals)
		return
	}
	fmt.Fprintf(t.W, "\nResult: %s (%s) misses %d of %d goals: %s.\n", p.Device, p.ID, len(missed), goals, strings.Join(missed, "; "))
	fmt.Fprintln(t.W, "Next: other programs slow this down; repeat it on an idle machine with --duration 2s.")
}

// Figure prints one line.
func (t *Text) Figure(f Figure) {
	fmt.Fprintf(t.W, "  %-52s %10.4g %-8s", f.Name, f.Value, f.Unit)
	if f.Goal != nil {
		verdict := "ok"
		if f.Missed() {
			verdict = "MISSED"
		}
		fmt.Fprintf(t.W, " (%s: %s)", f.Goal, verdict)
	}
	fmt.Fprintln(t.W)
}

// Note prints a line without a figure.
func (t *Text) Note(note string) { fmt.Fprintln(t.W, " ", note) }

// show formats a duration with a suitable unit.
func show(d time.Duration) string {
	switch {
	case d < time.Millisecond:
		return fmt.Sprintf("%.2f µs", float64(d)/1e3)
	case d < time.Second:
		return fmt.Sprintf("%.2f ms", float64(d)/1e6)
	default:
		return fmt.Sprintf("%.2f s", d.Seconds())
	}
}
