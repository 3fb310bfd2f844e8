package kernel

import (
	"math"
	"math/bits"
)

// Philox returns the 128 random bits of the counter-based generator
// Philox4x32-10 (Salmon et al., "Parallel random numbers: as easy as 1, 2, 3",
// 2011): a function of counter and key alone, the same on every device.
func Philox(counter [4]uint32, key [2]uint32) [4]uint32 {
	a, b, c, d := counter[0], counter[1], counter[2], counter[3]
	k0, k1 := key[0], key[1]
	for range 10 {
		hi0, lo0 := bits.Mul32(0xD2511F53, a)
		hi1, lo1 := bits.Mul32(0xCD9E8D57, c)
		a, b, c, d = hi1^b^k0, lo1, hi0^d^k1, lo0
		k0 += 0x9E3779B9
		k1 += 0xBB67AE85
	}
	return [4]uint32{a, b, c, d}
}

// Random is a sequence of random numbers of one thread, drawn from [Philox]. It
// is a plain value, to be kept in a variable of the kernel:
//
//	random := kernel.NewRandom(seed, uint64(t.Global()))
//	x, y := random.Float32(), random.Float32()
//
// Sequences of different numbers, and of different seeds, are independent. A
// result does not depend on the device, the grid or the block if the sequence
// number is that of the sample or the element rather than that of the thread.
type Random struct {
	seed, sequence uint64
	position       uint64 // of the next four words
	left           uint32 // words below that have not been drawn
	w0, w1, w2, w3 uint32
}

// NewRandom returns the start of a sequence.
func NewRandom(seed, sequence uint64) Random {
	return Random{seed: seed, sequence: sequence}
}

// Skip leaves out the next 4*n words of the sequence, and those of the last four
// that have not been drawn.
func (r *Random) Skip(n uint64) {
	r.position += n
	r.left = 0
}

// Uint32x4 draws four words at once, in a multiple of four of the sequence: words
// that are left of the last four are dropped. It is the fastest way to many
// numbers.
func (r *Random) Uint32x4() [4]uint32 {
	w := Philox(
		[4]uint32{uint32(r.position), uint32(r.position >> 32), uint32(r.sequence), uint32(r.sequence >> 32)},
		[2]uint32{uint32(r.seed), uint32(r.seed >> 32)})
	r.position++
	r.left = 0
	return w
}

// Uint32 draws a word.
func (r *Random) Uint32() uint32 {
	if r.left == 0 {
		w := r.Uint32x4()
		r.w0, r.w1, r.w2, r.w3 = w[0], w[1], w[2], w[3]
		r.left = 4
	}
	w := r.w0
	r.w0, r.w1, r.w2 = r.w1, r.w2, r.w3
	r.left--
	return w
}

// Uint64 draws two words, the upper half first.
func (r *Random) Uint64() uint64 {
	hi := r.Uint32()
	return uint64(hi)<<32 | uint64(r.Uint32())
}

// Uint32N draws a number in [0, n), each with the same probability to within
// n/2^32 of it. It returns 0 if n is 0.
func (r *Random) Uint32N(n uint32) uint32 {
	hi, _ := bits.Mul32(r.Uint32(), n)
	return hi
}

// Float32 draws a multiple of 2^-24 in [0, 1).
func (r *Random) Float32() float32 { return UnitFloat32(r.Uint32()) }

// Float64 draws a multiple of 2^-53 in [0, 1), from two words.
func (r *Random) Float64() float64 { return float64(r.Uint64()>>11) * 0x1p-53 }

// Normal draws two independent numbers from the standard normal distribution,
// from two words (Box and Muller, 1958). Their absolute value is at most 5.77.
func (r *Random) Normal() (x, y float32) {
	u := UnitFloat32(r.Uint32())
	radius := Sqrt(-2 * Log(1-u))
	sin, cos := SinCos(2 * math.Pi * UnitFloat32(r.Uint32()))
	return radius * cos, radius * sin
}

// Exponential draws a number from the exponential distribution of mean 1, at
// most 16.64.
func (r *Random) Exponential() float32 { return -Log(1 - UnitFloat32(r.Uint32())) }

// UnitFloat32 returns the upper 24 bits of w as a multiple of 2^-24 in [0, 1).
func UnitFloat32(w uint32) float32 { return float32(w>>8) * 0x1p-24 }
