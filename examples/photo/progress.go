package main

import (
	"fmt"
	"io"
	"os"
	"sync"
	"time"
)

// progressDelay is how long the work may take before progress is shown.
const progressDelay = 2 * time.Second

// progress shows the current stage on the last line of a terminal. A nil progress
// does nothing.
type progress struct {
	timer *time.Timer

	mu    sync.Mutex
	w     io.Writer // nil after end
	stage string
	shown bool
}

// startProgress returns nil if w is not a terminal.
func startProgress(w io.Writer) *progress {
	f, ok := w.(*os.File)
	if !ok {
		return nil
	}
	if info, err := f.Stat(); err != nil || info.Mode()&os.ModeCharDevice == 0 {
		return nil
	}
	p := &progress{w: w}
	p.timer = time.AfterFunc(progressDelay, p.show)
	return p
}

// at starts a stage.
func (p *progress) at(stage string) {
	if p == nil {
		return
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	p.stage = stage
	if p.shown {
		p.draw(stage + " ...")
	}
}

// show starts showing the stages.
func (p *progress) show() {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.shown = true
	p.draw(p.stage + " ...")
}

// end clears the line. It may be called more than once.
func (p *progress) end() {
	if p == nil {
		return
	}
	if p.timer != nil {
		p.timer.Stop()
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.shown {
		p.draw("")
	}
	p.w = nil
}

// draw replaces the line. The caller must hold mu.
func (p *progress) draw(text string) {
	if p.w != nil {
		fmt.Fprintf(p.w, "\r\x1b[K%s", text)
	}
}
