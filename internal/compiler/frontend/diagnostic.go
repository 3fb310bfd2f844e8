package frontend

import (
	"go/token"
	"sort"
	"strings"
)

// Diagnostic is an error in a kernel's source.
type Diagnostic struct {
	Pos     token.Position
	Kernel  string // "" if the error is not inside a kernel
	Handler bool   // Kernel is the handler of an actor
	Msg     string

	// If the error is in another package, Pos is the position of the call there. These
	// are the called function and the position of the error in it, or in what it calls.
	Called string
	At     token.Position
}

func (d Diagnostic) Error() string {
	text := d.Pos.String() + ": "
	switch {
	case d.Handler:
		text += "handler " + d.Kernel + ": "
	case d.Kernel != "":
		text += "kernel " + d.Kernel + ": "
	}
	if d.Called != "" {
		text += d.Called + " (called here): " + d.At.String() + ": "
	}
	return text + d.Msg
}

// Relative shortens file names with shorten.
func (d Diagnostic) Relative(shorten func(name string) string) Diagnostic {
	d.Pos.Filename, d.At.Filename = shorten(d.Pos.Filename), shorten(d.At.Filename)
	return d
}

// Diagnostics is a list of errors, in source order.
type Diagnostics []Diagnostic

func (ds Diagnostics) Error() string {
	lines := make([]string, len(ds))
	for i, d := range ds {
		lines[i] = d.Error()
	}
	return strings.Join(lines, "\n")
}

// maxErrors is the maximum number of errors that are kept; further ones are dropped.
const maxErrors = 1000

// add appends d unless the line has the same error, or the position any error: later
// errors are consequences.
func (ds *Diagnostics) add(d Diagnostic) {
	if len(*ds) >= maxErrors {
		return
	}
	for _, e := range *ds {
		if e.Pos == d.Pos || e.Pos.Filename == d.Pos.Filename && e.Pos.Line == d.Pos.Line && e.Msg == d.Msg {
			return
		}
	}
	*ds = append(*ds, d)
}

// sorted sorts by position; it returns a nil error for an empty list.
func (ds Diagnostics) sorted() error {
	if len(ds) == 0 {
		return nil
	}
	sort.SliceStable(ds, func(i, j int) bool {
		a, b := ds[i].Pos, ds[j].Pos
		if a.Filename != b.Filename {
			return a.Filename < b.Filename
		}
		if a.Line != b.Line {
			return a.Line < b.Line
		}
		return a.Column < b.Column
	})
	return ds
}
