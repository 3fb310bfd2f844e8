// Package png encodes map tiles as PNG images, fast: several times faster than image/png at its best speed, with smaller
// files for photographs.
//
// Rows have the filter Average, which suits photographs, or, in images of few colors, Up. What remains is compressed
// with one Huffman code for the whole image; the only matches are long runs of zeros. An image without transparent pixels
// has no alpha channel, a gray one a single channel.
//
// Images with palettes have the filter that suits them best, and matches of all lengths if areas of one color make it worthwhile.
package png
