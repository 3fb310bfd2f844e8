//go:build race

package ring

// raceEnabled: the race detector wants all accesses to memory that host code and
// loops in Go share to be atomic.
const raceEnabled = true
