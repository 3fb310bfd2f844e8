package driver

import (
	"time"

	"quern.dev/kernel/host"
)

// Interrupter is a stream that does its work in the caller and can be told to give
// it up.
type Interrupter interface {
	// GiveUp ends the kernel or graph that runs, and refuses all later ones: they
	// return a [*Fault] with that cause.
	GiveUp(cause error)
	// Limit ends each kernel and each graph that runs for longer than d. It is
	// called before the first.
	Limit(d time.Duration, cause error)

	interrupt() *host.Interrupt
}

// Interruptible is the part of such streams.
type Interruptible struct{ Interrupt host.Interrupt }

// GiveUp is that of [Interrupter].
func (i *Interruptible) GiveUp(cause error) { i.Interrupt.GiveUp(cause) }

// Limit is that of [Interrupter].
func (i *Interruptible) Limit(d time.Duration, cause error) { i.Interrupt.Limit(d, cause) }

func (i *Interruptible) interrupt() *host.Interrupt { return &i.Interrupt }

// NotBegun is the fault of a launch that was given up before it began.
func NotBegun(l *Frame, cause error) *Fault {
	return &Fault{ID: l.ID, Site: -1, Kind: KindGivenUp, Cause: cause}
}
