package kernel

import (
	"math"
	"slices"
	"sync"
	"sync/atomic"
)

// Image is the contents of a texture on a device without texture units. It must
// not change while it is open.
type Image struct {
	Width, Height int
	Channels      int       // 1, 2 or 4
	Texels        []float32 // rows of Width elements with Channels numbers each
	AddressX      AddressMode
	AddressY      AddressMode
	Linear        bool // interpolate between neighboring elements
	Normalized    bool // coordinates from 0 to 1
}

// AddressMode defines the value of a texture outside its image.
type AddressMode uint8

// Address modes.
const (
	AddressClamp  AddressMode = iota // the nearest element of the border
	AddressBorder                    // zero
	AddressWrap                      // the image repeats; normalized coordinates only
	AddressMirror                    // the image repeats, mirrored; normalized coordinates only
)

// images holds the open images; an object is an index plus one. The list is
// copied on every change, so that reading it needs no lock.
var images struct {
	mu   sync.Mutex
	list atomic.Pointer[[]*Image]
}

// OpenImage registers the image and returns the object that textures refer to it
// by.
func OpenImage(m *Image) (object uint64) {
	images.mu.Lock()
	defer images.mu.Unlock()
	var list []*Image
	if p := images.list.Load(); p != nil {
		list = slices.Clone(*p)
	}
	i := slices.Index(list, nil)
	if i < 0 {
		i = len(list)
		list = append(list, nil)
	}
	list[i] = m
	images.list.Store(&list)
	return uint64(i) + 1
}

// CloseImage removes an image.
func CloseImage(object uint64) {
	images.mu.Lock()
	defer images.mu.Unlock()
	list := slices.Clone(*images.list.Load())
	list[object-1] = nil
	images.list.Store(&list)
}

// SampleImage returns the value of an open image at (u, v) and reports whether
// the image exists. Missing channels are 0, except for the fourth, which is 1.
func SampleImage(object uint64, u, v float32) (texel [4]float32, ok bool) {
	list := images.list.Load()
	if list == nil || object-1 >= uint64(len(*list)) || (*list)[object-1] == nil {
		return texel, false
	}
	return (*list)[object-1].sample(u, v), true
}

func (m *Image) sample(u, v float32) [4]float32 {
	if m.Normalized {
		u, v = unwrap(m.AddressX, u)*float32(m.Width), unwrap(m.AddressY, v)*float32(m.Height)
	}
	if !m.Linear {
		return m.texel(floor(u), floor(v))
	}
	x, a := split(u)
	y, b := split(v)
	var out [4]float32
	t00, t10 := m.texel(x, y), m.texel(x+1, y)
	t01, t11 := m.texel(x, y+1), m.texel(x+1, y+1)
	for c := range out {
		out[c] = float32(float32((1-a)*(1-b)*t00[c])+float32(a*(1-b)*t10[c])) + float32(float32((1-a)*b*t01[c])+float32(a*b*t11[c]))
	}
	return out
}

// unwrap maps a normalized coordinate of a repeating texture into the image.
func unwrap(mode AddressMode, u float32) float32 {
	switch mode {
	case AddressWrap:
		return u - Floor(u)
	case AddressMirror:
		f := Floor(u)
		if math.Mod(float64(f), 2) != 0 {
			return 1 - (u - f)
		}
		return u - f
	}
	return u
}

// split splits a coordinate into the element whose center is the nearest at or
// below it, and the weight of the next element, with 8 fractional bits.
func split(u float32) (i int, weight float32) {
	u -= 0.5
	f := Floor(u)
	w := RoundToEven((u-f)*256) / 256
	return floor(f), w
}

// floor returns the largest integer at or below u, limited to the range of image
// sizes.
func floor(u float32) int {
	const far = 1 << 24
	switch {
	case u >= far:
		return far
	case u > -far:
		return int(Floor(u))
	default: // also NaN
		return -far
	}
}

// texel returns an element, which may be outside the image.
func (m *Image) texel(x, y int) [4]float32 {
	out := [4]float32{0, 0, 0, 1}
	x, insideX := place(m.AddressX, x, m.Width)
	y, insideY := place(m.AddressY, y, m.Height)
	if !insideX || !insideY {
		return [4]float32{}
	}
	copy(out[:], m.Texels[(y*m.Width+x)*m.Channels:][:m.Channels])
	return out
}

// place maps an index to one within the image. It returns false if the element
// is zero.
func place(mode AddressMode, i, n int) (int, bool) {
	switch {
	case 0 <= i && i < n:
		return i, true
	case mode == AddressBorder:
		return 0, false
	case mode == AddressWrap:
		return ((i % n) + n) % n, true
	case mode == AddressMirror: // one element beyond the edge, after unwrap
		if i < 0 {
			return min(-1-i, n-1), true
		}
		return max(2*n-1-i, 0), true
	default:
		return min(max(i, 0), n-1), true
	}
}
