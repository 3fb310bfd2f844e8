package gpu

import (
	"context"
	"errors"
	"slices"
	"strings"
	"testing"

	"quern.dev/internal/driver/cuda/fakecuda"
)

const togetherSource = `package p

import "quern.dev/kernel"

//quern:kernel
func turn(t kernel.Thread, x []int32) {
	i := t.Global()
	v := x[len(x)-1-i]
	t.SyncGrid()
	x[i] = v
}

//quern:kernel cluster=2 block=32
func swap(t kernel.Thread, x []int32) {
	tile := kernel.Shared[[32]int32](t)
	tile[t.ThreadIdx.X] = x[t.Global()]
	t.SyncCluster()
	v := kernel.ClusterShared(t, tile, 1-t.ClusterRank())[t.ThreadIdx.X]
	t.SyncCluster()
	x[t.Global()] = v
}
`

func TestKernelsCompiledAtRunTimeWaitForOtherBlocks(t *testing.T) {
	withCUDA(t, fakecuda.New(1))
	x := make([]int32, 128)
	for i := range x {
		x[i] = int32(i)
	}
	turned, swapped := slices.Clone(x), append(append(append(slices.Clone(x[32:64]), x[:32]...), x[96:]...), x[64:96]...)
	slices.Reverse(turned)
	for _, id := range []string{"cpu", "sim", "cuda:0"} {
		t.Run(id, func(t *testing.T) {
			d, err := Open(Config{Device: id})
			if err != nil {
				t.Fatal(err)
			}
			s := d.DefaultStream()
			for _, c := range []struct {
				kernel string
				grid   Grid
				want   []int32
			}{
				{"turn", Blocks(Dim3{X: 4}, Dim3{X: 32}), turned},
				{"swap", Blocks(Dim3{X: 4}, Dim3{X: 32}), swapped},
				{"swap", Linear(70), swapped}, // half of a cluster is beyond the data
			} {
				k, err := d.Compile(t.Context(), togetherSource, c.kernel)
				if err != nil {
					t.Fatal(err)
				}
				b, err := Upload(s, x)
				if err != nil {
					t.Fatal(err)
				}
				got := make([]int32, len(x))
				for range 2 { // the counter starts again
					if err := errors.Join(CopyIn(s, b, x), k.Launch(s, c.grid, b)); err != nil {
						t.Fatal(err)
					}
				}
				if err := Download(context.Background(), s, got, b); err != nil {
					t.Fatal(err)
				}
				if !slices.Equal(got, c.want) {
					t.Errorf("%s on %v: %v", c.kernel, c.grid, got)
				}
				err = k.Launch(s, Blocks(Dim3{X: 30001}, Dim3{X: 32}), b)
				if e, ok := errors.AsType[*CooperativeLaunchError](err); c.kernel == "turn" && (!ok || e.Blocks != 30001 || !errors.Is(err, ErrInvalid)) {
					t.Errorf("too many blocks: %v", err)
				}
				if c.kernel == "swap" && (err == nil || !strings.Contains(err.Error(), "multiple of the kernel's clusters of 2x1x1")) {
					t.Errorf("half a cluster: %v", err)
				}
				if err := b.Close(); err != nil {
					t.Error(err)
				}
			}
			if err := d.Close(); err != nil {
				t.Error(err)
			}
		})
	}
}

func TestADeviceWithoutClustersSaysSo(t *testing.T) {
	lib := fakecuda.New(1)
	lib.Major = 8
	d := openFake(t, lib)
	k, err := d.Compile(t.Context(), togetherSource, "swap")
	if err != nil {
		t.Fatal(err)
	}
	b, err := Alloc[int32](d, 64)
	if err != nil {
		t.Fatal(err)
	}
	err = k.Launch(d.DefaultStream(), Blocks(Dim3{X: 2}, Dim3{X: 32}), b)
	e, ok := errors.AsType[*CapabilityError](err)
	if !ok || e.Need != "9.0" || e.Major != 8 || !errors.Is(err, errors.ErrUnsupported) {
		t.Errorf("error is %v", err)
	}
	const want = "gpu: launch swap: thread block clusters need compute capability 9.0; the device has 8.0"
	if err == nil || err.Error() != want {
		t.Errorf("error is %q, want %q", err, want)
	}
	if err := errors.Join(b.Close(), d.Close()); err != nil {
		t.Error(err)
	}
}
