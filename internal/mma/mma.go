package mma

import "math"

// Lanes is the number of threads that share a fragment.
const Lanes = 32

// Format is the element format of A or B.
type Format uint8

// The formats. TF32 elements are float32 values; the operation uses 11 significant bits of
// them.
const (
	Float16 Format = iota
	BFloat16
	TF32
	Float64
	E4M3
	E5M2
	Int8
	Uint8
)

// Size returns the number of bytes per element.
func (f Format) Size() int {
	return [...]int{Float16: 2, BFloat16: 2, TF32: 4, Float64: 8, E4M3: 1, E5M2: 1, Int8: 1, Uint8: 1}[f]
}

// K returns the number of columns of A and rows of B.
func (f Format) K() int { return 32 / f.Size() }

// The parts of A, B and C that each lane holds.
type (
	A          [Lanes][4]uint32
	B          [Lanes][2]uint32
	C[T Value] [Lanes][4]T
)

// Value is the element type of C.
type Value interface{ float32 | float64 | int32 }

// Bound returns the largest difference between two devices' results of one operation on
// elements of format f. magnitude is the sum of the magnitudes of c and of the products.
func Bound(f Format, magnitude float64) float64 {
	switch {
	case f == Float64:
		return float64(f.K()+1) * magnitude * 0x1p-52
	case f.IsFloat8():
		return float64(f.K()+1) * magnitude * 0x1p-13
	}
	return float64(f.K()+1) * magnitude * 0x1p-23
}

// IsFloat8 reports whether the elements are 8-bit floats.
func (f Format) IsFloat8() bool { return f == E4M3 || f == E5M2 }

// Match reports whether matrices of two formats can be multiplied.
func Match(a, b Format) bool {
	return a == b || a >= Int8 && b >= Int8 || a.IsFloat8() && b.IsFloat8()
}

// Multiply adds the product of a and b to c for all lanes.
func Multiply[T Value](fa, fb Format, a *A, b *B, c *C[T]) {
	if fa.Size() == 2 && fa == fb {
		multiply16(fa, a, b, c)
		return
	}
	if c, ok := any(c).(*C[float64]); ok {
		for lane := range Lanes {
			c[lane] = multiplyLane64(lane, a, b, c[lane])
		}
		return
	}
	var columns [8][32]float64
	var lines [32][8]float64 // rows of b
	for i := range columns {
		b.column(fb, i, &columns[i])
		for k, v := range columns[i] {
			lines[k][i] = v
		}
	}
	var row [32]float64
	for i := range 16 {
		a.row(fa, i, &row)
		c.add(i, row[:fa.K()], lines[:])
	}
}

// multiply16 is Multiply for 16-bit elements. It decodes the words one lane at a time.
func multiply16[T Value](f Format, a *A, b *B, c *C[T]) {
	var rows [16][16]float64 // rows of a
	var lines [16][8]float64 // rows of b
	for lane := range Lanes {
		x, y := &a[lane], &b[lane]
		i, k := lane/4, lane%4*2
		low, high, line := rows[i][k:k+10], rows[i+8][k:k+10], lines[k:k+10]
		if f == BFloat16 {
			low[0], low[1] = bfloat16(x[0]), bfloat16(x[0]>>16)
			high[0], high[1] = bfloat16(x[1]), bfloat16(x[1]>>16)
			low[8], low[9] = bfloat16(x[2]), bfloat16(x[2]>>16)
			high[8], high[9] = bfloat16(x[3]), bfloat16(x[3]>>16)
			line[0][i], line[1][i] = bfloat16(y[0]), bfloat16(y[0]>>16)
			line[8][i], line[9][i] = bfloat16(y[1]), bfloat16(y[1]>>16)
			continue
		}
		low[0], low[1] = float16(x[0]), float16(x[0]>>16)
		high[0], high[1] = float16(x[1]), float16(x[1]>>16)
		low[8], low[9] = float16(x[2]), float16(x[2]>>16)
		high[8], high[9] = float16(x[3]), float16(x[3]>>16)
		line[0][i], line[1][i] = float16(y[0]), float16(y[0]>>16)
		line[8][i], line[9][i] = float16(y[1]), float16(y[1]>>16)
	}
	for i := range rows {
		c.add(i, rows[i][:], lines[:])
	}
}

// add adds the product of a row of A and the matrix B to row i of C. It computes four sums
// at a time, so that additions overlap and all sums stay in registers.
func (c *C[T]) add(i int, row []float64, lines [][8]float64) {
	lines = lines[:len(row)]
	e := i / 8 * 2
	for half := range 2 {
		x, y := (*[2]T)(c[i%8*4+2*half][e:]), (*[2]T)(c[i%8*4+2*half+1][e:])
		s0, s1 := float64(x[0]), float64(x[1])
		s2, s3 := float64(y[0]), float64(y[1])
		if half == 0 {
			for k, v := range row {
				w := &lines[k]
				s0 += v * w[0]
				s1 += v * w[1]
				s2 += v * w[2]
				s3 += v * w[3]
			}
		} else {
			for k, v := range row {
				w := &lines[k]
				s0 += v * w[4]
				s1 += v * w[5]
				s2 += v * w[6]
				s3 += v * w[7]
			}
		}
		x[0], x[1] = rounded[T](s0), rounded[T](s1)
		y[0], y[1] = rounded[T](s2), rounded[T](s3)
	}
}

