//go:build race

package rings

// RaceEnabled: the race detector wants all accesses to memory that host code and
// loops in Go share to be atomic.
const RaceEnabled = true
