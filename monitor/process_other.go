//go:build !linux

package monitor

// foreignPIDs returns false: NVML is used on Linux only.
func foreignPIDs() bool { return false }

// processNames looks up the names of processes, on Linux.
type processNames struct{}

func (n *processNames) fill([]GPU) {}
