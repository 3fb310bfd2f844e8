// Package kernels has the kernels of package device: between the stored form of TIFF blocks and
// pixels, and averages for overviews.
package kernels

//go:generate go tool quern gen
