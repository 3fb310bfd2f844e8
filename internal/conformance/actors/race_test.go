//go:build race

package actors

// lingering is a time for which the double is at work for more than a second: it
// takes instructions for nanoseconds, and under the race
// detector far longer for each.
const lingering = 60_000_000

// slowness is how much longer tests may take than without the race detector, which
// costs up to a factor ten, and more beside other work.
const slowness = 12
