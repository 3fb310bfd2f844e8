package output

import (
	"context"
	"math/rand/v2"
	"slices"
	"testing"

	"quern.dev/gpu"
	"quern.dev/gputest"
	"quern.dev/kernel"
)

func TestInlinePTXMatchesGo(t *testing.T) {
	const n = 1000
	r := rand.New(rand.NewPCG(1, 2))
	x, f := make([]uint32, 4*n), make([]float64, n)
	for i := range x {
		x[i] = r.Uint32() >> (r.UintN(3) * 8)
	}
	for i := range f {
		f[i] = r.NormFloat64()
	}
	want, wantF := make([]uint32, 3*n), slices.Clone(f)
	kernel.Each(kernel.Dim3{X: 4}, kernel.Dim3{X: 256}, func(th kernel.Thread) { assembled(th, x, wantF, want) })
	gputest.Each(t, func(t *testing.T, d *gpu.Device) {
		dX, dF := gputest.Upload(t, d, x), gputest.Upload(t, d, f)
		out := gputest.Upload(t, d, make([]uint32, 3*n))
		if err := LaunchAssembled(d.DefaultStream(), gpu.Blocks(gpu.Dim3{X: 4}, gpu.Dim3{X: 256}), dX, dF, out); err != nil {
			t.Fatal(err)
		}
		if got := gputest.Download(t, d, out); !slices.Equal(got, want) {
			t.Errorf("got %x, want %x", got[:6], want[:6])
		}
		if got := gputest.Download(t, d, dF); !slices.Equal(got, wantF) {
			t.Errorf("got %v, want %v", got[:6], wantF[:6])
		}
	})
}

func TestInlinePTXWithoutResults(t *testing.T) {
	gputest.Each(t, func(t *testing.T, d *gpu.Device) {
		if major, _ := d.ComputeCapability(); d.Backend() == gpu.CUDA && major < 7 {
			t.Skip("nanosleep needs a GPU with compute capability 7.0")
		}
		out := gputest.Upload(t, d, make([]int32, 64))
		if err := LaunchPaused(d.DefaultStream(), gpu.Linear(64), out); err != nil {
			t.Fatal(err)
		}
		if err := d.Synchronize(context.Background()); err != nil {
			t.Fatal(err)
		}
	})
}
