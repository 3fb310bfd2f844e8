package tiff

import (
	"encoding/binary"
	"fmt"
	"math/bits"
	"unsafe"
)

// word is an unsigned integer as wide as a sample.
type word interface {
	uint8 | uint16 | uint32 | uint64
}

// predictorProblem says why a predictor cannot be used with samples of the given bits and
// SampleFormat.
func predictorProblem(p Predictor, bits, format int) string {
	wide := bits == 8 || bits == 16 || bits == 32 || bits == 64
	switch p {
	case NoPredictor:
		return ""
	case Horizontal:
		if wide {
			return ""
		}
		return fmt.Sprintf("predictor 2 with samples of %d bits; 8, 16, 32 and 64 bits are possible", bits)
	case FloatingPoint:
		if format == formatFloat && wide && bits > 8 {
			return ""
		}
		return fmt.Sprintf("predictor 3 with samples of %d bits and SampleFormat %d; it is for floating-point numbers", bits, format)
	}
	return fmt.Sprintf("predictor %d", p)
}

// sumRow replaces differences by samples. stride is the number of samples per pixel.
func sumRow[T word](row []T, stride int) {
	switch stride {
	case 1:
		var a T
		for i, d := range row {
			a += d
			row[i] = a
		}
	case 3:
		var a, b, c T
		for ; len(row) >= 3; row = row[3:] {
			p := (*[3]T)(row)
			a, b, c = a+p[0], b+p[1], c+p[2]
			p[0], p[1], p[2] = a, b, c
		}
	case 4:
		var a, b, c, d T
		for ; len(row) >= 4; row = row[4:] {
			p := (*[4]T)(row)
			a, b, c, d = a+p[0], b+p[1], c+p[2], d+p[3]
			p[0], p[1], p[2], p[3] = a, b, c, d
		}
	default:
		for i := stride; i < len(row); i++ {
			row[i] += row[i-stride]
		}
	}
}

// differenceRow replaces samples by differences. stride is the number of samples per pixel.
func differenceRow[T word](row []T, stride int) {
	size := int(unsafe.Sizeof(*new(T)))
	b, step := Bytes(row), stride*size
	// From the end, eight bytes at a time: the samples of a word are subtracted without borrowing from each other.
	high := ^uint64(0) / (1<<(8*size) - 1) << (8*size - 1)
	i := len(b)
	for ; i-8 >= step; i -= 8 {
		x, y := binary.NativeEndian.Uint64(b[i-8:]), binary.NativeEndian.Uint64(b[i-8-step:])
		binary.NativeEndian.PutUint64(b[i-8:], (x|high)-(y&^high)^(x^^y)&high)
	}
	for i = i/size - 1; i >= stride; i-- {
		row[i] -= row[i-stride]
	}
}

// joinFloats undoes predictor 3 on one row of n floats of size bytes. tmp has the length
// of row.
func joinFloats(row, tmp []byte, stride, size int) {
	sumRow(row, stride)
	copy(tmp, row)
	n := len(row) / size
	for b := range size {
		plane := tmp[b*n : (b+1)*n]
		at := b // the most significant byte is first in the file
		if nativeLittle {
			at = size - 1 - b
		}
		for i, v := range plane {
			row[i*size+at] = v
		}
	}
}

// splitFloats applies predictor 3 to one row.
func splitFloats(row, tmp []byte, stride, size int) {
	copy(tmp, row)
	n := len(row) / size
	for b := range size {
		plane := row[b*n : (b+1)*n]
		at := b
		if nativeLittle {
			at = size - 1 - b
		}
		for i := range plane {
			plane[i] = tmp[i*size+at]
		}
	}
	differenceRow(row, stride)
}

// nativeLittle is true if the machine's integers begin with the least significant byte.
var nativeLittle = binary.NativeEndian.Uint16([]byte{1, 0}) == 1

// native reports whether numbers in the given order need no conversion.
func native(order binary.ByteOrder) bool {
	return (order.Uint16([]byte{1, 0}) == 1) == nativeLittle
}

// swapBytes reverses the bytes of each word.
func swapBytes(b []byte, size int) {
	switch size {
	case 2:
		for i, v := range view[uint16](b) {
			view[uint16](b)[i] = bits.ReverseBytes16(v)
		}
	case 4:
		w := view[uint32](b)
		for i, v := range w {
			w[i] = bits.ReverseBytes32(v)
		}
	case 8:
		w := view[uint64](b)
		for i, v := range w {
			w[i] = bits.ReverseBytes64(v)
		}
	}
}

// predictRows calls the predictor for each row of words.
func predictRows(b []byte, rowBytes, stride, size int, sum bool) {
	for ; len(b) >= rowBytes && rowBytes > 0; b = b[rowBytes:] {
		row := b[:rowBytes]
		switch size {
		case 1:
			predictRow(row, stride, sum)
		case 2:
			predictRow(view[uint16](row), stride, sum)
		case 4:
			predictRow(view[uint32](row), stride, sum)
		case 8:
			predictRow(view[uint64](row), stride, sum)
		}
	}
}

func predictRow[T word](row []T, stride int, sum bool) {
	if sum {
		sumRow(row, stride)
	} else {
		differenceRow(row, stride)
	}
}

// filter is what happens to the samples of a block between memory and compression.
type filter struct {
	predictor Predictor
	order     binary.ByteOrder
	bits      int // per sample in the file
	component int // bytes that a different byte order reverses
	stride    int // samples per pixel of the block
}

// newFilter returns the filter of samples of a type. With predictor 2, bytes are reversed as libtiff
// does it: complex numbers are single words.
func newFilter(t Type, bits int, p Predictor, order binary.ByteOrder, stride int) filter {
	component := typeTable[t].component
	if bits != 8*t.Size() || p == Horizontal {
		component = bits / 8
	}
	return filter{p, order, bits, component, stride}
}

// undo turns the stored form of rows, in place, into samples in the machine's byte order. The samples
// still have the bits of the file. b is aligned.
func (f filter) undo(b []byte, rowBytes int, tmp *[]byte) {
	if f.bits%8 != 0 || f.bits == 24 {
		return
	}
	if f.predictor == FloatingPoint {
		*tmp = grow(*tmp, rowBytes)
		for ; len(b) >= rowBytes && rowBytes > 0; b = b[rowBytes:] {
			joinFloats(b[:rowBytes], *tmp, f.stride, f.bits/8)
		}
		return
	}
	if !native(f.order) {
		swapBytes(b, f.component)
	}
	if f.predictor == Horizontal {
		predictRows(b, rowBytes, f.stride, f.bits/8, true)
	}
}

// apply is the inverse of undo.
func (f filter) apply(b []byte, rowBytes int, tmp *[]byte) {
	if f.bits%8 != 0 || f.bits == 24 {
		return
	}
	if f.predictor == FloatingPoint {
		*tmp = grow(*tmp, rowBytes)
		for ; len(b) >= rowBytes && rowBytes > 0; b = b[rowBytes:] {
			splitFloats(b[:rowBytes], *tmp, f.stride, f.bits/8)
		}
		return
	}
	if f.predictor == Horizontal {
		predictRows(b, rowBytes, f.stride, f.bits/8, false)
	}
	if !native(f.order) {
		swapBytes(b, f.component)
	}
}

// grow returns b with length n, reallocated if necessary. Its contents are undefined.
func grow(b []byte, n int) []byte {
	if cap(b) < n {
		return alignedBytes(n)
	}
	return b[:n]
}
