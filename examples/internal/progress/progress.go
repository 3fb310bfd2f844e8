// Package progress shows on a terminal how far long work has come.
package progress

import (
	"fmt"
	"io"
	"os"
	"time"
)

const (
	delay    = time.Second // work that takes less shows nothing
	interval = 100 * time.Millisecond
)

// Line is the last line of a terminal. A nil Line does nothing.
type Line struct {
	w     io.Writer
	what  string
	total int
	next  time.Time
	shown bool
}

// Start returns a Line on standard error for work of total steps, or nil if standard
// error is not a terminal.
func Start(what string, total int) *Line {
	info, err := os.Stderr.Stat()
	if err != nil || info.Mode()&os.ModeCharDevice == 0 {
		return nil
	}
	return newLine(os.Stderr, what, total, time.Now().Add(delay))
}

func newLine(w io.Writer, what string, total int, first time.Time) *Line {
	return &Line{w: w, what: what, total: total, next: first}
}

// At reports that steps of the work are done.
func (l *Line) At(done int) {
	if l == nil || time.Now().Before(l.next) {
		return
	}
	fmt.Fprintf(l.w, "\r\x1b[K%s: %d of %d, %d%%", l.what, done, l.total, 100*done/max(l.total, 1))
	l.next = time.Now().Add(interval)
	l.shown = true
}

// End clears the line.
func (l *Line) End() {
	if l != nil && l.shown {
		fmt.Fprint(l.w, "\r\x1b[K")
		l.shown = false
	}
}
