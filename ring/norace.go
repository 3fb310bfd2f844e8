//go:build !race

package ring

// raceEnabled: see race.go. Otherwise aligned words that are written in one piece
// are enough.
const raceEnabled = false
