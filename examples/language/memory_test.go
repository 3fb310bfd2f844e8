package language

import (
	"slices"
	"testing"

	"quern.dev/gpu"
	"quern.dev/gputest"
)

func TestSharedMemory(t *testing.T) {
	gputest.Each(t, func(t *testing.T, d *gpu.Device) {
		const w, h = 70, 45
		in := make([]float32, w*h)
		want := make([]float32, w*h)
		for i := range in {
			in[i] = float32(i)
			want[i%w*h+i/w] = float32(i)
		}
		out := gputest.Upload(t, d, make([]float32, w*h))
		if err := LaunchTranspose(d.DefaultStream(), gpu.Plane(w, h), w, h, gputest.Upload(t, d, in), out); err != nil {
			t.Fatal(err)
		}
		if !slices.Equal(gputest.Download(t, d, out), want) {
			t.Error("the transpose is wrong")
		}

		x := make([]uint8, 5000)
		bins := make([]uint32, 37)
		for i := range x {
			x[i] = uint8(i * i)
			bins[x[i]%37]++
		}
		counts := gputest.Upload(t, d, make([]uint32, 37))
		grid := gpu.Blocks(gpu.Dim3{X: 5}, gpu.Dim3{X: 96}).Shared(4 * 37)
		if err := LaunchHistogram(d.DefaultStream(), grid, gputest.Upload(t, d, x), counts); err != nil {
			t.Fatal(err)
		}
		if got := gputest.Download(t, d, counts); !slices.Equal(got, bins) {
			t.Errorf("counted %v, want %v", got, bins)
		}
	})
}

func TestAtomics(t *testing.T) {
	gputest.Each(t, func(t *testing.T, d *gpu.Device) {
		s := d.DefaultStream()
		low, high := gputest.Upload(t, d, []float32{1e30}), gputest.Upload(t, d, []float32{-1e30})
		if err := LaunchExtent(s, gpu.Linear(5), gputest.Upload(t, d, []float32{3, -7, 0.5, 12, -1}), low, high); err != nil {
			t.Fatal(err)
		}
		if l, h := gputest.Download(t, d, low)[0], gputest.Download(t, d, high)[0]; l != -7 || h != 12 {
			t.Errorf("the extent is %g to %g, want -7 to 12", l, h)
		}

		set, left, odd := gputest.Upload(t, d, make([]uint32, 2)), gputest.Upload(t, d, []uint32{^uint32(0), ^uint32(0)}), gputest.Upload(t, d, make([]uint32, 2))
		if err := LaunchMark(s, gpu.Linear(4), gputest.Upload(t, d, []uint16{0, 5, 33, 5}), set, left, odd); err != nil {
			t.Fatal(err)
		}
		if a, b, c := gputest.Download(t, d, set), gputest.Download(t, d, left), gputest.Download(t, d, odd); !slices.Equal(a, []uint32{33, 2}) || !slices.Equal(b, []uint32{^uint32(33), ^uint32(2)}) || !slices.Equal(c, []uint32{1, 2}) {
			t.Errorf("marked %b, left %b, odd %b", a, b, c)
		}

		keys := make([]uint32, 300)
		for i := range keys {
			keys[i] = uint32(i%200 + 1)
		}
		table, previous := gputest.Upload(t, d, make([]uint32, 257)), gputest.Upload(t, d, make([]int32, 300))
		newest := gputest.Upload(t, d, []int32{-1})
		if err := LaunchInsert(s, gpu.Linear(300), gputest.Upload(t, d, keys), table, newest, previous); err != nil {
			t.Fatal(err)
		}
		found := gputest.Download(t, d, table)
		slices.Sort(found)
		for i, key := range found[57:] {
			if key != uint32(i+1) {
				t.Fatalf("the table holds %v", found)
			}
		}
		chain, length := gputest.Download(t, d, previous), 0
		for at := gputest.Download(t, d, newest)[0]; at >= 0; at = chain[at] {
			length++
		}
		if length != 300 {
			t.Errorf("the chain has %d threads, want 300", length)
		}

		got := gputest.Upload(t, d, make([]bool, 100))
		if err := LaunchTake(s, gpu.Linear(100), gputest.Upload(t, d, []int32{42}), got); err != nil {
			t.Fatal(err)
		}
		n := 0
		for _, v := range gputest.Download(t, d, got) {
			if v {
				n++
			}
		}
		if n != 42 {
			t.Errorf("%d threads got something, want 42", n)
		}
	})
}

