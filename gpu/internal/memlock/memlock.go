// Package memlock explains why host memory cannot be page-locked.
package memlock

import "fmt"

// Advice returns what to do after page-locking size bytes has failed.
func Advice(size int64) string {
	const advice = "close host buffers that are not in use, or make smaller ones"
	if memory, ok := HostMemory(); ok && uint64(size) > memory {
		return fmt.Sprintf("the host has %d MiB of memory in all: make smaller host buffers", memory>>20)
	}
	if limit, ok := limit(); ok {
		return fmt.Sprintf("the process may lock %d KiB: raise the limit with ulimit -l or LimitMEMLOCK=, or %s", limit>>10, advice)
	}
	return advice
}
