package png

import (
	"bytes"
	"fmt"
	"image"
	"image/color"
	"image/png"
	"math"
	"math/rand/v2"
	"testing"
)

// indexedColors returns the colors of an image with a palette.
func indexedColors(t *testing.T, data []byte, width, height int) []uint32 {
	t.Helper()
	im, err := png.Decode(bytes.NewReader(data))
	if err != nil {
		t.Fatal(err)
	}
	p, ok := im.(*image.Paletted)
	if !ok || p.Rect != image.Rect(0, 0, width, height) || len(p.Palette) > 256 {
		t.Fatalf("%T of %v", im, im.Bounds())
	}
	out := make([]uint32, width*height)
	for i := range out {
		c := color.NRGBAModel.Convert(p.Palette[p.Pix[i/width*p.Stride+i%width]]).(color.NRGBA)
		out[i] = uint32(c.R) | uint32(c.G)<<8 | uint32(c.B)<<16 | uint32(c.A)<<24
	}
	return out
}

func TestFewColorsAreExact(t *testing.T) {
	r := rand.New(rand.NewPCG(2, 2))
	for _, colors := range []int{1, 2, 17, 255, 256} {
		for _, size := range [][2]int{{1, 1}, {1, 9}, {9, 1}, {256, 256}, {133, 71}} {
			palette := make([]uint32, colors)
			for i := range palette {
				palette[i] = r.Uint32()>>8 | uint32(i)<<24 // different, with all values of alpha
			}
			pixels := make([]uint32, size[0]*size[1])
			for i := range pixels {
				pixels[i] = palette[r.IntN(colors)]
			}
			var e Encoder
			for range 2 {
				for i, c := range indexedColors(t, e.AppendIndexed(nil, pixels, size[0], size[1]), size[0], size[1]) {
					if c != visible(pixels[i]) {
						t.Fatalf("%d colors, %v: pixel %d is %08x, want %08x", colors, size, i, c, pixels[i])
					}
				}
			}
		}
	}
}

// quality returns the signal-to-noise ratio of colors in dB.
func quality(got, want []uint32) float64 {
	sum := 0.0
	for i := range got {
		for j := 0; j < 24; j += 8 {
			d := float64(got[i]>>j&0xff) - float64(want[i]>>j&0xff)
			sum += d * d
		}
	}
	return 10 * math.Log10(255*255*3*float64(len(got))/sum)
}

func TestManyColorsBecomeSimilarOnes(t *testing.T) {
	r := rand.New(rand.NewPCG(3, 3))
	for _, c := range []struct {
		name  string
		noise float64
		alpha bool
		least float64
	}{{"smooth", 0, false, 36}, {"a photograph", 20, false, 41}, {"noise", 300, false, 26}, {"with holes", 20, true, 41}} {
		pixels := picture(256, 256, c.noise, r, false)
		for i := range pixels {
			if c.name == "smooth" {
				pixels[i] = uint32(i%256) | uint32(i/256)<<8 | 0x80<<16 | 0xff000000
			}
			if c.alpha && i%5 == 0 {
				pixels[i] = uint32(i) & 0xffffff // clear, with a color
			}
		}
		var e Encoder
		data := e.AppendIndexed(nil, pixels, 256, 256)
		got := indexedColors(t, data, 256, 256)
		var opaque, want []uint32
		for i, p := range pixels {
			if got[i]>>24 != p>>24 {
				t.Fatalf("%s: pixel %d has the alpha %d, want %d", c.name, i, got[i]>>24, p>>24)
			}
			if p>>24 != 0 {
				opaque, want = append(opaque, got[i]), append(want, p)
			}
		}
		if q := quality(opaque, want); q < c.least {
			t.Errorf("%s: %.1f dB", c.name, q)
		} else {
			t.Logf("%s: %.1f dB, %d bytes instead of %d", c.name, q, len(data), len(e.Append(nil, pixels, 256, 256)))
		}
		var other Encoder
		other.AppendIndexed(nil, picture(99, 99, 100, r, true), 99, 99)
		if !bytes.Equal(data, other.AppendIndexed(nil, pixels, 256, 256)) {
			t.Errorf("%s: the bytes depend on an earlier image", c.name)
		}
	}
	// Translucent colors stay so.
	pixels := make([]uint32, 256*256)
	for i := range pixels {
		pixels[i] = r.Uint32()
	}
	var e Encoder
	for i, c := range indexedColors(t, e.AppendIndexed(nil, pixels, 256, 256), 256, 256) {
		a, b := c>>24, pixels[i]>>24
		if (a == 0) != (b == 0) || (a == 255) != (b == 255) || math.Abs(float64(a)-float64(b)) > 110 {
			t.Fatalf("alpha %d became %d", b, a)
		}
	}
}

