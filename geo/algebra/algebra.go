package algebra

import (
	"context"
	"errors"
	"math"
	"strconv"

	"quern.dev/geo/algebra/internal/kernels"
	"quern.dev/geo/internal/failure"
	"quern.dev/geo/internal/heights"
	"quern.dev/geo/internal/strips"
	"quern.dev/geo/tiff"
	"quern.dev/gpu"
)

// ErrArgument is an expression, an option or an image that cannot be used.
var ErrArgument = errors.New("bad argument")

func failf(kind error, format string, args ...any) error {
	return failure.New(kind, "algebra: "+format, args...)
}

// Options says how an output is stored.
type Options struct {
	// NoData is the value of pixels without data: NaN by default.
	NoData *float64
	// File says how the output is stored.
	File tiff.Options
	// Progress is called after rows were written.
	Progress func(done, total int)
}

// File evaluates an expression for each pixel of images and writes a GeoTIFF file with one band of float32, which appears under its
// name when it is complete. The place of the first image is that of the output.
func File(ctx context.Context, dev *gpu.Device, name string, images []*tiff.Image, e Expression, o Options) error {
	readers, program, err := e.compile(images)
	if err != nil {
		return err
	}
	if o.File.Mask {
		return failf(ErrArgument, "options: the output has NoData; a mask is not possible")
	}
	none := float32(math.NaN())
	if o.NoData != nil {
		none = float32(*o.NoData)
	}
	im := images[0]
	h := tiff.Header{Width: im.Width, Height: im.Height, Bands: 1, Type: tiff.Float32, Photometric: tiff.MinIsBlack, Geo: im.Geo}
	h.NoData = strconv.FormatFloat(float64(none), 'g', -1, 32)
	if none != none {
		h.NoData = "nan"
	}
	s := dev.DefaultStream()
	code, err := gpu.Upload(s, program)
	if err != nil {
		return err
	}
	defer code.Close()
	most := strips.Rows(&h) * h.Width
	values, err := gpu.Alloc[float32](dev, most*len(readers))
	if err != nil {
		return err
	}
	defer values.Close()
	out, err := gpu.Alloc[float32](dev, most)
	if err != nil {
		return err
	}
	defer out.Close()
	read := func(ctx context.Context, y, n int) ([]float32, error) {
		rows := make([]float32, h.Width*n*len(readers))
		for i, r := range readers {
			if err := r.Read(ctx, 0, y, h.Width, n, rows[i*h.Width*n:][:h.Width*n]); err != nil {
				return nil, err
			}
		}
		return rows, nil
	}
	return strips.Write(ctx, name, h, o.File, read, func(ctx context.Context, y, rows int, from []float32, pixels []byte) error {
		n := h.Width * rows
		if err := gpu.CopyIn(s, values.Slice(0, len(from)), from); err != nil {
			return err
		}
		if err := kernels.LaunchEvaluate(s, gpu.Linear(n), n, code, values, none, out); err != nil {
			return err
		}
		return gpu.Download(ctx, s, pixels, gpu.Reinterpret[byte](out.Slice(0, n)))
	}, o.Progress)
}

// compile returns readers of the bands that are used, and the program with their indices.
func (e Expression) compile(images []*tiff.Image) (readers []*heights.Reader, program []kernels.Instruction, err error) {
	switch {
	case len(e.program) == 0:
		return nil, nil, failf(ErrArgument, "the expression is empty")
	case e.depth > kernels.Depth:
		return nil, nil, failf(ErrArgument, "the expression needs %d operands at a time; %d are possible", e.depth, kernels.Depth)
	case len(images) == 0:
		return nil, nil, failf(ErrArgument, "an image is required")
	}
	var all []*heights.Reader
	for _, im := range images {
		if im.Width != images[0].Width || im.Height != images[0].Height {
			return nil, nil, failf(ErrArgument, "%s and %s have different sizes", images[0], im)
		}
		if im.Type.Complex() {
			return nil, nil, failf(ErrArgument, "%s has samples of %v, which have no order", im, im.Type)
		}
		for b := range im.Bands {
			all = append(all, heights.New(im, b))
		}
	}
	index := map[int]int{}
	for _, b := range e.bands() {
		if b < 0 || b >= len(all) {
			return nil, nil, failf(ErrArgument, "the expression has b%d, and the number of bands of all images is %d", b+1, len(all))
		}
		index[b] = len(readers)
		readers = append(readers, all[b])
	}
	if len(readers) == 0 {
		return nil, nil, failf(ErrArgument, "the expression has no band")
	}
	for _, p := range e.program {
		if p.Code == kernels.Load {
			p.Arg = index[p.Arg]
		}
		program = append(program, p)
	}
	return readers, program, nil
}
