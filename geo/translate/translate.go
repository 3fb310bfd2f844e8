package translate

import (
	"context"
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"

	"quern.dev/geo/internal/recode"
	"quern.dev/geo/internal/resize"
	"quern.dev/geo/tiff"
)

// linear is a map of values.
type linear struct{ factor, offset float64 }

// Image is an image whose rows are made of those of another one, when they are asked for.
type Image struct {
	source   *tiff.Image
	region   tiff.Region     // of the source that is read
	inside   tiff.Region     // of the result: what is made of the region
	resizer  *resize.Resizer // nil if pixels keep their size
	read     tiff.Header     // of the bands that are read
	palette  [][]byte        // bands of the colors; nil if colors are not expanded
	maps     []linear        // by band; nil if values stay
	masked   bool
	header   tiff.Header // of the result
	warnings []string
}

// Header describes the result.
func (im *Image) Header() tiff.Header { return im.header }

// Masked reports whether rows have a mask.
func (im *Image) Masked() bool { return im.masked }

// Warnings say what a user should know about the result.
func (im *Image) Warnings() []string { return im.warnings }

// File writes a translated image to a GeoTIFF file, which appears under its name when it is complete. It has a mask if the image has one.
func File(ctx context.Context, name string, im *tiff.Image, o Options, file tiff.Options) error {
	t, err := New(ctx, im, o)
	if err != nil {
		return err
	}
	file.Mask = t.masked
	w, err := tiff.Create(name, t.header, file)
	if err != nil {
		return err
	}
	defer w.Abort() // does nothing after Close
	if err := t.Rows(ctx, func(rows tiff.Rows, _ int) error { return w.WriteRows(ctx, rows) }); err != nil {
		return err
	}
	return w.Close()
}

// untouched is an image as it is.
func untouched(im *tiff.Image, masked bool) *Image {
	all := im.All()
	for b := range im.Bands {
		all.Bands = append(all.Bands, b)
	}
	return &Image{source: im, region: all, inside: im.All(), read: im.Header, header: im.Header, masked: masked}
}

// New returns an image, which must be open as long as the result is used. With a Scale without From, it reads all pixels.
func New(ctx context.Context, im *tiff.Image, o Options) (*Image, error) {
	if err := o.check(); err != nil {
		return nil, err
	}
	out := &Image{source: im, masked: im.Mask() != nil && !o.NoMask}
	all := im.All()
	all.Bands = o.Bands
	all, err := im.Resolve(all)
	if err != nil {
		return nil, err
	}
	out.read = im.Header.Region(all)
	out.header = out.read
	if err := o.expandPalette(out); err != nil {
		return nil, err
	}
	if err := o.cut(out, all); err != nil {
		return nil, err
	}
	if err := o.recode(ctx, out); err != nil {
		return nil, err
	}
	if o.NoData != nil {
		out.header.NoData = *o.NoData
		out.fitNoData("")
	}
	out.fitBits()
	return out, o.place(&out.header)
}

// mostRow is the largest row of a result, in bytes.
const mostRow = 1 << 27

// cut plans which pixels are read, and what size they get.
func (o *Options) cut(out *Image, all tiff.Region) error {
	w, err := o.part(out.source)
	if err != nil {
		return err
	}
	w, size, err := o.size(out.source, w)
	if err != nil {
		return err
	}
	h := &out.header
	if bytes := int64(size[0]) * int64(h.Bands*h.Type.Size()); bytes > mostRow {
		return failf(ErrArgument, "a row of %d pixels has %d bytes; %d are possible, because rows are kept in memory", size[0], bytes, mostRow)
	}
	if w == (Window{X: math.Floor(w.X), Y: math.Floor(w.Y), Width: float64(size[0]), Height: float64(size[1])}) {
		part := tiff.Region{X: int(w.X), Y: int(w.Y), Width: size[0], Height: size[1]}
		*h = h.Region(part)
		x0, y0 := max(0, part.X), max(0, part.Y)
		out.region = tiff.Region{X: x0, Y: y0, Width: min(all.Width, part.X+part.Width) - x0, Height: min(all.Height, part.Y+part.Height) - y0, Bands: all.Bands}
		out.inside = tiff.Region{X: x0 - part.X, Y: y0 - part.Y, Width: out.region.Width, Height: out.region.Height}
		out.warn(w)
		return nil
	}
	filter := o.Resampling
	switch {
	case filter == resize.Near:
	case h.Type.Complex():
		return failf(ErrArgument, "%s: complex samples can only be resampled with near; package warp can do more", out.source)
	case h.Photometric == tiff.Palette:
		return failf(ErrArgument, "%s has a palette, whose indices cannot be mixed; use near, or expand the palette", out.source)
	}
	s := resize.Samples{Type: h.Type, Bands: h.Bands, Alpha: alphaBand(h)}
	if h.Bits != 0 && !h.Type.Float() {
		s.Most = mostOf(h)
	}
	s.NoData, s.HasNoData = h.NoDataValue()
	out.resizer = resize.New(filter, w, [2]int{all.Width, all.Height}, size, s)
	out.region = out.resizer.Region()
	out.region.Bands = all.Bands
	out.inside = out.resizer.Inside()
	if out.inside.Width == 0 || out.inside.Height == 0 {
		return failf(ErrOutside, "no pixel of the result has its center in the image")
	}
	*h = h.Resampled(w.X, w.Y, w.Width, w.Height, size[0], size[1])
	out.warn(w)
	return nil
}

