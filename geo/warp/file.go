package warp

import (
	"context"
	"sync"
	"sync/atomic"

	"quern.dev/geo/tiff"
	"quern.dev/gpu"
)

// File warps sources to a new GeoTIFF file; see [New]. The file appears under its name when it is complete.
func File(ctx context.Context, dev *gpu.Device, name string, sources []*tiff.Image, o Options) error {
	w, err := New(dev, sources, o)
	if err != nil {
		return err
	}
	err = w.WriteFile(ctx, name)
	if closeErr := w.Close(); err == nil {
		err = closeErr
	}
	return err
}

// strip is rows of the output that are computed together.
type strip struct {
	canvas
	left atomic.Int64 // tiles that are not ready
	done chan struct{}
}

// strips is how many strips there are at a time: one is written, others are computed.
const strips = 2

// WriteFile computes the whole output and writes it as Options.File says.
func (w *Warper) WriteFile(ctx context.Context, name string) error {
	opt := w.opt.File
	opt.Mask = w.output.Masked
	out, err := tiff.Create(name, w.header, opt)
	if err != nil {
		return err
	}
	defer out.Abort() // does nothing after Close
	if err := w.write(ctx, out); err != nil {
		return err
	}
	return out.Close()
}

// stripRows returns the height of strips: as many rows as a quarter of the memory allows.
func (w *Warper) stripRows() int {
	row := int64(w.header.Width) * int64(w.header.Bands*w.header.Type.Size()+1)
	return int(min(max(w.opt.Memory/4/strips/row, 1), int64(w.opt.TileHeight), int64(w.header.Height)))
}

// write computes the output and writes it.
func (w *Warper) write(ctx context.Context, out *tiff.Writer) error {
	o := out.Options()
	if out.Regional() && w.opt.TileWidth%o.BlockWidth == 0 && w.opt.TileHeight%o.BlockHeight == 0 {
		width, height := w.fileTile(o.BlockWidth, o.BlockHeight)
		return w.writeTiles(ctx, out, width, height)
	}
	return w.writeStrips(ctx, out)
}

// fileTile returns the size of tiles that are written to their places: whole blocks, which together take a quarter of the memory if
// blocks are not larger.
func (w *Warper) fileTile(blockWidth, blockHeight int) (width, height int) {
	width, height = w.opt.TileWidth, w.opt.TileHeight
	pixel := int64(w.header.Bands * w.header.Type.Size())
	large := func() bool { return int64(width)*int64(height)*pixel > w.opt.Memory/4/laneCount }
	for large() && height%(2*blockHeight) == 0 {
		height /= 2
	}
	for large() && width%(2*blockWidth) == 0 {
		width /= 2
	}
	return width, height
}

// writeTiles computes tiles on several goroutines, which write them to their places in the file.
func (w *Warper) writeTiles(parent context.Context, out *tiff.Writer, width, height int) error {
	ctx, cancel := context.WithCancelCause(parent)
	defer cancel(nil)
	jobs := make(chan rectangle)
	var mu sync.Mutex
	done, shown := 0, 0 // pixels, and rows of them
	progress := func(r rectangle) {
		mu.Lock()
		defer mu.Unlock()
		done += r.w * r.h
		if rows := done / w.header.Width; rows > shown && w.opt.Progress != nil {
			shown = rows
			w.opt.Progress(rows, w.header.Height)
		}
	}
	work := func() error {
		pixel := w.header.Bands * w.header.Type.Size()
		memory, err := newPages[uint8](w.dev, min(width, w.header.Width)*min(height, w.header.Height)*pixel)
		if err != nil {
			return err
		}
		defer memory.close()
		for r := range jobs {
			c := canvas{rectangle: r, pixels: memory.all[:r.w*r.h*pixel]}
			if err := w.tile(ctx, r, all, &c); err != nil {
				return err
			}
			if err := out.WriteRegion(ctx, tiff.Region{X: r.x, Y: r.y, Width: r.w, Height: r.h}, c.pixels); err != nil {
				return err
			}
			progress(r)
		}
		return nil
	}
	var wg sync.WaitGroup
	for range laneCount {
		wg.Go(func() {
			if err := work(); err != nil {
				cancel(err)
			}
		})
	}
	for _, r := range (rectangle{0, 0, w.header.Width, w.header.Height}).tiles(width, height) {
		select {
		case jobs <- r:
		case <-ctx.Done():
		}
	}
	close(jobs)
	wg.Wait()
	return context.Cause(ctx)
}

// writeStrips computes strips on several goroutines, and hands them over from the top to the bottom.
func (w *Warper) writeStrips(parent context.Context, out *tiff.Writer) error {
	ctx, cancel := context.WithCancelCause(parent)
	defer cancel(nil)
	type job struct {
		r rectangle
		s *strip
	}
	free, jobs, order := make(chan *strip, strips), make(chan job), make(chan *strip, strips)
	rows := w.stripRows()
	pixel := w.header.Bands * w.header.Type.Size()
	for range strips {
		s := new(strip)
		words := make([]complex128, (w.header.Width*rows*pixel+15)/16) // aligned for every type
		s.pixels = tiff.Bytes(words)
		if w.output.Masked {
			s.mask = make([]byte, w.header.Width*rows)
		}
		free <- s
	}
	var wg sync.WaitGroup
	defer wg.Wait()
	wg.Go(func() {
		defer close(jobs)
		defer close(order)
		for y := 0; y < w.header.Height; y += rows {
			var s *strip
			select {
			case s = <-free:
			case <-ctx.Done():
				return
			}
			s.rectangle = rectangle{0, y, w.header.Width, min(rows, w.header.Height-y)}
			s.done = make(chan struct{})
			tiles := w.tiles(s.rectangle)
			s.left.Store(int64(len(tiles)))
			order <- s
			for _, r := range tiles {
				select {
				case jobs <- job{r, s}:
				case <-ctx.Done():
					return
				}
			}
		}
	})
	for range laneCount {
		wg.Go(func() {
			for j := range jobs {
				if err := w.tile(ctx, j.r, all, &j.s.canvas); err != nil {
					cancel(err)
					return
				}
				if j.s.left.Add(-1) == 0 {
					close(j.s.done)
				}
			}
		})
	}
	err := w.collect(ctx, out, order, free)
	if err != nil {
		cancel(err)
	}
	return err
}

// collect writes strips in order.
func (w *Warper) collect(ctx context.Context, out *tiff.Writer, order <-chan *strip, free chan<- *strip) error {
	for s := range order {
		select {
		case <-s.done:
		case <-ctx.Done():
			return context.Cause(ctx)
		}
		n := s.w * s.h
		rows := tiff.Rows{Pixels: s.pixels[:n*w.header.Bands*w.header.Type.Size()]}
		if w.output.Masked {
			rows.Mask = s.mask[:n]
		}
		if err := out.WriteRows(ctx, rows); err != nil {
			return err
		}
		y := s.y + s.h
		free <- s
		if w.opt.Progress != nil {
			w.opt.Progress(y, w.header.Height)
		}
	}
	return context.Cause(ctx)
}
