package language

import (
	"math"
	"slices"
	"testing"

	"quern.dev/gpu"
	"quern.dev/gputest"
	"quern.dev/kernel"
)

// sixteenth returns a small number with few significant bits, so that products
// are exact.
func sixteenth(i int) float32 { return float32(i*7%31-15) / 16 }

func TestTensorProduct(t *testing.T) {
	gputest.Each(t, func(t *testing.T, d *gpu.Device) {
		const m, n, k = 32, 128, 48
		a, b := make([]Eight, m*k/8), make([]Eight, k*n/8)
		for i := range m * k {
			a[i/8][i%8] = kernel.ToBFloat16(sixteenth(i))
		}
		for i := range k * n {
			b[i/8][i%8] = kernel.ToBFloat16(sixteenth(3 * i))
		}
		c := gputest.Upload(t, d, make([]float32, m*n))
		grid := gpu.Blocks(gpu.Dim3{X: n / 64, Y: m / 16}, gpu.Dim3{X: 128})
		if err := LaunchTensorProduct(d.DefaultStream(), grid, n/8, k/8, gputest.Upload(t, d, a), gputest.Upload(t, d, b), c); err != nil {
			t.Fatal(err)
		}
		for i, got := range gputest.Download(t, d, c) {
			want := float32(0)
			for j := range k {
				want += sixteenth(i/n*k+j) * sixteenth(3*(j*n+i%n))
			}
			if got != want {
				t.Fatalf("element %d is %v, want %v", i, got, want)
			}
		}
	})
}

func TestTransposedFactors(t *testing.T) {
	gputest.Each(t, func(t *testing.T, d *gpu.Device) {
		const length = 64
		vectors := make([][16]int8, 16*length/16)
		for i := range 16 * length {
			vectors[i/16][i%16] = int8(i * i)
		}
		products := make([]int32, 256)
		for i := range products {
			for j := range length {
				products[i] += int32(int8((i/16*length+j)*(i/16*length+j))) * int32(int8((i%16*length+j)*(i%16*length+j)))
			}
		}
		c := gputest.Upload(t, d, make([]int32, 256))
		if err := LaunchSimilarities(d.DefaultStream(), gpu.Linear(32), gputest.Upload(t, d, vectors), c); err != nil {
			t.Fatal(err)
		}
		if got := gputest.Download(t, d, c); !slices.Equal(got, products) {
			t.Errorf("products are %v, want %v", got, products)
		}

		samples := make([][2][8]kernel.Float16, 48)
		sums := make([]float32, 256)
		for s := range samples {
			for i := range 16 {
				samples[s][i/8][i%8] = kernel.ToFloat16(sixteenth(s*16 + i))
				for j := range 16 {
					sums[i*16+j] += sixteenth(s*16+i) * sixteenth(s*16+j)
				}
			}
		}
		m := gputest.Upload(t, d, make([]float32, 256))
		if err := LaunchMoments(d.DefaultStream(), gpu.Linear(32), gputest.Upload(t, d, samples), m); err != nil {
			t.Fatal(err)
		}
		if got := gputest.Download(t, d, m); !slices.Equal(got, sums) {
			t.Errorf("moments are %v, want %v", got, sums)
		}
	})
}

func TestTF32(t *testing.T) {
	gputest.Each(t, func(t *testing.T, d *gpu.Device) {
		const k = 24
		a, b := make([]float32, 16*k), make([]float32, k*8)
		for i := range a {
			a[i] = float32(math.Sin(float64(i)))
		}
		for i := range b {
			b[i] = float32(math.Cos(float64(i)))
		}
		c := gputest.Upload(t, d, make([]float32, 128))
		if err := LaunchSmallProduct(d.DefaultStream(), gpu.Linear(32), gputest.Upload(t, d, a), gputest.Upload(t, d, b), c); err != nil {
			t.Fatal(err)
		}
		for i, got := range gputest.Download(t, d, c) {
			want := 0.0
			for j := range k {
				want += float64(a[i/8*k+j]) * float64(b[j*8+i%8])
			}
			if math.Abs(float64(got)-want) > k*0x1p-11 { // 11 significant bits per factor
				t.Errorf("element %d is %v, want %v", i, got, want)
			}
		}
	})
}

func TestGroupTiles(t *testing.T) {
	gputest.Each(t, func(t *testing.T, d *gpu.Device) {
		const m, n, k = 130, 70, 72
		a, b := make([]kernel.BFloat16, m*k), make([]kernel.BFloat16, n*k)
		for i := range a {
			a[i] = kernel.ToBFloat16(sixteenth(i))
		}
		for i := range b {
			b[i] = kernel.ToBFloat16(sixteenth(3 * i))
		}
		c := gputest.Upload(t, d, make([]float32, m*n))
		grid := gpu.Blocks(gpu.Dim3{X: 2, Y: 2}, gpu.Dim3{X: 256})
		maps := gputest.Upload(t, d, make([]kernel.TileMap, 8))
		if err := LaunchGroupTiles(d.DefaultStream(), grid, m, n, k, maps, gputest.Upload(t, d, a), gputest.Upload(t, d, b), c); err != nil {
			t.Fatal(err)
		}
		for i, got := range gputest.Download(t, d, c) {
			want := float32(0)
			for j := range k {
				want += sixteenth(i/n*k+j) * sixteenth(3*(i%n*k+j))
			}
			if got != want {
				t.Fatalf("element %d is %v, want %v", i, got, want)
			}
		}
	})
}
