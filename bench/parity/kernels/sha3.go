package kernels

import (
	"math/bits"

	"quern.dev/kernel"
)

// Sizes in 64-bit words.
const (
	SHA3MessageWords = 8 // of a message
	SHA3DigestWords  = 4
)

// keccakConstants are the constants of FIPS 202, algorithm 5, one per round.
var keccakConstants = [24]uint64{
	0x0000000000000001, 0x0000000000008082, 0x800000000000808a, 0x8000000080008000,
	0x000000000000808b, 0x0000000080000001, 0x8000000080008081, 0x8000000000008009,
	0x000000000000008a, 0x0000000000000088, 0x0000000080008009, 0x000000008000000a,
	0x000000008000808b, 0x800000000000008b, 0x8000000000008089, 0x8000000000008003,
	0x8000000000008002, 0x8000000000000080, 0x000000000000800a, 0x800000008000000a,
	0x8000000080008081, 0x8000000000008080, 0x0000000080000001, 0x8000000080008008,
}

// Position and rotation of the lanes, in the order of the steps rho and pi.
var (
	keccakLanes     = [24]int{10, 7, 11, 17, 18, 3, 5, 16, 8, 21, 24, 4, 15, 23, 19, 13, 12, 2, 20, 14, 22, 9, 6, 1}
	keccakRotations = [24]int{1, 3, 6, 10, 15, 21, 28, 36, 45, 55, 2, 14, 27, 41, 56, 8, 25, 43, 62, 18, 39, 61, 20, 44}
)

// sha3 computes the SHA3-256 hashes of messages of 64 bytes, one per thread. Messages and
// digests are little-endian words.
//
//quern:kernel block=128 also=unchecked
func sha3(t kernel.Thread, messages, digests []uint64) {
	i := t.Global()
	if i >= len(digests)/SHA3DigestWords {
		return
	}
	var state [25]uint64
	for k := range SHA3MessageWords {
		state[k] = messages[i*SHA3MessageWords+k]
	}
	// The padding of a block of 17 words.
	state[8] = 0x06
	state[16] = 1 << 63
	for _, constant := range keccakConstants {
		keccakRound(&state, constant)
	}
	for k := range SHA3DigestWords {
		digests[i*SHA3DigestWords+k] = state[k]
	}
}

// keccakRound is a round of Keccak-f[1600].
func keccakRound(state *[25]uint64, constant uint64) {
	var columns [5]uint64
	for x := range columns {
		columns[x] = state[x] ^ state[x+5] ^ state[x+10] ^ state[x+15] ^ state[x+20]
	}
	for x := range columns {
		d := columns[(x+4)%5] ^ bits.RotateLeft64(columns[(x+1)%5], 1)
		for y := 0; y < 25; y += 5 {
			state[x+y] ^= d
		}
	}
	lane := state[1]
	for k, to := range keccakLanes {
		state[to], lane = bits.RotateLeft64(lane, keccakRotations[k]), state[to]
	}
	for y := 0; y < 25; y += 5 {
		row := [5]uint64(state[y : y+5])
		for x := range row {
			state[x+y] = row[x] ^ ^row[(x+1)%5]&row[(x+2)%5]
		}
	}
	state[0] ^= constant
}
