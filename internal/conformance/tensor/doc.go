// Package tensor holds kernels that multiply matrices on tensor cores, and tests
// that compare them on every device with [kernel.Each].
package tensor

//go:generate go tool quern gen
