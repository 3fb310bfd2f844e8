// Package kernels has the kernels of package ortho: heights of a surface at the pixels of an output, positions of these
// pixels in an image, and the test whether the surface hides them. Its cameras serve hosts and kernels alike.
//
// All arithmetic has the same bits on every device: products that are added are rounded first, by a conversion or a
// fused multiply-add. Positions depend on the absolute indices of output pixels, never on tiles.
package kernels

//go:generate go tool quern gen
