//go:build unix && !aix && !solaris && !linux

package filemap

// noReserve is the default on these systems.
const noReserve = 0
