package client

import (
	"math"

	"quern.dev/geo/tiff"
)

// mostTiles is how many tiles the finest level may have.
const mostTiles = 1 << 22

// virtual describes a grid as an image with overviews.
func (g *grid) virtual() (tiff.Virtual, error) {
	for i := range g.levels {
		l := &g.levels[i]
		if l.width < 1 || l.height < 1 || l.width > math.MaxInt32 || l.height > math.MaxInt32 || l.across(g.tile)*l.down(g.tile) > mostTiles {
			return tiff.Virtual{}, failf(ErrArgument, "an image of %d x %d pixels is too large; choose a smaller extent or larger pixels", l.width, l.height)
		}
	}
	first := &g.levels[0]
	v := tiff.Virtual{BlockWidth: g.tile, BlockHeight: g.tile}
	v.Header = tiff.Header{Width: first.width, Height: first.height, Bands: 4, Type: tiff.Uint8, Photometric: tiff.RGB, Extra: []tiff.ExtraSample{tiff.StraightAlpha}}
	model, key := uint16(tiff.ModelProjected), tiff.ProjectedCRS
	if g.geographic {
		model, key = tiff.ModelGeographic, tiff.GeodeticCRS
	}
	keys := &v.Header.Geo.Keys
	keys.Set(tiff.GeoValue{Key: tiff.GTModelType, Code: model})
	keys.Set(tiff.GeoValue{Key: tiff.GTRasterType, Code: tiff.RasterPixelIsArea})
	keys.Set(tiff.GeoValue{Key: key, Code: uint16(g.epsg)})
	v.Header.Geo.SetAffine(tiff.Affine{g.x, first.pixel, 0, g.y, 0, -first.pixel})
	for _, l := range g.levels[1:] {
		v.Overviews = append(v.Overviews, [2]int{l.width, l.height})
	}
	return v, nil
}
