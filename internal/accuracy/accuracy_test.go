package accuracy

import (
	"context"
	"math"
	"testing"

	"quern.dev/gpu"
	"quern.dev/gputest"
)

type launcher func(s *gpu.Stream, g gpu.Grid, from uint32, step, count int, out *gpu.Buffer[uint64]) error

var functions = []struct {
	name  string
	run   launcher
	pairs bool
}{
	{"Exp", LaunchErrorExp, false},
	{"Exp2", LaunchErrorExp2, false},
	{"Expm1", LaunchErrorExpm1, false},
	{"Log", LaunchErrorLog, false},
	{"Log2", LaunchErrorLog2, false},
	{"Log10", LaunchErrorLog10, false},
	{"Log1p", LaunchErrorLog1p, false},
	{"Sin", LaunchErrorSin, false},
	{"Cos", LaunchErrorCos, false},
	{"Tan", LaunchErrorTan, false},
	{"Asin", LaunchErrorAsin, false},
	{"Acos", LaunchErrorAcos, false},
	{"Atan", LaunchErrorAtan, false},
	{"Sinh", LaunchErrorSinh, false},
	{"Cosh", LaunchErrorCosh, false},
	{"Tanh", LaunchErrorTanh, false},
	{"Cbrt", LaunchErrorCbrt, false},
	{"Rsqrt", LaunchErrorRsqrt, false},
	{"Pow", LaunchErrorPow, true},
	{"Atan2", LaunchErrorAtan2, true},
	{"Hypot", LaunchErrorHypot, true},
	{"Mod", LaunchErrorMod, true},
}

// bound is the accuracy that package kernel promises for its float32 functions, in units
// in the last place.
const bound = 2

// TestFloat32FunctionsAreWithinTwoULP tries every float32 on a GPU. On the
// other devices this would take hours, so it tries a sample spread over all of them.
func TestFloat32FunctionsAreWithinTwoULP(t *testing.T) {
	gputest.Each(t, func(t *testing.T, d *gpu.Device) {
		for _, f := range functions {
			t.Run(f.name, func(t *testing.T) { measure(t, d, f.run, f.pairs) })
		}
	})
}

func measure(t *testing.T, d *gpu.Device, run launcher, pairs bool) {
	const floats = 1 << 32
	count := map[gpu.Backend]int{gpu.CUDA: floats, gpu.CPU: 1 << 17, gpu.Sim: 1 << 11}[d.Backend()]
	chunk := min(count, 1<<28)
	step := floats / count
	if step > 1 {
		step++ // odd, so that all low bits occur
	}
	s := d.DefaultStream()
	out, err := gpu.Upload(s, []uint64{0})
	if err != nil {
		t.Fatal(err)
	}
	defer out.Close()
	for from := 0; from < count; from += chunk {
		first := uint32(from * step)
		if pairs {
			first = uint32(from / chunk)
		}
		if err := run(s, gpu.Linear(min(chunk, 1<<19)), first, step, chunk, out); err != nil {
			t.Fatal(err)
		}
	}
	got := make([]uint64, 1)
	if err := gpu.Download(context.Background(), s, got, out); err != nil {
		t.Fatal(err)
	}
	worst, bits := float64(got[0]>>32)/1024, uint32(got[0])
	t.Logf("at most %.3f ulp, at %#08x = %g", worst, bits, math.Float32frombits(bits))
	if worst > bound {
		t.Errorf("%.3f ulp at %#08x = %g, more than %d", worst, bits, math.Float32frombits(bits), bound)
	}
}
