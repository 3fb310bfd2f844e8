package kernels

import (
	"math/bits"

	"quern.dev/kernel"
)

// Sizes in words.
const (
	MessageWords = 16 // of a message: 64 bytes as big-endian words
	DigestWords  = 8
)

// roundConstants are the constants of FIPS 180-4, section 4.2.2.
var roundConstants = [64]uint32{
	0x428a2f98, 0x71374491, 0xb5c0fbcf, 0xe9b5dba5, 0x3956c25b, 0x59f111f1, 0x923f82a4, 0xab1c5ed5,
	0xd807aa98, 0x12835b01, 0x243185be, 0x550c7dc3, 0x72be5d74, 0x80deb1fe, 0x9bdc06a7, 0xc19bf174,
	0xe49b69c1, 0xefbe4786, 0x0fc19dc6, 0x240ca1cc, 0x2de92c6f, 0x4a7484aa, 0x5cb0a9dc, 0x76f988da,
	0x983e5152, 0xa831c66d, 0xb00327c8, 0xbf597fc7, 0xc6e00bf3, 0xd5a79147, 0x06ca6351, 0x14292967,
	0x27b70a85, 0x2e1b2138, 0x4d2c6dfc, 0x53380d13, 0x650a7354, 0x766a0abb, 0x81c2c92e, 0x92722c85,
	0xa2bfe8a1, 0xa81a664b, 0xc24b8b70, 0xc76c51a3, 0xd192e819, 0xd6990624, 0xf40e3585, 0x106aa070,
	0x19a4c116, 0x1e376c08, 0x2748774c, 0x34b0bcb5, 0x391c0cb3, 0x4ed8aa4a, 0x5b9cca4f, 0x682e6ff3,
	0x748f82ee, 0x78a5636f, 0x84c87814, 0x8cc70208, 0x90befffa, 0xa4506ceb, 0xbef9a3f7, 0xc67178f2,
}

// sha256 hashes messages of 64 bytes, one per thread.
//
//quern:kernel block=128
func sha256(t kernel.Thread, messages, digests []uint32) {
	sha256Message(t, messages, digests)
}

// sha256Unchecked is sha256 without bounds checks.
//
//quern:kernel block=128 unchecked
func sha256Unchecked(t kernel.Thread, messages, digests []uint32) {
	sha256Message(t, messages, digests)
}

func sha256Message(t kernel.Thread, messages, digests []uint32) {
	i := t.Global()
	if i >= len(digests)/DigestWords {
		return
	}
	state := [DigestWords]uint32{
		0x6a09e667, 0xbb67ae85, 0x3c6ef372, 0xa54ff53a, 0x510e527f, 0x9b05688c, 0x1f83d9ab, 0x5be0cd19,
	}
	var w [MessageWords]uint32
	for k := range w {
		w[k] = messages[i*MessageWords+k]
	}
	compress(&state, &w)
	// The second block is padding: a one bit, then the length of 512 bits.
	w = [MessageWords]uint32{0: 1 << 31, 15: 8 * 64}
	compress(&state, &w)
	for k := range state {
		digests[i*DigestWords+k] = state[k]
	}
}

// compress adds a block to state. It overwrites the block with the message schedule.
func compress(state *[DigestWords]uint32, w *[MessageWords]uint32) {
	a, b, c, d, e, f, g, h := state[0], state[1], state[2], state[3], state[4], state[5], state[6], state[7]
	for i := range roundConstants {
		if i >= MessageWords {
			x, y := w[(i+1)%16], w[(i+14)%16]
			s0 := bits.RotateLeft32(x, -7) ^ bits.RotateLeft32(x, -18) ^ x>>3
			s1 := bits.RotateLeft32(y, -17) ^ bits.RotateLeft32(y, -19) ^ y>>10
			w[i%16] += s0 + w[(i+9)%16] + s1
		}
		t1 := h + (bits.RotateLeft32(e, -6) ^ bits.RotateLeft32(e, -11) ^ bits.RotateLeft32(e, -25)) +
			(e&f ^ ^e&g) + roundConstants[i] + w[i%16]
		t2 := (bits.RotateLeft32(a, -2) ^ bits.RotateLeft32(a, -13) ^ bits.RotateLeft32(a, -22)) + (a&b ^ a&c ^ b&c)
		h, g, f, e, d, c, b, a = g, f, e, d+t1, c, b, a, t1+t2
	}
	state[0] += a
	state[1] += b
	state[2] += c
	state[3] += d
	state[4] += e
	state[5] += f
	state[6] += g
	state[7] += h
}
