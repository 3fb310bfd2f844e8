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
	line("ran", "%s of %s, an actor each, on %s (%s) in %.2f s: %s a second%s", counted(t.sent, "reading"), counted(int64(len(m.list)), "sensor"),
		dev.Name(), dev.ID(), m.took.Seconds(), grouped(int64(float64(t.sent)/m.took.Seconds())), ended)
	if f.count == 0 {
		line("result", "no anomalies: no reading was as far as %g standard deviations from its forecast", m.opt.threshold)
	} else {
		line("result", "%s; from a reading to its alert p50 %v, p99 %v, max %v", counted(f.count, "alert"), f.p50, f.p99, f.max)
	}
	if m.judged {
		precision, recall := quality(f.right, f.count, t.known)
		line("quality", "%s anomalies are known, %s were found: precision %.4f, recall %.4f", grouped(t.known), grouped(f.right), precision, recall)
	}
	verdict := "nothing is lost"
	if m.account() != nil {
		verdict = "THEY DIFFER"
	}
	line("account", "%s sent, %s handled; %s anomalies found, %s alerts: %s", grouped(t.sent), grouped(t.handled), grouped(t.found), grouped(f.count), verdict)
	line("next", "%s", m.advice(f.count))
}

// advice is what to try after this.
func (m *monitor) advice(alerts int64) string {
	switch {
	case alerts == 0:
		return fmt.Sprintf("a lower -threshold than %g, or the -period of your readings, which was %d", m.opt.threshold, m.opt.period)
	case m.opt.alerts == "":
		return "-alerts - prints every alert, -alerts FILE writes them down; -in FILE watches readings of your own"
	case m.opt.in == "":
		return "-in FILE watches readings of your own; -h lists all options"
	}
	return fmt.Sprintf("a higher -threshold than %g for fewer alerts, a lower one for more", m.opt.threshold)
}

// counted writes a number of things.
func counted(n int64, what string) string {
	if n != 1 {
		what += "s"
	}
	return grouped(n) + " " + what
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
