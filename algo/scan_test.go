package algo

import (
	"math/rand/v2"
	"testing"

	"quern.dev/gpu"
	"quern.dev/gputest"
)

// sizes around the edges of vectors, tiles and parts.
var lengths = []int{0, 1, 2, 3, 4, 5, 31, 32, 33, 255, 256, 257, 1023, 1024, 1025, 4095, 4096, 4097, 8191, 8192, 8193, 12345, 40000}

func random[T Number](n int, scale float64) []T {
	x := make([]T, n)
	for i := range x {
		x[i] = T(rand.Float64() * scale)
	}
	return x
}

func TestScan(t *testing.T) {
	gputest.Each(t, func(t *testing.T, d *gpu.Device) {
		s := d.DefaultStream()
		for _, n := range lengths {
			x := random[int32](n, 1<<30)
			in, out := gputest.Upload(t, d, x), gputest.Upload(t, d, make([]int32, n))
			want, wantEx := make([]int32, n), make([]int32, n)
			sum := int32(0)
			for i, v := range x {
				wantEx[i] = sum + 7
				sum += v
				want[i] = sum
			}
			if err := Scan(s, Sum[int32](), out, in); err != nil {
				t.Fatal(err)
			}
			gputest.Equal(t, gputest.Download(t, d, out), want, gputest.Name("inclusive"))
			if err := ScanExclusive(s, Sum[int32](), 7, out, in); err != nil {
				t.Fatal(err)
			}
			gputest.Equal(t, gputest.Download(t, d, out), wantEx, gputest.Name("exclusive"))
			if n > 0 {
				one := gputest.Upload(t, d, make([]int32, 1))
				if err := Reduce(s, Sum[int32](), one, in); err != nil {
					t.Fatal(err)
				}
				gputest.Equal(t, gputest.Download(t, d, one), []int32{sum}, gputest.Name("reduce"))
			}
			if t.Failed() {
				t.Fatalf("n=%d", n)
			}
		}
	})
}
