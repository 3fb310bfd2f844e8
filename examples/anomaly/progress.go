package main

import (
	"fmt"
	"io"
	"os"
	"sync"
	"time"
)

// progress shows the state of the stream on the last line of a terminal. A nil
// progress does nothing.
type progress struct {
	w    io.Writer
	m    *monitor
	stop chan struct{}
	done sync.WaitGroup
}

// refresh is the time between updates.
const refresh = 200 * time.Millisecond

// startProgress returns nil if w is not a terminal.
func startProgress(w io.Writer, m *monitor) *progress {
	f, ok := w.(*os.File)
	if !ok {
		return nil
	}
	if info, err := f.Stat(); err != nil || info.Mode()&os.ModeCharDevice == 0 {
		return nil
	}
	p := &progress{w: w, m: m, stop: make(chan struct{})}
	p.done.Go(p.show)
	return p
}

func (p *progress) show() {
	tick := time.NewTicker(refresh)
	defer tick.Stop()
	before, at := int64(0), p.m.clock()
	for {
		select {
		case <-tick.C:
			sent, now := p.m.sent.Load(), p.m.clock()
			// The line is cut off at the edge of the terminal, not wrapped.
			fmt.Fprintf(p.w, "\r\x1b[K\x1b[?7l%s\x1b[?7h", p.m.line(now, float64(sent-before)/(now-at).Seconds()))
			before, at = sent, now
		case <-p.stop:
			fmt.Fprint(p.w, "\r\x1b[K")
			return
		}
	}
}

// end clears the line.
func (p *progress) end() {
	if p == nil {
		return
	}
	close(p.stop)
	p.done.Wait()
}

// line formats the state of the stream.
func (m *monitor) line(now time.Duration, rate float64) string {
	f := m.alerts.figures()
	m.mu.Lock()
	sensors := len(m.list)
	m.mu.Unlock()
	text := fmt.Sprintf("%5.1f s  %s readings  %s/s  %d sensors  %s alerts", now.Seconds(), grouped(m.sent.Load()), grouped(int64(rate)), sensors, grouped(f.count))
	if f.count > 0 {
		text += fmt.Sprintf("  p50 %v  p99 %v  last: %s", f.p50, f.p99, f.last)
	}
	return text
}
