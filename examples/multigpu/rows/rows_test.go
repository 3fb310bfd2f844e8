package rows

import (
	"context"
	"fmt"
	"log"
	"math"
	"slices"
	"testing"

	"quern.dev/gpu"
)

// everyFew runs a test on one and on several devices of each kind; of the kinds
// with one device that is opened several times.
func everyFew(t *testing.T, test func(t *testing.T, devs []*gpu.Device)) {
	t.Helper()
	for _, backend := range []gpu.Backend{gpu.CPU, gpu.Sim, gpu.CUDA} {
		for _, n := range []int{1, 2, 3} {
			t.Run(fmt.Sprintf("%d %s", n, backend), func(t *testing.T) {
				var devs []*gpu.Device
				for i := range n {
					id := string(backend)
					if backend == gpu.CUDA {
						id = fmt.Sprintf("%s:%d", backend, i)
					}
					d, err := gpu.Open(gpu.Config{Device: id})
					if err != nil && backend == gpu.CUDA {
						t.Skipf("needs %d GPUs: %v; go tool quern doctor says what to do", n, err)
					}
					if err != nil {
						t.Fatal(err)
					}
					devs = append(devs, d)
				}
				test(t, devs)
				if err := gpu.CloseAll(devs); err != nil {
					t.Error(err)
				}
			})
		}
	}
}

func numbers(n int) []float32 {
	x := make([]float32, n)
	for i := range x {
		x[i] = float32((i*7919)%1009 - 500)
	}
	return x
}

func TestMatmulAgreesWithPlainGo(t *testing.T) {
	everyFew(t, func(t *testing.T, devs []*gpu.Device) {
		for _, size := range [][3]int{{16, 16, 16}, {37, 21, 50}, {2, 5, 1}, {1, 1, 3}, {5, 0, 4}} {
			m, n, k := size[0], size[1], size[2]
			hostA, hostB := numbers(m*k), numbers(k*n)
			a, err := gpu.Distribute(devs, m, k, hostA)
			if err != nil {
				t.Fatal(err)
			}
			b, err := Replicate(devs, hostB)
			if err != nil {
				t.Fatal(err)
			}
			c, err := gpu.AllocDistributed[float32](devs, m, n)
			if err != nil {
				t.Fatal(err)
			}
			got := make([]float32, m*n)
			if err := Matmul(t.Context(), c, a, b); err != nil {
				t.Fatal(err)
			}
			if err := c.Gather(t.Context(), got); err != nil {
				t.Fatal(err)
			}
			want := make([]float32, m*n)
			for i := range want {
				for j := range k {
					want[i] += hostA[i/n*k+j] * hostB[j*n+i%n] // whole numbers: exact in any order
				}
			}
			if !slices.Equal(got, want) {
				t.Errorf("%d x %d x %d: got %v, want %v", m, n, k, got, want)
			}
			a.Close()
			c.Close()
			if err := CloseAll(b); err != nil {
				t.Error(err)
			}
		}
	})
}

func TestSummaryAgreesWithPlainGo(t *testing.T) {
	everyFew(t, func(t *testing.T, devs []*gpu.Device) {
		for _, rows := range []int{0, 1, 2, 100, 3001} {
			host := numbers(rows * 3)
			for i := range host {
				host[i] -= 400 // so that neither end is zero
			}
			x, err := gpu.Distribute(devs, rows, 3, host)
			if err != nil {
				t.Fatal(err)
			}
			got, err := Summarise(t.Context(), x)
			if err != nil {
				t.Fatal(err)
			}
			want := nothing()
			for _, v := range host {
				want = want.join(Summary{1, float64(v), v, v})
			}
			if got != want {
				t.Errorf("%d rows: got %+v, want %+v", rows, got, want)
			}
			if mean := got.Mean(); rows > 0 && mean != want.Sum/float64(len(host)) || rows == 0 && !math.IsNaN(mean) {
				t.Errorf("%d rows: mean %v", rows, mean)
			}
			x.Close()
		}
	})
}

func TestLongRowsAreSummarisedInSeveralLaunches(t *testing.T) {
	everyFew(t, func(t *testing.T, devs []*gpu.Device) {
		host := numbers(1000)
		want := nothing()
		for _, v := range host {
			want = want.join(Summary{1, float64(v), v, v})
		}
		for _, most := range []int{100, 300, 500, 999, 1000} {
			x, err := gpu.Upload(devs[0].DefaultStream(), host)
			if err != nil {
				t.Fatal(err)
			}
			if got, err := summariseOne(t.Context(), x, most); err != nil || got != want {
				t.Errorf("launches of %d: got %+v, error %v, want %+v", most, got, err, want)
			}
			x.Close()
		}
	})
}

func TestMatricesThatDoNotFitAreRefused(t *testing.T) {
	d, err := gpu.Open(gpu.Config{Device: "cpu"})
	if err != nil {
		t.Fatal(err)
	}
	devs := []*gpu.Device{d, d}
	matrix := func(devs []*gpu.Device, rows, rowLen int) *gpu.Distributed[float32] {
		x, err := gpu.AllocDistributed[float32](devs, rows, rowLen)
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { x.Close() })
		return x
	}
	b, err := Replicate(devs, make([]float32, 6))
	if err != nil {
		t.Fatal(err)
	}
	a := matrix(devs, 4, 2)
	for name, err := range map[string]error{
		"other rows":    Matmul(t.Context(), matrix(devs, 5, 3), a, b),
		"other devices": Matmul(t.Context(), matrix(devs[:1], 4, 3), a, b),
		"few copies":    Matmul(t.Context(), matrix(devs, 4, 3), a, b[:1]),
		"another B":     Matmul(t.Context(), matrix(devs, 4, 4), a, b),
	} {
		if err == nil {
			t.Errorf("%s: no error", name)
		}
	}
	if err := CloseAll(b); err != nil {
		t.Error(err)
	}
}

func ExampleSummarise() {
	devs, err := gpu.OpenAll(gpu.Config{Device: "cpu"})
	if err != nil {
		log.Fatal(err)
	}
	defer gpu.CloseAll(devs)
	x, err := gpu.Distribute(devs, 2, 3, []float32{1, 2, 3, 4, 5, -6})
	if err != nil {
		log.Fatal(err)
	}
	defer x.Close()
	s, err := Summarise(context.Background(), x)
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println(s.Count, s.Sum, s.Mean(), s.Min, s.Max)
	// Output: 6 9 1.5 -6 5
}

func ExampleMatmul() {
	devs, err := gpu.OpenAll(gpu.Config{Device: "cpu"})
	if err != nil {
		log.Fatal(err)
	}
	defer gpu.CloseAll(devs)
	product, err := multiply(devs, 2, 2, 2, []float32{1, 2, 3, 4}, []float32{1, 1, 0, 1})
	fmt.Println(product, err)
	// Output: [1 3 3 7] <nil>
}

// multiply is a whole use of Matmul.
func multiply(devs []*gpu.Device, m, n, k int, hostA, hostB []float32) ([]float32, error) {
	a, err := gpu.Distribute(devs, m, k, hostA)
	if err != nil {
		return nil, err
	}
	defer a.Close()
	b, err := Replicate(devs, hostB)
	if err != nil {
		return nil, err
	}
	defer CloseAll(b)
	c, err := gpu.AllocDistributed[float32](devs, m, n)
	if err != nil {
		return nil, err
	}
	defer c.Close()
	if err := Matmul(context.Background(), c, a, b); err != nil {
		return nil, err
	}
	product := make([]float32, m*n)
	return product, c.Gather(context.Background(), product)
}
