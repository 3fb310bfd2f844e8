package ptx

import "quern.dev/internal/mma"

// Products of 8-bit floats need sm_89 and PTX 8.4 (PTX ISA, mma). On older devices the
// factors are converted to float16, which is exact, and multiplied in two steps.
const (
	float8Target  = 89
	float8Version = 84
)

// mmaFloat8 multiplies fragments of 8-bit floats.
func (g *generator) mmaFloat8(fa, fb mma.Format, dst, a, b, c []operand) {
	if g.has(float8Target) {
		g.needVersion(float8Version)
		g.matrix("mma.sync.aligned.m16n8k32.row.col.f32."+mmaTypes[fa]+"."+mmaTypes[fb]+".f32", dst, nil, a, b, c)
		return
	}
	// The order of k does not matter if it is the same in both factors: of the four
	// elements in a word, the first two are those of the float16 fragment's lower half.
	for step := range 2 {
		a0, a1 := g.widenFloat8(fa, a[2*step])
		a2, a3 := g.widenFloat8(fa, a[2*step+1])
		b0, b1 := g.widenFloat8(fb, b[step])
		g.matrix("mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32", dst, nil, []operand{a0, a2, a1, a3}, []operand{b0, b1}, c)
		c = dst
	}
}

// widenFloat8 converts the elements of a word to pairs of float16.
func (g *generator) widenFloat8(f mma.Format, word operand) (low, high operand) {
	number := func(n uint64) operand { return intOperand(b32Class, n) }
	op := func(opcode string, args ...operand) operand {
		r := g.register(b32Class)
		g.emit(opcode, append([]operand{r}, args...)...)
		return r
	}
	pair := func(selector uint64) operand {
		x := op("prmt.b32", word, zeroOperand(b32Class), number(selector)) // to the upper bytes
		if f == mma.E5M2 {
			return x
		}
		// Shifted, the bits without the sign are a float16 that is 2**8 times too small. Where
		// all are ones, adding one to them gives 0x4000, and the result is a NaN.
		magnitude := op("shr.u32", op("and.b32", x, number(0x7f007f00)), number(1))
		nan := op("and.b32", op("add.u32", magnitude, number(0x00800080)), number(0x40004000))
		nan = op("or.b32", nan, op("sub.u32", nan, op("shr.u32", nan, number(5))))
		scaled := op("mul.rn.f16x2", magnitude, op("mov.b32", number(0x5c005c00)))
		return op("or.b32", op("or.b32", scaled, nan), op("and.b32", x, number(0x80008000)))
	}
	return pair(0x1404), pair(0x3424)
}
