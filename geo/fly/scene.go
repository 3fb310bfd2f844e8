package fly

import (
	"context"
	"errors"
	"fmt"
	"io"
	"math"

	"quern.dev/geo/crs"
	"quern.dev/geo/fly/internal/kernels"
	"quern.dev/geo/tiff"
	"quern.dev/gpu"
	"quern.dev/kernel"
)

// Options say how a scene is loaded. The zero value is usable.
type Options struct {
	// Memory is roughly how much memory on the device, and on the host, the scene may take: 2 GiB by default. Images that
	// are too large are read from an overview, or reduced.
	Memory int64
	// Bands of the mosaic: red, green and blue, or one. nil means the first three, or the first one.
	Bands []int
	// Low and High are the values that become 0 and 255. If they are equal, these are 0 and 255 for bytes, and for other
	// types the least and the greatest value.
	Low, High float64
	// HeightScale multiplies the heights of the terrain: meters per unit, or an exaggeration. 0 means 1.
	HeightScale float64
	// Sun lights the terrain. nil means that the mosaic's colors are shown as they are.
	Sun *Sun
	// Preview keeps a texture of the mosaic too, which takes as much memory again; see [Texture].
	Preview bool
	// Progress is called after rows were read. It may be nil.
	Progress func(what string, done, total int)
}

// Sun is where light comes from.
type Sun struct {
	Azimuth, Elevation float64 // degrees; the azimuth is clockwise from the north
	// Ambient is the light, from 0 to 1, where the sun does not reach. Flat ground in the sun has 1.
	Ambient float64
	// Shadows are those that the terrain casts.
	Shadows bool
}

// Mosaic is an image of the ground in host memory.
type Mosaic struct {
	Width, Height int
	// Pixels have red in the lowest byte, then green, blue and alpha. Colors are multiplied by alpha/255.
	Pixels []uint32
	Affine tiff.Affine // from pixels to coordinates
}

// Terrain is a height field in host memory.
type Terrain struct {
	Width, Height int
	Heights       []float32 // in meters; NaN where there is no surface
	Affine        tiff.Affine
}

// Scene is a mosaic over a terrain, in the memory of a device. It is safe for concurrent use, except Close.
type Scene struct {
	dev    *gpu.Device
	system *crs.CRS // or nil
	unit   float64  // meters per unit of the coordinates
	origin [2]float64
	lowest float64 // of the heights
	size   [2]float64
	center [2]float64

	terrain      Terrain
	toCell       affine // from meters to samples of the terrain
	toTexel      affine // from meters to texels
	mosaic       [2]int // width and height
	shape        kernels.Terrain
	heights      *gpu.Buffer[float32]
	tops         *gpu.Buffer[float32]
	levels, mips *gpu.Buffer[kernels.Level]
	light        *gpu.Buffer[float32]
	texels       *gpu.Buffer[uint32]
	atlas        *gpu.Texture2D[kernel.Vec4[float32]]
}

// affine is a transform of the plane: m*(x, y) + t.
type affine struct {
	m [4]float64
	t [2]float64
}

func (a affine) apply(x, y float64) (float64, float64) {
	return a.m[0]*x + a.m[1]*y + a.t[0], a.m[2]*x + a.m[3]*y + a.t[1]
}

// inverse returns the transform from coordinates to pixels.
func inverse(a tiff.Affine) (affine, bool) {
	det := a[1]*a[5] - a[2]*a[4]
	if det == 0 || !finite(det) || !finite(a[0]) || !finite(a[3]) {
		return affine{}, false
	}
	m := [4]float64{a[5] / det, -a[2] / det, -a[4] / det, a[1] / det}
	return affine{m, [2]float64{-m[0]*a[0] - m[1]*a[3], -m[2]*a[0] - m[3]*a[3]}}, true
}

// Memory that a texel and a sample of the terrain take, on the host and on the device.
const (
	texelBytes  = 12
	heightBytes = 20
)

