package warp

import (
	"context"
	"errors"
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"quern.dev/gpu"
	"quern.dev/gputest"
)

func TestRangesThatLanesDivide(t *testing.T) {
	const last = math.MaxInt32
	ranges := []int32{0, 0, 0, 1, 0, 31, 3, 36, 5, 133, 7, 300, 0, 299, 100, 90, -5, 40, -200, -90, 290, 310,
		last - 70, last - 32, last - 3, math.MinInt32 + 40, last, math.MinInt32 + 7, last - 31, last - 31, last - 32, last - 31}
	rows := len(ranges) / 2
	in := numbers[int32](rand.New(rand.NewPCG(1, 2)), 300)
	want := make([]int32, rows*32)
	for row := range rows {
		var sums, lasts [32]int32
		var all int32
		for lane := range int32(32) {
			for e := ranges[2*row] + lane; e < ranges[2*row+1]; e += 32 {
				if e >= 0 && int(e) < len(in) {
					sums[lane] = sums[lane]*3 + in[e]
				} else {
					sums[lane] ^= e
				}
				lasts[lane] = e
			}
			all += sums[lane]
		}
		for lane := range 32 {
			want[row*32+lane] = all ^ sums[lane] ^ lasts[lane]
		}
	}
	gputest.Each(t, func(t *testing.T, d *gpu.Device) {
		out := gputest.Upload(t, d, make([]int32, len(want)))
		if err := LaunchDivided(d.DefaultStream(), gpu.Blocks(gpu.Dim3{X: rows / 2}, gpu.Dim3{X: 64}), gputest.Upload(t, d, ranges), gputest.Upload(t, d, in), out); err != nil {
			t.Fatal(err)
		}
		compare(t, "sums", gputest.Download(t, d, out), want)
		for _, to := range []int{math.MinInt, math.MinInt + 5, -1} {
			out := gputest.Upload(t, d, numbers[int32](rand.New(rand.NewPCG(5, 6)), 32))
			if err := LaunchDividedAmong(d.DefaultStream(), gpu.Blocks(gpu.Dim3{X: 1}, gpu.Dim3{X: 32}), 6, to, gputest.Upload(t, d, in), out); err != nil {
				t.Fatal(err)
			}
			compare(t, "sums of an empty range", gputest.Download(t, d, out), make([]int32, 32))
		}
	})
}

func TestRangesThatLanesDivideOften(t *testing.T) {
	in := numbers[int32](rand.New(rand.NewPCG(3, 4)), 500)
	gputest.Each(t, func(t *testing.T, d *gpu.Device) {
		for _, n := range []int{0, 1, 19, 20, 33, 111, 112, 250, 500} {
			const times, warps = 5, 6
			want := make([]int32, warps*32)
			for w := range warps {
				sums := want[w*32:][:32]
				for k := range times {
					for lane := range sums {
						for i := k*(w%3) + lane; i < n; i += 20 {
							sums[lane] = sums[lane]*5 + in[i] - int32(i)
						}
					}
					for lane := 0; lane < 32; lane += 2 {
						sums[lane], sums[lane+1] = sums[lane+1], sums[lane]
					}
				}
			}
			out := gputest.Upload(t, d, make([]int32, len(want)))
			if err := LaunchDividedOften(d.DefaultStream(), gpu.Blocks(gpu.Dim3{X: 2}, gpu.Dim3{X: 96}), times, n, gputest.Upload(t, d, in), out); err != nil {
				t.Fatal(err)
			}
			compare(t, "sums", gputest.Download(t, d, out), want)
		}
	})
}

func TestElementsThatLanesDivide(t *testing.T) {
	gputest.Each(t, func(t *testing.T, d *gpu.Device) {
		for _, n := range []int{1, 31, 32, 33, 127, 128, 129, 500} {
			in := numbers[int32](rand.New(rand.NewPCG(uint64(n), 7)), n)
			want := make([]int32, 64)
			for i, v := range in {
				for lane := i % 32; lane < 32; lane++ {
					want[lane] += v * int32(i)
					want[lane+32] = want[lane]
				}
			}
			out := gputest.Upload(t, d, make([]int32, 64))
			if err := LaunchDividedWhole(d.DefaultStream(), gpu.Blocks(gpu.Dim3{X: 1}, gpu.Dim3{X: 64}), gputest.Upload(t, d, in), out); err != nil {
				t.Fatal(err)
			}
			compare(t, "sums", gputest.Download(t, d, out), want)
		}
	})
}

func TestFaultInARangeThatLanesDivide(t *testing.T) {
	const length = 300
	for _, c := range [][2]int{{3, 301}, {0, 1000}, {-1, 40}, {290, 305}} {
		gputest.Each(t, func(t *testing.T, d *gpu.Device) {
			in, out := gputest.Upload(t, d, make([]int32, length)), gputest.Upload(t, d, make([]int32, 32))
			s := d.DefaultStream()
			if err := LaunchDividedAmong(s, gpu.Blocks(gpu.Dim3{X: 1}, gpu.Dim3{X: 32}), c[0], c[1], in, out); err != nil {
				t.Fatal(err)
			}
			err := s.Synchronize(context.Background())
			var ke *gpu.KernelError
			if !errors.As(err, &ke) {
				t.Fatalf("%v: got %v, want a KernelError", c, err)
			}
			outside := ke.Index < 0 || ke.Index >= length
			if !outside || (int(ke.Index)-c[0]-ke.Thread.X)%32 != 0 || ke.Length != length || ke.Line == 0 {
				t.Errorf("%v: got index %d, length %d, thread %v, line %d", c, ke.Index, ke.Length, ke.Thread, ke.Line)
			}
		})
	}
}