func TestTranslucentColorsHaveCellsOfFourBits(t *testing.T) {
	seen := map[uint32]uint32{clearKey: 0}
	for a := uint32(1); a < 255; a++ {
		for c := range uint32(1 << 12) {
			p := c&0xf<<4 | c>>4&0xf<<12 | c>>8&0xf<<20 | a<<24
			key, cell := keyOf(p), 1+(a-1)*14/254<<12+c
			if known, ok := seen[key]; key >= keys || ok && known != cell {
				t.Fatalf("%08x has the key %d, which another cell has too, or is beyond %d", p, key, keys)
			}
			seen[key] = cell
		}
	}
	if len(seen) != 1+14<<12 {
		t.Errorf("%d cells", len(seen))
	}
}

func FuzzIndexed(f *testing.F) {
	f.Add([]byte("12345678abcdefgh"), 2)
	f.Add(bytes.Repeat([]byte{0, 1, 2, 3, 255, 7, 9}, 4000), 10)
	f.Fuzz(func(t *testing.T, data []byte, width int) {
		n := len(data) / 4
		if width < 1 || width > n || n > 1<<16 {
			return
		}
		pixels := make([]uint32, n/width*width)
		for i := range pixels {
			pixels[i] = uint32(data[4*i]) | uint32(data[4*i+1])<<8 | uint32(data[4*i+2])<<16 | uint32(data[4*i+3])<<24
		}
		var e Encoder
		for i, c := range indexedColors(t, e.AppendIndexed(nil, pixels, width, len(pixels)/width), width, len(pixels)/width) {
			if a, b := c>>24, pixels[i]>>24; (a == 0) != (b == 0) || (a == 255) != (b == 255) {
				t.Fatalf("alpha %d became %d", b, a)
			}
		}
	})
}

func BenchmarkIndexed(b *testing.B) {
	r := rand.New(rand.NewPCG(1, 1))
	classes, ramp := make([]uint32, 256*256), make([]uint32, 256*256)
	for i := range classes {
		x, y := float64(i%256), float64(i/256)
		classes[i] = uint32(8+6*math.Sin(x/31+math.Sin(y/17))*math.Cos(y/23))*0x070d11 | 0xff000000
		ramp[i] = uint32(120+60*math.Sin(x/31)*math.Cos(y/23)+40*math.Sin((x+y)/9)+float64(r.IntN(4)))*0x10101 | 0xff000000
	}
	for _, c := range []struct {
		name   string
		pixels []uint32
	}{{"classes", classes}, {"shades", ramp}, {"photograph", picture(256, 256, 20, r, false)}, {"noise", picture(256, 256, 300, r, false)}} {
		var e Encoder
		for name, f := range map[string]func(dst []byte, pixels []uint32, width, height int) []byte{"8bit": e.AppendIndexed, "png": e.Append} {
			b.Run(fmt.Sprint(c.name, "/", name), func(b *testing.B) {
				buffer := f(nil, c.pixels, 256, 256)
				b.ReportAllocs()
				for b.Loop() {
					buffer = f(buffer[:0], c.pixels, 256, 256)
				}
				b.ReportMetric(float64(len(buffer)), "bytes/image")
			})
		}
	}
}
