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

// selectBands keeps bands. If they are not the colors in their order, they have no meaning as colors any more.
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
