package warp

import (
	"bytes"
	"errors"
	"fmt"
	"testing"

	"quern.dev/geo/crs"
	"quern.dev/gpu"
	"quern.dev/gputest"
)

// ownConverter makes transforms of package crs, which are computed on the host then.
func ownConverter(from, to *crs.CRS) (crs.Converter, error) { return crs.NewTransform(from, to) }

func TestPositionsOfTheHostAreThoseOfTheDevice(t *testing.T) {
	sources := kinds(t, t.TempDir())
	cutline, err := ParseCutline([]byte(`{"type":"Polygon","coordinates":[[[15,47.8],[15.01,47.8],[15.02,47.9],[14.99,48]]]}`), nil)
	if err != nil {
		t.Fatal(err)
	}
	gputest.Each(t, func(t *testing.T, dev *gpu.Device) {
		for kind, images := range sources {
			for _, r := range []Resampling{Nearest, Cubic, Average} {
				for _, cut := range []*Cutline{nil, cutline} {
					if cut != nil && kind != "bytes" {
						continue
					}
					o := small(t, r, 1.3)
					if o.Cutline = cut; cut != nil {
						o.CutlineBlend = 3.5
					}
					want, wantMask, _ := whole(t, dev, images, o)
					o.Converter = ownConverter
					for _, tile := range []int{0, 23} {
						o.TileWidth, o.TileHeight = tile, tile
						got, mask, _ := whole(t, dev, images, o)
						if !bytes.Equal(got, want) || !bytes.Equal(mask, wantMask) {
							t.Errorf("%s, %v, tiles of %d, cutline: %v: the pixels differ", kind, r, tile, cut != nil)
						}
					}
				}
			}
		}
		// The grid is found by the converter too.
		for _, o := range []Options{
			{Target: epsg(t, 3857)},
			{Target: epsg(t, 3857), Cutline: cutline, CropToCutline: true},
			{Target: epsg(t, 3857), ExtentCRS: epsg(t, 4326), Extent: &Extent{14.99, 47.8, 15.02, 47.9}, Tolerance: 0.125},
		} {
			exact := o
			exact.Tolerance = 0 // a converter's positions are exact
			want, _, _ := whole(t, dev, sources["bytes"], exact)
			o.Converter = ownConverter
			if got, _, _ := whole(t, dev, sources["bytes"], o); !bytes.Equal(got, want) {
				t.Error("the grid or the pixels differ")
			}
		}
	})
}

func TestAConverterThatFailsIsAnError(t *testing.T) {
	images := kinds(t, t.TempDir())["bytes"]
	dev := cpu(t)
	broken := errors.New("broken")
	o := small(t, Nearest, 1)
	o.Converter = func(from, to *crs.CRS) (crs.Converter, error) { return nil, broken }
	if _, err := New(dev, images, o); !errors.Is(err, broken) {
		t.Error(err)
	}
	o.Converter = func(from, to *crs.CRS) (crs.Converter, error) { return nil, nil }
	if _, err := New(dev, images, o); !errors.Is(err, ErrArgument) {
		t.Error(err)
	}
	o.Converter, o.Shift = ownConverter, []crs.Option{crs.Ballpark()}
	if _, err := New(dev, images, o); !errors.Is(err, ErrArgument) {
		t.Error(err)
	}
	// It fails when pixels are read.
	o.Shift = nil
	o.Converter = func(from, to *crs.CRS) (crs.Converter, error) {
		tr, err := crs.NewTransform(from, to)
		return failing{tr, broken}, err
	}
	o.Grid = &Grid{CRS: o.Target, Affine: [6]float64{o.Extent.MinX, 45, 0, o.Extent.MaxY, 0, -45}, Width: 60, Height: 60}
	o.Target, o.Extent, o.Resolution = nil, nil, [2]float64{}
	w, err := New(dev, images, o)
	if err != nil {
		t.Fatal(err)
	}
	defer w.Close()
	if err := w.WriteFile(t.Context(), t.TempDir()+"/x.tif"); !errors.Is(err, broken) {
		t.Error(err)
	}
}

// failing fails for tiles, not for the few points by which the grid and the extent are found.
type failing struct {
	*crs.Transform
	err error
}

func (f failing) InverseAll(x, y, z []float64) (int, error) {
	if len(x) > 1000 {
		return 0, fmt.Errorf("tile: %w", f.err)
	}
	return f.Transform.InverseAll(x, y, z)
}
