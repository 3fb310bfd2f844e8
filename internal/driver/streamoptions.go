package driver

// Priorities is a part of [Device].
type Priorities interface {
	// Priorities returns the range of the priorities of streams. Work of a
	// stream with a higher one goes first; that of others is zero.
	Priorities() (least, greatest int)
	// NewPriorityStream is NewStream with a priority in that range.
	NewPriorityStream(priority int) (Stream, error)
}

// NoPriorities is the part of devices whose streams are all alike.
type NoPriorities struct{}

// Priorities returns a range of one.
func (NoPriorities) Priorities() (least, greatest int) { return 0, 0 }
