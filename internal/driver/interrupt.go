package driver

import "time"

// Interrupter is a stream that does its work in the calling goroutine and can be told
// to cancel it.
type Interrupter interface {
	// GiveUp ends the kernel or graph that is running and refuses all later ones. They
	// return a [*Fault] with that cause.
	GiveUp(cause error)
	// Limit ends each kernel and graph that runs for longer than d. It must be called
	// before the first one.
	Limit(d time.Duration, cause error)
}
