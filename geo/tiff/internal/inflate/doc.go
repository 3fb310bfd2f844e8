// Package inflate decompresses zlib streams whose decompressed size is known, as
// that of the blocks of a TIFF file is.
//
// It is about twice as fast as decompressors that work through io.Reader: the whole input
// and output are slices, the bits that are looked at are in one word, and most entries of the table of
// codes decode two literals at once (RFC 1950, RFC 1951).
package inflate
