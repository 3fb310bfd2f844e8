package tiff

import (
	"bytes"
	"context"
	"sync"
)

// task is a block to be compressed and written.
type task struct {
	level    *level
	index    int
	mask     bool
	part     part   // where the pixels are, or
	pixels   []byte // the pixels themselves
	filtered bool   // pixels are stored bytes: only the compression is left

	done chan struct{}
	data []byte // compressed; nil if the block is left out
	err  error
}

// part is a block in a row buffer.
type part struct {
	buffer              *rowBuffer
	column, plane, rows int
}

// pipeline compresses blocks on several goroutines and writes them in the order in
// which they were submitted.
type pipeline struct {
	work  chan *task
	order chan *task // bounds the blocks in flight
	wg    sync.WaitGroup

	mu  sync.Mutex
	err error // the first one
}

func newPipeline(workers int) *pipeline {
	p := &pipeline{work: make(chan *task, 4*workers), order: make(chan *task, 4*workers)}
	for range workers {
		p.wg.Go(func() {
			e := new(encoder)
			for t := range p.work {
				if p.failure() == nil {
					t.data, t.err = e.encode(t)
				}
				if t.part.buffer != nil {
					t.level.release(t.part.buffer)
				}
				close(t.done)
			}
		})
	}
	p.wg.Go(p.write)
	return p
}

// submit queues a block. It waits while the queue is full.
func (p *pipeline) submit(ctx context.Context, t *task) error {
	if err := p.failure(); err != nil {
		return err
	}
	t.done = make(chan struct{})
	select {
	case p.order <- t:
	case <-ctx.Done():
		p.fail(ctx.Err()) // rows are missing from now on
		return ctx.Err()
	}
	p.work <- t // work has the capacity of order, so this does not wait long
	return nil
}

// write appends the compressed blocks to their files.
func (p *pipeline) write() {
	for t := range p.order {
		<-t.done
		if p.failure() != nil {
			continue
		}
		if t.err == nil && t.data != nil {
			t.err = t.level.record(t)
		}
		if t.err != nil {
			p.fail(t.err)
		}
		recycle(t.data)
	}
}

// record writes the data of a block and notes where it is.
func (l *level) record(t *task) error {
	offset, err := l.store.append(t.data)
	if err != nil {
		return err
	}
	if t.mask {
		l.maskOffsets[t.index], l.maskSizes[t.index] = offset, int64(len(t.data))
		return nil
	}
	l.ordered = l.ordered && t.index > l.last
	l.last = t.index
	l.offsets[t.index], l.sizes[t.index] = offset, int64(len(t.data))
	return nil
}

func (p *pipeline) fail(err error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.err == nil {
		p.err = err
	}
}

func (p *pipeline) failure() error {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.err
}

// close waits for all blocks and returns the first error.
func (p *pipeline) close() error {
	close(p.work)
	close(p.order)
	p.wg.Wait()
	return p.failure()
}

// outputs has free slices for compressed blocks.
var outputs sync.Pool

func recycle(b []byte) {
	if b != nil {
		outputs.Put(&b)
	}
}

// encoder has the memory of one goroutine that encodes.
type encoder struct {
	pixels, stored, tmp []byte
}

// encode returns the compressed data of a block, or nil if it is left out.
func (e *encoder) encode(t *task) ([]byte, error) {
	l := t.level
	if t.mask {
		return e.encodeMask(t)
	}
	rows := l.storedRows(t.index)
	pixels := t.pixels
	if pixels == nil {
		pixels = e.extract(t, rows)
	}
	if l.opt.Sparse && !t.filtered && l.absent(pixels) {
		return nil, nil
	}
	stored := pixels
	if !t.filtered {
		stored = e.filter(l, pixels, rows, t.pixels != nil)
	}
	b := block{width: l.opt.BlockWidth, rows: rows, height: l.opt.BlockHeight, bands: 1, photometric: l.header.Photometric, level: l.opt.Level}
	if l.planes == 1 {
		b.bands = l.header.Bands
	}
	data, err := codecs[l.opt.Compression].encode(output(), stored, b)
	if err != nil {
		return nil, place{op: "write", directory: -1, block: t.index}.fail(ErrIO, 0, -1, "the block cannot be compressed").because(err)
	}
	return data, nil
}

