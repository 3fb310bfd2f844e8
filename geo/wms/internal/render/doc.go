// Package render draws maps of images on a device.
//
// A [Source] is an image in a [Style]. Its colors are kept in device memory in pages, which are made when a map first needs
// them: decoded blocks are copied to the device, and a kernel applies the style. A map then takes one kernel per source,
// which looks positions up in the pages.
//
// Positions are exact at the points of a lattice, and interpolated between them. The distance of the points is halved until
// the positions in the middle of each side and of each cell are within [MaxError] of the exact ones. With Map.Exact, or if
// that does not succeed, every position is computed on the device.
//
// # Memory
//
// The pages and the decoded blocks have fixed sizes, least recently used ones are replaced. Everything else belongs to
// lanes: as many maps are drawn at a time.
package render
