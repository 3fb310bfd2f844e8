//go:build unix && !aix && !solaris && !linux

package gpu

// noReserve is what these systems do anyway.
const noReserve = 0
