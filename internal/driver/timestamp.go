package driver

import (
	"context"
	"sync"
	"time"
)

// Timestamp is the event of streams that do their work at once: the time at
// which it was recorded. The zero value was never recorded.
type Timestamp struct {
	mu sync.Mutex
	at time.Time
}

// Set records the event.
func (e *Timestamp) Set(t time.Time) {
	e.mu.Lock()
	defer e.mu.Unlock()
	e.at = t
}

func (e *Timestamp) get() time.Time {
	e.mu.Lock()
	defer e.mu.Unlock()
	return e.at
}

// Synchronize returns at once.
func (e *Timestamp) Synchronize(ctx context.Context) error { return ctx.Err() }

// Done returns true.
func (e *Timestamp) Done() (bool, error) { return true, nil }

// Since returns the time from start, which is a Timestamp too.
func (e *Timestamp) Since(start Event) (time.Duration, error) {
	return e.get().Sub(start.(*Timestamp).get()), nil
}

// Close does nothing.
func (e *Timestamp) Close() error { return nil }
