//go:build !race

package overlay

const race = false
