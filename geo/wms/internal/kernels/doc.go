// Package kernels has the kernels of map rendering. An image becomes pages of colors, and pages become maps:
//
//	paint  samples to a page of colors: bands, ranges, ramps, masks
//	heights, shade
//	       samples to a page of colors of the shape of a surface
//	halve  four pages to one of half the resolution
//	draw   pages to a map, at positions between exact ones
//	exact  pages to a map, at exact positions
//
// A color is a uint32 with red in the lowest byte and alpha in the highest one. Colors of pages are multiplied with alpha,
// those of maps are not.
package kernels

//go:generate go tool quern gen
