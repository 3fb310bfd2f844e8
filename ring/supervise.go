package ring

import "errors"

// Failure is a handler's failure, as its supervisor learns of it.
type Failure struct {
	Actor string
	Err   error
	Count uint64 // failures of this actor so far, with this one
}

// Decision is what happens to an actor whose handler has failed.
type Decision uint8

// Decisions.
const (
	Leave  Decision = iota // it stays failed and keeps its messages
	Resume                 // it goes on with its state and the next message
	Renew                  // it goes on with the state that it was spawned with
	End                    // it terminates
)

// supervise asks the supervisor about a failure, and does as it says.
func (c *core) supervise(f Failure) {
	var err error
	switch c.supervisor(f) {
	case Resume:
		err = c.restart(false)
	case Renew:
		err = c.restart(true)
	case End:
		c.state.CompareAndSwap(uint32(Failed), uint32(Terminated))
	}
	if err != nil && !errors.Is(err, ErrClosed) {
		c.rt.note(err)
	}
}
