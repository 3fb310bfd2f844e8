package tiff

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"
)

func TestTheFileDoesNotDependOnCoresOrPortions(t *testing.T) {
	r := rand.New(rand.NewPCG(17, 18))
	folder := t.TempDir()
	h := Header{Width: 333, Height: 270, Bands: 3, Type: Uint16, Photometric: RGB, NoData: "7"}
	pixels := noise(r, h)
	opt := Options{COG: true, BlockWidth: 32, BlockHeight: 32}
	var want []byte
	for i, cores := range []int{1, 2, 5} {
		before := runtime.GOMAXPROCS(cores)
		name := filepath.Join(folder, fmt.Sprint(i))
		w, err := Create(name, h, opt)
		must(t, err)
		rowBytes := h.Width * h.pixelBytes()
		for rest := pixels; len(rest) > 0; {
			n := min(len(rest), rowBytes*(1+r.IntN(50)))
			must(t, w.WriteRows(context.Background(), Rows{Pixels: rest[:n]}))
			rest = rest[n:]
		}
		must(t, w.Close())
		runtime.GOMAXPROCS(before)
		got, err := os.ReadFile(name)
		must(t, err)
		if want == nil {
			want = got
		}
		if !bytes.Equal(got, want) {
			t.Errorf("%d cores: the file differs", cores)
		}
	}
}

func TestRowsMayComeBandByBand(t *testing.T) {
	r := rand.New(rand.NewPCG(19, 20))
	h := Header{Width: 50, Height: 40, Bands: 3, Type: Int16, Photometric: MinIsBlack}
	pixels := noise(r, h)
	name := filepath.Join(t.TempDir(), "image.tif")
	for _, layout := range []Layout{ByPixel, ByBand} {
		write(t, name, h, Options{Layout: layout, BlockWidth: 16, BlockHeight: 16}, Rows{Pixels: byBand(h, pixels), Layout: ByBand})
		if !bytes.Equal(readAll(t, open(t, name).Image()), byBand(h, pixels)) {
			t.Errorf("layout %d differs", layout)
		}
	}
}

// meanOf is the average of the pixels of 2 x 2 that count, computed without the code under test.
func meanOf(values, weights []float64, float bool) (float64, bool) {
	var sum, total float64
	for i, v := range values {
		sum += v * weights[i]
		total += weights[i]
	}
	if total == 0 {
		return 0, false
	}
	if float {
		return sum / total, true
	}
	return math.Floor(sum/total + 0.5), true
}

func TestOverviewsAverageThePixelsThatHaveData(t *testing.T) {
	r := rand.New(rand.NewPCG(21, 22))
	for _, kind := range []string{"plain", "nodata", "mask", "alpha"} {
		t.Run(kind, func(t *testing.T) {
			h := Header{Width: 45, Height: 31, Bands: 1, Type: Int16, Photometric: MinIsBlack}
			switch kind {
			case "nodata":
				h.NoData = "-3"
			case "alpha":
				h.Bands, h.Extra = 2, []ExtraSample{StraightAlpha}
			}
			values := make([]int16, h.Width*h.Height*h.Bands)
			mask := make([]byte, h.Width*h.Height)
			for i := range values {
				values[i] = int16(r.IntN(9) - 4)
				if kind == "alpha" && i%2 == 1 {
					values[i] = int16(r.IntN(3))
				}
			}
			for i := range mask {
				mask[i] = byte(r.IntN(2) * 255)
			}
			rows := Rows{Pixels: Bytes(values)}
			if kind == "mask" {
				rows.Mask = mask
			}
			name := filepath.Join(t.TempDir(), "image.tif")
			write(t, name, h, Options{COG: true, BlockWidth: 16, BlockHeight: 16, Mask: kind == "mask"}, rows)
			im := open(t, name).Image().Overviews()[0]
			if im.Width != 23 || im.Height != 16 {
				t.Fatalf("%d x %d pixels", im.Width, im.Height)
			}
			got, err := Read[int16](context.Background(), im, im.All())
			must(t, err)
			for i := range im.Width * im.Height {
				x, y := i%im.Width, i/im.Width
				var v, w []float64
				for _, p := range [4][2]int{{2 * x, 2 * y}, {min(2*x+1, 44), 2 * y}, {2 * x, min(2*y+1, 30)}, {min(2*x+1, 44), min(2*y+1, 30)}} {
					at := p[1]*h.Width + p[0]
					value, weight := values[at*h.Bands], 1.0
					switch {
					case kind == "nodata" && value == -3, kind == "mask" && mask[at] == 0:
						weight = 0
					case kind == "alpha":
						weight = float64(values[at*2+1])
					}
					v, w = append(v, float64(value)), append(w, weight)
				}
				want, ok := meanOf(v, w, false)
				if !ok {
					want = v[0]
				}
				if got[i*h.Bands] != int16(want) {
					t.Fatalf("pixel (%d, %d) is %d, not %v: %v with weights %v", x, y, got[i*h.Bands], want, v, w)
				}
			}
		})
	}
}

