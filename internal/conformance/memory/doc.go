// Package memory holds kernels that use each memory operation: static and dynamic shared
// memory, atomics, ordered accesses, asynchronous copies and clocks. Its tests run them on
// every device and compare the results with plain Go.
package memory

//go:generate go tool quern gen
