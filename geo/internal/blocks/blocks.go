package blocks

import (
	"container/list"
	"context"
	"runtime"
	"slices"
	"sync"
	"sync/atomic"
	"unsafe"

	"quern.dev/geo/tiff"
)

// Cache keeps decoded or computed blocks, because the windows of neighboring tiles overlap. It is safe for
// concurrent use.
type Cache struct {
	mu     sync.Mutex
	room   int64
	blocks map[any]*list.Element
	recent *list.List // of *block, the most recently used first
}

type blockID struct {
	im    *tiff.Image
	index int
}

type block struct {
	key     any
	size    int
	done    chan struct{} // closed when what follows is known
	bytes   []byte
	err     error
	stopped bool // the context of the goroutine that read it was done
}

// New returns a cache of about room bytes.
func New(room int64) *Cache {
	return &Cache{room: room, blocks: map[any]*list.Element{}, recent: list.New()}
}

// get returns a block of an image. The bytes must not be changed.
func (c *Cache) get(ctx context.Context, id blockID) ([]byte, error) {
	return c.Get(ctx, id, id.im.BlockBytes(), func(ctx context.Context, dst []byte) error { return id.im.ReadBlock(ctx, dst, id.index) })
}

// Get returns the bytes with a comparable key. One goroutine reads them to dst, which is aligned for every type; others that want
// them wait, and one of them reads if the context of the first one ends. The bytes must not be changed.
func (c *Cache) Get(ctx context.Context, key any, size int, read func(ctx context.Context, dst []byte) error) ([]byte, error) {
	for {
		e, known := c.place(key, size)
		b := e.Value.(*block)
		if !known {
			b.bytes = tiff.Bytes(make([]complex128, (size+15)/16))[:size]
			if b.err = read(ctx, b.bytes); b.err != nil {
				b.stopped = ctx.Err() != nil
				c.drop(e)
			}
			close(b.done)
			return b.bytes, b.err
		}
		select {
		case <-b.done:
		case <-ctx.Done():
			return nil, context.Cause(ctx)
		}
		if !b.stopped {
			return b.bytes, b.err
		}
	}
}

// place returns the element of a block, and whether it was there. If not, the caller reads the block.
func (c *Cache) place(key any, size int) (e *list.Element, known bool) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if e, known = c.blocks[key]; known {
		c.recent.MoveToFront(e)
		return e, true
	}
	e = c.recent.PushFront(&block{key: key, size: size, done: make(chan struct{})})
	c.blocks[key] = e
	c.room -= int64(size)
	for c.room < 0 && c.recent.Len() > 1 {
		c.remove(c.recent.Back())
	}
	return e, false
}

// drop forgets a block that could not be read, so that it is tried again.
func (c *Cache) drop(e *list.Element) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.blocks[e.Value.(*block).key] == e {
		c.remove(e)
	}
}

func (c *Cache) remove(e *list.Element) {
	b := e.Value.(*block)
	c.recent.Remove(e)
	delete(c.blocks, b.key)
	c.room += int64(b.size)
}

// Reader reads windows of an image, the bands of a pixel side by side.
type Reader struct {
	Image *tiff.Image
	Cache *Cache
	Bands []int // the bands to read, or nil for all
}

// Read fills dst with the pixels of a window. It looks at the context before each block.
func Read[T tiff.Sample](ctx context.Context, r *Reader, dst []T, win tiff.Region) error {
	im := r.Image
	if im.Compression == tiff.None {
		return im.ReadRegion(ctx, tiff.Bytes(dst), tiff.Region{X: win.X, Y: win.Y, Width: win.Width, Height: win.Height, Bands: r.Bands})
	}
	n := im.Bands
	if r.Bands != nil {
		n = len(r.Bands)
	}
	across, down, planes := im.Blocks()
	blockBands := im.Bands / planes
	x0, y0 := win.X/im.BlockWidth, win.Y/im.BlockHeight
	x1, y1 := (win.X+win.Width-1)/im.BlockWidth, (win.Y+win.Height-1)/im.BlockHeight
	nx, ny := x1-x0+1, y1-y0+1
	return parallel(nx*ny*planes, func(i int) error {
		if ctx.Err() != nil {
			return context.Cause(ctx)
		}
		plane, bx, by := i/(nx*ny), x0+i%nx, y0+i%(nx*ny)/nx
		if planes > 1 && r.Bands != nil && !slices.Contains(r.Bands, plane) {
			return nil
		}
		bytes, err := r.Cache.get(ctx, blockID{im, (plane*down+by)*across + bx})
		if err != nil {
			return err
		}
		src := unsafe.Slice((*T)(unsafe.Pointer(unsafe.SliceData(bytes))), len(bytes)/im.Type.Size())
		left, right := max(bx*im.BlockWidth, win.X), min((bx+1)*im.BlockWidth, win.X+win.Width)
		top, bottom := max(by*im.BlockHeight, win.Y), min((by+1)*im.BlockHeight, win.Y+win.Height)
		for y := top; y < bottom; y++ {
			from := src[((y-by*im.BlockHeight)*im.BlockWidth+left-bx*im.BlockWidth)*blockBands:][:(right-left)*blockBands]
			to := dst[((y-win.Y)*win.Width+left-win.X)*n:][:(right-left)*n]
			switch {
			case planes == 1 && r.Bands == nil:
				copy(to, from)
			case r.Bands == nil:
				for k, v := range from {
					to[k*n+plane] = v
				}
			case planes > 1:
				for j, band := range r.Bands {
					if band == plane {
						for k, v := range from {
							to[k*n+j] = v
						}
					}
				}
			default:
				for k := range right - left {
					for j, band := range r.Bands {
						to[k*n+j] = from[k*blockBands+band]
					}
				}
			}
		}
		return nil
	})
}

// parallel calls f for 0 to n-1 on all cores, and returns the first error.
func parallel(n int, f func(i int) error) error {
	if n == 1 {
		return f(0)
	}
	var next atomic.Int64
	var once sync.Once
	var first error
	var wg sync.WaitGroup
	for range min(n, runtime.GOMAXPROCS(0)) {
		wg.Go(func() {
			for i := int(next.Add(1)) - 1; i < n; i = int(next.Add(1)) - 1 {
				if err := f(i); err != nil {
					once.Do(func() { first = err })
					next.Store(int64(n))
				}
			}
		})
	}
	wg.Wait()
	return first
}
