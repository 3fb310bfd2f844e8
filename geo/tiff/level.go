package tiff

import (
	"context"
	"sync"
	"sync/atomic"
)

// level is the image or an overview while it is written.
type level struct {
	number               int
	header               Header
	opt                  Options
	across, down, planes int
	store                *store
	halver               halver

	// The blocks of the image and of its mask. The goroutine that writes sets them.
	offsets, sizes         []int64
	maskOffsets, maskSizes []int64
	last                   int  // the block that was written last
	ordered                bool // blocks were written in the order of their indices

	// Rows that are not complete blocks yet; all bands of a pixel are side by side.
	buffer *rowBuffer
	y      int // rows before the buffer
	filled int // rows in the buffer

	mu   sync.Mutex
	free []*rowBuffer
}

// rowBuffer has the pixels of a row of blocks.
type rowBuffer struct {
	pixels, mask []byte
	uses         atomic.Int32
}

func newLevel(number int, h Header, opt Options, s *store) *level {
	l := &level{number: number, header: h, opt: opt, store: s, halver: newHalver(&h, opt.Resampling), ordered: true, last: -1}
	if opt.Strips {
		l.opt.BlockHeight = min(opt.BlockHeight, h.Height)
	}
	l.across = (h.Width-1)/l.opt.BlockWidth + 1
	l.down = (h.Height-1)/l.opt.BlockHeight + 1
	l.planes = 1
	if opt.Layout == ByBand {
		l.planes = h.Bands
	}
	n := l.across * l.down * l.planes
	l.offsets, l.sizes = make([]int64, n), make([]int64, n)
	if opt.Mask {
		n := l.across * l.down
		l.maskOffsets, l.maskSizes = make([]int64, n), make([]int64, n)
	}
	l.buffer = l.acquire()
	return l
}

// bufferRows returns the rows of the current row of blocks.
func (l *level) bufferRows() int { return min(l.opt.BlockHeight, l.header.Height-l.y) }

// acquire returns a free buffer. Its memory is allocated when rows come.
func (l *level) acquire() *rowBuffer {
	l.mu.Lock()
	defer l.mu.Unlock()
	if n := len(l.free); n > 0 {
		b := l.free[n-1]
		l.free = l.free[:n-1]
		return b
	}
	return new(rowBuffer)
}

// release drops one use of a buffer.
func (l *level) release(b *rowBuffer) {
	if b.uses.Add(-1) == 0 {
		l.mu.Lock()
		l.free = append(l.free, b)
		l.mu.Unlock()
	}
}

// room makes the current buffer large enough.
func (l *level) room() {
	rows := min(l.opt.BlockHeight, l.header.Height)
	l.buffer.pixels = grow(l.buffer.pixels, rows*l.header.Width*l.header.pixelBytes())
	if l.opt.Mask {
		l.buffer.mask = grow(l.buffer.mask, rows*l.header.Width)
	}
}

// take copies count of total rows to the buffer, from row first on.
func (l *level) take(rows Rows, total, first, count int) {
	l.room()
	width, n := l.header.Width, l.header.pixelBytes()
	dst := l.buffer.pixels[l.filled*width*n:][:count*width*n]
	if rows.Layout == ByPixel || l.header.Bands == 1 {
		copy(dst, rows.Pixels[first*width*n:])
	} else {
		size := l.header.Type.Size()
		for b := range l.header.Bands {
			copyStrided(dst[b*size:], n, rows.Pixels[(b*total+first)*width*size:], size, count*width, size)
		}
	}
	if l.opt.Mask {
		copy(l.buffer.mask[l.filled*width:][:count*width], rows.Mask[first*width:])
	}
	l.filled += count
}

// takeHalves adds count rows made from pairs of rows of the level above, from row y of its buffer on.
func (l *level) takeHalves(ctx context.Context, above *level, from *rowBuffer, y, count, rows int) error {
	l.room()
	width, n := above.header.Width, above.header.pixelBytes()
	out, outBytes := l.header.Width, l.header.Width*n
	const chunk = 8 // rows per call
	err := parallel(ctx, (count+chunk-1)/chunk, func(i int) error {
		for k := i * chunk; k < min((i+1)*chunk, count); k++ {
			top := y + 2*k
			bottom := min(top+1, rows-1)
			a, b := from.pixels[top*width*n:][:width*n], from.pixels[bottom*width*n:][:width*n]
			dst := l.buffer.pixels[(l.filled+k)*outBytes:][:outBytes]
			if l.opt.Mask {
				above.halver.row(dst, a, b, width, l.buffer.mask[(l.filled+k)*out:][:out], from.mask[top*width:][:width], from.mask[bottom*width:][:width])
			} else {
				above.halver.row(dst, a, b, width, nil, nil, nil)
			}
		}
		return nil
	})
	l.filled += count
	return err
}

// samples returns the samples in one row of a block.
func (l *level) samples() int {
	if l.planes > 1 {
		return l.opt.BlockWidth
	}
	return l.opt.BlockWidth * l.header.Bands
}

// rowBytes returns the stored bytes of one row of a block.
func (l *level) rowBytes() int { return (l.samples()*l.header.storedBits() + 7) / 8 }

// storedRows returns the rows that are stored of a block.
func (l *level) storedRows(index int) int {
	if !l.opt.Strips {
		return l.opt.BlockHeight
	}
	row := index / l.across % l.down
	return min(l.opt.BlockHeight, l.header.Height-row*l.opt.BlockHeight)
}
