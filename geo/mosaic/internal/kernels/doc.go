// Package kernels has the kernels of package mosaic: images are joined by feathering, or in the levels of a Laplacian pyramid.
//
// The pixels of a level have even coordinates of the level above, counted from the corner of the whole output, so they do
// not depend on the window that is computed. Products that are added are rounded first, so results have the same bits
// on every device.
package kernels

//go:generate go tool quern gen
