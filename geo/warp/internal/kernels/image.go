package kernels

import (
	"math"

	"quern.dev/kernel"
)

// Sample is a type of samples that float64 holds exactly.
type Sample interface {
	uint8 | int8 | uint16 | int16 | uint32 | int32 | float32 | float64
}

// Source is a window of a source in device memory.
type Source struct {
	Width, Height  int // of the whole source
	X, Y, W, H     int // the window
	Bands          int // that are warped
	Stride         int // samples per pixel, alpha included
	Alpha          int // index of the alpha sample, or -1
	AlphaMax       float64
	Masked         bool    // mask has how much each pixel of the window counts, from 0, where there is no data, to 1
	NoData         bool    // values has the values without data
	XScale, YScale float64 // pixels of the output per pixel of the source; below 1 where the source is reduced
}

// Output is a tile of the output.
type Output struct {
	Width, Height int
	Bands         int // samples per pixel, alpha included
	Alpha         int // index of the alpha sample, or -1
	AlphaMax      float64
	Masked        bool // cover gets a byte per pixel, 255 where there is data
	NoData        bool // values has the values without data
	Whole         bool // a pixel has no data only if all bands have the value, so that one band may have it
	Solid         bool // what is below counts where nothing was written too
	First         bool // the tile has nothing yet
	Integer       bool
	Least, Most   float64 // of the samples' type
}

// Table has numbers per band: the source's value without data, the output's, and the value where nothing was written.
type Table struct {
	Source, Output, Start float64
}

// sparsest and thinnest are the densities below which pixels do not count.
const (
	sparsest = 1e-9
	thinnest = 1e-10
)

// plain reports whether all pixels of the source have data.
func (s *Source) plain() bool { return !s.Masked && !s.NoData && s.Alpha < 0 }

// at returns the index of a pixel in the window.
func (s *Source) at(x, y int) int { return (y-s.Y)*s.W + x - s.X }

// density returns how much a sample counts, from 0 to 1.
func density[T Sample](s *Source, table []Table, src []T, mask []float32, pixel, band int) float64 {
	if s.Masked && mask[pixel] == 0 {
		return 0
	}
	if s.NoData {
		v, none := float64(src[pixel*s.Stride+band]), table[band].Source
		if v == none || v != v && none != none {
			return 0
		}
	}
	return opacity(s, src, mask, pixel)
}

// opacity returns the alpha of a pixel, from 0 to 1, times its mask.
func opacity[T Sample](s *Source, src []T, mask []float32, pixel int) float64 {
	d := float32(1)
	if s.Alpha >= 0 {
		d = min(1, float32(float32(src[pixel*s.Stride+s.Alpha])*float32(1/s.AlphaMax)))
	}
	if s.Masked {
		d = float32(d * mask[pixel])
	}
	return float64(d)
}

// nearest returns the pixel at a position, and whether it is in the source.
func nearest(s *Source, x, y float64) (column, row int, ok bool) {
	const e = 1e-10
	if !(x >= 0 && y >= 0 && x+e <= float64(s.Width) && y+e <= float64(s.Height)) {
		return 0, 0, false
	}
	return min(int(x+e), s.Width-1), min(int(y+e), s.Height-1), true
}

// present returns the opacity of the pixel at a position: 0 if it is outside or has no data in any band.
func present[T Sample](s *Source, table []Table, src []T, mask []float32, x, y float64) float64 {
	column, row, ok := nearest(s, x, y)
	if !ok {
		return 0
	}
	pixel := s.at(column, row)
	if s.Masked && mask[pixel] == 0 {
		return 0
	}
	if s.NoData {
		any := false
		for band := 0; band < s.Bands && !any; band++ {
			v, none := float64(src[pixel*s.Stride+band]), table[band].Source
			any = !(v == none || v != v && none != none)
		}
		if !any {
			return 0
		}
	}
	return opacity(s, src, mask, pixel)
}

// start writes a pixel of a new tile.
func start[T Sample](o *Output, table []Table, pixel int, dst []T, cover []uint8) {
	if !o.First {
		return
	}
	bands := o.Bands
	if o.Alpha >= 0 {
		bands--
		dst[pixel*o.Bands+o.Alpha] = 0
	}
	for band := range bands {
		dst[pixel*o.Bands+band] = T(table[band].Start)
	}
	if o.Masked {
		cover[pixel] = 0
	}
}

// covered returns how much of a pixel of the output is opaque, from 0 to 1.
func covered[T Sample](o *Output, table []Table, pixel int, dst []T, cover []uint8) float64 {
	switch {
	case o.Alpha >= 0:
		return float64(min(1, float32(float32(dst[pixel*o.Bands+o.Alpha])*float32(1/o.AlphaMax))))
	case o.Masked && !o.Solid:
		return float64(cover[pixel] / 255)
	case o.NoData:
		for band := range o.Bands {
			v, none := float64(dst[pixel*o.Bands+band]), table[band].Output
			if !(v == none || v != v && none != none) {
				return 1
			}
		}
		return 0
	}
	return 1
}

// put blends a value over a sample of the output. below is what covered returned for the pixel.
func put[T Sample](o *Output, table []Table, pixel, band int, density, value, below float64, dst []T) {
	i := pixel*o.Bands + band
	if density < 0.9999 {
		if density < 0.0001 {
			return
		}
		rest := float64((1 - density) * below)
		value = (float64(value*density) + float64(float64(dst[i])*rest)) / (density + rest)
	}
	if !o.Integer {
		dst[i] = T(value)
		return
	}
	value = min(max(math.Floor(value+0.5), o.Least), o.Most)
	// A pixel that has data must not look like one without.
	if o.NoData && !o.Whole && value == table[band].Output {
		if value == o.Least {
			value++
		} else {
			value--
		}
	}
	dst[i] = T(value)
}

// finish marks a pixel of the output as written by one of a source.
func finish[T Sample](o *Output, pixel int, density, below float64, dst []T, cover []uint8) {
	if o.Masked {
		cover[pixel] = 255
	}
	if o.Alpha >= 0 && density >= 0.0001 {
		d := float32(1 - float64((1-density)*(1-below)))
		if o.Integer {
			dst[pixel*o.Bands+o.Alpha] = T(float32(d * (float32(o.AlphaMax) + 0.1)))
		} else {
			dst[pixel*o.Bands+o.Alpha] = T(float32(d * float32(o.AlphaMax)))
		}
	}
}

// tile returns the thread's pixel, and whether it is in the tile.
func tile(t kernel.Thread, o *Output) (pixel int, ok bool) {
	x, y := t.Global2()
	return y*o.Width + x, x < o.Width && y < o.Height
}
