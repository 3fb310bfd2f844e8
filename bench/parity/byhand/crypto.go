package byhand

import (
	"encoding/binary"
	"math/bits"

	"quern.dev/bench/parity/kernels"
)

// AES encrypts in to out with AES-128 in counter mode. It rotates the table once, for the
// four bytes of a word.
func AES(keys kernels.AESKeys, nonce [3]uint32, table []uint32, in, out [][4]uint32) {
	var t0, t1, t2, t3 [256]uint32
	var box [256]uint8
	for i, v := range table {
		t0[i], t1[i], t2[i], t3[i] = v, bits.RotateLeft32(v, -8), bits.RotateLeft32(v, -16), bits.RotateLeft32(v, -24)
		box[i] = uint8(v >> 8)
	}
	parallel(len(in), func(lo, hi int) {
		for block := lo; block < hi; block++ {
			a, b, c, d := nonce[0]^keys[0], nonce[1]^keys[1], nonce[2]^keys[2], uint32(block)^keys[3]
			for k := keys[4 : 4*kernels.AESRounds]; len(k) >= 4; k = k[4:] {
				e := t0[uint8(a>>24)] ^ t1[uint8(b>>16)] ^ t2[uint8(c>>8)] ^ t3[uint8(d)] ^ k[0]
				f := t0[uint8(b>>24)] ^ t1[uint8(c>>16)] ^ t2[uint8(d>>8)] ^ t3[uint8(a)] ^ k[1]
				g := t0[uint8(c>>24)] ^ t1[uint8(d>>16)] ^ t2[uint8(a>>8)] ^ t3[uint8(b)] ^ k[2]
				h := t0[uint8(d>>24)] ^ t1[uint8(a>>16)] ^ t2[uint8(b>>8)] ^ t3[uint8(c)] ^ k[3]
				a, b, c, d = e, f, g, h
			}
			last := func(a, b, c, d, key uint32) uint32 {
				return bits.ReverseBytes32(key ^ (uint32(box[uint8(a>>24)])<<24 | uint32(box[uint8(b>>16)])<<16 |
					uint32(box[uint8(c>>8)])<<8 | uint32(box[uint8(d)])))
			}
			k, from := keys[4*kernels.AESRounds:], &in[block]
			out[block] = [4]uint32{
				from[0] ^ last(a, b, c, d, k[0]), from[1] ^ last(b, c, d, a, k[1]),
				from[2] ^ last(c, d, a, b, k[2]), from[3] ^ last(d, a, b, c, k[3]),
			}
		}
	})
}

// SHA3 computes the SHA3-256 hashes of messages of 64 bytes.
func SHA3(messages, digests []uint64) {
	parallel(len(digests)/kernels.SHA3DigestWords, func(lo, hi int) {
		for i := lo; i < hi; i++ {
			var state [25]uint64
			copy(state[:], messages[i*kernels.SHA3MessageWords:][:kernels.SHA3MessageWords])
			state[8], state[16] = 0x06, 1<<63
			keccak(&state)
			copy(digests[i*kernels.SHA3DigestWords:][:kernels.SHA3DigestWords], state[:])
		}
	})
}

