//go:build !race

package rings

// RaceEnabled: see race.go. Otherwise aligned words that are written in one piece
// are enough.
const RaceEnabled = false
