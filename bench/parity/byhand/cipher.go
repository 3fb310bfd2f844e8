package byhand

import (
	"math/bits"

	"quern.dev/bench/parity/kernels"
)

var sha256Constants = [64]uint32{
	0x428a2f98, 0x71374491, 0xb5c0fbcf, 0xe9b5dba5, 0x3956c25b, 0x59f111f1, 0x923f82a4, 0xab1c5ed5,
	0xd807aa98, 0x12835b01, 0x243185be, 0x550c7dc3, 0x72be5d74, 0x80deb1fe, 0x9bdc06a7, 0xc19bf174,
	0xe49b69c1, 0xefbe4786, 0x0fc19dc6, 0x240ca1cc, 0x2de92c6f, 0x4a7484aa, 0x5cb0a9dc, 0x76f988da,
	0x983e5152, 0xa831c66d, 0xb00327c8, 0xbf597fc7, 0xc6e00bf3, 0xd5a79147, 0x06ca6351, 0x14292967,
	0x27b70a85, 0x2e1b2138, 0x4d2c6dfc, 0x53380d13, 0x650a7354, 0x766a0abb, 0x81c2c92e, 0x92722c85,
	0xa2bfe8a1, 0xa81a664b, 0xc24b8b70, 0xc76c51a3, 0xd192e819, 0xd6990624, 0xf40e3585, 0x106aa070,
	0x19a4c116, 0x1e376c08, 0x2748774c, 0x34b0bcb5, 0x391c0cb3, 0x4ed8aa4a, 0x5b9cca4f, 0x682e6ff3,
	0x748f82ee, 0x78a5636f, 0x84c87814, 0x8cc70208, 0x90befffa, 0xa4506ceb, 0xbef9a3f7, 0xc67178f2,
}

// SHA256 hashes messages of 64 bytes.
func SHA256(messages, digests []uint32) {
	parallel(len(digests)/kernels.DigestWords, func(lo, hi int) {
		padding := [kernels.MessageWords]uint32{0: 1 << 31, 15: 8 * 64}
		for i := lo; i < hi; i++ {
			state := (*[kernels.DigestWords]uint32)(digests[i*kernels.DigestWords:])
			*state = [...]uint32{0x6a09e667, 0xbb67ae85, 0x3c6ef372, 0xa54ff53a, 0x510e527f, 0x9b05688c, 0x1f83d9ab, 0x5be0cd19}
			sha256Block(state, (*[kernels.MessageWords]uint32)(messages[i*kernels.MessageWords:]))
			sha256Block(state, &padding)
		}
	})
}

func sha256Block(state *[8]uint32, block *[16]uint32) {
	var w [64]uint32
	copy(w[:], block[:])
	for i := 16; i < 64; i++ {
		x, y := w[i-15], w[i-2]
		s0 := bits.RotateLeft32(x, -7) ^ bits.RotateLeft32(x, -18) ^ x>>3
		s1 := bits.RotateLeft32(y, -17) ^ bits.RotateLeft32(y, -19) ^ y>>10
		w[i] = w[i-16] + s0 + w[i-7] + s1
	}
	a, b, c, d, e, f, g, h := state[0], state[1], state[2], state[3], state[4], state[5], state[6], state[7]
	for i := range w {
		t1 := h + (bits.RotateLeft32(e, -6) ^ bits.RotateLeft32(e, -11) ^ bits.RotateLeft32(e, -25)) +
			(e&f ^ ^e&g) + sha256Constants[i] + w[i]
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

// ChaCha20 encrypts in to out (RFC 8439) with the state in local variables.
func ChaCha20(key [8]uint32, nonce [3]uint32, in, out []uint32) {
	const c0, c1, c2, c3 = 0x61707865, 0x3320646e, 0x79622d32, 0x6b206574
	parallel(len(in)/kernels.ChaChaWords, func(lo, hi int) {
		for block := lo; block < hi; block++ {
			x0, x1, x2, x3 := uint32(c0), uint32(c1), uint32(c2), uint32(c3)
			x4, x5, x6, x7, x8, x9, x10, x11 := key[0], key[1], key[2], key[3], key[4], key[5], key[6], key[7]
			x12, x13, x14, x15 := uint32(block), nonce[0], nonce[1], nonce[2]
			for range 10 {
				x0, x4, x8, x12 = quarter(x0, x4, x8, x12)
				x1, x5, x9, x13 = quarter(x1, x5, x9, x13)
				x2, x6, x10, x14 = quarter(x2, x6, x10, x14)
				x3, x7, x11, x15 = quarter(x3, x7, x11, x15)
				x0, x5, x10, x15 = quarter(x0, x5, x10, x15)
				x1, x6, x11, x12 = quarter(x1, x6, x11, x12)
				x2, x7, x8, x13 = quarter(x2, x7, x8, x13)
				x3, x4, x9, x14 = quarter(x3, x4, x9, x14)
			}
			src := (*[kernels.ChaChaWords]uint32)(in[block*kernels.ChaChaWords:])
			dst := (*[kernels.ChaChaWords]uint32)(out[block*kernels.ChaChaWords:])
			dst[0], dst[1], dst[2], dst[3] = src[0]^(x0+c0), src[1]^(x1+c1), src[2]^(x2+c2), src[3]^(x3+c3)
			dst[4], dst[5], dst[6], dst[7] = src[4]^(x4+key[0]), src[5]^(x5+key[1]), src[6]^(x6+key[2]), src[7]^(x7+key[3])
			dst[8], dst[9], dst[10], dst[11] = src[8]^(x8+key[4]), src[9]^(x9+key[5]), src[10]^(x10+key[6]), src[11]^(x11+key[7])
			dst[12], dst[13] = src[12]^(x12+uint32(block)), src[13]^(x13+nonce[0])
			dst[14], dst[15] = src[14]^(x14+nonce[1]), src[15]^(x15+nonce[2])
		}
	})
}

func quarter(a, b, c, d uint32) (uint32, uint32, uint32, uint32) {
	a += b
	d = bits.RotateLeft32(d^a, 16)
	c += d
	b = bits.RotateLeft32(b^c, 12)
	a += b
	d = bits.RotateLeft32(d^a, 8)
	c += d
	b = bits.RotateLeft32(b^c, 7)
	return a, b, c, d
}
