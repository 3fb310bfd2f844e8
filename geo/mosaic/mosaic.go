package mosaic

import (
	"cmp"
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"math"
	"path/filepath"
	"runtime"
	"sync"
	"sync/atomic"
	"unsafe"

	"quern.dev/geo/mosaic/internal/kernels"
	"quern.dev/geo/tiff"
	"quern.dev/geo/warp"
	"quern.dev/gpu"
)

// mosaic is a mosaic that is computed.
type mosaic struct {
	dev     *gpu.Device
	opt     Options
	sources []Source
	w       *warp.Warper // all sources with alpha, in the grid of the output
	header  tiff.Header  // of the output
	bands   int          // without alpha
	none    float64      // value of pixels without data
	noData  bool         // instead of alpha
	tile    int
	block   [2]int

	thumbs      *thumbnails
	cell        float64 // pixels of the output per cell of the thumbnails
	centers     [][2]float64
	corrections [][]correction // of each image and band
	seams       [][]*seam      // of each image

	progress func()
}

// File joins images to a new GeoTIFF file. The file appears under its name when it is complete. Finished tiles are kept in
// the work file, from which the same call continues after a failure, or after the process was killed.
func File(ctx context.Context, dev *gpu.Device, name string, sources []Source, o Options) error {
	o, err := o.withDefaults()
	if err != nil {
		return err
	}
	m := &mosaic{dev: dev, opt: o, sources: sources}
	if err := m.prepare(); err != nil {
		return err
	}
	err = m.run(ctx, name)
	if m.thumbs != nil {
		err = errors.Join(err, m.thumbs.w.Close())
	}
	return errors.Join(err, m.w.Close())
}

// prepare finds the grid and the header of the output.
func (m *mosaic) prepare() error {
	o := &m.opt
	if len(m.sources) == 0 {
		return failf(ErrArgument, "a source is required")
	}
	images := make([]*tiff.Image, len(m.sources))
	for i, s := range m.sources {
		if images[i] = s.Image; s.Image == nil {
			return failf(ErrArgument, "source %d has no image", i)
		}
		if s.Image.Photometric == tiff.Palette && (o.Blend != None || o.Seams || o.Balance != Unbalanced) {
			return failf(ErrArgument, "%s has a palette, whose indices cannot be mixed", s.Image)
		}
	}
	m.block = [2]int{cmp.Or(o.File.BlockWidth, 512), cmp.Or(o.File.BlockHeight, 512)}
	if o.TileSize == 0 {
		side := m.block[0]
		for side%m.block[1] != 0 {
			side += m.block[0]
		}
		size := 1024
		if (images[0].Bands+1)*images[0].Type.Size() > 8 { // a window of each image is in memory
			size = 512
		}
		o.TileSize = side * max(1, size/side)
	}
	if o.TileSize%m.block[0] != 0 || o.TileSize%m.block[1] != 0 {
		return failf(ErrArgument, "options: tiles of %d pixels; a multiple of the file's blocks of %d x %d is required", o.TileSize, m.block[0], m.block[1])
	}
	m.tile = o.TileSize
	wo := warp.Options{Target: o.Target, SourceCRS: o.SourceCRS, Shift: o.Shift, Converter: o.Converter, Extent: o.Extent, Resolution: o.Resolution, AlignPixels: o.AlignPixels,
		Resampling: o.Resampling, SourceNoData: o.SourceNoData, Alpha: true, Memory: o.Memory / 2, TileWidth: 512, TileHeight: 512}
	if m.dev.Backend() == gpu.CUDA {
		wo.TileWidth, wo.TileHeight = 1024, 1024
	}
	var err error
	if m.w, err = warp.New(m.dev, images, wo); err != nil {
		return err
	}
	if err := m.describe(); err != nil {
		return errors.Join(err, m.w.Close())
	}
	return nil
}

