// Package memory holds kernels that use each operation on memory: shared memory
// of both kinds, atomics, ordered accesses, asynchronous copies and clocks. Its
// tests run them on every device and compare with plain Go.
package memory

//go:generate go tool quern gen
