package mma

import (
	"math"
	"math/rand/v2"
	"testing"
)

// The layouts of the PTX ISA, one formula per shape, independent of the code under test.

func placeA(size, lane, element int) (row, k int) {
	group, thread := lane>>2, lane&3
	switch size {
	case 1: // m16n8k32: 16 elements
		row = group
		if element&4 != 0 {
			row += 8
		}
		k = thread*4 + element&3
		if element >= 8 {
			k += 16
		}
	case 2: // m16n8k16: 8 elements
		row = group
		if element&2 != 0 {
			row += 8
		}
		k = thread*2 + element&1
		if element >= 4 {
			k += 8
		}
	case 4: // m16n8k8: 4 elements
		row = group
		if element&1 != 0 {
			row += 8
		}
		k = thread
		if element >= 2 {
			k += 4
		}
	}
	return row, k
}

func placeB(size, lane, element int) (k, column int) {
	group, thread := lane>>2, lane&3
	switch size {
	case 1:
		k = thread*4 + element&3
		if element >= 4 {
			k += 16
		}
	case 2:
		k = thread*2 + element&1
		if element >= 2 {
			k += 8
		}
	case 4:
		k = thread + element*4
	}
	return k, group
}

func TestMultiplyFollowsPTXLayouts(t *testing.T) {
	for _, f := range []Format{Float16, BFloat16, TF32, E4M3, E5M2, Int8, Uint8} {
		t.Run([]string{"float16", "bfloat16", "tf32", "float64", "e4m3", "e5m2", "int8", "uint8"}[f], func(t *testing.T) {
			size, rng := f.Size(), rand.New(rand.NewPCG(1, uint64(f)))
			var ma, mb [16][32]float64 // mb is indexed by column
			var a A
			var b B
			put := func(word *uint32, element int) float64 {
				bits, value := randomElement(f, rng)
				*word |= bits << (element * size * 8 % 32)
				return value
			}
			for lane := range Lanes {
				for e := range 16 / size {
					row, k := placeA(size, lane, e)
					ma[row][k] = put(&a[lane][e*size/4], e)
				}
				for e := range 8 / size {
					k, column := placeB(size, lane, e)
					mb[column][k] = put(&b[lane][e*size/4], e)
				}
			}
			var mc [16][8]float64
			var cf C[float32]
			var ci C[int32]
			for lane := range Lanes {
				for i := range 4 {
					v := rng.IntN(2001) - 1000
					cf[lane][i], ci[lane][i] = float32(v), int32(v)
					mc[lane/4+i/2*8][lane%4*2+i%2] = float64(v)
				}
			}
			begunF, begunI := cf, ci
			if f >= Int8 {
				Multiply(f, f, &a, &b, &ci)
			} else {
				Multiply(f, f, &a, &b, &cf)
			}
			for lane := range Lanes {
				for i := range 4 {
					row, column := lane/4+i/2*8, lane%4*2+i%2
					want := mc[row][column]
					for k := range f.K() {
						want += ma[row][k] * mb[column][k]
					}
					got, alone := float64(ci[lane][i]), float64(MultiplyLane(f, f, lane, &a, &b, begunI[lane])[i])
					if f < Int8 {
						got, alone = float64(cf[lane][i]), float64(MultiplyLane(f, f, lane, &a, &b, begunF[lane])[i])
						want = float64(float32(want))
					}
					if got != want || alone != want {
						t.Fatalf("element %d of lane %d is %v, computed alone %v; want %v", i, lane, got, alone, want)
					}
				}
			}
		})
	}
}

// TestFloat64FollowsPTXLayouts uses the layout of m16n8k4: lane l holds column l%4 of the rows
// l/4 and l/4+8 of A, and row l%4 of column l/4 of B.
func TestFloat64FollowsPTXLayouts(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 2))
	var ma [16][4]float64
	var mb [4][8]float64
	var a A
	var b B
	var c, begun C[float64]
	for lane := range Lanes {
		for i := range 2 {
			v := rng.NormFloat64()
			ma[lane/4+8*i][lane%4] = v
			a[lane][i], a[lane][i+2] = uint32(math.Float64bits(v)), uint32(math.Float64bits(v)>>32)
		}
		v := rng.NormFloat64()
		mb[lane%4][lane/4] = v
		b[lane] = [2]uint32{uint32(math.Float64bits(v)), uint32(math.Float64bits(v) >> 32)}
		for i := range 4 {
			begun[lane][i] = rng.NormFloat64()
		}
	}
	c = begun
	Multiply(Float64, Float64, &a, &b, &c)
	for lane := range Lanes {
		for i, want := range begun[lane] {
			for k := range 4 {
				want = math.FMA(ma[lane/4+i/2*8][k], mb[k][lane%4*2+i%2], want)
			}
			if alone := MultiplyLane(Float64, Float64, lane, &a, &b, begun[lane])[i]; c[lane][i] != want || alone != want {
				t.Errorf("element %d of lane %d is %v, computed alone %v; want %v", i, lane, c[lane][i], alone, want)
			}
		}
	}
}

