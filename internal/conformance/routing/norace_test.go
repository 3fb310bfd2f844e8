//go:build !race

package routing

// raceEnabled reports whether the race detector is part of the program.
const raceEnabled = false