// describe makes the header of the output.
func (m *mosaic) describe() error {
	h := m.w.Header()
	m.bands = h.Bands - 1
	first := m.sources[0].Image
	value, has := first.NoDataValue()
	if len(m.opt.SourceNoData) > 0 {
		value, has = m.opt.SourceNoData[0], true
	}
	if len(first.Extra) > 0 && first.Extra[len(first.Extra)-1] != tiff.Unspecified {
		has = false
	}
	if m.opt.NoData != nil {
		value, has = *m.opt.NoData, true
	}
	if m.noData = has; has {
		if least, most := h.Type.Limits(); !h.Type.Float() && !(value >= least && value <= most && value == math.Floor(value)) {
			return failf(ErrArgument, "options: NoData %v is not a value of %v", value, h.Type)
		}
		m.none = value
		h.Bands, h.Extra = m.bands, h.Extra[:len(h.Extra)-1]
		h.NoData = fmt.Sprint(value)
		if math.IsNaN(value) {
			h.NoData = "nan"
		}
	}
	m.header = h
	g := m.w.Grid()
	a := g.Affine
	d := a[1]*a[5] - a[2]*a[4]
	m.corrections, m.seams = make([][]correction, len(m.sources)), make([][]*seam, len(m.sources))
	for i, s := range m.sources {
		var c [2]float64
		c[0], c[1] = m.w.Center(i)
		if p := s.Center; p != nil {
			x, y := p[0]-a[0], p[1]-a[3]
			c = [2]float64{(x*a[5] - y*a[2]) / d, (y*a[1] - x*a[4]) / d}
		}
		m.centers = append(m.centers, c)
		m.corrections[i] = make([]correction, m.bands)
		for b := range m.corrections[i] {
			m.corrections[i][b].gain = 1
		}
	}
	return nil
}

func (m *mosaic) run(ctx context.Context, name string) (err error) {
	m.opt.File.Sparse = true
	// Options and a folder that cannot be used are found before the work.
	trial, err := tiff.Create(name, m.header, m.opt.File)
	if err != nil {
		return err
	}
	if err := trial.Abort(); err != nil {
		return err
	}
	digest, err := m.digest(ctx)
	if err != nil {
		return err
	}
	kept := cmp.Or(m.opt.Work, name+".work")
	if a, err := filepath.Abs(kept); err != nil {
		return failf(ErrWork, "%s: %w", kept, err)
	} else if b, err := filepath.Abs(name); err == nil && a == b {
		return failf(ErrArgument, "options: Work is %s, the output; name another file", kept)
	}
	work, err := openWork(kept, digest)
	if err != nil {
		return err
	}
	complete := false
	defer func() { err = errors.Join(err, work.close(complete)) }()
	blocks := ((m.header.Width-1)/m.block[0] + 1) * ((m.header.Height-1)/m.block[1] + 1)
	jobs := m.tiles()
	m.countProgress(len(jobs) + blocks)
	if err := m.plan(ctx); err != nil {
		return err
	}
	if err := m.compute(ctx, jobs, work); err != nil {
		return err
	}
	out, err := tiff.Create(name, m.header, m.opt.File)
	if err != nil {
		return err
	}
	defer out.Abort() // does nothing after Close
	a := &assembler{out: out, work: work, levels: out.Levels(), opt: out.Options(), pixel: m.header.Bands * m.header.Type.Size(), empty: m.empty(), done: m.progress}
	if err := a.write(ctx); err != nil {
		return err
	}
	if err := out.Close(); err != nil {
		return err
	}
	complete = true
	return nil
}

// countProgress makes m.progress count parts of the work, and report about a thousand times.
func (m *mosaic) countProgress(total int) {
	var mu sync.Mutex
	done, step := 0, max(1, total/1000)
	m.progress = func() {
		mu.Lock()
		defer mu.Unlock()
		if done++; m.opt.Progress != nil && (done%step == 0 || done == total) {
			m.opt.Progress(done, total)
		}
	}
}

// empty returns a block without data.
func (m *mosaic) empty() []byte {
	n := m.block[0] * m.block[1] * m.header.Bands
	pixels := aligned(n * m.header.Type.Size())
	if m.noData && m.none != 0 {
		fill := fillers[m.header.Type]
		fill(pixels, m.none)
	}
	return pixels
}

var fillers = map[tiff.Type]func(pixels []byte, v float64){
	tiff.Uint8: fill[uint8], tiff.Int8: fill[int8], tiff.Uint16: fill[uint16], tiff.Int16: fill[int16],
	tiff.Uint32: fill[uint32], tiff.Int32: fill[int32], tiff.Float32: fill[float32], tiff.Float64: fill[float64],
}

func fill[T kernels.Sample](pixels []byte, v float64) {
	s := samples[T](pixels)
	for i := range s {
		s[i] = T(v)
	}
}

// samples views bytes as samples.
func samples[T kernels.Sample](b []byte) []T {
	return unsafe.Slice((*T)(unsafe.Pointer(unsafe.SliceData(b))), len(b)/int(unsafe.Sizeof(*new(T))))
}

