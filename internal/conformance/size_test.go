package conformance

import (
	"context"
	"math/rand/v2"
	"testing"

	"quern.dev/gpu"
	"quern.dev/gputest"
	"quern.dev/kernel"
)

// TestLaunchesBeyond32BitsMatchPlainGo launches the same kernel with arguments that fit 32
// bits and with others that do not. The launch must choose a variant that is exact for its
// arguments.
func TestLaunchesBeyond32BitsMatchPlainGo(t *testing.T) {
	gputest.Each(t, func(t *testing.T, d *gpu.Device) {
		r := rand.New(rand.NewPCG(1, 20))
		in := integers[int32](r, 77)
		for _, c := range []struct{ base, step int }{
			{0, 1}, {1000, 3}, {1<<31 - 100, 1}, {1 << 31, 2}, {1 << 40, 1}, {1<<62 - 12345, 99}, {5, 1 << 33},
		} {
			check(t, d, in, poison[int32](150), launch[int32, int32]{
				grid: dim(2), block: dim(32),
				plain: func(t kernel.Thread, in, out []int32) { farIndex(t, c.base, c.step, in, out) },
				device: func(s *gpu.Stream, g gpu.Grid, in, out *gpu.Buffer[int32]) error {
					return LaunchFarIndex(s, g, c.base, c.step, in, out)
				},
			})
			check(t, d, in, poison[int32](60), launch[int32, int32]{
				grid: dim(2), block: dim(32),
				plain: func(t kernel.Thread, in, out []int32) { countdown(t, c.base+50, in, out) },
				device: func(s *gpu.Stream, g gpu.Grid, in, out *gpu.Buffer[int32]) error {
					return LaunchCountdown(s, g, c.base+50, in, out)
				},
			})
		}
	})
}

func TestSlicesLongerThan31Bits(t *testing.T) {
	const n = 1<<32 + 12345
	gputest.Each(t, func(t *testing.T, d *gpu.Device) {
		if d.Backend() != gpu.CUDA {
			t.Skip("needs a GPU; filling 4 GiB takes too long elsewhere")
		}
		if free, _ := d.Memory(); free < 2*n {
			t.Skipf("needs %d bytes of memory; %s has %d free", 2*n, d.ID(), free)
		}
		s := d.DefaultStream()
		out, err := gpu.Alloc[uint8](d, n)
		if err != nil {
			t.Fatal(err)
		}
		defer out.Close()
		if err := gpu.Zero(s, out); err != nil {
			t.Fatal(err)
		}
		if err := LaunchMark(s, gpu.Blocks(dim(4096), dim(256)), out); err != nil {
			t.Fatal(err)
		}
		for _, at := range []int{0, 4097, 1<<31 + 4097 - (1<<31)%4097, n - 1, n - 1 - (n-1)%4097} {
			got := make([]uint8, 2)
			lo := min(at, n-2)
			if err := gpu.Download(context.Background(), s, got, out.Slice(lo, lo+2)); err != nil {
				t.Fatal(err)
			}
			if want := uint8(at>>24) | 1; got[at-lo] != want {
				t.Errorf("out[%d] = %d, want %d", at, got[at-lo], want)
			}
		}
	})
}
