package inflate

import (
	"bytes"
	"compress/zlib"
	"io"
	"math/rand/v2"
	"testing"
)

func deflate(t testing.TB, data []byte, level int) []byte {
	var b bytes.Buffer
	w, err := zlib.NewWriterLevel(&b, level)
	if err != nil {
		t.Fatal(err)
	}
	w.Write(data)
	w.Close()
	return b.Bytes()
}

// samples returns data of many kinds: noise of few and many values, runs, and repeated parts.
func samples(r *rand.Rand, n int) []byte {
	b := make([]byte, 0, n+70000)
	for len(b) < n {
		size := 1 + r.IntN(5000)
		switch r.IntN(5) {
		case 0:
			for range size {
				b = append(b, byte(r.Uint32()))
			}
		case 1:
			for range size {
				b = append(b, byte(int8(r.NormFloat64()*3)))
			}
		case 2:
			b = append(b, bytes.Repeat([]byte{byte(r.Uint32())}, size)...)
		case 3:
			if len(b) > 0 {
				from := r.IntN(len(b))
				b = append(b, b[from:min(len(b), from+size)]...)
			}
		case 4:
			period := make([]byte, 1+r.IntN(12))
			for i := range period {
				period[i] = byte(r.Uint32())
			}
			b = append(b, bytes.Repeat(period, 1+size/len(period))...)
		}
	}
	return b[:n]
}

func TestWhatZlibCompressesComesBack(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 2))
	for i := range 300 {
		data := samples(r, r.IntN(1<<r.IntN(18)))
		src := deflate(t, data, []int{0, 1, 6, 9, zlib.HuffmanOnly}[i%5])
		dst := make([]byte, len(data))
		n, err := Zlib(dst, src)
		if err != nil || n != len(data) || !bytes.Equal(dst, data) {
			t.Fatalf("%d bytes: n = %d, err = %v", len(data), n, err)
		}
	}
}

func TestAShortDestinationGetsTheBeginning(t *testing.T) {
	r := rand.New(rand.NewPCG(3, 4))
	data := samples(r, 100000)
	src := deflate(t, data, 6)
	for range 200 {
		dst := make([]byte, r.IntN(len(data)))
		if n, err := Zlib(dst, src); err != nil || n != len(dst) || !bytes.Equal(dst, data[:n]) {
			t.Fatalf("%d bytes: n = %d, err = %v", len(dst), n, err)
		}
	}
}

func TestTruncatedAndChangedDataIsAnError(t *testing.T) {
	r := rand.New(rand.NewPCG(5, 6))
	data := samples(r, 6000)
	src := deflate(t, data, 6)
	dst := make([]byte, 2*len(data)) // so that the end of the stream is reached
	for n := range len(src) {
		if _, err := Zlib(dst, src[:n]); err == nil {
			t.Fatalf("no error for %d of %d bytes", n, len(src))
		}
	}
	for range 2000 {
		bad := bytes.Clone(src)
		i := r.IntN(len(bad)-2) + 2
		bad[i] ^= 1 << r.IntN(8)
		n, err := Zlib(dst, bad)
		if err == nil && n < len(dst) {
			if got, err := reference(bad); err != nil || !bytes.Equal(got, dst[:n]) {
				t.Fatalf("no error for a changed byte %d", i)
			}
		}
	}
}

// reference decompresses with the standard library.
func reference(src []byte) ([]byte, error) {
	r, err := zlib.NewReader(bytes.NewReader(src))
	if err != nil {
		return nil, err
	}
	return io.ReadAll(io.LimitReader(r, 1<<20))
}

func FuzzZlib(f *testing.F) {
	r := rand.New(rand.NewPCG(7, 8))
	for level := range 10 {
		f.Add(deflate(f, samples(r, 3000), level))
	}
	f.Fuzz(func(t *testing.T, src []byte) {
		want, err := reference(src)
		dst := make([]byte, len(want))
		n, got := Zlib(dst, src)
		if err == nil && len(want) < 1<<20 && (got != nil || n != len(want) || !bytes.Equal(dst, want)) {
			t.Fatalf("%d of %d bytes: %v", n, len(want), got)
		}
		big := make([]byte, 1<<20)
		n, got = Zlib(big, src)
		if got == nil && n < len(big) && (err != nil || !bytes.Equal(big[:n], want)) {
			t.Fatalf("%d bytes without an error, where the standard library has %d and says %v", n, len(want), err)
		}
	})
}

func BenchmarkZlib(b *testing.B) {
	r := rand.New(rand.NewPCG(9, 10))
	data := make([]byte, 1<<20)
	for i := range data {
		data[i] = byte(int8(r.NormFloat64() * 5)) // what predictor 2 leaves of an image
	}
	src := deflate(b, data, 6)
	b.SetBytes(int64(len(data)))
	b.ReportAllocs()
	for b.Loop() {
		if _, err := Zlib(data, src); err != nil {
			b.Fatal(err)
		}
	}
}
