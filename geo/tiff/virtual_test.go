package tiff_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"os/exec"
	"path/filepath"
	"strings"
	"sync/atomic"
	"testing"

	"quern.dev/geo/tiff"
)

// sample is the value of a computed image.
func sample(level, band, x, y int) uint16 { return uint16(level*7919 + band*104729 + x*31 + y*1009) }

// computed is an image of computed samples with a mask, and two overviews.
func computed(layout tiff.Layout, bands int) tiff.Virtual {
	v := tiff.Virtual{Layout: layout, BlockWidth: 48, BlockHeight: 20, Mask: true, Overviews: [][2]int{{101, 65}, {51, 33}}}
	v.Header = tiff.Header{Width: 201, Height: 130, Bands: bands, Type: tiff.Uint16, Photometric: tiff.MinIsBlack, NoData: "7", Description: "computed"}
	v.Header.Geo.Keys.Set(tiff.GeoValue{Key: tiff.ProjectedCRS, Code: 32633})
	v.Header.Geo.SetAffine(tiff.Affine{500000, 10, 0, 5000000, 0, -10})
	v.Read = func(_ context.Context, b tiff.VirtualBlock, dst []byte) error {
		for y := range b.Height {
			for x := range b.Width {
				switch {
				case b.Mask:
					dst[y*48+x] = byte(255 * ((b.X + x + b.Y + y + b.Level) % 2))
				case layout == tiff.ByBand:
					put(dst[(y*48+x)*2:], sample(b.Level, b.Band, b.X+x, b.Y+y))
				default:
					for k := range bands {
						put(dst[((y*48+x)*bands+k)*2:], sample(b.Level, k, b.X+x, b.Y+y))
					}
				}
			}
		}
		return nil
	}
	return v
}

func put(dst []byte, v uint16) { copy(dst, tiff.Bytes([]uint16{v})) }

func TestVirtualImagesAreReadLikeFiles(t *testing.T) {
	for _, bands := range []int{1, 3} {
		for _, layout := range []tiff.Layout{tiff.ByPixel, tiff.ByBand} {
			if bands == 1 && layout == tiff.ByBand {
				continue
			}
			f, err := tiff.NewVirtual(computed(layout, bands))
			if err != nil {
				t.Fatal(err)
			}
			rng := rand.New(rand.NewPCG(1, 2))
			levels := append([]*tiff.Image{f.Image()}, f.Image().Overviews()...)
			if len(levels) != 3 || len(f.Images()) != 1 {
				t.Fatalf("%d levels, %d images", len(levels), len(f.Images()))
			}
			for level, im := range levels {
				for range 20 {
					r := tiff.Region{X: rng.IntN(im.Width), Y: rng.IntN(im.Height), Layout: tiff.Layout(rng.IntN(2))}
					r.Width, r.Height = 1+rng.IntN(im.Width-r.X), 1+rng.IntN(im.Height-r.Y)
					got, err := tiff.Read[uint16](t.Context(), im, r)
					if err != nil {
						t.Fatal(err)
					}
					for i, v := range got {
						p, k := i/bands, i%bands
						if r.Layout == tiff.ByBand {
							p, k = i%(r.Width*r.Height), i/(r.Width*r.Height)
						}
						if want := sample(level, k, r.X+p%r.Width, r.Y+p/r.Width); v != want {
							t.Fatalf("level %d, %+v, sample %d: %d, want %d", level, r, i, v, want)
						}
					}
					mask, err := tiff.Read[uint8](t.Context(), im.Mask(), tiff.Region{X: r.X, Y: r.Y, Width: r.Width, Height: r.Height})
					if err != nil {
						t.Fatal(err)
					}
					for i, v := range mask {
						if want := byte(255 * ((r.X + i%r.Width + r.Y + i/r.Width + level) % 2)); v != want {
							t.Fatalf("mask of level %d, pixel %d: %d, want %d", level, i, v, want)
						}
					}
				}
			}
			if a, _ := f.Image().Geo.Affine(); f.Image().Description != "computed" || a[0] != 500000 || f.Image().NoData != "7" || levels[1].NoData != "7" {
				t.Errorf("%+v", f.Image().Header)
			}
		}
	}
}

func TestVirtualBlocksAreReadWholeAndAlone(t *testing.T) {
	v := computed(tiff.ByPixel, 2)
	var reads, closed atomic.Int64
	inner := v.Read
	v.Read = func(ctx context.Context, b tiff.VirtualBlock, dst []byte) error {
		reads.Add(1)
		if len(dst) != 48*20*2*2 || b.X%48 != 0 || b.Y%20 != 0 || b.Width != min(48, 201-b.X) || b.Height != min(20, 130-b.Y) {
			t.Errorf("%+v with %d bytes", b, len(dst))
		}
		return inner(ctx, b, dst)
	}
	v.Close = func() error { closed.Add(1); return nil }
	f, err := tiff.NewVirtual(v)
	if err != nil {
		t.Fatal(err)
	}
	im := f.Image()
	if _, err := tiff.Read[uint16](t.Context(), im, tiff.Region{X: 47, Y: 19, Width: 2, Height: 2}); err != nil || reads.Load() != 4 {
		t.Errorf("%d blocks were read, want 4; %v", reads.Load(), err)
	}
	block := make([]byte, im.BlockBytes())
	last, err := im.BlockIndex(4, 6, 0)
	if err != nil {
		t.Fatal(err)
	}
	for i := range block {
		block[i] = 0xa5
	}
	if err := im.ReadBlock(t.Context(), block, last); err != nil {
		t.Fatal(err)
	}
	if beyond := block[9*4 : 48*4]; !bytes.Equal(beyond, make([]byte, len(beyond))) {
		t.Error("pixels beyond the image are not 0")
	}
	if err := errors.Join(f.Close(), f.Close()); err != nil || closed.Load() != 1 {
		t.Errorf("closed %d times: %v", closed.Load(), err)
	}
}

