// Package pmtiles writes PMTiles archives, version 3: all tiles of a map in one file, which clients read by ranges.
//
// A file begins with a header and the root directory, in 16 KiB, as readers expect. The tiles follow, in the order of their
// numbers along Hilbert curves, and then the metadata and the leaf directories. Equal tiles are stored once.
package pmtiles
