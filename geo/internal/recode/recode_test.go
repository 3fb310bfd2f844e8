package recode

import (
	"math"
	"slices"
	"testing"

	"quern.dev/geo/tiff"
)

func convert[S, D tiff.Sample](src ...S) []D {
	dst := make([]D, len(src))
	Convert(tiff.TypeOf[D](), tiff.Bytes(dst), tiff.TypeOf[S](), tiff.Bytes(src))
	return dst
}

func same[T comparable](t *testing.T, what string, got []T, want ...T) {
	t.Helper()
	if !slices.Equal(got, want) {
		t.Errorf("%s: %v, want %v", what, got, want)
	}
}

func TestNumbersAreRoundedAndLimited(t *testing.T) {
	nan, inf := math.NaN(), math.Inf(1)
	same(t, "float64 to uint8", convert[float64, uint8](-3, -0.5, 0.49, 0.5, 1.5, 2.5, 254.5, 255.5, 1e300, inf, -inf, nan), 0, 0, 0, 1, 2, 3, 255, 255, 255, 255, 0, 0)
	same(t, "float32 to int16", convert[float32, int16](-2.5, -0.5, -0.4, 2.5, 4e4, -4e4), -3, -1, 0, 3, 32767, -32768)
	same(t, "float64 to int64", convert[float64, int64](1e19, -1e19, 1<<53+2, nan), math.MaxInt64, math.MinInt64, 1<<53+2, 0)
	same(t, "float64 to uint64", convert[float64, uint64](1e20, -1, 1<<63), math.MaxUint64, 0, 1<<63)
	same(t, "int64 to uint64, exactly", convert[int64, uint64](-1, math.MaxInt64, 1<<60+1), 0, math.MaxInt64, 1<<60+1)
	same(t, "uint64 to int64", convert[uint64, int64](math.MaxUint64, 1<<62+1), math.MaxInt64, 1<<62+1)
	same(t, "int32 to int8", convert[int32, int8](-129, -128, 127, 128), -128, -128, 127, 127)
	same(t, "uint32 to int16", convert[uint32, int16](32768, 5), 32767, 5)
	same(t, "int8 to uint8", convert[int8, uint8](-1, 7), 0, 7)
	same(t, "float64 to float32", convert[float64, float32](1e300, -1.5, 0.1), float32(inf), -1.5, 0.1)
	same(t, "complex to real", convert[complex64, int16](2.5+9i, -1), 3, -1)
	same(t, "real to complex", convert[uint16, complex128](7), 7)
	same(t, "complex to complex", convert[complex64, tiff.ComplexInt16](1.5-2.5i), tiff.ComplexInt16{Real: 2, Imag: -3})
}

func TestValuesGoBesideOneThatIsAvoided(t *testing.T) {
	for _, c := range []struct {
		t              tiff.Type
		v, avoid, want float64
	}{
		{tiff.Uint8, 6.6, 7, 8}, {tiff.Uint8, 254.9, 255, 254}, {tiff.Uint8, 6.4, 7, 6.4}, {tiff.Int16, -9999, -9999, -9998},
		{tiff.Float64, 1, 1, math.Nextafter(1, 2)},
	} {
		if got := Beside(c.t, c.v, c.avoid); got != c.want {
			t.Errorf("%v beside %v in %v: %v, want %v", c.v, c.avoid, c.t, got, c.want)
		}
	}
}
