// Package kernels has the kernels of package terrain. Products that are added are rounded first, so results have the same bits on
// every device.
package kernels

//go:generate go tool quern gen
