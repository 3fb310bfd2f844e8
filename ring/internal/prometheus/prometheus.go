// Package prometheus writes the text format of Prometheus, version 0.0.4.
package prometheus

import (
	"bufio"
	"fmt"
	"io"
	"strconv"
	"strings"

	"quern.dev/ring/internal/measure"
)

// Writer writes samples. Flush returns the first error.
type Writer struct{ w *bufio.Writer }

// NewWriter returns a Writer to w.
func NewWriter(w io.Writer) *Writer { return &Writer{bufio.NewWriter(w)} }

// Flush writes what is buffered.
func (p *Writer) Flush() error { return p.w.Flush() }

// Label is a label of a sample.
type Label struct{ Name, Value string }

var (
	escapeHelp  = strings.NewReplacer(`\`, `\\`, "\n", `\n`)
	escapeLabel = strings.NewReplacer(`\`, `\\`, "\n", `\n`, `"`, `\"`)
)

// Family begins the samples with a common name.
func (p *Writer) Family(name, kind, help string) {
	fmt.Fprintf(p.w, "# HELP %s %s\n# TYPE %s %s\n", name, escapeHelp.Replace(help), name, kind)
}

// Sample writes a sample.
func (p *Writer) Sample(name string, value float64, labels ...Label) {
	p.w.WriteString(name)
	for i, l := range labels {
		if i == 0 {
			p.w.WriteByte('{')
		} else {
			p.w.WriteByte(',')
		}
		p.w.WriteString(l.Name)
		p.w.WriteString(`="`)
		escapeLabel.WriteString(p.w, strings.ToValidUTF8(l.Value, "\uFFFD"))
		p.w.WriteByte('"')
	}
	if len(labels) > 0 {
		p.w.WriteByte('}')
	}
	p.w.WriteByte(' ')
	p.w.WriteString(decimal(value))
	p.w.WriteByte('\n')
}

func decimal(v float64) string { return strconv.FormatFloat(v, 'g', -1, 64) }

// The bounds of histograms are powers of two of nanoseconds: every power from 256 ns
// to a millisecond, then every second one to 4.3 s.
const (
	firstBound = 8
	fineBound  = 20
	lastBound  = 32
)

// Histogram writes a histogram of nanoseconds, in seconds.
func (p *Writer) Histogram(name string, h *measure.Histogram, labels ...Label) {
	counts, n := h.Load()
	with := func(bound string) []Label { return append(labels[:len(labels):len(labels)], Label{"le", bound}) }
	below, next := uint64(0), 0
	for power := firstBound; power <= lastBound; power++ {
		if power > fineBound && power%2 != 0 {
			continue
		}
		for ; next < measure.Buckets && measure.Above(next) <= 1<<power; next++ {
			below += counts[next]
		}
		p.Sample(name+"_bucket", float64(below), with(decimal(float64(uint64(1)<<power)/1e9))...)
	}
	p.Sample(name+"_bucket", float64(n), with("+Inf")...)
	p.Sample(name+"_sum", float64(h.Sum())/1e9, labels...)
	p.Sample(name+"_count", float64(n), labels...)
}
