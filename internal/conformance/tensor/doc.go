// Package tensor holds kernels that multiply matrices on tensor cores. Its tests run them
// on every device and compare the results with [kernel.Each].
package tensor

//go:generate go tool quern gen
