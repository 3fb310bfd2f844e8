package mosaic

import (
	"container/list"
	"context"
	"sync"

	"quern.dev/geo/mosaic/internal/kernels"
	"quern.dev/geo/tiff"
	"quern.dev/geo/warp"
)

// seamSize is the most cells that an image has in x or y where seams and balance are found.
const seamSize = 512

// mostCells is the most cells of the whole mosaic there.
const mostCells = 32 << 20

// reduction returns how many pixels of the output a cell has in x and y.
func reduction(w *warp.Warper, sources int) int {
	g := w.Grid()
	side := 0
	for i := range sources {
		r := w.Reach(i)
		side = max(side, r.Width, r.Height)
	}
	f := 1
	for side/f > seamSize || (g.Width/f+1)*(g.Height/f+1) > mostCells {
		f *= 2
	}
	return f
}

// thumbnail is an image in cells: bands and alpha.
type thumbnail struct {
	kernels.Window
	pixels []byte
	sample func(pixels []byte, i int) float64
	stride int
}

// has reports whether the image has data in a cell of the mosaic.
func (t *thumbnail) has(x, y int) bool {
	return x >= t.X && y >= t.Y && x < t.X+t.W && y < t.Y+t.H && t.at(x, y, t.stride-1) != 0
}

// at returns a sample of a cell of the mosaic.
func (t *thumbnail) at(x, y, band int) float64 {
	return t.sample(t.pixels, ((y-t.Y)*t.W+x-t.X)*t.stride+band)
}

// thumbnails reads images in cells, and keeps some of them. It is safe for concurrent use.
type thumbnails struct {
	w      *warp.Warper // with one pixel per cell
	mu     sync.Mutex
	room   int64
	known  map[int]*list.Element
	recent *list.List // of *kept
}

type kept struct {
	image int
	once  sync.Once
	t     *thumbnail
	err   error
}

func newThumbnails(w *warp.Warper, room int64) *thumbnails {
	return &thumbnails{w: w, room: room, known: map[int]*list.Element{}, recent: list.New()}
}

func (c *thumbnails) bytes(image int) int64 {
	r, h := c.w.Reach(image), c.w.Header()
	return int64(r.Width) * int64(r.Height) * int64(h.Bands*h.Type.Size())
}

// get returns the thumbnail of an image.
func (c *thumbnails) get(ctx context.Context, image int) (*thumbnail, error) {
	c.mu.Lock()
	e, ok := c.known[image]
	if ok {
		c.recent.MoveToFront(e)
	} else {
		e = c.recent.PushFront(&kept{image: image})
		c.known[image] = e
		c.room -= c.bytes(image)
		for c.room < 0 && c.recent.Len() > 2 {
			last := c.recent.Back()
			old := c.recent.Remove(last).(*kept).image
			delete(c.known, old)
			c.room += c.bytes(old)
		}
	}
	c.mu.Unlock()
	k := e.Value.(*kept)
	k.once.Do(func() { k.t, k.err = c.read(ctx, image) })
	return k.t, k.err
}

func (c *thumbnails) read(ctx context.Context, image int) (*thumbnail, error) {
	r, h := c.w.Reach(image), c.w.Header()
	t := &thumbnail{Window: kernels.Window{X: r.X, Y: r.Y, W: r.Width, H: r.Height}, sample: samplers[h.Type], stride: h.Bands}
	if r.Width == 0 {
		return t, nil
	}
	t.pixels = aligned(r.Width * r.Height * h.Bands * h.Type.Size())
	return t, c.w.ReadSource(ctx, image, r, t.pixels, nil)
}

// aligned returns memory that is aligned for every type.
func aligned(n int) []byte { return tiff.Bytes(make([]complex128, (n+15)/16))[:n] }

// samplers read a sample as a float64.
var samplers = map[tiff.Type]func(pixels []byte, i int) float64{
	tiff.Uint8:   sampler[uint8],
	tiff.Int8:    sampler[int8],
	tiff.Uint16:  sampler[uint16],
	tiff.Int16:   sampler[int16],
	tiff.Uint32:  sampler[uint32],
	tiff.Int32:   sampler[int32],
	tiff.Float32: sampler[float32],
	tiff.Float64: sampler[float64],
}

func sampler[T kernels.Sample](pixels []byte, i int) float64 { return float64(samples[T](pixels)[i]) }
