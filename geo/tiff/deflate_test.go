package tiff

import (
	"bytes"
	"compress/zlib"
	"io"
	"math"
	"math/rand/v2"
	"testing"
)

// regimes returns bytes that change their kind: noise of some values, runs, repeated words, and all values.
func regimes(r *rand.Rand, n int) []byte {
	b := make([]byte, 0, n)
	for len(b) < n {
		switch part := 1 + r.IntN(3*segment); r.IntN(4) {
		case 0:
			width := 1 + r.Float64()*20
			for range part {
				b = append(b, byte(int(r.NormFloat64()*width)))
			}
		case 1:
			b = append(b, bytes.Repeat([]byte{byte(r.IntN(256))}, part)...)
		case 2:
			word := make([]byte, 3+r.IntN(500))
			for i := range word {
				word[i] = byte(r.Uint32())
			}
			b = append(b, bytes.Repeat(word, part/len(word)+1)...)
		case 3:
			for range part {
				b = append(b, byte(r.Uint32()))
			}
		}
	}
	return b[:n]
}

func TestDeflateOfChangingData(t *testing.T) {
	r := rand.New(rand.NewPCG(81, 82))
	for i := range 60 {
		n := r.IntN(20 * segment)
		if i%5 == 0 {
			n = i / 5 * segment / 4 // also sizes at the edges of segments
		}
		src := regimes(r, n)
		for _, level := range []int{0, 1, 5, 7} {
			data, err := encodeDeflate([]byte("before"), src, block{level: level})
			must(t, err)
			z, err := zlib.NewReader(bytes.NewReader(data[6:]))
			must(t, err)
			got, err := io.ReadAll(z)
			must(t, err)
			if !bytes.Equal(got, src) {
				t.Fatalf("%d bytes, level %d: they change", n, level)
			}
		}
	}
}

func TestDeflateLeavesOutMatchesThatWinNothing(t *testing.T) {
	r := rand.New(rand.NewPCG(83, 84))
	src := make([]byte, 12*segment)
	var counts [256]float64
	for i := range src {
		src[i] = byte(int(r.NormFloat64() * 6))
		counts[src[i]]++
	}
	entropy := 0.0
	for _, n := range counts {
		if n > 0 {
			entropy -= n * math.Log2(n/float64(len(src))) / 8
		}
	}
	data, err := encodeDeflate(nil, src, block{})
	must(t, err)
	if float64(len(data)) > 1.02*entropy {
		t.Errorf("noise of %.0f bytes of entropy takes %d", entropy, len(data))
	}
	words := bytes.Repeat([]byte("The quick brown fox jumps over the lazy dog. "), 10000)
	if data, err = encodeDeflate(nil, words, block{}); err != nil || len(data) > len(words)/100 {
		t.Errorf("%d bytes of words take %d: %v", len(words), len(data), err)
	}
	// Noise, then words whose codes are as long: the next trial notices.
	if data, err = encodeDeflate(nil, append(src[:2*segment:2*segment], bytes.Repeat(words, 6)...), block{}); err != nil || float64(len(data)) > 1.02*entropy/6+14*segment*0.6 {
		t.Errorf("noise of %.0f bytes of entropy and words take %d: %v", entropy/6, len(data), err)
	}
}
