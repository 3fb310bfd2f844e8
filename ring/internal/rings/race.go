//go:build race

package rings

// RaceEnabled makes all accesses to memory that host code and Go loops share atomic,
// as the race detector requires.
const RaceEnabled = true
