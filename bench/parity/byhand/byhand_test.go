package byhand

import (
	"crypto/sha256"
	"encoding/binary"
	"math"
	"math/cmplx"
	"math/rand/v2"
	"slices"
	"testing"

	"quern.dev/bench/parity/kernels"
)

// The kernels are tested against this package, and this package against independent
// results.

func TestSHA256MatchesStandardLibrary(t *testing.T) {
	message := make([]byte, 64)
	for i := range message {
		message[i] = byte(7 * i)
	}
	words := make([]uint32, kernels.MessageWords)
	for i := range words {
		words[i] = binary.BigEndian.Uint32(message[4*i:])
	}
	digest := make([]uint32, kernels.DigestWords)
	SHA256(words, digest)
	want := sha256.Sum256(message)
	for i, w := range digest {
		if w != binary.BigEndian.Uint32(want[4*i:]) {
			t.Fatalf("word %d is %08x, want %x", i, w, want[4*i:4*i+4])
		}
	}
}

func TestChaCha20MatchesRFC8439(t *testing.T) {
	// Section 2.3.2 starts counting at 1, so its block is the second one here.
	var key [8]uint32
	for i := range key {
		key[i] = 0x03020100 + uint32(i)*0x04040404
	}
	out := make([]uint32, 2*kernels.ChaChaWords)
	ChaCha20(key, [3]uint32{0x09000000, 0x4a000000, 0}, make([]uint32, len(out)), out)
	want := []uint32{0xe4e7f110, 0x15593bd1, 0x1fdd0f50, 0xc47120a3}
	if got := out[kernels.ChaChaWords:][:4]; !slices.Equal(got, want) {
		t.Errorf("the key stream begins with %08x, want %08x", got, want)
	}
}

func TestFFTIsTheDiscreteFourierTransform(t *testing.T) {
	const n = kernels.FFTSize
	twiddles, in, out := make([]kernels.Complex, n), make([]kernels.Complex, n), make([]kernels.Complex, n)
	for k := range n {
		sin, cos := math.Sincos(-2 * math.Pi * float64(k) / n)
		twiddles[k] = kernels.Complex{Re: float32(cos), Im: float32(sin)}
		in[k] = kernels.Complex{Re: rand.Float32(), Im: rand.Float32()}
	}
	FFT(twiddles, in, out)
	for _, k := range []int{0, 1, 7, 8, 65, 300, 511} {
		var want complex128
		for i, v := range in {
			want += complex(float64(v.Re), float64(v.Im)) * cmplx.Exp(complex(0, -2*math.Pi*float64(k*i%n)/n))
		}
		if got := complex(float64(out[k].Re), float64(out[k].Im)); cmplx.Abs(got-want) > 1e-3 {
			t.Errorf("frequency %d is %v, want %v", k, got, want)
		}
	}
}

func TestBitonicSortSorts(t *testing.T) {
	keys := make([]uint32, 2*kernels.SortTile)
	for i := range keys {
		keys[i] = rand.Uint32()
	}
	want := slices.Clone(keys)
	slices.Sort(want[:kernels.SortTile])
	slices.Sort(want[kernels.SortTile:])
	BitonicSort(keys)
	if !slices.Equal(keys, want) {
		t.Error("the tiles are not sorted")
	}
}

func TestAlignScoresTheBestLocalAlignment(t *testing.T) {
	query := make([]uint8, kernels.QueryLength)
	for i := range query {
		query[i] = 'A'
	}
	copy(query[50:], "GATTACA")
	scores := make([]int32, 1)
	Align(10, query, []uint8("CCGATTCACC"), scores)
	// GATT, a gap, CA.
	if want := int32(6*kernels.ScoreMatch + kernels.ScoreGap); scores[0] != want {
		t.Errorf("the score is %d, want %d", scores[0], want)
	}
}
