package device

import (
	"context"
	"runtime"
	"sync"
	"sync/atomic"
	"unsafe"

	"quern.dev/geo/internal/failure"
	"quern.dev/geo/tiff"
	"quern.dev/geo/tiff/device/internal/kernels"
	"quern.dev/gpu"
)

// batchBytes is how much is decompressed, copied and placed at a time.
const batchBytes = 32 << 20

// Read reads a region to a new buffer, which the caller closes; see [ReadInto].
func Read[T tiff.Sample](ctx context.Context, s *gpu.Stream, im *tiff.Image, r tiff.Region) (*gpu.Buffer[T], error) {
	r, err := im.Resolve(r)
	if err != nil {
		return nil, err
	}
	dst, err := gpu.Alloc[T](s.Device(), r.Width*r.Height*len(r.Bands))
	if err != nil {
		return nil, err
	}
	if err := ReadInto(ctx, s, dst, im, r); err != nil {
		dst.Close()
		return nil, err
	}
	return dst, nil
}

// ReadInto reads a region to dst, in the region's layout. It returns when all is decompressed and
// queued on the stream.
func ReadInto[T tiff.Sample](ctx context.Context, s *gpu.Stream, dst *gpu.Buffer[T], im *tiff.Image, r tiff.Region) error {
	r, err := im.Resolve(r)
	if err != nil {
		return err
	}
	n := r.Width * r.Height * len(r.Bands)
	switch {
	case tiff.TypeOf[T]() != im.Type:
		return failure.New(tiff.ErrArgument, "device: read: a buffer of %s for an image of %s", tiff.TypeOf[T](), im.Type)
	case dst.Len() < n:
		return failure.New(tiff.ErrArgument, "device: read: a buffer of %d samples for a region of %d", dst.Len(), n)
	}
	stored := im.Stored()
	if stored.Bits != 8*im.Type.Size() || im.BlockBytes() > 8*batchBytes {
		host, err := tiff.Read[T](ctx, im, r)
		if err != nil {
			return err
		}
		return gpu.CopyIn(s, dst.Slice(0, n), host)
	}
	word := stored.Component
	if stored.Predictor == tiff.FloatingPoint {
		word = stored.Bits / 8
	}
	switch word {
	case 1:
		return readWords(ctx, s, gpu.Reinterpret[uint8](dst), im, r)
	case 2:
		return readWords(ctx, s, gpu.Reinterpret[uint16](dst), im, r)
	case 4:
		return readWords(ctx, s, gpu.Reinterpret[uint32](dst), im, r)
	}
	return readWords(ctx, s, gpu.Reinterpret[uint64](dst), im, r)
}

// geometry describes blocks to the kernels.
func geometry(width, height, blockBands, sampleBytes, word int, r tiff.Region) kernels.Blocks {
	per := sampleBytes / word
	g := kernels.Blocks{Width: width, Height: height, Words: blockBands * per, PerSample: per, X: r.X, Y: r.Y, RegionWidth: r.Width, RegionHeight: r.Height}
	if r.Layout == tiff.ByPixel {
		g.PixelStep, g.RowStep, g.BandStep = len(r.Bands)*per, r.Width*len(r.Bands)*per, per
	} else {
		g.PixelStep, g.RowStep, g.BandStep = per, r.Width*per, r.Width*r.Height*per
	}
	return g
}

// reader reads blocks of one region.
type reader[W kernels.Word] struct {
	s       *gpu.Stream
	im      *tiff.Image
	dst     *gpu.Buffer[W]
	g       kernels.Blocks
	bytes   int // of a block
	host    []W // of a batch
	staging *gpu.Buffer[uint8]
	bands   *gpu.Buffer[int32]
}

// located is a block of the image and its index in the file.
type located struct {
	kernels.Block
	index  int
	absent bool
}

func readWords[W kernels.Word](ctx context.Context, s *gpu.Stream, dst *gpu.Buffer[W], im *tiff.Image, r tiff.Region) error {
	stored := im.Stored()
	rd := &reader[W]{s: s, im: im, dst: dst, bytes: im.BlockBytes()}
	rd.g = geometry(im.BlockWidth, im.BlockHeight, stored.Bands, im.Type.Size(), int(unsafe.Sizeof(W(0))), r)
	table, whole := bandTable(im, r)
	if !whole {
		// The kernels have one place per band of the file, so a band that is asked for twice is read by the host.
		return rd.onHost(ctx, r)
	}
	var err error
	if rd.bands, err = gpu.Upload(s, table); err != nil {
		return err
	}
	defer rd.bands.Close()
	blocks := plan(im, r, table)
	perBatch := max(1, min(len(blocks), batchBytes/rd.bytes))
	if rd.staging, err = gpu.Alloc[uint8](s.Device(), (perBatch*rd.bytes+15)&^15); err != nil {
		return err
	}
	defer rd.staging.Close()
	rd.host = make([]W, perBatch*rd.bytes/int(unsafe.Sizeof(W(0))))
	for len(blocks) > 0 {
		n := min(perBatch, len(blocks))
		if err := rd.batch(ctx, blocks[:n]); err != nil {
			return err
		}
		blocks = blocks[n:]
	}
	return nil
}

// bandTable returns for each band of the file its place in the region, or -1. It is false if a band has
// several places.
func bandTable(im *tiff.Image, r tiff.Region) ([]int32, bool) {
	table := make([]int32, im.Bands)
	for i := range table {
		table[i] = -1
	}
	for place, b := range r.Bands {
		if table[b] >= 0 {
			return nil, false
		}
		table[b] = int32(place)
	}
	return table, true
}

