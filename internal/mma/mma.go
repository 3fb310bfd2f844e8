package mma

import "math"

// Lanes is the number of threads that share a fragment.
const Lanes = 32

// Format is the format of the elements of A or B.
type Format uint8

// The formats. TF32 is float32 of which the operation uses 11 significant bits.
const (
	Float16 Format = iota
	BFloat16
	TF32
	Int8
	Uint8
)

// Size is the number of bytes of an element.
func (f Format) Size() int {
	return [...]int{Float16: 2, BFloat16: 2, TF32: 4, Int8: 1, Uint8: 1}[f]
}

// K is the number of columns of A and rows of B.
func (f Format) K() int { return 32 / f.Size() }

// The parts of the lanes in A, B and C.
type (
	A          [Lanes][4]uint32
	B          [Lanes][2]uint32
	C[T Value] [Lanes][4]T
)

// Value is an element of C.
type Value interface{ float32 | int32 }

// Bound is the largest difference between two devices' results of one operation
// on elements of format f, where magnitude is the sum of the magnitudes of c and
// of the products.
func Bound(f Format, magnitude float64) float64 {
	return float64(f.K()+1) * magnitude * 0x1p-23
}

// Multiply adds the product of a and b to c, for all lanes.
func Multiply[T Value](fa, fb Format, a *A, b *B, c *C[T]) {
	var rows, columns [16][32]float64
	for i := range 16 {
		a.row(fa, i, &rows[i])
	}
	for i := range 8 {
		b.column(fb, i, &columns[i])
	}
	for lane := range Lanes {
		for i := range 4 {
			row, column := Position(lane, i)
			c[lane][i] = dot(fa, c[lane][i], &rows[row], &columns[column])
		}
	}
}

// MultiplyLane returns what lane has of a·b + c.
func MultiplyLane[T Value](fa, fb Format, lane int, a *A, b *B, c [4]T) [4]T {
	var rows, columns [2][32]float64
	for i := range 2 {
		a.row(fa, lane/4+8*i, &rows[i])
		b.column(fb, lane%4*2+i, &columns[i])
	}
	for i := range c {
		c[i] = dot(fa, c[i], &rows[i/2], &columns[i%2])
	}
	return c
}

// Position is the row and column of element i of a lane's part of C.
func Position(lane, i int) (row, column int) {
	return lane/4 + i/2*8, lane%4*2 + i%2
}

func dot[T Value](f Format, c T, row, column *[32]float64) T {
	if f >= Int8 { // exact in int64; the conversion wraps around
		sum := int64(c)
		for k := range f.K() {
			sum += int64(row[k] * column[k])
		}
		return T(int32(sum))
	}
	sum := float64(c)
	for k := range f.K() {
		sum += row[k] * column[k]
	}
	return T(sum)
}

func (a *A) row(f Format, row int, out *[32]float64) {
	per := 4 / f.Size()
	for k := range f.K() {
		word := k / per
		out[k] = f.decode(a[row%8*4+word%4][row/8+word/4*2], k%per)
	}
}

func (b *B) column(f Format, column int, out *[32]float64) {
	per := 4 / f.Size()
	for k := range f.K() {
		word := k / per
		out[k] = f.decode(b[column*4+word%4][word/4], k%per)
	}
}

// decode returns element i of a word.
func (f Format) decode(word uint32, i int) float64 {
	switch f {
	case Float16:
		return float16(uint16(word >> (16 * i)))
	case BFloat16:
		return float64(math.Float32frombits(word >> (16 * i) << 16))
	case TF32:
		return float64(math.Float32frombits(RoundTF32(word)))
	case Int8:
		return float64(int8(word >> (8 * i)))
	}
	return float64(uint8(word >> (8 * i)))
}

// RoundTF32 rounds the bits of a float32 to 11 significant bits, halves away
// from zero, as PTX's cvt.rna.tf32.f32 does.
func RoundTF32(bits uint32) uint32 {
	const dropped = 1<<13 - 1
	if bits&0x7fffffff > 0x7f800000 {
		return 0x7fffffff
	}
	return (bits + 1<<12) &^ dropped
}

func float16(b uint16) float64 {
	fraction, exponent := float64(b&0x3ff), int(b>>10&0x1f)
	var v float64
	switch {
	case exponent == 31 && fraction != 0:
		return math.NaN()
	case exponent == 31:
		v = math.Inf(1)
	case exponent == 0:
		v = fraction * 0x1p-24
	default:
		v = (fraction + 1024) * math.Float64frombits(uint64(exponent-25+1023)<<52)
	}
	if b>>15 != 0 {
		return -v
	}
	return v
}

// Lines are the 16 bytes that each lane points to, as four words: those of lane
// l are line l%8 of matrix l/8.
type Lines [Lanes][4]uint32

// Load returns lane's words of the four 8x8 matrices of 16-bit elements that the
// lanes point to the lines of, as PTX's ldmatrix does: of each matrix the lane
// gets two neighbours in a line or, transposed, in a column.
func (m *Lines) Load(lane int, transposed bool) [4]uint32 {
	var out [4]uint32
	for i := range out {
		if !transposed {
			out[i] = m[8*i+lane/4][lane%4]
			continue
		}
		column := lane / 4
		half := func(line int) uint32 { return m[8*i+line][column/2] >> (column % 2 * 16) & 0xffff }
		out[i] = half(lane%4*2) | half(lane%4*2+1)<<16
	}
	return out
}
