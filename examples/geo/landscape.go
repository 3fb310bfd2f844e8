package main

import (
	"math"

	"quern.dev/geo/fly"
	"quern.dev/geo/tiff"
)

// The landscape is a square in UTM zone 33N.
const (
	epsg           = 32633
	west, north    = 500000, 5300000 // of its corner, in meters
	pixel          = 0.5             // meters per pixel of the ground
	heightsPerCell = 2               // pixels of the ground per value of the surface, in each direction
)

// landscape is a ground and its surface.
type landscape struct {
	size   int // pixels per side of the ground
	ground *fly.Mosaic
	top    *fly.Terrain
}

// meters returns the length of a side.
func (l *landscape) meters() float64 { return float64(l.size) * pixel }

// affine maps pixels of a size in meters to coordinates.
func affine(size float64) tiff.Affine { return tiff.Affine{west, size, 0, north, 0, -size} }

// newLandscape makes a landscape of size x size pixels.
func newLandscape(size int) *landscape {
	l := &landscape{
		size:   size,
		ground: &fly.Mosaic{Width: size, Height: size, Pixels: make([]uint32, size*size), Affine: affine(pixel)},
		top:    &fly.Terrain{Width: size / heightsPerCell, Height: size / heightsPerCell, Affine: affine(pixel * heightsPerCell)},
	}
	l.top.Heights = make([]float32, l.top.Width*l.top.Height)
	for y := range l.top.Height {
		for x := range l.top.Width {
			px, py := (float64(x)+0.5)*heightsPerCell*pixel, (float64(y)+0.5)*heightsPerCell*pixel
			h := 300 + 40*noise(px/220, py/220) + 6*noise(px/40, py/40)
			if house(px, py) > 0 {
				h += 9
			}
			l.top.Heights[y*l.top.Width+x] = float32(h)
		}
	}
	for y := range size {
		for x := range size {
			l.ground.Pixels[y*size+x] = color((float64(x)+0.5)*pixel, (float64(y)+0.5)*pixel)
		}
	}
	return l
}

// Houses stand in a grid, one per lot, and not on every one.
const lot = 64 // meters

// house returns the color class of the house at a place, or 0.
func house(x, y float64) int {
	i, j := math.Floor(x/lot), math.Floor(y/lot)
	if hash(i, j) < 0.4 {
		return 0
	}
	dx, dy := x-i*lot-20-10*hash(i, -j), y-j*lot-22-8*hash(-i, j)
	if dx < 0 || dy < 0 || dx > 16 || dy > 12 {
		return 0
	}
	return 1 + int(3*hash(i+7, j))
}

// color returns the color of the ground at a place: red in the lowest byte, and opaque.
func color(x, y float64) uint32 {
	grain := 18 * (noise(x/1.5, y/1.5) - 0.5)
	field := hash(math.Floor(x/90), math.Floor(y/70))
	r, g, b := 70+70*field, 105+45*field, 55+20*field
	if int(x/3)%2 == 0 && field > 0.6 {
		r, g = r+14, g+10 // furrows
	}
	r += 30 * (noise(x/60, y/60) - 0.5)
	if math.Mod(x, lot) < 5 || math.Mod(y, lot) < 5 {
		r, g, b = 125, 122, 118 // roads
		if math.Abs(math.Mod(x, lot)-2.5) < 0.3 && math.Mod(y, 8) < 4 {
			r, g, b = 220, 220, 215
		}
	}
	if kind := house(x, y); kind > 0 {
		roof := [...][3]float64{{165, 72, 50}, {120, 60, 52}, {90, 92, 100}}[kind-1]
		r, g, b = roof[0], roof[1], roof[2]
		if math.Mod(y, 2) < 0.5 {
			r, g, b = 0.85*r, 0.85*g, 0.85*b
		}
	}
	part := func(v float64) uint32 { return uint32(max(0, min(255, math.Round(v+grain)))) }
	return part(r) | part(g)<<8 | part(b)<<16 | 0xff<<24
}

// noise is smooth noise from 0 to 1.
func noise(x, y float64) float64 {
	i, j := math.Floor(x), math.Floor(y)
	fx, fy := x-i, y-j
	fx, fy = fx*fx*(3-2*fx), fy*fy*(3-2*fy)
	return (hash(i, j)*(1-fx)+hash(i+1, j)*fx)*(1-fy) + (hash(i, j+1)*(1-fx)+hash(i+1, j+1)*fx)*fy
}

// hash is a number from 0 to 1 that looks random.
func hash(i, j float64) float64 {
	h := uint64(int64(i))*0x9e3779b97f4a7c15 ^ uint64(int64(j))*0xc2b2ae3d27d4eb4f
	h ^= h >> 29
	h *= 0xbf58476d1ce4e5b9
	h ^= h >> 32
	return float64(h>>40) / (1 << 24)
}
