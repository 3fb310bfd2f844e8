package layout

import (
	"math"
	"testing"
	"unsafe"

	"quern.dev/gpu/compiled"
)

func readAs[T any](name string, v T) (int64, bool) {
	p := compiled.Param{Kind: compiled.Scalar, Type: name, Size: int(unsafe.Sizeof(v))}
	return IntegerOf(p).Read(unsafe.Pointer(&v))
}

func TestLimitsReadIntegersByTheirType(t *testing.T) {
	type result struct {
		v  int64
		ok bool
	}
	as := func(v int64, ok bool) result { return result{v, ok} }
	tests := []struct {
		name      string
		got, want result
	}{
		{"int8", as(readAs("int8", int8(-3))), result{-3, true}},
		{"int16", as(readAs("int16", int16(-3))), result{-3, true}},
		{"int32", as(readAs("int32", int32(-3))), result{-3, true}},
		{"rune", as(readAs("rune", 'x')), result{'x', true}},
		{"int", as(readAs("int", math.MinInt64)), result{math.MinInt64, true}},
		{"byte", as(readAs("byte", byte(200))), result{200, true}},
		{"uint16", as(readAs("uint16", uint16(60000))), result{60000, true}},
		{"uint32", as(readAs("uint32", uint32(4e9))), result{4e9, true}},
		{"uint64", as(readAs("uint64", uint64(5))), result{5, true}},
		{"uint64 beyond int64", as(readAs("uint64", uint64(math.MaxUint64))), result{-1, false}},
		{"defined type, small", as(readAs("meters", uint32(7))), result{7, true}},
		{"defined type that is negative or large", as(readAs("meters", uint32(4e9))), result{4e9 - 1<<32, false}},
		{"defined type of a byte", as(readAs("level", uint8(200))), result{200 - 256, false}},
		{"defined type of 16 bits", as(readAs("level", int16(-1))), result{-1, false}},
		{"float32", as(readAs("float32", float32(1))), result{0, true}},
	}
	for _, test := range tests {
		if test.got != test.want {
			t.Errorf("%s: got %v, want %v", test.name, test.got, test.want)
		}
	}
}
