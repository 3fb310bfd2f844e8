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
	handled int64 // as counted by the actors
	found   int64 // as counted by the actors
	known   int64 // known anomalies
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

// account compares the readings sent with those the actors have counted, and the
// alerts with the anomalies they have found.
func (m *monitor) account() error {
	t, f := m.totals(), m.alerts.figures()
	var errs []error
	if len(t.silent) > 0 {
		errs = append(errs, fmt.Errorf("no final count from sensors %s", strings.Join(t.silent, ", ")))
	}
	if t.handled != t.sent {
		errs = append(errs, fmt.Errorf("%d readings were sent, but %d were handled", t.sent, t.handled))
	}
	if t.found != f.count {
		errs = append(errs, fmt.Errorf("%d anomalies were found, but %d alerts arrived", t.found, f.count))
	}
	return errors.Join(errs...)
}

// quality returns how well the alerts match the known anomalies: precision is the
// share of correct alerts, and recall the share of anomalies found. Both are 1 if
// there is nothing to find.
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
		ended = ", interrupted"
	}
	dev := m.rt.Device()
	line("ran", "%s from %s (one actor per sensor) on %s (%s) in %.2f s: %s per second%s", counted(t.sent, "reading"), counted(int64(len(m.list)), "sensor"),
		dev.Name(), dev.ID(), m.took.Seconds(), grouped(int64(float64(t.sent)/m.took.Seconds())), ended)
	if f.count == 0 {
		line("result", "no anomalies: no reading deviated from its forecast by %g standard deviations", m.opt.threshold)
	} else {
		line("result", "%s; latency from reading to alert: p50 %v, p99 %v, max %v", counted(f.count, "alert"), f.p50, f.p99, f.max)
	}
	if m.judged {
		precision, recall := quality(f.right, f.count, t.known)
		line("quality", "%s known anomalies, %s found: precision %.4f, recall %.4f", grouped(t.known), grouped(f.right), precision, recall)
	}
	verdict := "nothing lost"
	if m.account() != nil {
		verdict = "COUNTS DIFFER"
	}
	line("account", "%s sent, %s handled; %s anomalies found, %s alerts: %s", grouped(t.sent), grouped(t.handled), grouped(t.found), grouped(f.count), verdict)
	line("next", "%s", m.advice(f.count))
}

// advice suggests what to try next.
func (m *monitor) advice(alerts int64) string {
	switch {
	case alerts == 0:
		return fmt.Sprintf("try a lower -threshold than %g, or set -period to that of your readings (now %d)", m.opt.threshold, m.opt.period)
	case m.opt.alerts == "":
		return "use -alerts - to print every alert, -alerts FILE to save them, -in FILE to read your own data"
	case m.opt.in == "":
		return "use -in FILE to read your own data; -h lists all options"
	}
	return fmt.Sprintf("use a higher -threshold than %g for fewer alerts, a lower one for more", m.opt.threshold)
}

// counted formats a count with a noun.
func counted(n int64, what string) string {
	if n != 1 {
		what += "s"
	}
	return grouped(n) + " " + what
}

// grouped formats a number with commas between thousands.
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
