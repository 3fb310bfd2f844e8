package monitor

import (
	"context"
	"iter"
	"time"
)

// MinInterval is the shortest interval of [Sample].
const MinInterval = 10 * time.Millisecond

// Sample measures the machine at once and then once per interval, until ctx ends or the loop
// does. An interval that is not positive means one second, and a shorter one than MinInterval
// means MinInterval. If the loop's body or the driver takes longer than an interval, snapshots
// are skipped. All snapshots of a loop share a [History].
//
// A machine without a GPU has snapshots too: their Err says why there is none.
func Sample(ctx context.Context, interval time.Duration) iter.Seq[*Snapshot] {
	if interval <= 0 {
		interval = time.Second
	}
	interval = max(interval, MinInterval)
	return func(yield func(*Snapshot) bool) {
		m := Open()
		defer closeSoon(m)
		history := new(History)
		tick := time.NewTicker(interval)
		defer tick.Stop()
		for {
			s, err := m.Read(ctx)
			if err != nil {
				return // ctx has ended
			}
			history.add(s)
			s.History = history
			if !yield(s) {
				return
			}
			select {
			case <-ctx.Done():
				return
			case <-tick.C:
			}
		}
	}
}

// closeSoon closes m, but does not wait long for a driver that does not answer.
func closeSoon(m *Monitor) {
	const timeout = time.Second
	done := make(chan struct{})
	go func() {
		_ = m.Close() // nobody can do anything about it
		close(done)
	}()
	select {
	case <-done:
	case <-time.After(timeout):
	}
}