// keccak is Keccak-f[1600] (FIPS 202, section 3). Lane (x, y) of the state is s[x+5*y].
func keccak(s *[25]uint64) {
	rol := bits.RotateLeft64
	constant := uint8(1) // state of the generator of round constants
	for range 24 {
		c0, c1, c2 := s[0]^s[5]^s[10]^s[15]^s[20], s[1]^s[6]^s[11]^s[16]^s[21], s[2]^s[7]^s[12]^s[17]^s[22]
		c3, c4 := s[3]^s[8]^s[13]^s[18]^s[23], s[4]^s[9]^s[14]^s[19]^s[24]
		d0, d1, d2, d3, d4 := c4^rol(c1, 1), c0^rol(c2, 1), c1^rol(c3, 1), c2^rol(c4, 1), c3^rol(c0, 1)

		b0, b1, b2, b3, b4 := s[0]^d0, rol(s[6]^d1, 44), rol(s[12]^d2, 43), rol(s[18]^d3, 21), rol(s[24]^d4, 14)
		b5, b6, b7, b8, b9 := rol(s[3]^d3, 28), rol(s[9]^d4, 20), rol(s[10]^d0, 3), rol(s[16]^d1, 45), rol(s[22]^d2, 61)
		b10, b11, b12, b13, b14 := rol(s[1]^d1, 1), rol(s[7]^d2, 6), rol(s[13]^d3, 25), rol(s[19]^d4, 8), rol(s[20]^d0, 18)
		b15, b16, b17, b18, b19 := rol(s[4]^d4, 27), rol(s[5]^d0, 36), rol(s[11]^d1, 10), rol(s[17]^d2, 15), rol(s[23]^d3, 56)
		b20, b21, b22, b23, b24 := rol(s[2]^d2, 62), rol(s[8]^d3, 55), rol(s[14]^d4, 39), rol(s[15]^d0, 41), rol(s[21]^d1, 2)

		s[0], s[1], s[2], s[3], s[4] = b0^^b1&b2, b1^^b2&b3, b2^^b3&b4, b3^^b4&b0, b4^^b0&b1
		s[5], s[6], s[7], s[8], s[9] = b5^^b6&b7, b6^^b7&b8, b7^^b8&b9, b8^^b9&b5, b9^^b5&b6
		s[10], s[11], s[12], s[13], s[14] = b10^^b11&b12, b11^^b12&b13, b12^^b13&b14, b13^^b14&b10, b14^^b10&b11
		s[15], s[16], s[17], s[18], s[19] = b15^^b16&b17, b16^^b17&b18, b17^^b18&b19, b18^^b19&b15, b19^^b15&b16
		s[20], s[21], s[22], s[23], s[24] = b20^^b21&b22, b21^^b22&b23, b22^^b23&b24, b23^^b24&b20, b24^^b20&b21

		// The constants are the output of a shift register (FIPS 202, algorithm 5).
		for j := range 7 {
			if constant&1 != 0 {
				s[0] ^= 1 << (1<<j - 1)
			}
			carry := constant >> 7
			constant = constant<<1 ^ carry*0x71
		}
	}
}

// AESTable returns the table for [AES].
func AESTable() []uint32 {
	table := make([]uint32, 256)
	for x, s := range aesBox() {
		double := s << 1
		if s >= 0x80 {
			double ^= 0x1b
		}
		table[x] = uint32(double)<<24 | uint32(s)<<16 | uint32(s)<<8 | uint32(double^s)
	}
	return table
}

// ExpandAESKey returns the round keys of AES-128 (FIPS 197, section 5.2).
func ExpandAESKey(key [16]byte) kernels.AESKeys {
	box := aesBox()
	var keys kernels.AESKeys
	for i := range 4 {
		keys[i] = binary.BigEndian.Uint32(key[4*i:])
	}
	constant := uint8(1)
	for i := 4; i < len(keys); i++ {
		v := keys[i-1]
		if i%4 == 0 {
			v = uint32(box[uint8(v>>16)]^constant)<<24 | uint32(box[uint8(v>>8)])<<16 |
				uint32(box[uint8(v)])<<8 | uint32(box[uint8(v>>24)])
			constant = constant<<1 ^ constant>>7*0x1b
		}
		keys[i] = keys[i-4] ^ v
	}
	return keys
}

// aesBox returns the S-box of AES (FIPS 197, section 5.1.1).
func aesBox() (box [256]uint8) {
	box[0] = 0x63
	// p runs through the powers of 3 in GF(2^8), q is its inverse.
	p, q := uint8(1), uint8(1)
	for ok := true; ok; ok = p != 1 {
		p ^= p<<1 ^ p>>7*0x1b
		q ^= q << 1
		q ^= q << 2
		q ^= q << 4
		q ^= q >> 7 * 0x09
		rotate := bits.RotateLeft8
		box[p] = q ^ rotate(q, 1) ^ rotate(q, 2) ^ rotate(q, 3) ^ rotate(q, 4) ^ 0x63
	}
	return box
}
