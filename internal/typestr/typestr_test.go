package typestr

import (
	"reflect"
	"testing"

	"quern.dev/kernel"
)

func TestNames(t *testing.T) {
	if !LittleEndian {
		t.Skip("needs a machine with the least byte first, whose names these are")
	}
	type angle float64
	for want, v := range map[string]any{
		"|b1": true, "|i1": int8(0), "<i4": int32(0), "|u1": byte(0), "<u8": uint64(0),
		"<f4": float32(0), "<f8": angle(0), "<f2": kernel.Float16{}, "|V2": kernel.BFloat16{},
		"<c8": complex64(0), "<c16": complex128(0), "|V12": [3]float32{},
	} {
		if got := Of(reflect.TypeOf(v)); got != want {
			t.Errorf("%T is %q, want %q", v, got, want)
		}
	}
}
