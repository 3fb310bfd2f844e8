package gpu

import (
	"math"
	"strings"
	"testing"

	"quern.dev/gpu/compiled"
)

func TestAnIntegerThatLimitsCannotJudgeTakesTheWideModule(t *testing.T) {
	info := saxpyInfo
	info.Params = append([]compiled.Param(nil), info.Params...)
	info.Params[1].Type = "uint"
	k := NewKernel(info)
	d := must[*Device](t)(Open(Config{Device: "sim"}))
	s := d.DefaultStream()
	x, y := upload(t, s, 1, float32(2)), upload(t, s, 1, float32(2))
	// As a signed number this is negative, so no thread does anything.
	do(t, k.Launch(s, Blocks(Dim3{X: 1}, Dim3{X: 2}), float32(1), uint(math.MaxUint64), x, y))
	if d.loaded[1].variants[1].Load() == nil {
		t.Error("the narrow module ran")
	}
	closeAll(t, x, y, d)
}

// The layout of a type is compared once per parameter, not at every launch.
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

// A type that embeds a buffer is not a buffer.
func TestTypesWithEmbeddedBuffersAreNotArguments(t *testing.T) {
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
