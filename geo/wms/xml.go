package wms

import (
	"bytes"
	"encoding/xml"
	"strings"
)

// document is XML that is being written.
type document struct {
	bytes.Buffer
	open []string
}

func newDocument(head string) *document {
	d := &document{}
	d.WriteString("<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n" + head)
	return d
}

// escape writes text. Characters that XML does not have are replaced.
func (d *document) escape(text string) { _ = xml.EscapeText(&d.Buffer, []byte(text)) } // never fails

// tag writes the beginning of an element with attributes: names and values in turn.
func (d *document) tag(name string, attributes []string) {
	d.WriteString(strings.Repeat(" ", len(d.open)) + "<" + name)
	for i := 0; i+1 < len(attributes); i += 2 {
		d.WriteString(" " + attributes[i] + `="`)
		d.escape(attributes[i+1])
		d.WriteByte('"')
	}
}

// begin opens an element.
func (d *document) begin(name string, attributes ...string) {
	d.tag(name, attributes)
	d.WriteString(">\n")
	d.open = append(d.open, name)
}

// end closes the last element that is open.
func (d *document) end() {
	last := len(d.open) - 1
	d.WriteString(strings.Repeat(" ", last) + "</" + d.open[last] + ">\n")
	d.open = d.open[:last]
}

// text writes an element with text.
func (d *document) text(name, text string, attributes ...string) {
	d.tag(name, attributes)
	d.WriteByte('>')
	d.escape(text)
	d.WriteString("</" + name + ">\n")
}

// empty writes an element without content.
func (d *document) empty(name string, attributes ...string) {
	d.tag(name, attributes)
	d.WriteString("/>\n")
}
