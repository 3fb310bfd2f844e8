//go:build race

package actors

// slowness is how much longer tests may take than without the race detector, which
// costs up to a factor ten, and more beside other work.
const slowness = 12
