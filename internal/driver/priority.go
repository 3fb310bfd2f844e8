package driver

// Prioritizer is implemented by devices whose streams have priorities.
type Prioritizer interface {
	// Priorities returns the range of stream priorities. Work of a stream with a higher
	// priority runs first; the default priority is zero.
	Priorities() (least, greatest int)
}
