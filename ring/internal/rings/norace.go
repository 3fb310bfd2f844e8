//go:build !race

package rings

// RaceEnabled is described in race.go. Without the race detector, aligned words that
// are written in one piece are enough.
const RaceEnabled = false
