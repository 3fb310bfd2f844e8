// Package prometheus writes the text format of Prometheus, version 0.0.4.
package prometheus

import (
	"bufio"
	"fmt"
	"io"
	"strconv"
	"strings"
)

// ContentType is the media type of the format.
const ContentType = "text/plain; version=0.0.4; charset=utf-8"

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
	p.w.WriteString(Decimal(value))
	p.w.WriteByte('\n')
}

// Decimal returns a number as the format has it.
func Decimal(v float64) string { return strconv.FormatFloat(v, 'g', -1, 64) }
