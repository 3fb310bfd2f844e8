package frontend

import (
	"fmt"
	"go/token"
	"sort"
	"strings"
)

// Diagnostic is an error in a kernel's source.
type Diagnostic struct {
	Pos    token.Position
	Kernel string // "" where the error is not inside a kernel
	Msg    string
}

func (d Diagnostic) Error() string {
	if d.Kernel == "" {
		return fmt.Sprintf("%s: %s", d.Pos, d.Msg)
	}
	return fmt.Sprintf("%s: kernel %s: %s", d.Pos, d.Kernel, d.Msg)
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

// add appends d unless the same was said of the line, or anything of the
// position: what comes later is a consequence.
func (ds *Diagnostics) add(d Diagnostic) {
	for _, e := range *ds {
		if e.Pos == d.Pos || e.Pos.Filename == d.Pos.Filename && e.Pos.Line == d.Pos.Line && e.Msg == d.Msg {
			return
		}
	}
	*ds = append(*ds, d)
}

// sorted orders by position; it returns a nil error for an empty list.
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