func TestOrder(t *testing.T) {
	gputest.Each(t, func(t *testing.T, d *gpu.Device) {
		s := d.DefaultStream()
		const blocks = 40
		x := make([]int64, blocks)
		want := make([]int64, blocks)
		sum := int64(0)
		for i := range x {
			x[i] = int64(i * i)
			sum += x[i]
			want[i] = sum
		}
		words := func(n int) *gpu.Buffer[uint32] { return gputest.Upload(t, d, make([]uint32, n)) }
		sums := gputest.Upload(t, d, make([]int64, blocks))
		if err := LaunchRelay(s, gpu.Blocks(gpu.Dim3{X: blocks}, gpu.Dim3{X: 32}), gputest.Upload(t, d, x), sums, words(blocks), words(1)); err != nil {
			t.Fatal(err)
		}
		if got := gputest.Download(t, d, sums); !slices.Equal(got, want) {
			t.Errorf("sums %v, want %v", got, want)
		}

		values := make([]float64, 10000)
		for i := range values {
			values[i] = float64(i)
		}
		out := gputest.Upload(t, d, make([]float64, 1))
		if err := LaunchTotal(s, gpu.Blocks(gpu.Dim3{X: 9}, gpu.Dim3{X: 128}), gputest.Upload(t, d, values), gputest.Upload(t, d, make([]float64, 9)), words(1), out); err != nil {
			t.Fatal(err)
		}
		if got := gputest.Download(t, d, out)[0]; got != 10000*9999/2 {
			t.Errorf("the total is %g", got)
		}

		saw := gputest.Upload(t, d, make([]bool, 64))
		if err := LaunchSpread(s, gpu.Blocks(gpu.Dim3{X: 2}, gpu.Dim3{X: 32}), words(1), saw); err != nil {
			t.Fatal(err)
		}
		if got := gputest.Download(t, d, saw)[:32]; slices.Contains(got, false) {
			t.Error("a thread did not see what it had stored")
		}
	})
}

func TestAsynchronousCopies(t *testing.T) {
	gputest.Each(t, func(t *testing.T, d *gpu.Device) {
		a := make([]float32, 10*256)
		want := make([]float32, 10)
		for i := range a {
			a[i] = float32(i % 17)
			want[i/256] += a[i]
		}
		out := gputest.Upload(t, d, make([]float32, 10))
		if err := LaunchRows(d.DefaultStream(), gpu.Blocks(gpu.Dim3{X: 3}, gpu.Dim3{X: 64}), gputest.Upload(t, d, a), out); err != nil {
			t.Fatal(err)
		}
		if got := gputest.Download(t, d, out); !slices.Equal(got, want) {
			t.Errorf("sums of rows are %v, want %v", got, want)
		}

		x := make([]float32, 1000)
		for i := range x {
			x[i] = float32(3 * i)
		}
		blurred := gputest.Upload(t, d, make([]float32, 1000))
		if err := LaunchBlur(d.DefaultStream(), gpu.Linear(1000), gputest.Upload(t, d, x), blurred); err != nil {
			t.Fatal(err)
		}
		for i, v := range gputest.Download(t, d, blurred)[:999] {
			if i > 0 && v != x[i] {
				t.Fatalf("element %d is %g, want %g", i, v, x[i])
			}
		}
	})
}

func TestClocks(t *testing.T) {
	gputest.Each(t, func(t *testing.T, d *gpu.Device) {
		cycles, times := gputest.Upload(t, d, make([]int64, 32)), gputest.Upload(t, d, make([]int64, 32))
		if err := LaunchTimed(d.DefaultStream(), gpu.Blocks(gpu.Dim3{X: 1}, gpu.Dim3{X: 32}), 10000, gputest.Upload(t, d, make([]float32, 32)), cycles, times); err != nil {
			t.Fatal(err)
		}
		for i, n := range gputest.Download(t, d, cycles) {
			if n <= 0 {
				t.Errorf("thread %d took %d cycles", i, n)
			}
		}
		for i, n := range gputest.Download(t, d, times) {
			if n < 0 {
				t.Errorf("thread %d took %d ns", i, n)
			}
		}
	})
}
