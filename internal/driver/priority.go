package driver

// Prioritizer is implemented by devices that do the work of some streams first.
type Prioritizer interface {
	// Priorities returns the range of the priorities of streams. Work of a
	// stream with a higher one goes first; that of others is zero.
	Priorities() (least, greatest int)
}
