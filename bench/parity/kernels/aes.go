package kernels

import (
	"math/bits"

	"quern.dev/kernel"
)

const (
	// AESThreads is the number of threads per block of aes.
	AESThreads = 256

	// AESRounds is the number of rounds of AES-128.
	AESRounds = 10
)

// AESKeys holds the round keys of AES-128, four big-endian words each.
type AESKeys [4 * (AESRounds + 1)]uint32

// aes encrypts in to out with AES-128 in counter mode, one block of 16 bytes per thread.
// The blocks are little-endian words. A counter is the nonce followed by the number of the
// block as a big-endian word. table[x] has the bytes 2*s, s, s and 3*s, where s is the
// S-box value of x.
//
//quern:kernel block=AESThreads also=unchecked
func aes(t kernel.Thread, keys AESKeys, nonce [3]uint32, table []uint32, in, out [][4]uint32) {
	te := kernel.Shared[[256]uint32](t)
	te[t.ThreadIdx.X] = table[t.ThreadIdx.X]
	t.Sync()
	block := t.Global()
	if block >= len(in) {
		return
	}
	a, b, c, d := nonce[0]^keys[0], nonce[1]^keys[1], nonce[2]^keys[2], uint32(block)^keys[3]
	for round := 1; round < AESRounds; round++ {
		a, b, c, d =
			aesColumn(te, a, b, c, d)^keys[4*round],
			aesColumn(te, b, c, d, a)^keys[4*round+1],
			aesColumn(te, c, d, a, b)^keys[4*round+2],
			aesColumn(te, d, a, b, c)^keys[4*round+3]
	}
	const last = 4 * AESRounds
	plain := in[block]
	out[block] = [4]uint32{
		plain[0] ^ bits.ReverseBytes32(aesLast(te, a, b, c, d)^keys[last]),
		plain[1] ^ bits.ReverseBytes32(aesLast(te, b, c, d, a)^keys[last+1]),
		plain[2] ^ bits.ReverseBytes32(aesLast(te, c, d, a, b)^keys[last+2]),
		plain[3] ^ bits.ReverseBytes32(aesLast(te, d, a, b, c)^keys[last+3]),
	}
}

// aesColumn computes a column of the next state from the columns that it takes bytes from.
func aesColumn(te *[256]uint32, a, b, c, d uint32) uint32 {
	return te[a>>24] ^
		bits.RotateLeft32(te[b>>16&0xff], -8) ^
		bits.RotateLeft32(te[c>>8&0xff], -16) ^
		bits.RotateLeft32(te[d&0xff], -24)
}

// aesLast is aesColumn for the last round, which does not mix the bytes of a column.
func aesLast(te *[256]uint32, a, b, c, d uint32) uint32 {
	return te[a>>24]<<16&0xff000000 | te[b>>16&0xff]<<8&0xff0000 | te[c>>8&0xff]&0xff00 | te[d&0xff]>>8&0xff
}
