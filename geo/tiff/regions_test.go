package tiff

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"sync"
	"testing"
)

// regionsOf divides an image into rectangles of whole blocks, and shuffles them.
func regionsOf(r *rand.Rand, h Header, opt Options, across, down int) []Region {
	var all []Region
	for y := 0; y < h.Height; y += down * opt.BlockHeight {
		for x := 0; x < h.Width; x += across * opt.BlockWidth {
			all = append(all, Region{X: x, Y: y, Width: min(across*opt.BlockWidth, h.Width-x), Height: min(down*opt.BlockHeight, h.Height-y)})
		}
	}
	r.Shuffle(len(all), func(i, j int) { all[i], all[j] = all[j], all[i] })
	return all
}

// pixelsOf returns the pixels of a region.
func pixelsOf(h Header, pixels []byte, r Region) []byte {
	n := h.pixelBytes()
	out := alignedBytes(r.Width * r.Height * n)
	for y := range r.Height {
		copy(out[y*r.Width*n:][:r.Width*n], pixels[((r.Y+y)*h.Width+r.X)*n:])
	}
	return out
}

func TestRegionsMakeTheFileThatRowsMake(t *testing.T) {
	r := rand.New(rand.NewPCG(71, 72))
	folder := t.TempDir()
	for i := range 60 {
		h := Header{Width: 1 + r.IntN(300), Height: 1 + r.IntN(300), Bands: 1 + r.IntN(4), Type: []Type{Uint8, Int16, Float32, Float64, Complex64, Uint64}[r.IntN(6)], Photometric: MinIsBlack}
		opt := Options{Compression: None, BlockWidth: 16 << r.IntN(3), BlockHeight: 16 << r.IntN(3), BigTIFF: BigTIFF(r.IntN(3)), BigEndian: !nativeLittle}
		if i%4 == 0 {
			opt = Options{Compression: None, Strips: true, BlockHeight: 1 + r.IntN(40), BlockWidth: h.Width, BigEndian: !nativeLittle}
		}
		pixels := noise(r, h)
		rows, regions := filepath.Join(folder, fmt.Sprint(i, "rows")), filepath.Join(folder, fmt.Sprint(i, "regions"))
		write(t, rows, h, opt, Rows{Pixels: pixels})
		w, err := Create(regions, h, opt)
		must(t, err)
		if !w.Regional() {
			t.Fatalf("%v %+v is not regional", h, opt)
		}
		jobs := make(chan Region)
		var wg sync.WaitGroup
		for range 4 {
			wg.Go(func() {
				for p := range jobs {
					if err := w.WriteRegion(context.Background(), p, pixelsOf(h, pixels, p)); err != nil {
						t.Error(err)
					}
				}
			})
		}
		for _, p := range regionsOf(r, h, w.Options(), 1+r.IntN(3), 1+r.IntN(3)) {
			jobs <- p
		}
		close(jobs)
		wg.Wait()
		must(t, w.Close())
		want, err := os.ReadFile(rows)
		must(t, err)
		got, err := os.ReadFile(regions)
		must(t, err)
		if !bytes.Equal(got, want) {
			t.Fatalf("%v %+v: the files differ", h, opt)
		}
	}
}

func TestWhichFilesAreRegional(t *testing.T) {
	for _, c := range []struct {
		name string
		opt  Options
		want bool
	}{
		{"raw", Options{Compression: None}, true},
		{"deflate", Options{}, false},
		{"by band", Options{Compression: None, Layout: ByBand}, false},
		{"mask", Options{Compression: None, Mask: true}, false},
		{"overviews", Options{Compression: None, Overviews: 2}, false},
		{"COG", Options{Compression: None, COG: true}, false},
		{"sparse", Options{Compression: None, Sparse: true}, false},
		{"the other byte order", Options{Compression: None, BigEndian: nativeLittle}, false},
	} {
		h := Header{Width: 64, Height: 64, Bands: 3, Type: Uint16, Photometric: RGB}
		w, err := Create(filepath.Join(t.TempDir(), "x.tif"), h, c.opt)
		must(t, err)
		if got := w.Regional(); got != c.want {
			t.Errorf("%s: regional %v", c.name, got)
		}
		if err := w.WriteRegion(context.Background(), Region{Width: 64, Height: 64}, make([]byte, 64*64*6)); (err == nil) != c.want {
			t.Errorf("%s: %v", c.name, err)
		}
		must(t, w.Abort())
	}
}