func TestAveragesOfWideIntegersAreExact(t *testing.T) {
	big := uint64(1)<<63 + 12345
	for _, test := range []struct {
		in   [4]uint64
		want uint64
	}{
		{[4]uint64{math.MaxUint64, math.MaxUint64, math.MaxUint64, math.MaxUint64}, math.MaxUint64},
		{[4]uint64{big, big + 1, big + 2, big + 3}, big + 2},
		{[4]uint64{0, 0, 0, 1}, 0},
		{[4]uint64{0, 0, 1, 1}, 1},
	} {
		v := newHalver(&Header{Bands: 1, Type: Uint64}, Average)
		out := make([]uint64, 1)
		v.row(Bytes(out), Bytes(test.in[:2]), Bytes(test.in[2:]), 2, nil, nil, nil)
		if out[0] != test.want {
			t.Errorf("the average of %v is %d, not %d", test.in, out[0], test.want)
		}
	}
	for _, test := range []struct {
		in   [4]int64
		want int64
	}{
		{[4]int64{math.MinInt64, math.MinInt64, math.MinInt64, math.MinInt64}, math.MinInt64},
		{[4]int64{math.MinInt64, math.MaxInt64, math.MinInt64, math.MaxInt64}, 0},
		{[4]int64{-1, -1, -1, -2}, -1},
		{[4]int64{-1, -1, -2, -2}, -1},
		{[4]int64{-1, -2, -2, -2}, -2},
	} {
		v := newHalver(&Header{Bands: 1, Type: Int64}, Average)
		out := make([]int64, 1)
		v.row(Bytes(out), Bytes(test.in[:2]), Bytes(test.in[2:]), 2, nil, nil, nil)
		if out[0] != test.want {
			t.Errorf("the average of %v is %d, not %d", test.in, out[0], test.want)
		}
	}
}

func TestBlocksMayBeAnywhereInMemory(t *testing.T) {
	for _, bits := range []int{0, 12} {
		h := Header{Width: 16, Height: 16, Bands: 1, Type: Uint16, Bits: bits, Photometric: MinIsBlack}
		pixels := make([]byte, 2*256+1)[1:] // not aligned for uint16
		for i := range pixels {
			pixels[i] = byte(i) & 15
		}
		name := filepath.Join(t.TempDir(), "image.tif")
		w, err := Create(name, h, Options{BlockWidth: 16, BlockHeight: 16})
		must(t, err)
		must(t, w.WriteBlock(context.Background(), 0, 0, pixels))
		must(t, w.Close())
		if !bytes.Equal(readAll(t, open(t, name).Image()), pixels) {
			t.Errorf("%d bits: the pixels differ", bits)
		}
	}
}

func TestBlocksWithoutDataAreLeftOut(t *testing.T) {
	h := Header{Width: 64, Height: 64, Bands: 1, Type: Int16, Photometric: MinIsBlack, NoData: "-5"}
	values := make([]int16, 64*64)
	for i := range values {
		values[i] = -5
	}
	values[100] = 3
	name := filepath.Join(t.TempDir(), "image.tif")
	write(t, name, h, Options{Sparse: true, BlockWidth: 16, BlockHeight: 16}, Rows{Pixels: Bytes(values)})
	im := open(t, name).Image()
	stored := 0
	for i := range 16 {
		if _, size, err := im.BlockRange(i); err == nil && size > 0 {
			stored++
		}
	}
	if stored != 1 {
		t.Errorf("%d blocks are stored", stored)
	}
	if !bytes.Equal(readAll(t, im), Bytes(values)) {
		t.Error("the pixels differ")
	}
}

func TestHalfPrecisionFloatsRoundToNearest(t *testing.T) {
	for h := range 1 << 16 {
		f := halfToFloat(uint16(h))
		if back := floatToHalf(f); back != uint16(h) && f == f {
			t.Fatalf("%#04x became %g and %#04x", h, f, back)
		}
	}
	for _, test := range []struct {
		in   float32
		want uint16
	}{{65519, 0x7bff}, {65520, 0x7c00}, {1 + 1./2048, 0x3c00}, {1 + 3./2048, 0x3c02}, {1e-9, 0}, {-0.00006, 0x83ef}} {
		if got := floatToHalf(test.in); got != test.want {
			t.Errorf("%g became %#04x, not %#04x", test.in, got, test.want)
		}
	}
}

func TestFilesWithTooManyBlocksAreRefused(t *testing.T) {
	name := filepath.Join(t.TempDir(), "a.tif")
	h := Header{Width: math.MaxInt32, Height: math.MaxInt32, Bands: 1, Type: Uint8, Photometric: MinIsBlack}
	for _, o := range []Options{{}, {BlockWidth: 16, BlockHeight: 16}, {COG: true}} {
		if w, err := Create(name, h, o); !errors.Is(err, ErrLimit) || !strings.Contains(err.Error(), "2147483647 x 2147483647 pixels") || w != nil {
			t.Errorf("%+v: %v", o, err)
		}
	}
	h.Width, h.Height = 100000, 100000
	w, err := Create(name, h, Options{Sparse: true})
	if err != nil {
		t.Fatal(err)
	}
	w.Abort()
}
