package host

import (
	"context"
	"slices"
	"sync"
	"time"
)

// Interrupt gives up work from other goroutines: a launch that runs, and, after
// GiveUp, all that follow. The zero value interrupts nothing, and so does a nil
// *Interrupt. It is safe for concurrent use.
type Interrupt struct {
	mu      sync.Mutex
	running []interruptible // outermost first
	cause   error           // of GiveUp
	gone    chan struct{}   // closed by GiveUp; nil if nobody has asked for it

	limit    time.Duration
	tooLong  error
	deadline time.Time // of the outermost that runs
	timer    *time.Timer
}

// interruptible is work that is under way. giveUp may be called more than once.
type interruptible interface{ giveUp(cause error) }

// GiveUp ends what runs and all that comes later, with a Failure that has the
// cause. Only the first call counts.
func (i *Interrupt) GiveUp(cause error) {
	i.mu.Lock()
	defer i.mu.Unlock()
	if i.cause != nil {
		return
	}
	i.cause = cause
	if i.gone != nil {
		close(i.gone)
	}
	i.all(cause)
}

func (i *Interrupt) all(cause error) {
	for _, w := range i.running {
		w.giveUp(cause)
	}
}

// Cause returns the cause of GiveUp, nil before it was called.
func (i *Interrupt) Cause() error {
	i.mu.Lock()
	defer i.mu.Unlock()
	return i.cause
}

// Done returns a channel that GiveUp closes.
func (i *Interrupt) Done() <-chan struct{} {
	i.mu.Lock()
	defer i.mu.Unlock()
	if i.gone == nil {
		i.gone = make(chan struct{})
		if i.cause != nil {
			close(i.gone)
		}
	}
	return i.gone
}

// Limit ends what runs for longer than d, with the given cause. It is called
// before the first launch; a limit of zero is none.
func (i *Interrupt) Limit(d time.Duration, cause error) { i.limit, i.tooLong = d, cause }

// Context returns a context for work that is no launch of this package: it is
// cancelled when that is given up. The limit counts until end is called; launches
// in between are part of the work.
func (i *Interrupt) Context() (ctx context.Context, end func()) {
	ctx, cancel := context.WithCancelCause(context.Background())
	w := &canceller{cancel}
	i.begin(w)
	return ctx, func() {
		i.end(w)
		cancel(nil)
	}
}

type canceller struct{ cancel context.CancelCauseFunc }

func (c *canceller) giveUp(cause error) { c.cancel(cause) }

// begin notes that work is under way until end is called with it.
func (i *Interrupt) begin(w interruptible) {
	if i == nil {
		return
	}
	i.mu.Lock()
	defer i.mu.Unlock()
	i.running = append(i.running, w)
	if i.cause != nil {
		w.giveUp(i.cause)
	}
	if i.limit <= 0 || len(i.running) > 1 {
		return
	}
	i.deadline = time.Now().Add(i.limit)
	if i.timer == nil {
		i.timer = time.AfterFunc(i.limit, i.expire)
	} else {
		i.timer.Reset(i.limit)
	}
}

func (i *Interrupt) end(w interruptible) {
	if i == nil {
		return
	}
	i.mu.Lock()
	defer i.mu.Unlock()
	n := slices.Index(i.running, w)
	i.running = slices.Delete(i.running, n, n+1)
	if len(i.running) == 0 && i.timer != nil {
		i.timer.Stop()
	}
}

// expire ends what runs, unless that is later work than what it was set for.
func (i *Interrupt) expire() {
	i.mu.Lock()
	defer i.mu.Unlock()
	if len(i.running) > 0 && !time.Now().Before(i.deadline) {
		i.all(i.tooLong)
	}
}
