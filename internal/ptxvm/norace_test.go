//go:build !race

package ptxvm

const raceEnabled = false
