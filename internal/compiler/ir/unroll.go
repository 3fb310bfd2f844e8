package ir

// Unroll is the number of copies of a loop's body: a number, or one of the constants.
// It is a hint: loops that do not count by a constant keep their bodies.
type Unroll int

// Unroll hints.
const (
	UnrollAsWorthwhile Unroll = 0
	NoUnroll           Unroll = 1
	UnrollAll          Unroll = -1 // one copy per iteration
)