func TestBadRegionsAreRefused(t *testing.T) {
	h := Header{Width: 100, Height: 90, Bands: 1, Type: Uint8, Photometric: MinIsBlack}
	name := filepath.Join(t.TempDir(), "x.tif")
	create := func() *Writer {
		w, err := Create(name, h, Options{Compression: None, BlockWidth: 32, BlockHeight: 32})
		must(t, err)
		return w
	}
	ctx := context.Background()
	w := create()
	for _, r := range []Region{{X: 1, Width: 32, Height: 32}, {Width: 33, Height: 32}, {Width: 32, Height: 31}, {X: 96, Width: 5, Height: 32}, {X: -32, Width: 32, Height: 32}, {Width: 32},
		{Width: 32, Height: 32, Bands: []int{0}}, {Width: 32, Height: 32, Layout: ByBand}} {
		if err := w.WriteRegion(ctx, r, make([]byte, max(0, r.Width*r.Height))); !errors.Is(err, ErrArgument) {
			t.Errorf("%+v: %v", r, err)
		}
	}
	if err := w.WriteRegion(ctx, Region{Width: 32, Height: 32}, make([]byte, 1023)); !errors.Is(err, ErrArgument) {
		t.Error("too few pixels:", err)
	}
	must(t, w.WriteRegion(ctx, Region{X: 96, Y: 64, Width: 4, Height: 26}, make([]byte, 104)))
	if err := w.WriteRegion(ctx, Region{X: 96, Y: 64, Width: 4, Height: 26}, make([]byte, 104)); !errors.Is(err, ErrArgument) {
		t.Error("the same block again:", err)
	}
	if err := w.WriteRows(ctx, Rows{Pixels: make([]byte, 100)}); !errors.Is(err, ErrArgument) {
		t.Error("rows after regions:", err)
	}
	if err := w.WriteBlock(ctx, 0, 0, make([]byte, 1024)); !errors.Is(err, ErrArgument) {
		t.Error("blocks after regions:", err)
	}
	if err := w.Close(); !errors.Is(err, ErrArgument) {
		t.Error("blocks are missing:", err)
	}
	if _, err := os.Stat(name); err == nil {
		t.Error("there is a file after an error")
	}
	if err := w.WriteRegion(ctx, Region{Width: 32, Height: 32}, make([]byte, 1024)); !errors.Is(err, ErrClosed) {
		t.Error("after Close:", err)
	}

	w = create()
	must(t, w.WriteRows(ctx, Rows{Pixels: make([]byte, 100)}))
	if err := w.WriteRegion(ctx, Region{Width: 32, Height: 32}, make([]byte, 1024)); !errors.Is(err, ErrArgument) {
		t.Error("regions after rows:", err)
	}
	must(t, w.Abort())

	w = create()
	stopped, stop := context.WithCancel(ctx)
	stop()
	if err := w.WriteRegion(stopped, Region{Width: 32, Height: 32}, make([]byte, 1024)); !errors.Is(err, context.Canceled) {
		t.Error("cancelled:", err)
	}
	if err := w.Close(); !errors.Is(err, context.Canceled) {
		t.Error("Close after that:", err)
	}
}

func TestWideRowsOfBlocksAreRefused(t *testing.T) {
	h := Header{Width: 500_000_000, Height: 512, Bands: 1, Type: Uint8, Photometric: MinIsBlack}
	w, err := Create(filepath.Join(t.TempDir(), "x.tif"), h, Options{Compression: None, BlockWidth: 4096, BlockHeight: 512})
	must(t, err)
	if err := w.WriteRows(context.Background(), Rows{}); !errors.Is(err, ErrLimit) {
		t.Error(err)
	}
	must(t, w.Abort())
}
