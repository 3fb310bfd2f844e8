package synchronous

import (
	"context"
	"sync"
	"time"

	"quern.dev/internal/driver"
)

// Event holds the time at which it was recorded. The zero value was never recorded.
type Event struct {
	mu sync.Mutex
	at time.Time
}

// Set records the event.
func (e *Event) Set(t time.Time) {
	e.mu.Lock()
	defer e.mu.Unlock()
	e.at = t
}

func (e *Event) get() time.Time {
	e.mu.Lock()
	defer e.mu.Unlock()
	return e.at
}

// Synchronize returns at once.
func (e *Event) Synchronize(ctx context.Context) error { return ctx.Err() }

// Done returns true.
func (e *Event) Done() (bool, error) { return true, nil }

// Since returns the time from start, which is also an Event of this package.
func (e *Event) Since(start driver.Event) (time.Duration, error) {
	return e.get().Sub(start.(*Event).get()), nil
}

// Close does nothing.
func (e *Event) Close() error { return nil }
