//go:build !race

package actors

// slowness is how much longer tests may take than without the race detector.
const slowness = 1
