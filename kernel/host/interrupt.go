package host

import (
	"context"
	"slices"
	"sync"
	"time"
)

// Interrupt cancels work from other goroutines: running launches and, after
// GiveUp, all later ones. The zero value and a nil *Interrupt cancel nothing. It
// is safe for concurrent use.
type Interrupt struct {
	mu      sync.Mutex
	running []cancelable  // outermost first
	cause   error         // of GiveUp
	gone    chan struct{} // closed by GiveUp; nil until Done is called

	limit    time.Duration
	tooLong  error
	deadline time.Time // of the outermost running work
	timer    *time.Timer
}

// cancelable is work in progress. cancel may be called more than once.
type cancelable interface{ cancel(cause error) }

// GiveUp cancels the running work and all later work; it fails with a Failure
// that has the cause. Only the first call has an effect.
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
	i.cancelAll(cause)
}

func (i *Interrupt) cancelAll(cause error) {
	for _, w := range i.running {
		w.cancel(cause)
	}
}

// Cause returns the cause passed to GiveUp, or nil before GiveUp is called.
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

// Limit cancels work that runs for longer than d, with the given cause. Call it
// before the first launch. Zero means no limit.
func (i *Interrupt) Limit(d time.Duration, cause error) { i.limit, i.tooLong = d, cause }

// Context returns a context for work other than launches of this package. It is
// canceled when that work is. The limit applies until end is called; launches in
// between count as part of the work.
func (i *Interrupt) Context() (ctx context.Context, end func()) {
	ctx, cancel := context.WithCancelCause(context.Background())
	w := &canceler{cancel}
	i.begin(w)
	return ctx, func() {
		i.end(w)
		cancel(nil)
	}
}

type canceler struct{ cancelFunc context.CancelCauseFunc }

func (c *canceler) cancel(cause error) { c.cancelFunc(cause) }

// begin registers running work until end is called with it.
func (i *Interrupt) begin(w cancelable) {
	if i == nil {
		return
	}
	i.mu.Lock()
	defer i.mu.Unlock()
	i.running = append(i.running, w)
	if i.cause != nil {
		w.cancel(i.cause)
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

func (i *Interrupt) end(w cancelable) {
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

// expire cancels the running work, unless it started after the work for which the
// timer was set.
func (i *Interrupt) expire() {
	i.mu.Lock()
	defer i.mu.Unlock()
	if len(i.running) > 0 && !time.Now().Before(i.deadline) {
		i.cancelAll(i.tooLong)
	}
}
