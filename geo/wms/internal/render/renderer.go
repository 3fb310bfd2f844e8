package render

import (
	"cmp"
	"context"
	"errors"
	"io"
	"runtime"
	"slices"

	"quern.dev/geo/internal/blocks"
	"quern.dev/geo/wms/internal/kernels"
	"quern.dev/gpu"
)

// Options has the sizes of a renderer. Zero fields have the stated defaults.
type Options struct {
	Pages  int64 // bytes of pages on the device: 512 MiB
	Blocks int64 // bytes of decoded blocks on the host: 256 MiB
	Lanes  int   // maps that are drawn at a time: two per core
}

// Renderer draws maps on a device. It is safe for concurrent use, except Close.
type Renderer struct {
	dev    *gpu.Device
	blocks *blocks.Cache
	pages  *pages
	memory *gpu.Buffer[uint32] // of pages
	lanes  chan *lane
	owned  chan []io.Closer
}

const (
	mostPages = 64  // of a part of a map
	partSize  = 512 // pixels of a side of a part of a map
	// Making a page of half the resolution uses nine pages of the level before, and so on.
	depthPages = 9 * 16
)

// New returns a renderer. The device must stay open.
func New(dev *gpu.Device, o Options) (*Renderer, error) {
	lanes := cmp.Or(o.Lanes, 2*runtime.GOMAXPROCS(0))
	slots := int(min(max(cmp.Or(o.Pages, 512<<20)/(4*kernels.PagePixels), int64(2*mostPages+depthPages)), 32000))
	// Every lane can use as many pages as it may need.
	lanes = max(min(lanes, slots/(mostPages+depthPages)), 1)
	r := &Renderer{dev: dev, blocks: blocks.New(cmp.Or(o.Blocks, 256<<20)), pages: newPages(slots), lanes: make(chan *lane, lanes), owned: make(chan []io.Closer, 1)}
	r.owned <- nil
	var err error
	if r.memory, err = gpu.Alloc[uint32](dev, slots*kernels.PagePixels); err != nil {
		return nil, err
	}
	r.own(r.memory)
	for range lanes {
		l, err := r.newLane()
		if err != nil {
			return nil, errors.Join(err, r.Close())
		}
		r.lanes <- l
	}
	return r, nil
}

// own makes Close close memory.
func (r *Renderer) own(c io.Closer) { r.owned <- append(<-r.owned, c) }

// free closes memory that Close would close.
func (r *Renderer) free(c io.Closer) error {
	r.owned <- slices.DeleteFunc(<-r.owned, func(o io.Closer) bool { return o == c })
	return c.Close()
}

// Close frees the memory. Nothing may be under way.
func (r *Renderer) Close() error {
	var errs []error
	for len(r.lanes) > 0 {
		errs = append(errs, (<-r.lanes).close())
	}
	for _, c := range <-r.owned {
		errs = append(errs, c.Close())
	}
	r.owned <- nil
	return errors.Join(errs...)
}

// Counts returns how often a page was in memory, how often it was made, and how many there are.
func (r *Renderer) Counts() (hits, misses uint64, kept int) { return r.pages.counts() }

// lane has the stream and the memory of a map.
type lane struct {
	r       *Renderer
	s       *gpu.Stream
	lattice *gpu.Buffer[int64]
	table   *gpu.Buffer[int32]
	box     *gpu.Buffer[int32]
	xs, ys  *gpu.Buffer[float64] // for exact positions, or nil
	out     *gpu.Buffer[uint32]
	result  *gpu.HostBuffer[uint32]
	mapped  bool // out is the memory of result
	src     *gpu.Buffer[[2]uint64]
	mask    *gpu.Buffer[uint8]
	heights *gpu.Buffer[float32] // for shadings, or nil
	sizes   *gpu.Buffer[float64]

	host     [][2]uint64 // a window of a source
	hostMask []uint8
	nodes    []int64
	places   []float64
	slots    []int32
	pinned   []*page
}

func (r *Renderer) newLane() (l *lane, err error) {
	l = &lane{r: r, hostMask: make([]uint8, kernels.WindowPixels)}
	defer func() {
		if err != nil {
			err = errors.Join(err, l.close())
		}
	}()
	if l.s, err = r.dev.NewStream(context.Background()); err != nil {
		return l, err
	}
	const nodes = partSize>>leastShift + 2
	err = errors.Join(alloc(r.dev, &l.lattice, 2*nodes*nodes), alloc(r.dev, &l.table, mostPages), alloc(r.dev, &l.box, 4),
		alloc(r.dev, &l.src, 1), alloc(r.dev, &l.mask, kernels.WindowPixels))
	if err != nil {
		return l, err
	}
	if l.result, err = gpu.AllocHost[uint32](r.dev, partSize*partSize); err != nil {
		return l, err
	}
	if b := r.dev.Backend(); b == gpu.CPU || b == gpu.Sim {
		l.mapped = true
		l.out, err = l.result.Mapped()
		return l, err
	}
	return l, alloc(r.dev, &l.out, partSize*partSize)
}

func alloc[T any](dev *gpu.Device, to **gpu.Buffer[T], n int) (err error) {
	*to, err = gpu.Alloc[T](dev, n)
	return err
}

// grow makes room for bytes of a window.
func (l *lane) grow(bytes int) error {
	n := (bytes + 15) / 16
	if len(l.host) >= n {
		return nil
	}
	if err := l.src.Close(); err != nil {
		return err
	}
	l.host = make([][2]uint64, n)
	return alloc(l.r.dev, &l.src, n)
}

func (l *lane) close() error {
	var errs []error
	closeBuffer := func(c io.Closer, there bool) {
		if there {
			errs = append(errs, c.Close())
		}
	}
	closeBuffer(l.lattice, l.lattice != nil)
	closeBuffer(l.table, l.table != nil)
	closeBuffer(l.box, l.box != nil)
	closeBuffer(l.xs, l.xs != nil)
	closeBuffer(l.ys, l.ys != nil)
	closeBuffer(l.out, l.out != nil)
	closeBuffer(l.result, l.result != nil)
	closeBuffer(l.src, l.src != nil)
	closeBuffer(l.mask, l.mask != nil)
	closeBuffer(l.heights, l.heights != nil)
	closeBuffer(l.sizes, l.sizes != nil)
	closeBuffer(l.s, l.s != nil)
	return errors.Join(errs...)
}

// Device returns the device that maps are drawn on.
func (r *Renderer) Device() *gpu.Device { return r.dev }

// Idle reports whether no map has a lane, and no map uses a page.
func (r *Renderer) Idle() (lanes, pages bool) {
	return len(r.lanes) == cap(r.lanes), r.pages.unused()
}