// warn says that a part is partly outside.
func (im *Image) warn(w Window) {
	if im.inside.Width < im.header.Width || im.inside.Height < im.header.Height {
		im.warnings = append(im.warnings, fmt.Sprintf("the part of %g x %g pixels from %g, %g on is partly outside of the image, which has %d x %d pixels; the rest has no data",
			w.Width, w.Height, w.X, w.Y, im.source.Width, im.source.Height))
	}
}

// alphaBand returns the index of the alpha band, or -1.
func alphaBand(h *tiff.Header) int {
	for i, e := range h.Extra {
		if e == tiff.AssociatedAlpha || e == tiff.StraightAlpha {
			return h.Bands - len(h.Extra) + i
		}
	}
	return -1
}

// expandPalette plans the expansion of a palette. As in GDAL, the color of NoData is transparent black, and there is no NoData any more.
func (o *Options) expandPalette(out *Image) error {
	h := &out.header
	if o.Expand == KeepPalette {
		return nil
	}
	if h.Photometric != tiff.Palette || h.Bands != 1 || len(h.Palette) == 0 {
		return failf(ErrArgument, "%s has no palette to expand", out.source)
	}
	none, transparent := h.NoDataValue()
	bands := [...]int{Gray: 1, RGB: 3, RGBA: 4}[o.Expand]
	out.palette = make([][]byte, bands)
	for i := range out.palette {
		out.palette[i] = make([]byte, len(h.Palette))
	}
	for i, c := range h.Palette {
		color := [4]byte{byte(c.R / 257), byte(c.G / 257), byte(c.B / 257), 255}
		if transparent && none == float64(i) {
			color = [4]byte{}
		}
		if bands == 1 && (color[0] != color[1] || color[0] != color[2]) {
			return failf(ErrArgument, "color %d of the palette is not gray; make RGB of it", i)
		}
		for b := range out.palette {
			out.palette[b][i] = color[b]
		}
	}
	h.Type, h.Bits, h.Bands, h.Palette, h.NoData, h.Extra = tiff.Uint8, 0, bands, nil, "", nil
	h.Photometric = tiff.MinIsBlack
	if bands >= 3 {
		h.Photometric = tiff.RGB
	}
	if bands == 4 {
		h.Extra = []tiff.ExtraSample{tiff.StraightAlpha}
	}
	return nil
}

// recode plans the values and the type of samples.
func (o *Options) recode(ctx context.Context, out *Image) error {
	h := &out.header
	from := h.Type
	if o.Type != 0 {
		h.Type = o.Type
	}
	if o.Scale != nil || o.Unscale {
		if from.Complex() || h.Type.Complex() {
			return failf(ErrArgument, "%s: complex samples cannot be scaled", out.source)
		}
		if err := o.planMaps(ctx, out); err != nil {
			return err
		}
	}
	if h.Type == from && out.maps == nil {
		return nil
	}
	if h.Photometric == tiff.Palette && (out.maps != nil || h.Type != tiff.Uint8 && h.Type != tiff.Uint16) {
		h.Photometric, h.Palette = tiff.MinIsBlack, nil
	}
	if h.Type == tiff.Uint8 { // indices are limited in the same way
		h.Palette = h.Palette[:min(len(h.Palette), 1<<8)]
	}
	h.Bits = 0
	h.Metadata = slices.DeleteFunc(slices.Clone(h.Metadata), func(i tiff.Item) bool { return strings.HasPrefix(i.Name, "STATISTICS_") })
	out.fitNoData(", as do pixels without data")
	return nil
}

