package fly

import (
	"context"
	"fmt"
	"math"
	"runtime"
	"sync"
	"unsafe"

	"quern.dev/geo/crs"
	"quern.dev/geo/tiff"
	"quern.dev/geo/warp"
	"quern.dev/gpu"
)

// raster is an image that is read in rows, from the top to the bottom: an image of a file, or one that is warped.
type raster struct {
	name   string
	header tiff.Header
	affine tiff.Affine // from pixels to the coordinates of the scene's system
	masked bool
	read   func(ctx context.Context, y, rows int, pixels, mask []byte) error
}

// rasterOf returns an image of a file, and by how many pixels it has to be reduced so that at most limit remain: of the
// image and its overviews, the one that leaves most, and of several, the smallest.
func rasterOf(name string, im *tiff.Image, affine tiff.Affine, limit int64) (*raster, int) {
	chosen, factor := im, reduction(im.Width, im.Height, limit)
	for _, o := range im.Overviews() {
		if f := reduction(o.Width, o.Height, limit); o.Width/f >= chosen.Width/factor {
			chosen, factor = o, f
		}
	}
	affine = scaled(affine, float64(im.Width)/float64(chosen.Width), float64(im.Height)/float64(chosen.Height))
	mask := chosen.Mask()
	return &raster{name: name, header: chosen.Header, affine: affine, masked: mask != nil, read: func(ctx context.Context, y, rows int, pixels, cover []byte) error {
		r := tiff.Region{Y: y, Width: chosen.Width, Height: rows}
		if err := chosen.ReadRegion(ctx, pixels, r); err != nil {
			return err
		}
		if mask == nil {
			return nil
		}
		return mask.ReadRegion(ctx, cover, r)
	}}, factor
}

// reduction returns the least factor by which an image has to be smaller.
func reduction(width, height int, limit int64) int {
	f := 1
	for int64((width+f-1)/f)*int64((height+f-1)/f) > limit {
		f++
	}
	return f
}

// scaled returns the transform of an image whose pixels are larger.
func scaled(a tiff.Affine, x, y float64) tiff.Affine {
	return tiff.Affine{a[0], a[1] * x, a[2] * y, a[3], a[4] * x, a[5] * y}
}

// warped returns an image in another system. The caller closes the warper.
func warped(name string, dev *gpu.Device, im *tiff.Image, target *crs.CRS, memory int64) (*raster, *warp.Warper, error) {
	w, err := warp.New(dev, []*tiff.Image{im}, warp.Options{Target: target, Resampling: warp.Bilinear, Memory: min(memory, 512<<20), Alpha: im.Bands > 1})
	if err != nil {
		return nil, nil, fmt.Errorf("fly: load: %s: %w", name, err)
	}
	h := w.Header()
	return &raster{name: name, header: h, affine: w.Grid().Affine, masked: w.Masked(), read: func(ctx context.Context, y, rows int, pixels, mask []byte) error {
		return w.Read(ctx, tiff.Region{Y: y, Width: h.Width, Height: rows}, pixels, mask)
	}}, w, nil
}

// pixelRow is a row of samples in memory.
type pixelRow struct {
	bytes []byte
	mask  []byte // or nil
}

// rows reads all rows in strips, and calls do for each group of factor rows on several goroutines.
func (r *raster) rows(ctx context.Context, factor int, progress func(done, total int), do func(out int, rows []pixelRow)) error {
	pitch := r.header.Width * r.header.Bands * r.header.Type.Size()
	strip := max(factor, (32<<20)/pitch/factor*factor)
	words := make([]complex128, (min(strip, r.header.Height)*pitch+15)/16) // aligned for every type
	pixels := tiff.Bytes(words)
	var mask []byte
	if r.masked {
		mask = make([]byte, min(strip, r.header.Height)*r.header.Width)
	}
	for y := 0; y < r.header.Height; y += strip {
		n := min(strip, r.header.Height-y)
		var cover []byte
		if r.masked {
			cover = mask[:n*r.header.Width]
		}
		if err := r.read(ctx, y, n, pixels[:n*pitch], cover); err != nil {
			return fmt.Errorf("fly: load: %s: %w", r.name, err)
		}
		groups := (n + factor - 1) / factor
		parallel(groups, func(g int) {
			var rows []pixelRow
			for k := g * factor; k < min((g+1)*factor, n); k++ {
				row := pixelRow{bytes: pixels[k*pitch : (k+1)*pitch]}
				if r.masked {
					row.mask = mask[k*r.header.Width : (k+1)*r.header.Width]
				}
				rows = append(rows, row)
			}
			do(y/factor+g, rows)
		})
		if progress != nil {
			progress(y+n, r.header.Height)
		}
	}
	return nil
}

