package tiff

import (
	"slices"
	"strings"
)

// Region returns the header of an image that has only the pixels of a region: the georeference, the control
// points, the RPC and the metadata of bands are those of the region. Statistics of a larger image are left out. Empty
// Bands mean all.
func (h Header) Region(r Region) Header {
	if r.Width != h.Width || r.Height != h.Height {
		h.Metadata = slices.DeleteFunc(slices.Clone(h.Metadata), func(i Item) bool { return strings.HasPrefix(i.Name, "STATISTICS_") })
	}
	h.Width, h.Height = r.Width, r.Height
	h.Geo = h.Geo.moved(float64(r.X), float64(r.Y))
	if h.RPC != nil {
		rpc := *h.RPC
		rpc.SampOff -= float64(r.X)
		rpc.LineOff -= float64(r.Y)
		h.RPC = &rpc
	}
	if len(r.Bands) > 0 {
		h.selectBands(r.Bands)
	}
	return h
}

// moved returns the georeference of an image whose first pixel is (x, y) of this one.
func (g Georeference) moved(x, y float64) Georeference {
	if x == 0 && y == 0 {
		return g
	}
	if a, ok := g.Affine(); ok {
		a[0] += x*a[1] + y*a[2]
		a[3] += x*a[4] + y*a[5]
		g.SetAffine(a)
		return g
	}
	g.Tiepoints = slices.Clone(g.Tiepoints)
	for i := range g.Tiepoints {
		g.Tiepoints[i].Column -= x
		g.Tiepoints[i].Row -= y
	}
	return g
}

// Resampled returns the header of an image of columns x rows pixels that show a part of this one. The part is in
// pixels, may begin and end within them, and may be partly outside.
func (h Header) Resampled(x, y, width, height float64, columns, rows int) Header {
	h.Metadata = slices.DeleteFunc(slices.Clone(h.Metadata), func(i Item) bool { return strings.HasPrefix(i.Name, "STATISTICS_") })
	h.Width, h.Height = columns, rows
	fx, fy := float64(columns)/width, float64(rows)/height
	h.Geo = h.Geo.moved(x, y).scaled(fx, fy)
	if h.RPC != nil {
		rpc := *h.RPC // its pixels have whole numbers at their centers
		rpc.SampOff, rpc.LineOff = (rpc.SampOff-x+0.5)*fx-0.5, (rpc.LineOff-y+0.5)*fy-0.5
		rpc.SampScale *= fx
		rpc.LineScale *= fy
		h.RPC = &rpc
	}
	return h
}

// scaled returns the georeference of an image that has fx x fy pixels for one of this.
func (g Georeference) scaled(fx, fy float64) Georeference {
	if a, ok := g.Affine(); ok {
		a[1], a[4] = a[1]/fx, a[4]/fx
		a[2], a[5] = a[2]/fy, a[5]/fy
		g.SetAffine(a)
		return g
	}
	half := 0.0
	if g.PixelIsPoint() {
		half = 0.5
	}
	g.Tiepoints = slices.Clone(g.Tiepoints)
	for i := range g.Tiepoints {
		t := &g.Tiepoints[i]
		t.Column, t.Row = (t.Column+half)*fx-half, (t.Row+half)*fy-half
	}
	return g
}

// selectBands keeps bands. If they are not the colors in their order, they have no meaning as colors any more; alpha stays alpha.
func (h *Header) selectBands(bands []int) {
	colors := h.Bands - len(h.Extra)
	old := h.Extra
	h.Extra = nil
	sameColors := len(bands) >= colors
	for i, b := range bands {
		switch {
		case i < colors:
			sameColors = sameColors && b == i
		case b >= colors:
			h.Extra = append(h.Extra, old[b-colors])
		default:
			h.Extra = append(h.Extra, Unspecified)
		}
	}
	if !sameColors {
		h.Photometric, h.Palette, h.Extra = MinIsBlack, nil, nil
		extra := make([]ExtraSample, len(bands)-1) // after one band of gray
		for i, b := range bands[1:] {
			if b >= colors && (old[b-colors] == StraightAlpha || old[b-colors] == AssociatedAlpha) {
				extra[i], h.Extra = old[b-colors], extra
			}
		}
	}
	var items []Item
	for _, item := range h.Metadata {
		if item.Band < 0 {
			items = append(items, item)
		}
		for i, b := range bands {
			if b == item.Band {
				moved := item
				moved.Band = i
				items = append(items, moved)
			}
		}
	}
	h.Bands, h.Metadata = len(bands), items
}