func TestErrorsOfVirtualImages(t *testing.T) {
	broken := errors.New("broken")
	v := computed(tiff.ByPixel, 1)
	v.Read = func(context.Context, tiff.VirtualBlock, []byte) error { return broken }
	f, err := tiff.NewVirtual(v)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := tiff.Read[uint16](t.Context(), f.Image(), f.Image().All()); !errors.Is(err, broken) || !errors.Is(err, tiff.ErrIO) {
		t.Errorf("%v", err)
	}
	for what, change := range map[string]func(v *tiff.Virtual){
		"no bands":           func(v *tiff.Virtual) { v.Header.Bands = 0 },
		"no function":        func(v *tiff.Virtual) { v.Read = nil },
		"blocks of no width": func(v *tiff.Virtual) { v.BlockWidth = 0 },
		"huge blocks":        func(v *tiff.Virtual) { v.BlockWidth, v.BlockHeight = 1<<20, 1<<20 },
		"a larger overview":  func(v *tiff.Virtual) { v.Overviews = [][2]int{{300, 10}} },
	} {
		v := computed(tiff.ByPixel, 1)
		change(&v)
		var e *tiff.Error
		if _, err := tiff.NewVirtual(v); !errors.Is(err, tiff.ErrArgument) || !errors.As(err, &e) || e.Op != "open" {
			t.Errorf("%s: %v", what, err)
		}
	}
	v = computed(tiff.ByPixel, 1)
	v.Header.Width, v.Header.Height, v.BlockWidth, v.BlockHeight = 1<<30, 1<<30, 1, 1
	if _, err := tiff.NewVirtual(v); !errors.Is(err, tiff.ErrLimit) {
		t.Errorf("2^60 blocks: %v", err)
	}
}

func TestAVirtualImageIsWrittenLikeAFile(t *testing.T) {
	f, err := tiff.NewVirtual(computed(tiff.ByBand, 3))
	if err != nil {
		t.Fatal(err)
	}
	im := f.Image()
	name := filepath.Join(t.TempDir(), "a.tif")
	w, err := tiff.Create(name, im.Header, tiff.Options{})
	if err != nil {
		t.Fatal(err)
	}
	pixels, err := tiff.Read[uint16](t.Context(), im, im.All())
	if err != nil {
		t.Fatal(err)
	}
	if err := errors.Join(w.WriteRows(t.Context(), tiff.Rows{Pixels: tiff.Bytes(pixels)}), w.Close()); err != nil {
		t.Fatal(err)
	}
	g, err := tiff.Open(name)
	if err != nil {
		t.Fatal(err)
	}
	defer g.Close()
	got, err := tiff.Read[uint16](t.Context(), g.Image(), g.Image().All())
	if err != nil || !bytes.Equal(tiff.Bytes(got), tiff.Bytes(pixels)) {
		t.Errorf("other pixels: %v", err)
	}
}

func TestTIFFNeedsNoLibraries(t *testing.T) {
	for _, pkg := range []string{"quern.dev/geo/tiff", "quern.dev/geo/crs", "quern.dev/geo/worldfile"} {
		out, err := exec.Command("go", "list", "-deps", pkg).Output()
		if err != nil {
			t.Skip("the go command is missing: ", err)
		}
		for _, other := range []string{"github.com/ebitengine/purego", "quern.dev/geo/gdal", "quern.dev/gpu\n", "net/http\n"} {
			if strings.Contains(string(out), other) {
				t.Errorf("%s imports %s", pkg, strings.TrimSpace(other))
			}
		}
	}
}

func ExampleNewVirtual() {
	f, err := tiff.NewVirtual(tiff.Virtual{
		Header: tiff.Header{Width: 1000, Height: 1000, Bands: 1, Type: tiff.Uint8, Photometric: tiff.MinIsBlack},
		// 512 x 512 pixels at a time: here a checkerboard.
		Read: func(_ context.Context, b tiff.VirtualBlock, dst []byte) error {
			for y := range b.Height {
				for x := range b.Width {
					dst[y*512+x] = byte((b.X+x)/100+(b.Y+y)/100) % 2
				}
			}
			return nil
		},
	})
	if err != nil {
		fmt.Println(err)
		return
	}
	pixels, err := tiff.Read[uint8](context.Background(), f.Image(), tiff.Region{X: 598, Y: 0, Width: 4, Height: 1})
	fmt.Println(pixels, err)
	// Output: [1 1 0 0] <nil>
}
