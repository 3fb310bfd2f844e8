package ir

// Unroll is how many copies of its body a loop is to have: a number, or one of
// the constants. It is a hint: loops that do not count by a constant keep theirs.
type Unroll int

// Unroll hints.
const (
	UnrollAsWorthwhile Unroll = 0
	NoUnroll           Unroll = 1
	UnrollAll          Unroll = -1 // one copy for each iteration
)