// digest identifies what is computed: the sources, with the times of their files, their versions and their middle block, and what
// changes the output.
func (m *mosaic) digest(ctx context.Context) (sum [32]byte, err error) {
	h := sha256.New()
	o := m.opt
	g := m.w.Grid()
	fmt.Fprintln(h, g.CRS, g.Affine, g.Width, g.Height, m.header.Type, m.header.Bands, m.noData, m.none, m.block, m.tile, m.opt.Converter != nil)
	fmt.Fprintln(h, o.SourceCRS, o.Resampling, o.SourceNoData, o.Order, o.Seams, o.Blend, o.Radius, o.Levels, o.Balance, m.centers)
	for _, s := range m.sources {
		a, _ := s.Image.Geo.Affine()
		im := s.Image
		fmt.Fprintln(h, im.Width, im.Height, im.Bands, im.Type, im.Compression, a, im.Geo.Keys, im.NoData, im.Modified().UnixNano(), im.Version())
		across, down, _ := im.Blocks()
		b := aligned(s.Image.BlockBytes())
		if err := s.Image.ReadBlock(ctx, b, down/2*across+across/2); err != nil {
			return sum, err
		}
		h.Write(b)
	}
	h.Sum(sum[:0])
	return sum, nil
}

// plan balances the images and finds seams, as far as options ask for it.
func (m *mosaic) plan(ctx context.Context) error {
	if m.opt.Balance == Unbalanced && !m.opt.Seams {
		return nil
	}
	g := m.w.Grid()
	f := reduction(m.w, len(m.sources))
	m.cell = float64(f)
	images := make([]*tiff.Image, len(m.sources))
	for i, s := range m.sources {
		images[i] = s.Image
	}
	for i := range g.Affine {
		if i%3 != 0 {
			g.Affine[i] *= float64(f)
		}
	}
	g.Width, g.Height = (g.Width-1)/f+1, (g.Height-1)/f+1
	w, err := warp.New(m.dev, images, warp.Options{Grid: &g, SourceCRS: m.opt.SourceCRS, Shift: m.opt.Shift, Converter: m.opt.Converter, Resampling: warp.Average, Overview: warp.OverviewAuto,
		SourceNoData: m.opt.SourceNoData, Alpha: true, Memory: m.opt.Memory / 4, TileWidth: 256, TileHeight: 256})
	if err != nil {
		return err
	}
	m.thumbs = newThumbnails(w, m.opt.Memory/4)
	if m.opt.Balance != Unbalanced {
		var pairs [][2]int
		for i := range images {
			for j := i + 1; j < len(images); j++ {
				a, b := w.Reach(i), w.Reach(j)
				if a.X < b.X+b.Width && b.X < a.X+a.Width && a.Y < b.Y+b.Height && b.Y < a.Y+a.Height {
					pairs = append(pairs, [2]int{i, j})
				}
			}
		}
		if err := m.balance(ctx, pairs); err != nil {
			return err
		}
	}
	if m.opt.Seams {
		return m.findSeams(ctx)
	}
	return nil
}

// tiles lists the tiles of the output.
func (m *mosaic) tiles() []kernels.Window {
	var all []kernels.Window
	for y := 0; y < m.header.Height; y += m.tile {
		for x := 0; x < m.header.Width; x += m.tile {
			all = append(all, kernels.Window{X: x, Y: y, W: min(m.tile, m.header.Width-x), H: min(m.tile, m.header.Height-y)})
		}
	}
	return all
}

// laneCount is how many tiles are computed at a time: one is read while another is joined.
const laneCount = 2

// compute computes the tiles that the work file does not have.
func (m *mosaic) compute(parent context.Context, jobs []kernels.Window, work *workFile) error {
	ctx, cancel := context.WithCancelCause(parent)
	defer cancel(nil)
	var next atomic.Int64
	var wg sync.WaitGroup
	for range laneCount {
		l, err := newLane(m)
		if err != nil {
			cancel(err)
			break
		}
		wg.Go(func() {
			for ctx.Err() == nil {
				i := int(next.Add(1)) - 1
				if i >= len(jobs) {
					break
				}
				if !work.done(uint32(i)) {
					blocks, err := l.compute(ctx, jobs[i])
					if err == nil && len(blocks) > 0 {
						err = work.tile(uint32(i), blocks)
					}
					if err != nil {
						cancel(err)
						break
					}
				}
				m.progress()
			}
			if err := l.close(); err != nil {
				cancel(err)
			}
		})
	}
	wg.Wait()
	return context.Cause(ctx)
}

// parallel calls f for 0 to n-1 on all cores, and returns the first error.
func parallel(ctx context.Context, n int, f func(i int) error) error {
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	var next atomic.Int64
	var wg sync.WaitGroup
	for range min(n, runtime.GOMAXPROCS(0)) {
		wg.Go(func() {
			for i := int(next.Add(1)) - 1; i < n && ctx.Err() == nil; i = int(next.Add(1)) - 1 {
				if err := f(i); err != nil {
					cancel(err)
				}
			}
		})
	}
	wg.Wait()
	return context.Cause(ctx)
}
