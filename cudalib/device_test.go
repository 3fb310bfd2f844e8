package cudalib_test

import (
	"math"
	"math/rand/v2"
	"os"
	"testing"

	"quern.dev/cudalib"
	"quern.dev/gpu"
	"quern.dev/internal/culib"
	"quern.dev/internal/culib/fakeculib"
	"quern.dev/internal/driver/cuda"
	"quern.dev/internal/driver/cuda/fakecuda"
)

// Measurements of tests are kept apart from those of programs.
func TestMain(m *testing.M) {
	dir, err := os.MkdirTemp("", "cudalib")
	if err != nil {
		panic(err)
	}
	os.Setenv("XDG_CACHE_HOME", dir)
	code := m.Run()
	os.RemoveAll(dir)
	os.Exit(code)
}

// rig is a device with libraries: substitutes, or real ones.
type rig struct {
	*gpu.Device
	libs   *fakeculib.Set // nil: real ones
	driver *fakecuda.Library
}

// withFakes returns a device of the substitutes.
func withFakes(t testing.TB, libs *fakeculib.Set) *rig {
	t.Helper()
	driver := fakecuda.New(1)
	t.Cleanup(cuda.Substitute(driver))
	t.Cleanup(culib.Substitute(libs.Open))
	d, err := gpu.Open(gpu.Config{Device: "cuda:0"})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { d.Close() })
	return &rig{d, libs, driver}
}

// everyRig runs a test with the substitutes, and on a GPU with its libraries if there are any.
func everyRig(t *testing.T, test func(t *testing.T, r *rig)) {
	t.Helper()
	t.Run("substitutes", func(t *testing.T) {
		r := withFakes(t, fakeculib.New())
		t.Run("", func(t *testing.T) { test(t, r) })
		do(t, r.Close())
		if left := r.libs.Left() + r.driver.Left(); left != "" {
			t.Errorf("left: %s", left)
		}
	})
	t.Run("GPU", func(t *testing.T) {
		d, err := gpu.Open(gpu.Config{Require: gpu.CUDA})
		if err != nil {
			t.Skipf("needs a GPU: %v", err)
		}
		t.Cleanup(func() { d.Close() })
		for _, l := range cudalib.Libraries(d) {
			if l.Err != nil {
				t.Skip(l.Err)
			}
		}
		t.Run("", func(t *testing.T) { test(t, &rig{Device: d}) })
		do(t, d.Close())
	})
}

// size returns a small size for the substitutes, or a larger one for GPUs.
func (r *rig) size(small, large int) int {
	if r.libs != nil {
		return small
	}
	return large
}

// stream returns a stream with an engine.
func (r *rig) stream(t testing.TB, e cudalib.Engine) *gpu.Stream {
	t.Helper()
	s, err := r.NewStream(t.Context())
	do(t, err)
	t.Cleanup(func() { s.Close() })
	do(t, cudalib.Use(s, e))
	return s
}

func do(t testing.TB, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

func upload[T any](t testing.TB, s *gpu.Stream, host []T) *gpu.Buffer[T] {
	t.Helper()
	b, err := gpu.Upload(s, host)
	do(t, err)
	t.Cleanup(func() { b.Close() })
	return b
}

func download[T any](t testing.TB, s *gpu.Stream, b *gpu.Buffer[T]) []T {
	t.Helper()
	host := make([]T, b.Len())
	do(t, gpu.Download(t.Context(), s, host, b))
	return host
}

// numbers returns n random numbers.
func numbers[T float32 | float64](seed uint64, n int) []T {
	r := rand.New(rand.NewPCG(seed, 1))
	out := make([]T, n)
	for i := range out {
		out[i] = T(2*r.Float64() - 1)
	}
	return out
}

// distance returns the relative distance of two lists, as the root mean square.
func distance(got, want []float64) float64 {
	var d, sum float64
	for i := range want {
		d += (got[i] - want[i]) * (got[i] - want[i])
		sum += want[i] * want[i]
	}
	if len(got) != len(want) {
		return math.Inf(1)
	}
	return math.Sqrt(d / max(sum, 1e-300))
}

// ran fails the test if another engine has computed the last operation.
func ran(t testing.TB, s *gpu.Stream, operation string, e cudalib.Engine) {
	t.Helper()
	if r := cudalib.Ran(s); r.Operation != operation || r.Engine != e {
		t.Errorf("%v, want %s by %v", r, operation, e)
	}
}