// parallel calls f for 0 to n-1 on all cores.
func parallel(n int, f func(i int)) {
	workers := min(runtime.GOMAXPROCS(0), n)
	var wg sync.WaitGroup
	for w := range workers {
		wg.Go(func() {
			for i := w; i < n; i += workers {
				f(i)
			}
		})
	}
	wg.Wait()
}

// sampler returns a function that reads a sample of a row as a number.
func sampler(t tiff.Type) (func(row []byte, i int) float64, bool) {
	switch t {
	case tiff.Uint8:
		return func(row []byte, i int) float64 { return float64(row[i]) }, true
	case tiff.Int8:
		return numbers[int8], true
	case tiff.Uint16:
		return numbers[uint16], true
	case tiff.Int16:
		return numbers[int16], true
	case tiff.Uint32:
		return numbers[uint32], true
	case tiff.Int32:
		return numbers[int32], true
	case tiff.Float32:
		return numbers[float32], true
	case tiff.Float64:
		return numbers[float64], true
	}
	return nil, false
}

// numbers reads a sample. Rows begin at multiples of its size.
func numbers[T int8 | uint16 | int16 | uint32 | int32 | float32 | float64](row []byte, i int) float64 {
	var v T
	at := i * int(unsafe.Sizeof(v))
	_ = row[at+int(unsafe.Sizeof(v))-1]
	return float64(*(*T)(unsafe.Pointer(&row[at])))
}

// heights reads a height field whose samples are the means of factor x factor samples that have data, in meters; NaN
// where there are none.
func (r *raster) heights(ctx context.Context, factor int, scale float64, progress func(done, total int)) (*Terrain, error) {
	sample, ok := sampler(r.header.Type)
	if !ok {
		return nil, fail(ErrArgument, "load", r.name, "samples of %v are not supported", r.header.Type)
	}
	none, hasNone := r.header.NoDataValue()
	out := &Terrain{Width: (r.header.Width + factor - 1) / factor, Height: (r.header.Height + factor - 1) / factor, Affine: scaled(r.affine, float64(factor), float64(factor))}
	out.Heights = make([]float32, out.Width*out.Height)
	err := r.rows(ctx, factor, progress, func(y int, rows []pixelRow) {
		for x := range out.Width {
			sum, n := 0.0, 0
			for _, row := range rows {
				for k := x * factor; k < min((x+1)*factor, r.header.Width); k++ {
					v := sample(row.bytes, k*r.header.Bands)
					if hasNone && v == none || math.IsNaN(v) || math.Abs(v) > 1e6 || row.mask != nil && row.mask[k] == 0 {
						continue
					}
					sum += v
					n++
				}
			}
			h := float32(math.NaN())
			if n > 0 {
				h = float32(sum / float64(n) * scale)
			}
			out.Heights[y*out.Width+x] = h
		}
	})
	return out, err
}

