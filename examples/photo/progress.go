package main

import (
	"fmt"
	"io"
	"os"
	"sync"
	"time"
)

// patience is how long the work goes on before progress speaks.
const patience = 2 * time.Second

// progress keeps the name of what is being done on the last line of a terminal.
// A nil progress does nothing.
type progress struct {
	timer *time.Timer

	mu    sync.Mutex
	w     io.Writer // nil once ended
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
	p.timer = time.AfterFunc(patience, p.show)
	return p
}

// at says that a stage begins.
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

// show makes the stages visible from now on.
func (p *progress) show() {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.shown = true
	p.draw(p.stage + " ...")
}

// end clears the line. Ending again does nothing.
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

// draw replaces the line; mu is held.
func (p *progress) draw(text string) {
	if p.w != nil {
		fmt.Fprintf(p.w, "\r\x1b[K%s", text)
	}
}
