package driver

import "time"

// Interrupter is a stream that does its work in the caller and can be told to give
// it up.
type Interrupter interface {
	// GiveUp ends the kernel or graph that runs, and refuses all later ones: they
	// return a [*Fault] with that cause.
	GiveUp(cause error)
	// Limit ends each kernel and each graph that runs for longer than d. It is
	// called before the first.
	Limit(d time.Duration, cause error)
}