// Load reads a mosaic and a terrain. They may have different coordinate systems: the scene has that of the mosaic if it is
// a projected one, and otherwise a UTM zone, to which the images are warped. Heights of more than 1000 km count as no data.
func Load(ctx context.Context, dev *gpu.Device, mosaic, dem *tiff.Image, o Options) (*Scene, error) {
	if o.Memory == 0 {
		o.Memory = 2 << 30
	}
	texel := int64(texelBytes)
	if o.Preview {
		texel += 8
	}
	if o.Memory < 1<<20 {
		return nil, fail(ErrMemory, "load", "Memory", "%d bytes: want at least 1 MiB", o.Memory)
	}
	system, target, err := systems(mosaic, dem)
	if err != nil {
		return nil, err
	}
	var closers []io.Closer
	defer func() {
		for _, c := range closers {
			c.Close()
		}
	}()
	open := func(name string, im *tiff.Image, from *crs.CRS, limit int64) (*raster, int, error) {
		if target == nil || same(from, target) {
			a, ok := im.Geo.Affine()
			if !ok {
				return nil, 0, fail(ErrPlace, "load", name, "the image has no affine georeference")
			}
			r, factor := rasterOf(name, im, a, limit)
			return r, factor, nil
		}
		r, w, err := warped(name, dev, im, target, o.Memory)
		if err != nil {
			return nil, 0, err
		}
		closers = append(closers, w)
		return r, reduction(r.header.Width, r.header.Height, limit), nil
	}
	progress := func(what string) func(done, total int) {
		if o.Progress == nil {
			return nil
		}
		return func(done, total int) { o.Progress(what, done, total) }
	}
	r, factor, err := open("dem", dem, system[1], o.Memory/3/heightBytes)
	if err != nil {
		return nil, err
	}
	scale := o.HeightScale
	if scale == 0 {
		scale = 1
	}
	t, err := r.heights(ctx, factor, scale, progress("dem"))
	if err != nil {
		return nil, err
	}
	r, factor, err = open("mosaic", mosaic, system[0], o.Memory*2/3/texel)
	if err != nil {
		return nil, err
	}
	m, err := r.colors(ctx, factor, o, progress("mosaic"))
	if err != nil {
		return nil, err
	}
	return NewScene(ctx, dev, m, t, target, o)
}

// systems returns the systems of the mosaic and the DEM, and that of the scene; nil if the images have none.
func systems(mosaic, dem *tiff.Image) (own [2]*crs.CRS, target *crs.CRS, err error) {
	for i, im := range []*tiff.Image{mosaic, dem} {
		if len(im.Geo.Keys) == 0 {
			continue
		}
		if own[i], err = crs.FromGeoKeys(im.Geo.Keys); err != nil {
			return own, nil, fmt.Errorf("fly: load: %s: %w", [2]string{"mosaic", "dem"}[i], err)
		}
	}
	if own[0] == nil && own[1] == nil {
		return own, nil, nil
	}
	if own[0] == nil || own[1] == nil {
		return own, nil, fail(ErrPlace, "load", "mosaic and dem", "only one of them has a coordinate system")
	}
	switch own[0].Kind() {
	case crs.Projected:
		return own, own[0], nil
	case crs.Geographic:
		a, ok := mosaic.Geo.Affine()
		if !ok {
			return own, nil, fail(ErrPlace, "load", "mosaic", "the image has no affine georeference")
		}
		w, h := float64(mosaic.Width)/2, float64(mosaic.Height)/2
		lon, lat := a[0]+a[1]*w+a[2]*h, a[3]+a[4]*w+a[5]*h
		code := 32601 + int(math.Floor((lon+180)/6))%60
		if lat < 0 {
			code += 100
		}
		target, err = crs.EPSG(code)
		return own, target, err
	}
	return own, nil, fail(ErrPlace, "load", "mosaic", "coordinates from the center of the Earth")
}

func same(a, b *crs.CRS) bool { return a == b || a.Code() != 0 && a.Code() == b.Code() }

// NewScene copies a mosaic and a terrain to a device. Their coordinates are those of system, which may be nil if they are
// in meters. It uses only Sun and Preview of the options.
func NewScene(ctx context.Context, dev *gpu.Device, m *Mosaic, t *Terrain, system *crs.CRS, o Options) (*Scene, error) {
	if m.Width < 1 || m.Height < 1 || len(m.Pixels) != m.Width*m.Height {
		return nil, fail(ErrArgument, "load", "mosaic", "%d pixels for a size of %d x %d", len(m.Pixels), m.Width, m.Height)
	}
	if t.Width < 2 || t.Height < 2 || len(t.Heights) != t.Width*t.Height {
		return nil, fail(ErrArgument, "load", "dem", "%d samples for a size of %d x %d: want at least 2 x 2", len(t.Heights), t.Width, t.Height)
	}
	s := &Scene{dev: dev, system: system, unit: 1, terrain: *t, mosaic: [2]int{m.Width, m.Height}, lowest: math.Inf(1)}
	if system != nil && system.Kind() == crs.Projected {
		s.unit = system.Axes()[0].Unit
	}
	for _, h := range t.Heights {
		if h == h {
			s.lowest = min(s.lowest, float64(h))
		}
	}
	if math.IsInf(s.lowest, 1) {
		return nil, fail(ErrArgument, "load", "dem", "no sample has a height")
	}
	w, h := float64(m.Width), float64(m.Height)
	s.center = [2]float64{m.Affine[0] + m.Affine[1]*w/2 + m.Affine[2]*h/2, m.Affine[3] + m.Affine[4]*w/2 + m.Affine[5]*h/2}
	s.size = [2]float64{s.unit * (math.Abs(m.Affine[1])*w + math.Abs(m.Affine[2])*h), s.unit * (math.Abs(m.Affine[4])*w + math.Abs(m.Affine[5])*h)}
	s.origin = [2]float64{math.Round(s.center[0] * s.unit), math.Round(s.center[1] * s.unit)}
	var ok, okToo bool
	s.toCell, ok = inverse(s.local(t.Affine))
	s.toTexel, okToo = inverse(s.local(m.Affine))
	if !ok || !okToo {
		return nil, fail(ErrPlace, "load", "mosaic and dem", "an affine transform has no inverse")
	}
	// The samples are at the centers of pixels.
	s.toCell.t[0] -= 0.5
	s.toCell.t[1] -= 0.5
	if err := s.upload(ctx, m, o); err != nil {
		return nil, errors.Join(err, s.Close())
	}
	return s, nil
}