// dividedLengths are lengths of rows: none, fewer than a warp has lanes, and many more.
var dividedLengths = []int{0, 1, 31, 32, 33, 0, 63, 64, 100, 127, 128, 129, 160, 300}

func TestGathersThatLanesDivide(t *testing.T) {
	r := rand.New(rand.NewPCG(8, 9))
	starts := []int32{0}
	for _, n := range dividedLengths {
		starts = append(starts, starts[len(starts)-1]+int32(n))
	}
	n := int(starts[len(starts)-1])
	in, weights, at := numbers[int32](r, 50), numbers[int32](r, n), make([]int16, n)
	for i := range at {
		at[i] = int16(r.IntN(len(in)))
	}
	want := make([]int32, len(dividedLengths)*32)
	for row := range dividedLengths {
		var dot, below int32
		greatest := int32(math.MinInt32)
		for e := starts[row]; e < starts[row+1]; e++ {
			v := in[at[e]]
			dot += v * weights[e]
			if e&1 == 1 {
				greatest = max(greatest, v)
			}
			if v < 0 {
				below += (e - starts[row]) % 32
			}
		}
		for lane := range int32(32) {
			want[row*32+int(lane)] = dot ^ greatest ^ below<<8 ^ lane
		}
	}
	launch := func(t *testing.T, d *gpu.Device, at []int16) (out *gpu.Buffer[int32], err error) {
		t.Helper()
		out = gputest.Upload(t, d, make([]int32, len(want)))
		s := d.DefaultStream()
		if err := LaunchDividedGathers(s, gpu.Blocks(gpu.Dim3{X: len(dividedLengths) / 2}, gpu.Dim3{X: 64}), gputest.Upload(t, d, starts), gputest.Upload(t, d, at), gputest.Upload(t, d, weights), gputest.Upload(t, d, in), out); err != nil {
			t.Fatal(err)
		}
		return out, s.Synchronize(context.Background())
	}
	gputest.Each(t, func(t *testing.T, d *gpu.Device) {
		out, err := launch(t, d, at)
		if err != nil {
			t.Fatal(err)
		}
		compare(t, "folds", gputest.Download(t, d, out), want)
	})
	for _, c := range []struct {
		row, element int
		index        int16
	}{{1, 0, 50}, {3, 31, -1}, {4, 32, math.MaxInt16}, {8, 99, math.MinInt16}, {11, 128, 51}, {13, 5, 60}, {13, 299, 50}} {
		gputest.Each(t, func(t *testing.T, d *gpu.Device) {
			wrong := slices.Clone(at)
			wrong[int(starts[c.row])+c.element] = c.index
			_, err := launch(t, d, wrong)
			var ke *gpu.KernelError
			if !errors.As(err, &ke) {
				t.Fatalf("%v: got %v, want a KernelError", c, err)
			}
			if ke.Kind != gpu.OutOfRange || ke.Index != int64(c.index) || ke.Length != 50 || ke.Block.X != c.row/2 || ke.Thread != (gpu.Dim3{X: c.row%2*32 + c.element%32}) || ke.Line == 0 {
				t.Errorf("%v: got index %d, length %d, block %v, thread %v, line %d", c, ke.Index, ke.Length, ke.Block, ke.Thread, ke.Line)
			}
		})
	}
}

func TestBytesThatLanesDivide(t *testing.T) {
	r := rand.New(rand.NewPCG(10, 11))
	in, table := numbers[uint8](r, 400), numbers[uint32](r, 256)
	gputest.Each(t, func(t *testing.T, d *gpu.Device) {
		for _, n := range dividedLengths {
			for _, from := range []uint32{0, 7, 100} {
				to := from + uint32(n)
				const limit = 99
				want := make([]uint32, 32)
				count := uint32(0)
				for i := range want {
					want[i] = 1
				}
				for i := from; i < to; i++ {
					if in[i] > limit {
						count++
					}
					lane := (i - from) % 32
					want[lane] = want[lane]*3 + table[in[i]]
				}
				for i := range want {
					want[i] += count
				}
				out := gputest.Upload(t, d, make([]uint32, 32))
				if err := LaunchDividedBytes(d.DefaultStream(), gpu.Blocks(gpu.Dim3{X: 1}, gpu.Dim3{X: 32}), from, to, limit, gputest.Upload(t, d, in), gputest.Upload(t, d, table), out); err != nil {
					t.Fatal(err)
				}
				compare(t, "folds", gputest.Download(t, d, out), want)
			}
		}
	})
}

func TestRowsThatLanesDivide(t *testing.T) {
	const warps = 4
	for _, columns := range dividedLengths {
		in := make([]float32, warps*columns)
		for i := range in {
			in[i] = float32(i%13) / 4
		}
		want := make([]float32, warps*32)
		for w := range warps {
			var sums, least [32]float32
			var all float32
			for lane := range 32 {
				for c := lane; c < columns-w; c += 32 {
					sums[lane] += in[w*columns+c] * in[c]
					least[lane] = min(least[lane], in[w*columns+c]-sums[lane])
				}
				all += sums[lane] // multiples of 1/16, so the order of additions makes no difference
				want[w*32+lane] = sums[lane] - 2*least[lane]
			}
			want[w*32+3] += all
		}
		gputest.Each(t, func(t *testing.T, d *gpu.Device) {
			out := gputest.Upload(t, d, make([]float32, len(want)))
			if err := LaunchDividedRows(d.DefaultStream(), gpu.Blocks(gpu.Dim3{X: 1}, gpu.Dim3{X: 32 * warps}), columns, gputest.Upload(t, d, in), out); err != nil {
				t.Fatal(err)
			}
			compare(t, "sums", gputest.Download(t, d, out), want)
		})
	}
}
