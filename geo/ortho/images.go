package ortho

import (
	"cmp"
	"container/list"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"sync"
	"sync/atomic"

	"quern.dev/geo/crs"
	"quern.dev/geo/internal/blocks"
	"quern.dev/geo/tiff"
	"quern.dev/geo/warp"
	"quern.dev/gpu"
)

// Images orthorectifies many images that are read as if each were in a file: as sources of a mosaic, for example. Nothing is
// written. It is safe for concurrent use, except Close.
type Images struct {
	dev     *gpu.Device
	surface *Surface
	slots   chan struct{} // one for each image that may be on the device
	cache   *blocks.Cache // of computed blocks

	mu     sync.Mutex
	opt    Options
	plans  []*plan
	open   map[levelID]*list.Element
	recent *list.List // of *resident, the most recently used first
	closed atomic.Bool
}

type levelID struct{ image, level int }

// resident is an image on the device, or an overview.
type resident struct {
	id    levelID
	image *Image
	users int
}

// blockID is a block of an image, of its mask or of an overview.
type blockID struct {
	image       int
	level, x, y int
	mask        bool
}

var errClosed = failf(ErrArgument, "read: the images are closed")

// imageBytes is how much of Options.Memory an image on the device has, of one half. Computed blocks have the other half.
const imageBytes = 32 << 20

// blockSide is the default width and height of blocks.
const blockSide = 512

// overviewSide is the most pixels that the smallest overview has in x or y.
const overviewSide = 256

// NewImages returns a set without images. The surface must stay open.
//
// All images have the same resolution, if Options.Resolution is not given that of the first one, and pixels at multiples of it: a
// mosaic with this resolution and AlignPixels takes them as they are. Options.Memory bounds the set, whatever the number of
// images: only a few are on the device at a time, and computed blocks are kept as long as there is room. TileWidth and TileHeight
// are those of blocks, by default 512, which are computed as a whole. Progress and File are not used.
func NewImages(dev *gpu.Device, surface *Surface, o Options) *Images {
	o.AlignPixels, o.Progress = true, nil
	o.Memory = cmp.Or(o.Memory, defaultMemory)
	o.TileWidth, o.TileHeight = cmp.Or(o.TileWidth, blockSide), cmp.Or(o.TileHeight, blockSide)
	half := max(o.Memory/2, 1)
	n := min(max(half/imageBytes, 2), 32)
	o.Memory = max(half/n, 1)
	return &Images{dev: dev, surface: surface, opt: o, cache: blocks.New(half), slots: make(chan struct{}, n), open: map[levelID]*list.Element{}, recent: list.New()}
}

// Add adds an image, which must stay open. The pixels of the file are those that [File] writes with the same resolution and
// AlignPixels. Its overviews are computed for coarser pixels, from the mean of what they show, and so are cheap. Reads fail after Close.
func (s *Images) Add(ctx context.Context, im *tiff.Image, sensor *Sensor) (*tiff.File, error) {
	p, err := s.plan(ctx, im, sensor)
	if err != nil {
		return nil, err
	}
	s.mu.Lock()
	s.plans = append(s.plans, p)
	n := len(s.plans) - 1
	s.mu.Unlock()
	r, err := s.acquire(ctx, levelID{n, 0})
	if err != nil {
		return nil, err
	}
	defer s.release(r)
	v := tiff.Virtual{Modified: im.Modified(), Version: p.version(), Header: r.image.Header(), BlockWidth: s.opt.TileWidth, BlockHeight: s.opt.TileHeight, Mask: r.image.Masked(),
		Read: func(ctx context.Context, b tiff.VirtualBlock, dst []byte) error {
			if s.closed.Load() {
				return errClosed
			}
			return s.read(ctx, n, b, dst)
		}}
	for w, h := v.Header.Width, v.Header.Height; max(w, h) > overviewSide; {
		w, h = (w+1)/2, (h+1)/2
		v.Overviews = append(v.Overviews, [2]int{w, h})
	}
	return tiff.NewVirtual(v)
}

// plan prepares an image. The first one decides on the resolution.
func (s *Images) plan(ctx context.Context, im *tiff.Image, sensor *Sensor) (*plan, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	o := s.opt
	o.AlignPixels = o.Resolution[0] != 0
	p, err := newPlan(ctx, im, sensor, s.surface, o)
	if err != nil || o.AlignPixels {
		return p, err
	}
	s.opt.Resolution = [2]float64{p.footprint.size, p.footprint.size}
	p.opt = s.opt
	p.grid, err = p.opt.grid(p.grid.CRS, p.footprint)
	return p, err
}

// version stands for what the pixels depend on besides the image: where the sensor is, the surface, and the options.
func (p *plan) version() string {
	h := sha256.New()
	o, s := &p.opt, p.surface
	fmt.Fprintln(h, p.scene.sensor.crs, p.scene.sensor.view, p.scene.forward, p.grid.CRS, p.grid.Affine)
	fmt.Fprintln(h, s.crs, s.affine, s.scale, s.offset, s.least, s.most)
	if s.im != nil {
		fmt.Fprintln(h, s.im.Width, s.im.Height, s.im.Modified().UnixNano())
	}
	fmt.Fprintln(h, o.Resampling, o.SeeThrough, o.Tolerance, o.SourceNoData, o.NoData, o.Alpha, o.Opaque)
	return hex.EncodeToString(h.Sum(nil))
}

