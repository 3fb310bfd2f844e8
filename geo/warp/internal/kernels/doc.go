// Package kernels has the kernels of package warp: positions of the pixels of an output in a source, and the
// resampling of sources at these positions.
//
// All arithmetic has the same bits on every device: products that are added are rounded first, by a conversion, and
// the sine is computed here. Positions depend on the absolute indices of output pixels, never on tiles.
package kernels

//go:generate go tool quern gen
