// Package kernels has the kernels of package fly: the pyramids of heights and colors, the light on the terrain, and
// the views of it.
//
// Positions are relative to the camera, which has an integer cell (or texel) and a fraction. A floating-point
// number is thus as large as the distance, and its rounding is an angle: 2^-24 radians with float32, whatever the size
// of the mosaic.
//
// All arithmetic has the same bits on every device: products that are added are rounded first, by a conversion, and
// no functions but the square root and Floor are called. The hardware's texture units are the exception.
package kernels

//go:generate go tool quern gen