// level returns the grid and the options of an overview, or of the image.
func (p *plan) level(level int) (warp.Grid, Options) {
	g, o := p.grid, p.opt
	if level == 0 {
		return g, o
	}
	for range level {
		g.Width, g.Height = (g.Width+1)/2, (g.Height+1)/2
	}
	g.Affine[1] *= float64(p.grid.Width) / float64(g.Width)
	g.Affine[5] *= float64(p.grid.Height) / float64(g.Height)
	if o.Resampling = warp.Average; p.im.Photometric == tiff.Palette || p.im.Type.Complex() {
		o.Resampling = warp.Nearest
	}
	return g, o
}

// acquire brings an image to the device, or an overview, and keeps it there until release.
func (s *Images) acquire(ctx context.Context, id levelID) (*resident, error) {
	select {
	case s.slots <- struct{}{}:
	case <-ctx.Done():
		return nil, context.Cause(ctx)
	}
	r, err := s.bring(id)
	if err != nil {
		<-s.slots
	}
	return r, err
}

func (s *Images) bring(id levelID) (*resident, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.closed.Load() {
		return nil, errClosed
	}
	e, ok := s.open[id]
	if !ok {
		if err := s.makeRoom(); err != nil {
			return nil, err
		}
		p := s.plans[id.image]
		g, o := p.level(id.level)
		m, err := p.open(s.dev, &g, &o)
		if err != nil {
			return nil, err
		}
		e = s.recent.PushBack(&resident{id: id, image: m})
		s.open[id] = e
	}
	s.recent.MoveToFront(e)
	r := e.Value.(*resident)
	r.users++
	return r, nil
}

// makeRoom removes images that are not in use from the device. Those in use are fewer than the slots.
func (s *Images) makeRoom() error {
	for e := s.recent.Back(); e != nil && s.recent.Len() >= cap(s.slots); {
		r, before := e.Value.(*resident), e.Prev()
		if r.users == 0 {
			s.recent.Remove(e)
			delete(s.open, r.id)
			if err := r.image.Close(); err != nil {
				return err
			}
		}
		e = before
	}
	return nil
}

func (s *Images) release(r *resident) {
	s.mu.Lock()
	r.users--
	s.mu.Unlock()
	<-s.slots
}

// read reads a block of an image. The cache has blocks without what is beyond the image.
func (s *Images) read(ctx context.Context, image int, b tiff.VirtualBlock, dst []byte) error {
	pixel := len(dst) / (s.opt.TileWidth * s.opt.TileHeight)
	row := b.Width * pixel
	pixels, err := s.cache.Get(ctx, blockID{image, b.Level, b.X, b.Y, b.Mask}, b.Height*row, func(ctx context.Context, dst []byte) error { return s.compute(ctx, image, b, dst) })
	if err != nil {
		return err
	}
	for y := range b.Height {
		copy(dst[y*s.opt.TileWidth*pixel:], pixels[y*row:][:row])
	}
	return nil
}

// compute computes a block of an image, or of its mask.
func (s *Images) compute(ctx context.Context, image int, b tiff.VirtualBlock, dst []byte) error {
	r, err := s.acquire(ctx, levelID{image, b.Level})
	if err != nil {
		return err
	}
	defer s.release(r)
	h := r.image.Header()
	n := b.Width * b.Height
	pixels, mask := dst, []byte(nil)
	switch {
	case b.Mask:
		pixels, mask = tiff.Bytes(make([]complex128, (n*h.Bands*h.Type.Size()+15)/16)), dst // aligned for every type
	case r.image.Masked():
		mask = make([]byte, n)
	}
	return r.image.Read(ctx, tiff.Region{X: b.X, Y: b.Y, Width: b.Width, Height: b.Height}, pixels[:n*h.Bands*h.Type.Size()], mask)
}

// Close frees the memory on the device. Nothing else may be under way.
func (s *Images) Close() error {
	s.mu.Lock()
	defer s.mu.Unlock()
	var errs []error
	for e := s.recent.Front(); e != nil; e = e.Next() {
		errs = append(errs, e.Value.(*resident).image.Close())
	}
	s.recent.Init()
	clear(s.open)
	s.closed.Store(true)
	return errors.Join(errs...)
}

// Eye returns the center of a frame camera in a coordinate system. It is false for sensors without one, such as RPC.
func (s *Sensor) Eye(system *crs.CRS) (center [3]float64, ok bool, err error) {
	if !s.frame() {
		return center, false, nil
	}
	c, err := newScene(s, system, nil)
	if err != nil {
		return center, false, err
	}
	return c.eye(), true, nil
}
