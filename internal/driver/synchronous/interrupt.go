package synchronous

import (
	"time"

	"quern.dev/internal/driver"
	"quern.dev/kernel/host"
)

// Interruptible is the part of a stream that cancels its work.
type Interruptible struct{ Interrupt host.Interrupt }

// GiveUp implements [driver.Interrupter].
func (i *Interruptible) GiveUp(cause error) { i.Interrupt.GiveUp(cause) }

// Limit implements [driver.Interrupter].
func (i *Interruptible) Limit(d time.Duration, cause error) { i.Interrupt.Limit(d, cause) }

// NotBegun returns the fault of a launch that was cancelled before it began.
func NotBegun(l *driver.Frame, cause error) *driver.Fault {
	return &driver.Fault{ID: l.ID, Site: -1, Kind: driver.KindGivenUp, Cause: cause}
}
