package example

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

// Progress shows on the last line of a terminal how far long work has come. A nil Progress
// does nothing.
type Progress struct {
	w     io.Writer
	what  string
	total int
	next  time.Time
	shown bool
}

// StartProgress returns a Progress on standard error for work of total steps, or nil if
// standard error is not a terminal.
func StartProgress(what string, total int) *Progress {
	info, err := os.Stderr.Stat()
	if err != nil || info.Mode()&os.ModeCharDevice == 0 {
		return nil
	}
	return newProgress(os.Stderr, what, total, time.Now().Add(delay))
}

func newProgress(w io.Writer, what string, total int, first time.Time) *Progress {
	return &Progress{w: w, what: what, total: total, next: first}
}

// At reports that steps of the work are done.
func (p *Progress) At(done int) {
	if p == nil || time.Now().Before(p.next) {
		return
	}
	fmt.Fprintf(p.w, "\r\x1b[K%s: %d of %d, %d%%", p.what, done, p.total, 100*done/max(p.total, 1))
	p.next = time.Now().Add(interval)
	p.shown = true
}

// End clears the line.
func (p *Progress) End() {
	if p != nil && p.shown {
		fmt.Fprint(p.w, "\r\x1b[K")
		p.shown = false
	}
}
