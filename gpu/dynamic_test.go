package gpu

import (
	"math"
	"strings"
	"testing"
	"unsafe"

	"quern.dev/gpu/compiled"
)

func readAs[T any](name string, v T) (int64, bool) {
	p := compiled.Param{Kind: compiled.Scalar, Type: name, Size: int(unsafe.Sizeof(v))}
	return integerOf(p).read(unsafe.Pointer(&v))
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

func TestAnIntegerThatLimitsCannotJudgeTakesTheWideModule(t *testing.T) {
	info := saxpyInfo
	info.Params = append([]compiled.Param(nil), info.Params...)
	info.Params[1].Type = "uint"
	k := NewKernel(info)
	d := must[*Device](t)(Open(Config{Device: "sim"}))
	s := d.DefaultStream()
	x, y := upload(t, s, 1, float32(2)), upload(t, s, 1, float32(2))
	// As a signed number this is less than 0, so that no thread does anything.
	do(t, k.Launch(s, Blocks(Dim3{X: 1}, Dim3{X: 2}), float32(1), uint(math.MaxUint64), x, y))
	if d.loaded[1].variants[1].Load() == nil {
		t.Error("the narrow module ran")
	}
	closeAll(t, x, y, d)
}

// The layout of a type is compared once for each parameter, not in every launch.
func TestDynamicLaunchesKnowTheirTypes(t *testing.T) {
	if raceEnabled {
		t.Skip("the race detector allocates")
	}
	type rows struct {
		A [4]struct{ X, Y float32 }
		B int32
	}
	d := must[*Device](t)(Open(Config{Device: "cpu"}))
	k := NewKernel(compiled.Kernel{
		Name: "k", Params: []compiled.Param{{Name: "p", Kind: compiled.Struct, Type: "p.rows", Layout: "struct{A [4]struct{X float32; Y float32}; B int32}", Size: 36}},
		Code: onlyCode(ptxHeader + ".visible .entry k(.param .align 4 .b8 p[36], .param .u64 quern_fault, .param .u32 quern_kernel) { exit; }"),
	})
	var arg any = rows{}
	launch := func() { do(t, k.Launch(d.DefaultStream(), Linear(1), arg)) }
	launch()
	plain := testing.AllocsPerRun(100, launch)
	l := must[*Launch](t)(k.Begin(d.DefaultStream(), Linear(1)))
	if compared := testing.AllocsPerRun(100, func() {
		do(t, k.info.param(0).accepts(arg))
	}); plain >= compared {
		t.Errorf("a launch allocates %v times, comparing alone %v", plain, compared)
	}
	Arg(l, rows{})
	do(t, l.End())
	do(t, d.Close())
}

// What has a buffer is none.
func TestWhatHasABufferIsNoArgument(t *testing.T) {
	type rows struct{ *Buffer[float32] }
	d := must[*Device](t)(Open(Config{Device: "cpu"}))
	defer closeAll(t, d)
	k := NewKernel(saxpyInfo)
	for _, arg := range []any{&rows{}, rows{}, (*rows)(nil)} {
		err := k.Launch(d.DefaultStream(), Linear(1), float32(2), 1, arg, arg)
		if err == nil || !strings.Contains(err.Error(), "rows, want *gpu.Buffer[float32]") {
			t.Errorf("%T: %v", arg, err)
		}
	}
}
