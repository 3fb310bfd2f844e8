package device

import (
	"context"
	"unsafe"

	"quern.dev/geo/internal/failure"
	"quern.dev/geo/tiff"
	"quern.dev/geo/tiff/device/internal/kernels"
	"quern.dev/gpu"
)

// Write writes a whole image, whose pixels have all bands side by side, and its overviews. The caller closes
// the writer. The buffer is not changed. The file is the one that [tiff.Writer.WriteRows] makes.
func Write[T tiff.Sample](ctx context.Context, s *gpu.Stream, w *tiff.Writer, src *gpu.Buffer[T]) error {
	levels, opt := w.Levels(), w.Options()
	h := levels[0]
	n := h.Width * h.Height * h.Bands
	switch {
	case tiff.TypeOf[T]() != h.Type:
		return failure.New(tiff.ErrArgument, "device: write: a buffer of %s for an image of %s", tiff.TypeOf[T](), h.Type)
	case src.Len() != n:
		return failure.New(tiff.ErrArgument, "device: write: a buffer of %d samples for an image of %d", src.Len(), n)
	case opt.Mask:
		return failure.New(tiff.ErrArgument, "device: write: an image with a mask; use tiff.Writer.WriteRows")
	}
	wide := h.Type == tiff.Int64 || h.Type == tiff.Uint64
	if h.Bits != 0 || opt.Sparse || wide && len(levels) > 1 && opt.Resampling == tiff.Average {
		return writeRows(ctx, s, w, src)
	}
	for i, level := range levels {
		if err := writeLevel(ctx, s, w, src, i, level, opt); err != nil {
			return err
		}
		if i+1 == len(levels) {
			break
		}
		next, err := gpu.Alloc[T](s.Device(), levels[i+1].Width*levels[i+1].Height*h.Bands)
		if err != nil {
			return err
		}
		defer next.Close()
		if err := halve(s, next, src, level, opt); err != nil {
			return err
		}
		src = next
	}
	return nil
}

// writeRows downloads the pixels and writes them on the host.
func writeRows[T tiff.Sample](ctx context.Context, s *gpu.Stream, w *tiff.Writer, src *gpu.Buffer[T]) error {
	host := make([]T, src.Len())
	if err := gpu.Download(ctx, s, host, src); err != nil {
		return err
	}
	return w.WriteRows(ctx, tiff.Rows{Pixels: tiff.Bytes(host)})
}

// halve makes the next level.
func halve[T tiff.Sample](s *gpu.Stream, dst, src *gpu.Buffer[T], h tiff.Header, opt tiff.Options) error {
	components := 1
	if h.Type.Complex() {
		components = 2
	}
	p := kernels.Pyramid{Width: h.Width, Height: h.Height, Bands: h.Bands * components, Alpha: -1,
		Nearest: opt.Resampling == tiff.Nearest || h.Photometric == tiff.Palette}
	for i, e := range h.Extra {
		if e == tiff.AssociatedAlpha {
			break
		}
		if e == tiff.StraightAlpha {
			p.Alpha = (h.Bands - len(h.Extra) + i) * components
			break
		}
	}
	none, ok := h.NoDataValue()
	p.HasNoData = ok
	switch h.Type {
	case tiff.Uint8:
		return launchHalve[uint8](s, dst, src, p, none)
	case tiff.Uint16:
		return launchHalve[uint16](s, dst, src, p, none)
	case tiff.Uint32:
		return launchHalve[uint32](s, dst, src, p, none)
	case tiff.Int8:
		return launchHalve[int8](s, dst, src, p, none)
	case tiff.Int16, tiff.ComplexI16:
		return launchHalve[int16](s, dst, src, p, none)
	case tiff.Int32, tiff.ComplexI32:
		return launchHalve[int32](s, dst, src, p, none)
	case tiff.Float32, tiff.Complex64:
		p.Float = true
		return launchHalve[float32](s, dst, src, p, none)
	case tiff.Float64, tiff.Complex128:
		p.Float = true
		return launchHalve[float64](s, dst, src, p, none)
	}
	// 64-bit integers get here with Nearest only, which moves words.
	p.Float = true
	p.HasNoData = false
	return launchHalve[float64](s, dst, src, p, none)
}

func launchHalve[N kernels.Number, T tiff.Sample](s *gpu.Stream, dst, src *gpu.Buffer[T], p kernels.Pyramid, none float64) error {
	grid := gpu.Plane((p.Width+1)/2, (p.Height+1)/2)
	return kernels.LaunchHalve(s, grid, p, N(none), gpu.Reinterpret[N](src), gpu.Reinterpret[N](dst))
}

