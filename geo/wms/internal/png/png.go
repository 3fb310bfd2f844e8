package png

import (
	"encoding/binary"
	"hash/adler32"
	"hash/crc32"
)

// Encoder keeps memory between images. It is not safe for concurrent use.
type Encoder struct {
	filtered []byte
	code     huffman
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

// The four bytes of a word at a time.
const (
	low  = 0x7f7f7f7f
	high = 0x80808080
)

// difference subtracts bytes.
func difference(a, b uint32) uint32 { return (a | high) - b&low ^ (a^^b)&high }

// mean is the mean of bytes, rounded down.
func mean(a, b uint32) uint32 { return a&b + (a^b)>>1&low }

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
	at := 0
	for y := range height {
		row := pixels[y*width:][:width]
		above := row
		if y > 0 {
			above = pixels[(y-1)*width:][:width]
		}
		out := e.filtered[at:]
		at += 1 + width*channels
		out[0] = filterAverage
		if up {
			out[0] = filterUp
		}
		out = out[1:]
		left := uint32(0)
		for x, p := range row {
			b := above[x]
			if y == 0 {
				b = 0
			}
			d := difference(p, b)
			if !up {
				d = difference(p, mean(left, b))
			}
			left = p
			// The bytes beyond the pixel are overwritten by the next one.
			if channels == 1 {
				out[x] = byte(d)
			} else {
				binary.LittleEndian.PutUint32(out[x*channels:], d)
			}
		}
	}
	e.filtered = e.filtered[:size]
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
