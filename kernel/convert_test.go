package kernel

import (
	"fmt"
	"math"
	"math/big"
	"testing"
)

func ExampleToInteger() {
	fmt.Println(ToInteger[uint8](254.9), ToInteger[uint8](1e10), ToInteger[int8](-1000.0), ToInteger[int32](math.NaN()))
	// Output: 254 255 -128 0
}

// edges are floats around the limits of all integer types.
func edges() []float64 {
	list := []float64{0, 0.25, 0.5, 0.999, 1, 1.5, 100.7, 1e-320, 1e10, 1e30, 1e300, math.Inf(1), math.NaN(), math.MaxFloat32, math.MaxFloat64}
	for bits := 7; bits <= 64; bits++ {
		limit := math.Ldexp(1, bits)
		list = append(list, limit-1, limit-0.5, limit, limit+0.5, limit+1, math.Nextafter(limit, 0), math.Nextafter(limit, math.Inf(1)),
			float64(math.Nextafter32(float32(limit), 0)), float64(math.Nextafter32(float32(limit), math.MaxFloat32)))
	}
	for _, x := range list {
		list = append(list, -x)
	}
	return list
}

// nearest returns the integer between low and high that is nearest to x truncated
// toward zero; 0 for NaN.
func nearest(x float64, low, high *big.Int) *big.Int {
	switch {
	case x != x:
		return new(big.Int)
	case math.IsInf(x, 1):
		return high
	case math.IsInf(x, -1):
		return low
	}
	n, _ := big.NewFloat(x).Int(nil)
	if n.Cmp(low) < 0 {
		return low
	}
	if n.Cmp(high) > 0 {
		return high
	}
	return n
}

func checkToInteger[To Integer, From Float](t *testing.T, low, high string) {
	t.Helper()
	l, _ := new(big.Int).SetString(low, 10)
	h, _ := new(big.Int).SetString(high, 10)
	for _, x := range edges() {
		want := nearest(float64(From(x)), l, h)
		if got := ToInteger[To](From(x)); fmt.Sprint(got) != want.String() {
			t.Errorf("ToInteger[%T](%T(%v)) = %d, want %v", got, From(x), x, got, want)
		}
		y := FromFloat32[To](float32(x))
		if got := ToInteger[To](float32(x)); y != got {
			t.Errorf("FromFloat32[%T](%v) = %d, want %d", got, x, y, got)
		}
	}
}

func TestConversionsToIntegersSaturate(t *testing.T) {
	type level uint8
	type depth float32
	checkToInteger[int8, float32](t, "-128", "127")
	checkToInteger[int8, float64](t, "-128", "127")
	checkToInteger[uint8, float32](t, "0", "255")
	checkToInteger[uint8, float64](t, "0", "255")
	checkToInteger[level, depth](t, "0", "255")
	checkToInteger[int16, float32](t, "-32768", "32767")
	checkToInteger[int16, float64](t, "-32768", "32767")
	checkToInteger[uint16, float32](t, "0", "65535")
	checkToInteger[uint16, float64](t, "0", "65535")
	checkToInteger[int32, float32](t, "-2147483648", "2147483647")
	checkToInteger[int32, float64](t, "-2147483648", "2147483647")
	checkToInteger[uint32, float32](t, "0", "4294967295")
	checkToInteger[uint32, float64](t, "0", "4294967295")
	checkToInteger[int64, float32](t, "-9223372036854775808", "9223372036854775807")
	checkToInteger[int64, float64](t, "-9223372036854775808", "9223372036854775807")
	checkToInteger[int, float64](t, "-9223372036854775808", "9223372036854775807")
	checkToInteger[uint64, float32](t, "0", "18446744073709551615")
	checkToInteger[uint64, float64](t, "0", "18446744073709551615")
	checkToInteger[uint, float32](t, "0", "18446744073709551615")
}
