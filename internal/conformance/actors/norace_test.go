//go:build !race

package actors

// lingering is a time for which the double is at work for more than a second: it
// takes instructions for nanoseconds.
const lingering = 400_000_000

// slowness is how much longer tests may take than without the race detector.
const slowness = 1