func writeLevel[T tiff.Sample](ctx context.Context, s *gpu.Stream, w *tiff.Writer, src *gpu.Buffer[T], level int, h tiff.Header, opt tiff.Options) error {
	word := componentBytes(h.Type)
	if opt.Predictor != tiff.NoPredictor {
		word = h.Type.Size()
	}
	switch word {
	case 1:
		return writeWords(ctx, s, w, gpu.Reinterpret[uint8](src), level, h, opt)
	case 2:
		return writeWords(ctx, s, w, gpu.Reinterpret[uint16](src), level, h, opt)
	case 4:
		return writeWords(ctx, s, w, gpu.Reinterpret[uint32](src), level, h, opt)
	}
	return writeWords(ctx, s, w, gpu.Reinterpret[uint64](src), level, h, opt)
}

func componentBytes(t tiff.Type) int {
	if t.Complex() {
		return t.Size() / 2
	}
	return t.Size()
}

// writeWords makes the stored form of the blocks of a level, batch by batch, and hands them over for compression.
func writeWords[W kernels.Word](ctx context.Context, s *gpu.Stream, w *tiff.Writer, src *gpu.Buffer[W], level int, h tiff.Header, opt tiff.Options) error {
	size := int(unsafe.Sizeof(W(0)))
	blockBands, planes := h.Bands, 1
	if opt.Layout == tiff.ByBand {
		blockBands, planes = 1, h.Bands
	}
	height := opt.BlockHeight
	whole := tiff.Region{Width: h.Width, Height: h.Height, Bands: make([]int, h.Bands)}
	g := geometry(opt.BlockWidth, height, blockBands, h.Type.Size(), size, whole)
	g.Swap = opt.BigEndian && size > 1
	blockBytes := g.Width * g.Height * g.Words * size
	across, down := (h.Width-1)/opt.BlockWidth+1, (h.Height-1)/opt.BlockHeight+1
	total := across * down * planes
	perBatch := max(1, min(total, batchBytes/blockBytes))
	staging, err := gpu.Alloc[uint8](s.Device(), (perBatch*blockBytes+15)&^15)
	if err != nil {
		return err
	}
	defer staging.Close()
	for first := 0; first < total; first += perBatch {
		list := make([]kernels.Block, 0, perBatch)
		indices := make([]int, 0, perBatch)
		for i := first; i < min(first+perBatch, total); i++ { // in the order of WriteRows
			x, plane, y := i%across, i/across%planes, i/(across*planes)
			indices = append(indices, (plane*down+y)*across+x)
			rows := height
			if opt.Strips {
				rows = min(height, h.Height-y*opt.BlockHeight)
			}
			list = append(list, kernels.Block{X: int32(x * opt.BlockWidth), Y: int32(y * opt.BlockHeight), Rows: int32(rows), Band: int32(plane)})
		}
		host := make([]byte, len(list)*blockBytes)
		if err := storeBlocks(ctx, s, g, list, src, staging.Slice(0, len(host)), host, opt.Predictor); err != nil {
			return err
		}
		for i, b := range list {
			part := host[i*blockBytes:][:blockBytes/height*int(b.Rows)]
			if err := w.WriteStored(ctx, level, indices[i], part); err != nil {
				return err
			}
		}
	}
	return nil
}

// storeBlocks runs the kernels that make stored blocks, and downloads these.
func storeBlocks[W kernels.Word](ctx context.Context, s *gpu.Stream, g kernels.Blocks, list []kernels.Block, src *gpu.Buffer[W], staging *gpu.Buffer[uint8], host []byte, predictor tiff.Predictor) error {
	where, err := gpu.Upload(s, list)
	if err != nil {
		return err
	}
	defer where.Close()
	size := int(unsafe.Sizeof(W(0)))
	g.Count = len(list)
	grid := gpu.Linear(g.Count * g.Width * g.Height)
	switch {
	case predictor == tiff.Horizontal:
		err = kernels.LaunchDifference(s, grid, g, size, where, src, gpu.Reinterpret[W](staging))
	case predictor == tiff.FloatingPoint && size == 2:
		err = kernels.LaunchSplit(s, grid, g, size, where, gpu.Reinterpret[uint16](src), staging)
	case predictor == tiff.FloatingPoint && size == 4:
		err = kernels.LaunchSplit(s, grid, g, size, where, gpu.Reinterpret[uint32](src), staging)
	case predictor == tiff.FloatingPoint:
		err = kernels.LaunchSplit(s, grid, g, size, where, gpu.Reinterpret[uint64](src), staging)
	default:
		err = kernels.LaunchStore(s, grid, g, size, where, src, gpu.Reinterpret[W](staging))
	}
	if err != nil {
		return err
	}
	return gpu.Download(ctx, s, host, staging)
}