// onHost reads a region on the host.
func (rd *reader[W]) onHost(ctx context.Context, r tiff.Region) error {
	n := r.Width * r.Height * len(r.Bands) * rd.im.Type.Size() / int(unsafe.Sizeof(W(0)))
	host := make([]W, n)
	if err := rd.im.ReadRegion(ctx, bytesOf(host), r); err != nil {
		return err
	}
	return gpu.CopyIn(rd.s, rd.dst.Slice(0, n), host)
}

func bytesOf[W kernels.Word](s []W) []byte {
	return unsafe.Slice((*byte)(unsafe.Pointer(unsafe.SliceData(s))), len(s)*int(unsafe.Sizeof(W(0))))
}

// plan lists the blocks of a region.
func plan(im *tiff.Image, r tiff.Region, table []int32) []located {
	var blocks []located
	across, down, planes := im.Blocks()
	for plane := range planes {
		if planes > 1 && table[plane] < 0 {
			continue
		}
		for by := r.Y / im.BlockHeight; by*im.BlockHeight < r.Y+r.Height; by++ {
			for bx := r.X / im.BlockWidth; bx*im.BlockWidth < r.X+r.Width; bx++ {
				index := (plane*down+by)*across + bx
				b := kernels.Block{X: int32(bx * im.BlockWidth), Y: int32(by * im.BlockHeight), Rows: int32(im.StoredRows(index)), Band: int32(plane)}
				blocks = append(blocks, located{Block: b, index: index})
			}
		}
	}
	return blocks
}

// batch reads blocks and places them in the region.
func (rd *reader[W]) batch(ctx context.Context, blocks []located) error {
	bytes := bytesOf(rd.host)[:len(blocks)*rd.bytes]
	var absent atomic.Bool
	err := parallel(len(blocks), func(i int) error {
		part := bytes[i*rd.bytes : (i+1)*rd.bytes]
		there, err := rd.im.ReadStored(ctx, part, blocks[i].index)
		if err == nil && !there {
			blocks[i].absent = true
			absent.Store(true)
			err = rd.im.ReadBlock(ctx, part, blocks[i].index)
		}
		return err
	})
	if err != nil {
		return err
	}
	staging := rd.staging.Slice(0, len(bytes))
	if err := gpu.CopyIn(rd.s, staging, bytes); err != nil {
		return err
	}
	if !absent.Load() {
		return rd.launch(blocks, staging, rd.im.Stored())
	}
	// Absent blocks are pixels already, and the others are not. Each kernel skips the other's, which have no rows.
	plain := tiff.Stored{Predictor: tiff.NoPredictor}
	if err := rd.launch(only(blocks, true), staging, plain); err != nil {
		return err
	}
	return rd.launch(only(blocks, false), staging, rd.im.Stored())
}

// only returns the blocks with no rows where absent is another.
func only(blocks []located, absent bool) []located {
	out := make([]located, len(blocks))
	copy(out, blocks)
	for i := range out {
		if out[i].absent != absent {
			out[i].Rows = 0
		}
	}
	return out
}

// launch runs the kernels that place stored blocks.
func (rd *reader[W]) launch(blocks []located, staging *gpu.Buffer[uint8], stored tiff.Stored) error {
	list := make([]kernels.Block, len(blocks))
	for i, b := range blocks {
		list[i] = b.Block
	}
	where, err := gpu.Upload(rd.s, list)
	if err != nil {
		return err
	}
	defer where.Close()
	g, size := rd.g, int(unsafe.Sizeof(W(0)))
	g.Count = len(blocks)
	g.Swap = stored.BigEndian && stored.Bits > 8
	src := gpu.Reinterpret[W](staging)
	rows := g.Count * g.Height
	switch stored.Predictor {
	case tiff.Horizontal:
		return kernels.LaunchSum(rd.s, gpu.Linear(rows*g.Words), g, size, where, rd.bands, src, rd.dst)
	case tiff.FloatingPoint:
		if err := kernels.LaunchSumBytes(rd.s, gpu.Linear(rows*g.Words), rows, g.Width*g.Words*size, g.Words, staging); err != nil {
			return err
		}
		return rd.join(g, where, staging)
	}
	return kernels.LaunchPlace(rd.s, gpu.Linear(rows*g.Width), g, size, where, rd.bands, src, rd.dst)
}

// join puts the bytes of floats together.
func (rd *reader[W]) join(g kernels.Blocks, where *gpu.Buffer[kernels.Block], staging *gpu.Buffer[uint8]) error {
	grid := gpu.Linear(g.Count * g.Height * g.Width)
	switch size := int(unsafe.Sizeof(W(0))); size {
	case 2:
		return kernels.LaunchJoin(rd.s, grid, g, size, where, rd.bands, staging, gpu.Reinterpret[uint16](rd.dst))
	case 4:
		return kernels.LaunchJoin(rd.s, grid, g, size, where, rd.bands, staging, gpu.Reinterpret[uint32](rd.dst))
	default:
		return kernels.LaunchJoin(rd.s, grid, g, size, where, rd.bands, staging, gpu.Reinterpret[uint64](rd.dst))
	}
}

// parallel calls f for 0 to n-1 on all cores, and returns the first error.
func parallel(n int, f func(i int) error) error {
	var next atomic.Int64
	var once sync.Once
	var first error
	var wg sync.WaitGroup
	for range min(n, runtime.GOMAXPROCS(0)) {
		wg.Go(func() {
			for {
				i := int(next.Add(1)) - 1
				if i >= n {
					return
				}
				if err := f(i); err != nil {
					once.Do(func() { first = err })
					next.Store(int64(n))
					return
				}
			}
		})
	}
	wg.Wait()
	return first
}