// fitNoData makes NoData a value of the result's type.
func (im *Image) fitNoData(consequence string) {
	h := &im.header
	v, err := strconv.ParseFloat(strings.TrimSpace(h.NoData), 64)
	if err != nil || h.Type.Complex() {
		return
	}
	to := recode.Value(h.Type, v)
	if to == v || to != to && v != v {
		return
	}
	if h.Type != tiff.Float32 {
		im.warnings = append(im.warnings, fmt.Sprintf("NoData %s is not a value of %v; it becomes %g%s", h.NoData, h.Type, to, consequence))
	}
	h.NoData = recode.Text(h.Type, to)
}

// mostOf returns the greatest value of unsigned samples with fewer bits than their type.
func mostOf(h *tiff.Header) float64 { return math.Ldexp(1, h.Bits) - 1 }

// fitBits gives samples of few bits all bits of their type, if pixels are made without data and NoData needs more bits.
func (im *Image) fitBits() {
	h := &im.header
	v, ok := h.NoDataValue()
	made := im.resizer != nil || im.inside.Width < h.Width || im.inside.Height < h.Height
	if ok && made && h.Bits != 0 && (v > mostOf(h) || h.Type.Float()) {
		h.Bits = 0
	}
}

// planMaps plans the maps of values.
func (o *Options) planMaps(ctx context.Context, out *Image) error {
	h := &out.header
	out.maps = make([]linear, h.Bands)
	if o.Unscale {
		for b := range out.maps {
			out.maps[b] = linear{1, 0}
		}
		for _, i := range h.Metadata {
			if v, err := strconv.ParseFloat(i.Value, 64); err == nil && i.Band >= 0 && i.Band < h.Bands {
				switch i.Role {
				case "scale":
					out.maps[i.Band].factor = v
				case "offset":
					out.maps[i.Band].offset = v
				}
			}
		}
		h.Metadata = slices.DeleteFunc(slices.Clone(h.Metadata), func(i tiff.Item) bool { return i.Role == "scale" || i.Role == "offset" })
		return nil
	}
	least, most := o.Scale.To[0], o.Scale.To[1]
	ranges := make([][2]float64, h.Bands)
	if o.Scale.From == nil {
		var err error
		if ranges, err = valueRanges(ctx, out); err != nil {
			return err
		}
	}
	for b := range out.maps {
		if o.Scale.From != nil {
			ranges[b] = *o.Scale.From
		}
		low, high := ranges[b][0], ranges[b][1]
		if low == high {
			high++
		}
		if low == high { // too large for a difference of 1
			out.maps[b] = linear{0, least}
			continue
		}
		factor := (most - least) / (high - low)
		out.maps[b] = linear{factor, least - low*factor}
	}
	return nil
}

// valueRanges returns the least and the greatest value of each band, in the whole source.
func valueRanges(ctx context.Context, out *Image) ([][2]float64, error) {
	all := untouched(out.source, out.masked)
	all.region.Bands, all.read, all.palette = out.region.Bands, out.read, out.palette
	all.header = *all.samples()
	h := &all.header
	ranges := make([][2]float64, h.Bands)
	for b := range ranges {
		ranges[b] = [2]float64{math.Inf(1), math.Inf(-1)}
	}
	none, hasNone := h.NoDataValue()
	var values []float64
	err := all.Rows(ctx, func(rows tiff.Rows, _ int) error {
		values = append(values[:0], make([]float64, len(rows.Pixels)/h.Type.Size())...)
		recode.ToFloats(h.Type, values, rows.Pixels)
		for i, v := range values {
			if v != v || hasNone && v == none || rows.Mask != nil && rows.Mask[i/h.Bands] == 0 {
				continue
			}
			r := &ranges[i%h.Bands]
			r[0], r[1] = min(r[0], v), max(r[1], v)
		}
		return nil
	})
	if err != nil {
		return nil, err
	}
	for b, r := range ranges {
		if r[0] > r[1] || math.IsInf(r[0], 0) || math.IsInf(r[1], 0) {
			return nil, failf(ErrArgument, "%s: band %d has no range of values; give the range for the scale", out.source, b)
		}
	}
	return ranges, nil
}