// local returns a transform to meters from the origin.
func (s *Scene) local(a tiff.Affine) tiff.Affine {
	for i := range a {
		a[i] *= s.unit
	}
	a[0] -= s.origin[0]
	a[3] -= s.origin[1]
	return a
}

func (s *Scene) toMeters(x, y float64) (float64, float64) {
	return x*s.unit - s.origin[0], y*s.unit - s.origin[1]
}

func (s *Scene) toMap(x, y float64) (float64, float64) {
	return (x + s.origin[0]) / s.unit, (y + s.origin[1]) / s.unit
}

// upload copies the scene and computes what follows from it.
func (s *Scene) upload(ctx context.Context, m *Mosaic, o Options) (err error) {
	st, err := s.dev.NewStream(ctx)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, st.Close()) }()
	if s.heights, err = gpu.Upload(st, s.terrain.Heights); err != nil {
		return err
	}
	levels, n := topLevels(s.terrain.Width-1, s.terrain.Height-1)
	s.shape = kernels.Terrain{Width: int32(s.terrain.Width), Height: int32(s.terrain.Height), Top: int32(len(levels) - 1)}
	mips, stride, rows := mipLevels(m.Width, m.Height)
	if s.levels, err = gpu.Upload(st, levels); err != nil {
		return err
	}
	if s.mips, err = gpu.Upload(st, mips); err != nil {
		return err
	}
	if s.tops, err = gpu.Alloc[float32](s.dev, n); err != nil {
		return err
	}
	if s.light, err = gpu.Alloc[float32](s.dev, len(s.terrain.Heights)); err != nil {
		return err
	}
	if s.texels, err = gpu.Alloc[uint32](s.dev, stride*rows); err != nil {
		return err
	}
	for i, l := range levels {
		grid := gpu.Plane(int(l.Width), int(l.Height))
		if i == 0 {
			err = kernels.LaunchFirstTops(st, grid, s.shape, l, s.heights, s.tops)
		} else {
			err = kernels.LaunchNextTops(st, grid, levels[i-1], l, s.tops)
		}
		if err != nil {
			return err
		}
	}
	if err := s.lighten(st, o.Sun); err != nil {
		return err
	}
	if err := gpu.Zero(st, s.texels); err != nil {
		return err
	}
	if err := gpu.CopyInBox(st, s.texels, gpu.Rect(int(mips[0].Left), int(mips[0].Above), m.Width, m.Height, stride), m.Pixels, gpu.Rect(0, 0, m.Width, m.Height, m.Width)); err != nil {
		return err
	}
	for i := 1; i < len(mips); i++ {
		if err := kernels.LaunchHalve(st, gpu.Plane(int(mips[i].Width), int(mips[i].Height)), mips[i-1], mips[i], s.texels); err != nil {
			return err
		}
	}
	if o.Preview {
		atlas := make([]uint8, 4*stride*rows)
		if err := gpu.Download(ctx, st, atlas, gpu.Reinterpret[uint8](s.texels)); err != nil {
			return err
		}
		s.atlas, err = gpu.NewTexture2D[kernel.Vec4[float32]](st, stride, rows, atlas, gpu.TextureOptions{Filter: gpu.FilterLinear, AddressX: kernel.AddressBorder, AddressY: kernel.AddressBorder})
		if err != nil {
			return err
		}
	}
	return st.Synchronize(ctx)
}

