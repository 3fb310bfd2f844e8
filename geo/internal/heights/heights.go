// Package heights reads bands of any type as float32, with NaN where there is no data.
package heights

import (
	"context"
	"math"
	"unsafe"

	"quern.dev/geo/tiff"
)

// Reader reads one band of an image. It may be used concurrently.
type Reader struct {
	im     *tiff.Image
	band   int
	noData float64
}

// New returns a reader of a band.
func New(im *tiff.Image, band int) *Reader {
	r := &Reader{im, band, math.NaN()}
	if v, ok := im.NoDataValue(); ok {
		r.noData = v
	}
	return r
}

type number interface {
	uint8 | int8 | uint16 | int16 | uint32 | int32 | uint64 | int64 | float32 | float64
}

// readers are those of all types that are no complex numbers.
var readers = map[tiff.Type]func(*Reader, context.Context, tiff.Region, []float32) error{
	tiff.Uint8: read[uint8], tiff.Int8: read[int8], tiff.Uint16: read[uint16], tiff.Int16: read[int16], tiff.Uint32: read[uint32],
	tiff.Int32: read[int32], tiff.Uint64: read[uint64], tiff.Int64: read[int64], tiff.Float32: read[float32], tiff.Float64: read[float64],
}

// Read fills dst with the values of a window of width x height pixels at (x, y). The type of the image must not be complex.
func (r *Reader) Read(ctx context.Context, x, y, width, height int, dst []float32) error {
	region := tiff.Region{X: x, Y: y, Width: width, Height: height, Bands: []int{r.band}}
	if err := readers[r.im.Type](r, ctx, region, dst); err != nil {
		return err
	}
	m := r.im.Mask()
	if m == nil {
		return nil
	}
	mask := make([]byte, width*height)
	region.Bands = nil
	if err := m.ReadRegion(ctx, mask, region); err != nil {
		return err
	}
	for i, v := range mask {
		if v == 0 {
			dst[i] = float32(math.NaN())
		}
	}
	return nil
}

func read[T number](r *Reader, ctx context.Context, region tiff.Region, dst []float32) error {
	values := make([]T, region.Width*region.Height)
	bytes := unsafe.Slice((*byte)(unsafe.Pointer(unsafe.SliceData(values))), len(values)*int(unsafe.Sizeof(values[0])))
	if err := r.im.ReadRegion(ctx, bytes, region); err != nil {
		return err
	}
	for i, v := range values {
		if float64(v) == r.noData {
			dst[i] = float32(math.NaN())
		} else {
			dst[i] = float32(v)
		}
	}
	return nil
}
