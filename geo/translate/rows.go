package translate

import (
	"context"

	"quern.dev/geo/internal/recode"
	"quern.dev/geo/tiff"
)

// Rows passes on all rows of the result from the top to the bottom, n of them at a time. They are valid during the call. The
// image's Rows can be called again, but not by several goroutines at the same time.
func (im *Image) Rows(ctx context.Context, use func(rows tiff.Rows, n int) error) error {
	emit := func(rows tiff.Rows, n int) error {
		if !im.masked {
			rows.Mask = nil
		}
		return use(im.padded(im.recoded(rows), n), n)
	}
	blank := func(n int) error {
		for n > 0 {
			k := min(n, 256)
			if err := use(im.padded(tiff.Rows{}, k), k); err != nil {
				return err
			}
			n -= k
		}
		return nil
	}
	if err := blank(im.inside.Y); err != nil {
		return err
	}
	read := func(rows tiff.Rows, n int) error { return emit(im.colored(rows), n) }
	if im.resizer != nil {
		im.resizer.Reset()
		read = func(rows tiff.Rows, n int) error { return im.resizer.Push(im.colored(rows), n, emit) }
	}
	if err := im.readRows(ctx, read); err != nil {
		return err
	}
	return blank(im.header.Height - im.inside.Y - im.inside.Height)
}

// readRows reads whole rows of blocks, and decodes each block once.
func (im *Image) readRows(ctx context.Context, use func(rows tiff.Rows, n int) error) error {
	r, source := im.region, im.source
	pixel := len(r.Bands) * source.Type.Size()
	step := max(1, min(256, (64<<20)/(r.Width*pixel))/source.BlockHeight) * source.BlockHeight
	var pixels, mask []byte
	for y := r.Y; y < r.Y+r.Height; {
		part := r
		part.Y, part.Height = y, min(step-y%step, r.Y+r.Height-y)
		n := part.Width * part.Height
		if len(pixels) < n*pixel {
			pixels = aligned(n * pixel)
		}
		if err := source.ReadRegion(ctx, pixels, part); err != nil {
			return err
		}
		rows := tiff.Rows{Pixels: pixels[:n*pixel]}
		if im.masked || im.resizer != nil && source.Mask() != nil {
			mask = append(mask[:0], make([]byte, n)...)
			part.Bands = nil
			if err := source.Mask().ReadRegion(ctx, mask, part); err != nil {
				return err
			}
			rows.Mask = mask
		}
		if err := use(rows, part.Height); err != nil {
			return err
		}
		y += part.Height
	}
	return nil
}

// aligned allocates bytes for samples of any type.
func aligned(n int) []byte {
	return tiff.Bytes(make([]complex128, (n+15)/16))[:n]
}

// colored makes colors of the indices of a palette. Those that it lacks are black.
func (im *Image) colored(rows tiff.Rows) tiff.Rows {
	if im.palette == nil {
		return rows
	}
	size, bands := im.read.Type.Size(), len(im.palette)
	n := len(rows.Pixels) / size
	indices := make([]float64, n)
	recode.ToFloats(im.read.Type, indices, rows.Pixels)
	out := aligned(n * bands)
	for i, v := range indices {
		for b, colors := range im.palette {
			if int(v) < len(colors) {
				out[i*bands+b] = colors[int(v)]
			}
		}
	}
	return tiff.Rows{Pixels: out, Mask: rows.Mask}
}

// padded adds pixels without data at the sides of n rows of the result. Without rows, all pixels have none.
func (im *Image) padded(rows tiff.Rows, n int) tiff.Rows {
	width, in := im.header.Width, im.inside
	if rows.Pixels != nil && width == in.Width {
		return rows
	}
	h := &im.header
	size := h.Bands * h.Type.Size()
	out := tiff.Rows{Pixels: aligned(n * width * size)}
	if v, ok := h.NoDataValue(); ok && !h.Type.Complex() {
		values := make([]float64, n*width*h.Bands)
		for i := range values {
			values[i] = v
		}
		recode.FromFloats(h.Type, out.Pixels, values)
	}
	if im.masked {
		out.Mask = make([]byte, n*width)
	}
	if rows.Pixels == nil {
		return out
	}
	for y := range n {
		copy(out.Pixels[(y*width+in.X)*size:], rows.Pixels[y*in.Width*size:][:in.Width*size])
		if im.masked {
			copy(out.Mask[y*width+in.X:], rows.Mask[y*in.Width:][:in.Width])
		}
	}
	return out
}

// samples describes samples before they are recoded.
func (im *Image) samples() *tiff.Header {
	h := im.read
	if im.palette != nil {
		h.Type, h.Bands, h.NoData = tiff.Uint8, len(im.palette), ""
	}
	return &h
}

// recoded has the values and the type of the result.
func (im *Image) recoded(rows tiff.Rows) tiff.Rows {
	from, to := im.samples(), &im.header
	n := len(rows.Pixels) / from.Type.Size()
	if from.Type == to.Type && im.maps == nil {
		return rows
	}
	out := tiff.Rows{Pixels: aligned(n * to.Type.Size()), Mask: rows.Mask}
	if im.maps == nil {
		recode.Convert(to.Type, out.Pixels, from.Type, rows.Pixels)
		return out
	}
	none, hasNone := from.NoDataValue()
	blank, _ := to.NoDataValue() // 0 without one
	blank = recode.Value(to.Type, blank)
	narrow := to.Type.Size() <= 2 || to.Type == tiff.Float32 // computed in float32, as in GDAL
	values := make([]float64, n)
	recode.ToFloats(from.Type, values, rows.Pixels)
	for i, v := range values {
		if hasNone && (v == none || v != v && none != none) {
			values[i] = blank
			continue
		}
		m := im.maps[i%from.Bands]
		if narrow {
			values[i] = float64(float32(float64(float32(v))*m.factor + m.offset))
		} else {
			values[i] = v*m.factor + m.offset
		}
	}
	recode.FromFloats(to.Type, out.Pixels, values)
	return out
}