// lighten computes the light on the terrain.
func (s *Scene) lighten(st *gpu.Stream, sun *Sun) error {
	if sun == nil {
		return gpu.Fill(st, s.light, 1)
	}
	if !(sun.Elevation > 0 && sun.Elevation <= 90) || !(sun.Ambient >= 0 && sun.Ambient <= 1) || !finite(sun.Azimuth) {
		return fail(ErrArgument, "load", "Sun", "azimuth %g, elevation %g, ambient %g: want an elevation above 0 to 90 and an ambient light of 0 to 1", sun.Azimuth, sun.Elevation, sun.Ambient)
	}
	d := direction(sun.Azimuth, sun.Elevation)
	cells := floats[float32](s.toCell.m)
	// Rays to the sun start above the ground by a part of the distance of two samples: interpolation is not exact there.
	step := 1 / math.Sqrt(math.Abs(s.toCell.m[0]*s.toCell.m[3]-s.toCell.m[1]*s.toCell.m[2]))
	k := kernels.Sun{Direction: vector[float32](d), Ambient: float32(sun.Ambient), Shadows: sun.Shadows, Offset: float32(step / 64)}
	return kernels.LaunchShade(st, gpu.Plane(s.terrain.Width, s.terrain.Height), s.shape, k, cells, s.heights, s.tops, s.levels, s.light)
}

func vector[F kernel.Float](v vec) kernel.Vec3[F] { return kernel.V3(F(v.x), F(v.y), F(v.z)) }

func floats[F kernel.Float](m [4]float64) [4]F {
	return [4]F{F(m[0]), F(m[1]), F(m[2]), F(m[3])}
}

// topLevels returns the levels of the pyramid of heights, from the cells to one node.
func topLevels(width, height int) (levels []kernels.Level, elements int) {
	for {
		levels = append(levels, kernels.Level{Offset: elements, Stride: int32(width), Width: int32(width), Height: int32(height)})
		elements += width * height
		if width == 1 && height == 1 {
			return levels, elements
		}
		width, height = (width+1)/2, (height+1)/2
	}
}

// gap is how many transparent texels are beside a level.
const gap = 2

// mipLevels returns the levels of the mosaic, which lie in one image with transparent texels around them: level 0 to the
// left, and to the right the others, one below the other.
func mipLevels(width, height int) (levels []kernels.Level, stride, rows int) {
	// What is to the right of a row is to the left of the next one.
	stride = gap + width + gap + (width+1)/2
	left, y := gap, gap
	for {
		levels = append(levels, kernels.Level{Offset: y*stride + left, Stride: int32(stride), Width: int32(width), Height: int32(height), Left: int32(left), Above: int32(y)})
		rows = max(rows, y+height+gap)
		if width == 1 && height == 1 {
			return levels, stride, rows + 1 // the last texel is beside the last row
		}
		if len(levels) == 1 {
			left += width + gap
		} else {
			y += height + gap
		}
		width, height = (width+1)/2, (height+1)/2
	}
}

// Close frees the memory on the device. Closing again does nothing.
func (s *Scene) Close() error {
	var errs []error
	for _, b := range []*gpu.Buffer[float32]{s.heights, s.tops, s.light} {
		if b != nil {
			errs = append(errs, b.Close())
		}
	}
	for _, b := range []*gpu.Buffer[kernels.Level]{s.levels, s.mips} {
		if b != nil {
			errs = append(errs, b.Close())
		}
	}
	if s.texels != nil {
		errs = append(errs, s.texels.Close())
	}
	if s.atlas != nil {
		errs = append(errs, s.atlas.Close())
	}
	return errors.Join(errs...)
}

// CRS returns the coordinate system, or nil if there is none.
func (s *Scene) CRS() *crs.CRS { return s.system }

// Center returns the center of the mosaic, in its coordinates.
func (s *Scene) Center() (x, y float64) { return s.center[0], s.center[1] }

// Size returns the width and the height of the mosaic's bounding box in meters.
func (s *Scene) Size() (width, height float64) { return s.size[0], s.size[1] }

// Texels returns the width and the height of the mosaic in memory, which is smaller than the file if it was reduced.
func (s *Scene) Texels() (width, height int) { return s.mosaic[0], s.mosaic[1] }

// Ground returns the height of the terrain at a place in the mosaic's coordinates. It is false where there is none.
func (s *Scene) Ground(x, y float64) (height float64, ok bool) {
	return s.ground(s.toMeters(x, y))
}

// ground is Ground in meters from the origin.
func (s *Scene) ground(x, y float64) (float64, bool) {
	cx, cy := s.toCell.apply(x, y)
	w, h := s.terrain.Width, s.terrain.Height
	if !(cx >= 0 && cy >= 0 && cx <= float64(w-1) && cy <= float64(h-1)) {
		return 0, false
	}
	ix, iy := min(int(cx), w-2), min(int(cy), h-2)
	u, v := cx-float64(ix), cy-float64(iy)
	z := s.terrain.Heights[iy*w+ix:]
	top := float64(z[0]) + u*(float64(z[1])-float64(z[0]))
	bottom := float64(z[w]) + u*(float64(z[w+1])-float64(z[w]))
	height := top + v*(bottom-top)
	return height, !math.IsNaN(height)
}