// rounded converts a sum to an element of C. Sums of integers are exact in float64; they
// wrap around.
func rounded[T Value](sum float64) T {
	if T(1)/T(2) == 0 {
		return T(int64(sum))
	}
	return T(sum)
}

// MultiplyLane returns the elements of a·b + c that lane holds.
func MultiplyLane[T Value](fa, fb Format, lane int, a *A, b *B, c [4]T) [4]T {
	if c64, ok := any(c).([4]float64); ok {
		return any(multiplyLane64(lane, a, b, c64)).([4]T)
	}
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

// multiplyLane64 is MultiplyLane for float64.
func multiplyLane64(lane int, a *A, b *B, c [4]float64) [4]float64 {
	for k := range 4 {
		x := &a[lane&^3+k]
		for i := range c {
			y := &b[lane%4*8+i%2*4+k]
			c[i] = math.FMA(float64of(x[i/2], x[i/2+2]), float64of(y[0], y[1]), c[i])
		}
	}
	return c
}

func float64of(low, high uint32) float64 {
	return math.Float64frombits(uint64(high)<<32 | uint64(low))
}

func dot[T Value](f Format, c T, row, column *[32]float64) T {
	sum := float64(c)
	for k := range f.K() {
		sum += row[k] * column[k]
	}
	return rounded[T](sum)
}

func (a *A) row(f Format, row int, out *[32]float64) {
	quad := a[row%8*4:][:4]
	half := f.K() / 2
	for word := range 4 {
		f.decode(quad[word][row/8], out[:half], word)
		f.decode(quad[word][row/8+2], out[half:], word)
	}
}

func (b *B) column(f Format, column int, out *[32]float64) {
	quad := b[column*4:][:4]
	half := f.K() / 2
	for word := range 4 {
		f.decode(quad[word][0], out[:half], word)
		f.decode(quad[word][1], out[half:], word)
	}
}

// decode stores the elements of word i of 16 bytes in out.
func (f Format) decode(word uint32, out []float64, i int) {
	switch f {
	case Float16:
		out[2*i], out[2*i+1] = float16(word), float16(word>>16)
	case BFloat16:
		out[2*i], out[2*i+1] = bfloat16(word), bfloat16(word>>16)
	case TF32:
		out[i] = float64(math.Float32frombits(RoundTF32(word)))
	case E4M3:
		for j := range 4 {
			out[4*i+j] = e4m3(word >> (8 * j) & 0xff)
		}
	case E5M2:
		for j := range 4 {
			out[4*i+j] = float16(word >> (8 * j) & 0xff << 8)
		}
	case Int8:
		for j := range 4 {
			out[4*i+j] = float64(int8(word >> (8 * j)))
		}
	case Uint8:
		for j := range 4 {
			out[4*i+j] = float64(uint8(word >> (8 * j)))
		}
	}
}

// RoundTF32 rounds the bits of a float32 to 11 significant bits, with ties away from zero,
// like PTX's cvt.rna.tf32.f32.
func RoundTF32(bits uint32) uint32 {
	const dropped = 1<<13 - 1
	if bits&0x7fffffff > 0x7f800000 {
		return 0x7fffffff
	}
	return (bits + 1<<12) &^ dropped
}

// bfloat16 decodes the lower half of a word.
func bfloat16(b uint32) float64 { return float64(math.Float32frombits(b << 16)) }

// float16 decodes the lower half of a word.
func float16(b uint32) float64 {
	v := b & 0x7fff << 13
	if v >= 0x7c00<<13 { // infinity or NaN
		v |= 0x7f800000
	} else {
		// As a float32, the bits represent a number 2**112 times smaller, even if they are
		// subnormal.
		v = math.Float32bits(math.Float32frombits(v) * 0x1p112)
	}
	return float64(math.Float32frombits(v | b&0x8000<<16))
}

// e4m3 decodes a byte. Shifted, its bits are a Float16 that is 2**8 times too small.
func e4m3(b uint32) float64 {
	if b&0x7f == 0x7f {
		return math.NaN()
	}
	return float16(b&0x80<<8|b&0x7f<<7) * 0x1p8
}

// Lines holds the 16 bytes that each lane points to, as four words. Lane l points to row
// l%8 of matrix l/8.
type Lines [Lanes][4]uint32

// Load returns lane's words of the four 8x8 matrices of 16-bit elements, like PTX's
// ldmatrix. From each matrix the lane gets two adjacent elements of a row or, if
// transposed is set, of a column.
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