// output returns an empty slice for compressed data.
func output() []byte {
	if b, ok := outputs.Get().(*[]byte); ok {
		return (*b)[:0]
	}
	return nil
}

// extract copies a block from a row buffer. What is beyond the image repeats its edge, which
// takes little space and does not disturb JPEG.
func (e *encoder) extract(t *task, rows int) []byte {
	l, p := t.level, t.part
	size, bands := l.header.Type.Size(), l.header.Bands
	n := bands
	if l.planes > 1 {
		n = 1
	}
	rowBytes := l.opt.BlockWidth * n * size
	e.pixels = grow(e.pixels, rowBytes*rows)
	x := p.column * l.opt.BlockWidth
	width := min(l.opt.BlockWidth, l.header.Width-x)
	for y := range rows {
		dst := e.pixels[y*rowBytes:][:rowBytes]
		if y >= p.rows {
			copy(dst, e.pixels[(y-1)*rowBytes:])
			continue
		}
		src := p.buffer.pixels[(y*l.header.Width+x)*bands*size:]
		if n == bands {
			copy(dst, src[:width*n*size])
		} else {
			copyStrided(dst, size, src[p.plane*size:], bands*size, width, size)
		}
		for k := width * n * size; k < rowBytes; k++ {
			dst[k] = dst[k-n*size]
		}
	}
	return e.pixels
}

// filter turns pixels into the stored form. It works in place, unless the pixels are the caller's.
func (e *encoder) filter(l *level, pixels []byte, rows int, foreign bool) []byte {
	f := l.filter()
	rowBytes := l.rowBytes()
	bytesInMemory := l.samples() * l.header.Type.Size()
	if foreign && !aligned(pixels, l.header.Type.Size()) {
		e.pixels = grow(e.pixels, len(pixels))
		copy(e.pixels, pixels)
		pixels, foreign = e.pixels, false
	}
	if l.header.Bits != 0 && l.header.Bits != 8*l.header.Type.Size() {
		e.stored = grow(e.stored, rowBytes*rows)
		for y := range rows {
			packRow(e.stored[y*rowBytes:(y+1)*rowBytes], pixels[y*bytesInMemory:], l.samples(), l.header.Bits, l.header.Type, f.order)
		}
		pixels = e.stored
	} else if foreign {
		e.stored = grow(e.stored, len(pixels))
		copy(e.stored, pixels)
		pixels = e.stored
	}
	f.apply(pixels, rowBytes, &e.tmp)
	return pixels
}

// filter returns what makes the stored form of blocks.
func (l *level) filter() filter {
	stride := l.header.Bands
	if l.planes > 1 {
		stride = 1
	}
	return newFilter(l.header.Type, l.header.storedBits(), l.opt.Predictor, l.opt.order(), stride)
}

// absent reports whether all samples of a block have the value of absent blocks.
func (l *level) absent(pixels []byte) bool {
	n := l.header.Type.Size()
	var sample [16]byte
	l.header.fillNoData(sample[:n])
	return bytes.Equal(pixels[:n], sample[:n]) && bytes.Equal(pixels[n:], pixels[:len(pixels)-n])
}

// encodeMask stores a mask with one bit per pixel.
func (e *encoder) encodeMask(t *task) ([]byte, error) {
	l, p := t.level, t.part
	rows := l.storedRows(t.index)
	rowBytes := (l.opt.BlockWidth + 7) / 8
	e.stored = grow(e.stored, rowBytes*rows)
	clear(e.stored)
	x := p.column * l.opt.BlockWidth
	width := min(l.opt.BlockWidth, l.header.Width-x)
	for y := range min(rows, p.rows) {
		row := e.stored[y*rowBytes:]
		for i, v := range p.buffer.mask[y*l.header.Width+x:][:width] {
			if v != 0 {
				row[i/8] |= 0x80 >> (i % 8)
			}
		}
	}
	return encodeDeflate(output(), e.stored, block{})
}
