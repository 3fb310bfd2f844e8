//go:build !linux

package cpu

import "runtime"

// memory returns zeros: the size of the machine's memory is unknown.
func memory() (free, total int64) { return 0, 0 }

func modelName() string { return runtime.GOARCH }
