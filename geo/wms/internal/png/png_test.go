package png

import (
	"bytes"
	"fmt"
	"image"
	"image/color"
	"image/png"
	"math/rand/v2"
	"testing"
)

// picture makes an image: noise of an amplitude around a smooth gradient.
func picture(width, height int, noise float64, r *rand.Rand, alpha bool) []uint32 {
	pixels := make([]uint32, width*height)
	for i := range pixels {
		x, y := i%width, i/width
		v := func(scale float64) uint32 {
			return uint32(min(max(100+scale*float64(x+y)/4+noise*(r.Float64()-0.5), 0), 255))
		}
		pixels[i] = v(1) | v(0.5)<<8 | v(-0.3)<<16 | 0xff000000
		if alpha && r.IntN(4) == 0 {
			pixels[i] &= 0x40ffffff
		}
	}
	return pixels
}

func check(t *testing.T, name string, pixels []uint32, width, height int) {
	t.Helper()
	var e Encoder
	for range 2 { // memory is used again
		data := e.Append(nil, pixels, width, height)
		im, err := png.Decode(bytes.NewReader(data))
		if err != nil {
			t.Fatalf("%s: %v", name, err)
		}
		if im.Bounds() != image.Rect(0, 0, width, height) {
			t.Fatalf("%s: bounds %v", name, im.Bounds())
		}
		for i, p := range pixels {
			c := color.NRGBAModel.Convert(im.At(i%width, i/width)).(color.NRGBA)
			want := color.NRGBA{byte(p), byte(p >> 8), byte(p >> 16), byte(p >> 24)}
			if want.A == 0 {
				want, c = color.NRGBA{}, color.NRGBA{A: c.A}
			}
			if c != want {
				t.Fatalf("%s: pixel %d is %v, want %v", name, i, c, want)
			}
		}
	}
}

func TestImagesSurvive(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 1))
	for _, size := range [][2]int{{1, 1}, {1, 7}, {3, 1}, {256, 256}, {257, 31}, {1000, 3}} {
		for _, noise := range []float64{0, 2, 30, 500} {
			for _, alpha := range []bool{false, true} {
				check(t, fmt.Sprint(size, noise, alpha), picture(size[0], size[1], noise, r, alpha), size[0], size[1])
			}
		}
		n := size[0] * size[1]
		check(t, fmt.Sprint(size, " blank"), make([]uint32, n), size[0], size[1])
		gray, random, skewed := make([]uint32, n), make([]uint32, n), make([]uint32, n)
		for i := range gray {
			gray[i] = uint32(r.IntN(256))*0x10101 | 0xff000000
			random[i] = r.Uint32()
			// Counts like Fibonacci's numbers make the longest codes.
			v := uint32(0)
			for v < 40 && r.IntN(1000) < 618 {
				v++
			}
			skewed[i] = v*0x10101 | 0xff000000
		}
		check(t, fmt.Sprint(size, " gray"), gray, size[0], size[1])
		check(t, fmt.Sprint(size, " random"), random, size[0], size[1])
		check(t, fmt.Sprint(size, " skewed"), skewed, size[0], size[1])
	}
}

func FuzzEncode(f *testing.F) {
	f.Add([]byte("12345678abcdefgh"), 2)
	f.Add(make([]byte, 4000), 10)
	f.Fuzz(func(t *testing.T, data []byte, width int) {
		n := len(data) / 4
		if width < 1 || width > n || n > 1<<16 {
			return
		}
		pixels := make([]uint32, n/width*width)
		for i := range pixels {
			pixels[i] = uint32(data[4*i]) | uint32(data[4*i+1])<<8 | uint32(data[4*i+2])<<16 | uint32(data[4*i+3])<<24
		}
		check(t, "fuzz", pixels, width, n/width)
	})
}

func TestBlankImagesAreSmall(t *testing.T) {
	var e Encoder
	if data := e.Append(nil, make([]uint32, 256*256), 256, 256); len(data) > 2500 {
		t.Errorf("a blank tile has %d bytes", len(data))
	}
}

func TestEncodeDoesNotAllocate(t *testing.T) {
	var e Encoder
	pixels := picture(256, 256, 20, rand.New(rand.NewPCG(1, 1)), false)
	buffer := e.Append(nil, pixels, 256, 256)
	if n := testing.AllocsPerRun(10, func() { buffer = e.Append(buffer[:0], pixels, 256, 256) }); n != 0 {
		t.Errorf("%v allocations", n)
	}
}

func BenchmarkEncode(b *testing.B) {
	pixels := picture(256, 256, 20, rand.New(rand.NewPCG(1, 1)), false)
	var e Encoder
	buffer := e.Append(nil, pixels, 256, 256)
	b.ReportAllocs()
	b.SetBytes(256 * 256 * 3)
	for b.Loop() {
		buffer = e.Append(buffer[:0], pixels, 256, 256)
	}
	b.ReportMetric(float64(len(buffer)), "bytes/image")
}

func BenchmarkStandard(b *testing.B) {
	pixels := picture(256, 256, 20, rand.New(rand.NewPCG(1, 1)), false)
	im := image.NewNRGBA(image.Rect(0, 0, 256, 256))
	for i, p := range pixels {
		copy(im.Pix[4*i:], []byte{byte(p), byte(p >> 8), byte(p >> 16), byte(p >> 24)})
	}
	for _, level := range []png.CompressionLevel{png.BestSpeed, png.NoCompression} {
		b.Run(fmt.Sprint(level), func(b *testing.B) {
			encoder := png.Encoder{CompressionLevel: level}
			var w bytes.Buffer
			for b.Loop() {
				w.Reset()
				if err := encoder.Encode(&w, im); err != nil {
					b.Fatal(err)
				}
			}
			b.ReportMetric(float64(w.Len()), "bytes/image")
		})
	}
}
