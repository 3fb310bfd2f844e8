//go:build race

package overlay

const race = true