// colors reads a mosaic whose texels are the means of factor x factor pixels.
func (r *raster) colors(ctx context.Context, factor int, o Options, progress func(done, total int)) (*Mosaic, error) {
	sample, ok := sampler(r.header.Type)
	if !ok {
		return nil, fail(ErrArgument, "load", r.name, "samples of %v are not supported", r.header.Type)
	}
	alpha := -1
	if n := len(r.header.Extra); n > 0 && r.header.Extra[n-1] != tiff.Unspecified {
		alpha = r.header.Bands - 1
	}
	bands, err := r.bands(o.Bands, alpha)
	if err != nil {
		return nil, err
	}
	low, high := o.Low, o.High
	if low == high {
		if r.header.Type == tiff.Uint8 || r.header.Palette != nil {
			low, high = 0, 255
		} else if low, high, err = r.limits(ctx, sample, bands); err != nil {
			return nil, err
		}
	}
	opaque := 255.0
	if r.header.Type == tiff.Uint16 {
		opaque = 65535
	}
	gain := 255 / (high - low)
	none, hasNone := r.header.NoDataValue()
	associated := alpha >= 0 && r.header.Extra[len(r.header.Extra)-1] == tiff.AssociatedAlpha
	out := &Mosaic{Width: (r.header.Width + factor - 1) / factor, Height: (r.header.Height + factor - 1) / factor, Affine: scaled(r.affine, float64(factor), float64(factor))}
	out.Pixels = make([]uint32, out.Width*out.Height)
	err = r.rows(ctx, factor, progress, func(y int, rows []pixelRow) {
		for x := range out.Width {
			var sum [4]float64
			n := 0.0
			for _, row := range rows {
				for k := x * factor; k < min((x+1)*factor, r.header.Width); k++ {
					n++
					at := k * r.header.Bands
					if row.mask != nil && row.mask[k] == 0 {
						continue
					}
					opacity := 1.0
					if alpha >= 0 {
						opacity = min(sample(row.bytes, at+alpha)/opaque, 1)
					}
					var c [3]float64
					empty := hasNone
					for i, band := range bands {
						c[i] = sample(row.bytes, at+band)
						empty = empty && c[i] == none || math.IsNaN(c[i])
					}
					if empty || opacity <= 0 {
						continue
					}
					if p := r.header.Palette; p != nil {
						color := p[min(int(c[0]), len(p)-1)]
						c = [3]float64{float64(color.R) / 257, float64(color.G) / 257, float64(color.B) / 257}
					}
					for i := range c {
						v := min(max((c[i]-low)*gain, 0), 255)
						if !associated {
							v *= opacity
						}
						sum[i] += v
					}
					sum[3] += 255 * opacity
				}
			}
			texel := uint32(0)
			for i := range sum {
				texel |= uint32(sum[i]/n+0.5) << (8 * i)
			}
			out.Pixels[y*out.Width+x] = texel
		}
	})
	return out, err
}

// bands returns the bands of red, green and blue.
func (r *raster) bands(chosen []int, alpha int) ([3]int, error) {
	colors := r.header.Bands
	if alpha >= 0 {
		colors--
	}
	switch {
	case len(chosen) == 1:
		chosen = []int{chosen[0], chosen[0], chosen[0]}
	case len(chosen) == 0 && colors >= 3:
		chosen = []int{0, 1, 2}
	case len(chosen) == 0:
		chosen = []int{0, 0, 0}
	case len(chosen) != 3:
		return [3]int{}, fail(ErrArgument, "load", r.name, "%d bands are chosen: want 1 or 3", len(chosen))
	}
	for _, b := range chosen {
		if b < 0 || b >= r.header.Bands {
			return [3]int{}, fail(ErrArgument, "load", r.name, "band %d is chosen of %d", b, r.header.Bands)
		}
	}
	return [3]int(chosen), nil
}

// limits returns the least and the greatest sample.
func (r *raster) limits(ctx context.Context, sample func([]byte, int) float64, bands [3]int) (low, high float64, err error) {
	none, hasNone := r.header.NoDataValue()
	low, high = math.Inf(1), math.Inf(-1)
	var mu sync.Mutex
	err = r.rows(ctx, 1, nil, func(_ int, rows []pixelRow) {
		least, most := math.Inf(1), math.Inf(-1)
		for x := range r.header.Width {
			if rows[0].mask != nil && rows[0].mask[x] == 0 {
				continue
			}
			for _, b := range bands {
				if v := sample(rows[0].bytes, x*r.header.Bands+b); !math.IsNaN(v) && !(hasNone && v == none) {
					least, most = min(least, v), max(most, v)
				}
			}
		}
		mu.Lock()
		low, high = min(low, least), max(high, most)
		mu.Unlock()
	})
	if err == nil && !(low < high) {
		low, high = 0, 1
	}
	return low, high, err
}