// randomElement returns a random element of format f, as bits and as a number.
func randomElement(f Format, rng *rand.Rand) (uint32, float64) {
	v := rng.IntN(255) - 127
	switch f {
	case Float16: // 7-bit integer scaled by a power of two
		bits, value := uint32(0), float64(v)/8
		if v != 0 {
			exponent := int(math.Floor(math.Log2(math.Abs(value))))
			bits = uint32(exponent+15)<<10 | uint32(math.Abs(value)*math.Pow(2, float64(10-exponent)))&0x3ff
			if v < 0 {
				bits |= 1 << 15
			}
		}
		return bits, value
	case BFloat16:
		return math.Float32bits(float32(v)/8) >> 16, float64(v) / 8
	case TF32:
		return math.Float32bits(float32(v) / 8), float64(v) / 8
	case E4M3: // normal numbers with 3 bits of fraction
		bits := uint32(rng.IntN(0x70)+8) | uint32(rng.IntN(2))<<7
		return bits, math.Ldexp(float64(bits&7|8), int(bits>>3&15)-10) * float64(1-2*int(bits>>7))
	case E5M2: // with 2 bits of fraction; larger exponents would make sums inexact
		bits := uint32(rng.IntN(0x30)+0x30) | uint32(rng.IntN(2))<<7
		return bits, math.Ldexp(float64(bits&3|4), int(bits>>2&31)-17) * float64(1-2*int(bits>>7))
	case Int8:
		return uint32(uint8(int8(v))), float64(v)
	}
	return uint32(uint8(v)), float64(uint8(v))
}

func TestIntegerSumsWrapAround(t *testing.T) {
	var a A
	var b B
	var c C[int32]
	for lane := range Lanes {
		for i := range a[lane] {
			a[lane][i] = 0x7f7f7f7f
		}
		for i := range b[lane] {
			b[lane][i] = 0x7f7f7f7f
		}
		c[lane][0] = math.MaxInt32
	}
	Multiply(Int8, Int8, &a, &b, &c)
	wrapped := int64(math.MaxInt32) + 32*127*127 - 1<<32
	if want := int32(wrapped); c[0][0] != want {
		t.Errorf("sum is %d, want %d", c[0][0], want)
	}
}

func TestMixedSignednessIntegers(t *testing.T) {
	var a A
	var b B
	var c C[int32]
	a[0][0] = 0xff // element (0, 0): -1 or 255
	b[0][0] = 0xff
	Multiply(Int8, Uint8, &a, &b, &c)
	if c[0][0] != -255 {
		t.Errorf("int8 by uint8 is %d, want -255", c[0][0])
	}
	c = C[int32]{}
	Multiply(Uint8, Uint8, &a, &b, &c)
	if c[0][0] != 255*255 {
		t.Errorf("uint8 by uint8 is %d, want %d", c[0][0], 255*255)
	}
}

func TestFloat16Decodes(t *testing.T) {
	for bits, want := range map[uint16]float64{
		0: 0, 1: 0x1p-24, 0x3ff: 1023 * 0x1p-24, 0x400: 0x1p-14, 0x3c00: 1, 0xc000: -2, 0x7bff: 65504, 0x7c00: math.Inf(1), 0xfc00: math.Inf(-1),
	} {
		if got := float16(uint32(bits)); got != want {
			t.Errorf("%#04x is %v, want %v", bits, got, want)
		}
	}
	if got := float16(0x7e00); got == got {
		t.Errorf("0x7e00 is %v, want NaN", got)
	}
}

func TestTF32RoundsTiesAwayFromZero(t *testing.T) {
	for _, c := range []struct{ in, want uint32 }{
		{0x3f800000, 0x3f800000},
		{0x3f800fff, 0x3f800000},
		{0x3f801000, 0x3f802000},
		{0xbf801000, 0xbf802000},
		{0x7f7fffff, 0x7f800000}, // becomes infinity
		{0x7f800000, 0x7f800000},
		{0x7f800001, 0x7fffffff},
		{0xffffffff, 0x7fffffff},
	} {
		if got := RoundTF32(c.in); got != c.want {
			t.Errorf("%#08x becomes %#08x, want %#08x", c.in, got, c.want)
		}
	}
}

func TestLoadMatchesLdmatrix(t *testing.T) {
	var lines Lines
	for lane := range lines {
		for w := range lines[lane] { // element (row, i) of matrix m is m<<8 | row<<4 | i
			e := uint32(lane/8<<8 | lane%8<<4 | 2*w)
			lines[lane][w] = e | (e+1)<<16
		}
	}
	for lane := range Lanes {
		words, transposed := lines.Load(lane, false), lines.Load(lane, true)
		for m := range words {
			at := func(line, i int) uint32 { return uint32(m<<8 | line<<4 | i) }
			line, i := lane/4, lane%4*2
			if want := at(line, i) | at(line, i+1)<<16; words[m] != want {
				t.Errorf("word %d of lane %d is %#x, want %#x", m, lane, words[m], want)
			}
			if want := at(i, line) | at(i+1, line)<<16; transposed[m] != want {
				t.Errorf("transposed word %d of lane %d is %#x, want %#x", m, lane, transposed[m], want)
			}
		}
	}
}
