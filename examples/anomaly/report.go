package main

import (
	"errors"
	"fmt"
	"io"
	"strconv"
	"strings"
)

// totals are sums over all sensors.
type totals struct {
	sent    int64
	handled int64 // by the actors' own account
	found   int64 // the same
	known   int64 // readings that are known to be strange
	silent  []string
}

func (m *monitor) totals() totals {
	t := totals{sent: m.sent.Load()}
	for _, s := range m.list {
		t.known += int64(len(s.strange))
		last := s.last.Load()
		if last == nil {
			t.silent = append(t.silent, s.name)
			continue
		}
		t.handled += last.Seen
		t.found += last.Strange
	}
	return t
}

// account compares what was sent with what the actors have counted, and the alerts
// with what they have found.
func (m *monitor) account() error {
	t, f := m.totals(), m.alerts.figures()
	var errs []error
	if len(t.silent) > 0 {
		errs = append(errs, fmt.Errorf("no last word from %s", strings.Join(t.silent, ", ")))
	}
	if t.handled != t.sent {
		errs = append(errs, fmt.Errorf("%d readings were sent, and %d handled", t.sent, t.handled))
	}
	if t.found != f.count {
		errs = append(errs, fmt.Errorf("%d anomalies were found, and %d alerts came", t.found, f.count))
	}
	return errors.Join(errs...)
}

// quality is how well the alerts agree with what is known of a stream: the share
// of alerts that are right, and of strange readings that were found. Of nothing all
// is right.
func quality(right, alerts, known int64) (precision, recall float64) {
	precision, recall = 1, 1
	if alerts > 0 {
		precision = float64(right) / float64(alerts)
	}
	if known > 0 {
		recall = float64(right) / float64(known)
	}
	return precision, recall
}

// report prints the summary.
func (m *monitor) report(w io.Writer, interrupted bool) {
	t, f := m.totals(), m.alerts.figures()
	line := func(what, format string, args ...any) {
		fmt.Fprintf(w, "%-10s%s\n", what, fmt.Sprintf(format, args...))
	}
	ended := ""
	if interrupted {
		ended = ", until it was interrupted"
	}
	dev := m.rt.Device()
	line("device", "%s (%s)", dev.Name(), dev.ID())
	line("stream", "%s readings of %d sensors in %.1f s, %s a second%s", grouped(t.sent), len(m.list), m.took.Seconds(), grouped(int64(float64(t.sent)/m.took.Seconds())), ended)
	line("alerts", "%s; from a reading to its alert p50 %v, p99 %v, max %v", grouped(f.count), f.p50, f.p99, f.max)
	if m.judged {
		precision, recall := quality(f.right, f.count, t.known)
		line("quality", "%s anomalies are known, %s were found: precision %.4f, recall %.4f", grouped(t.known), grouped(f.right), precision, recall)
	}
	verdict := "nothing is lost"
	if m.account() != nil {
		verdict = "THEY DIFFER"
	}
	line("account", "%s sent, %s handled; %s anomalies found, %s alerts: %s", grouped(t.sent), grouped(t.handled), grouped(t.found), grouped(f.count), verdict)
}

// grouped writes a number with a comma between thousands.
func grouped(n int64) string {
	digits := strconv.FormatInt(n, 10)
	var b strings.Builder
	for i, d := range digits {
		if i > 0 && d >= '0' && (len(digits)-i)%3 == 0 && digits[i-1] != '-' {
			b.WriteByte(',')
		}
		b.WriteRune(d)
	}
	return b.String()
}
