package kernels

import (
	"math/bits"

	"quern.dev/kernel"
)

// ChaChaWords is the number of words in a block of ChaCha20.
const ChaChaWords = 16

// chacha20 encrypts in to out, in blocks of 64 bytes as little-endian words, one block per
// thread (RFC 8439).
//
//quern:kernel block=128
func chacha20(t kernel.Thread, key [8]uint32, nonce [3]uint32, in, out []uint32) {
	chachaBlock(t, key, nonce, in, out)
}

// chacha20Unchecked is chacha20 without bounds checks.
//
//quern:kernel block=128 unchecked
func chacha20Unchecked(t kernel.Thread, key [8]uint32, nonce [3]uint32, in, out []uint32) {
	chachaBlock(t, key, nonce, in, out)
}

func chachaBlock(t kernel.Thread, key [8]uint32, nonce [3]uint32, in, out []uint32) {
	block := t.Global()
	if block >= len(in)/ChaChaWords {
		return
	}
	start := [ChaChaWords]uint32{
		0x61707865, 0x3320646e, 0x79622d32, 0x6b206574,
		key[0], key[1], key[2], key[3], key[4], key[5], key[6], key[7],
		uint32(block), nonce[0], nonce[1], nonce[2],
	}
	x := start
	for range 10 {
		quarter(&x[0], &x[4], &x[8], &x[12])
		quarter(&x[1], &x[5], &x[9], &x[13])
		quarter(&x[2], &x[6], &x[10], &x[14])
		quarter(&x[3], &x[7], &x[11], &x[15])
		quarter(&x[0], &x[5], &x[10], &x[15])
		quarter(&x[1], &x[6], &x[11], &x[12])
		quarter(&x[2], &x[7], &x[8], &x[13])
		quarter(&x[3], &x[4], &x[9], &x[14])
	}
	for i := range x {
		out[block*ChaChaWords+i] = in[block*ChaChaWords+i] ^ (x[i] + start[i])
	}
}

// quarter is ChaCha's quarter round.
func quarter(a, b, c, d *uint32) {
	*a += *b
	*d = bits.RotateLeft32(*d^*a, 16)
	*c += *d
	*b = bits.RotateLeft32(*b^*c, 12)
	*a += *b
	*d = bits.RotateLeft32(*d^*a, 8)
	*c += *d
	*b = bits.RotateLeft32(*b^*c, 7)
}
