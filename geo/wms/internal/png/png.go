package png

import (
	"encoding/binary"
	"hash/adler32"
	"hash/crc32"
)

// Encoder keeps memory between images. It is not safe for concurrent use.
type Encoder struct {
	filtered  []byte
	blank     []uint32
	code      huffman
	quantizer quantizer
	matches   matcher
}

const signature = "\x89PNG\r\n\x1a\n"

// color types of PNG, section 11.2.2.
const (
	gray = 0
	rgb  = 2
	rgba = 6
)

// Append appends an image of colors to dst: red in the lowest byte, alpha in the highest one and not multiplied.
func (e *Encoder) Append(dst []byte, pixels []uint32, width, height int) []byte {
	kind, channels := classify(pixels)
	e.filter(pixels, width, height, channels)
	dst = append(dst, signature...)
	var header [13]byte
	binary.BigEndian.PutUint32(header[0:], uint32(width))
	binary.BigEndian.PutUint32(header[4:], uint32(height))
	header[8], header[9] = 8, kind
	dst, at := begin(dst, "IHDR")
	dst = finish(append(dst, header[:]...), at)
	dst, at = begin(dst, "IDAT")
	dst = append(dst, 0x78, 0x01)
	dst = e.code.deflate(dst, e.filtered)
	dst = finish(binary.BigEndian.AppendUint32(dst, adler32.Checksum(e.filtered)), at)
	dst, at = begin(dst, "IEND")
	return finish(dst, at)
}

// begin starts a chunk; its length comes later.
func begin(dst []byte, name string) ([]byte, int) {
	at := len(dst)
	return append(append(dst, 0, 0, 0, 0), name...), at
}

// finish writes the length and the checksum of a chunk.
func finish(dst []byte, at int) []byte {
	binary.BigEndian.PutUint32(dst[at:], uint32(len(dst)-at-8))
	return binary.BigEndian.AppendUint32(dst, crc32.ChecksumIEEE(dst[at+4:]))
}

// classify returns the color type that loses nothing.
func classify(pixels []uint32) (kind byte, channels int) {
	opaque, colored := uint32(0xff000000), uint32(0)
	for _, p := range pixels {
		opaque &= p
		colored |= (p ^ p>>8) & 0xffff
	}
	switch {
	case opaque != 0xff000000:
		return rgba, 4
	case colored != 0:
		return rgb, 3
	}
	return gray, 1
}

// The eight bytes of a word at a time.
const (
	low  = 0x7f7f7f7f_7f7f7f7f
	high = 0x80808080_80808080
)

// difference subtracts bytes.
func difference(a, b uint64) uint64 { return (a | high) - b&low ^ (a^^b)&high }

// mean is the mean of bytes, rounded down.
func mean(a, b uint64) uint64 { return a&b + (a^b)>>1&low }

const (
	filterUp      = 2
	filterAverage = 3
)

// filter writes rows of a filter's type and of the differences of pixels.
func (e *Encoder) filter(pixels []uint32, width, height, channels int) {
	size := height * (1 + width*channels)
	if cap(e.filtered) < size+4 {
		e.filtered = make([]byte, size+4)
	}
	e.filtered = e.filtered[:size+4]
	up := flat(pixels, width)
	if cap(e.blank) < width {
		e.blank = make([]uint32, width)
	}
	above := e.blank[:width]
	for y := range height {
		row := pixels[y*width:][:width]
		out := e.filtered[y*(1+width*channels):]
		out[0] = filterAverage
		if up {
			out[0] = filterUp
		}
		filterRow(out[1:], row, above, channels, up)
		above = row
	}
	e.filtered = e.filtered[:size]
}

// filterRow writes the differences of a row, and up to four bytes more.
func filterRow(out []byte, row, above []uint32, channels int, up bool) {
	above = above[:len(row)]
	left, x := uint64(0), 0
	// Two pixels at a time.
	for ; x+2 <= len(row); x += 2 {
		p, b := uint64(row[x])|uint64(row[x+1])<<32, uint64(above[x])|uint64(above[x+1])<<32
		d := b
		if !up {
			d = mean(p<<32|left, b)
		}
		d = difference(p, d)
		left = p >> 32
		switch channels {
		case 1:
			out[x], out[x+1] = byte(d), byte(d>>32)
		case 3:
			binary.LittleEndian.PutUint64(out[x*3:], d&0xffffff|d>>8&0xffffff000000)
		default:
			binary.LittleEndian.PutUint64(out[x*4:], d)
		}
	}
	if x < len(row) {
		p, b := uint64(row[x]), uint64(above[x])
		if !up {
			b = mean(left, b)
		}
		d := difference(p, b)
		for k := range channels {
			out[x*channels+k] = byte(d >> (8 * k))
		}
	}
}

// flat reports whether most pixels of an image equal the ones above.
func flat(pixels []uint32, width int) bool {
	same, n := 0, 0
	for i := width; i < len(pixels); i += 7 {
		n++
		if pixels[i] == pixels[i-width] {
			same++
		}
	}
	return 2*same > n
}
