package algo

import (
	"quern.dev/algo/internal/template"
	"quern.dev/gpu"
	"quern.dev/kernel"
)

// minMaxWarps is the number of warps of a block of minMaxOfParts.
const minMaxWarps = template.Threads / 32

// minMaxNumbers is [MinMax] of numbers in their own order, on a GPU. A NaN makes both results NaN.
func minMaxNumbers[T Number](s *gpu.Stream, descending bool, dst, src *gpu.Buffer[T], work []*gpu.Workspace) error {
	const name = "MinMax"
	tmp, err := gpu.OpenScratch(s, work)
	if err != nil {
		return failed(name, err)
	}
	defer tmp.Close()
	count, size := parts(src.Len())
	found := dst
	if count > 1 {
		found = gpu.Take[T](tmp, 2*count)
	}
	if run, err := tmp.Ready(); !run {
		return failed(name, err)
	}
	err = LaunchMinMaxOfParts(s, gpu.Blocks(gpu.Dim3{X: count}, block), size, descending && count == 1, src, found)
	if err == nil && count > 1 {
		err = LaunchMinMaxOfParts(s, gpu.Blocks(oneThread, block), 2*mostPart, descending, found, dst)
	}
	return failed(name, err)
}

// minMaxOfParts writes the least and the greatest element of each part of in to out, in this order
// unless swap is set. part is a multiple of [template.Vector].
//
//quern:kernel unchecked block=256 only=gpu instantiate=int32,int64,uint32,uint64,float32,float64
func minMaxOfParts[T Number](t kernel.Thread, part int, swap bool, in, out []T) {
	const ahead = 2 // vectors that a thread loads at once
	lows, highs := kernel.Shared[[minMaxWarps]T](t), kernel.Shared[[minMaxWarps]T](t)
	first, i := t.BlockIdx.X*part, t.ThreadIdx.X
	last := min(first+part, len(in))
	low := in[first]
	high := low
	vectors := last / template.Vector
	for j := first/template.Vector + i; j < vectors; j += ahead * template.Threads {
		var v [ahead][template.Vector]T
		//quern:unroll
		for a := range ahead {
			v[a] = vectorOf(in, min(j+a*template.Threads, vectors-1))
		}
		//quern:unroll
		for a := range ahead {
			low = min(low, min(min(v[a][0], v[a][1]), min(v[a][2], v[a][3])))
			high = max(high, max(max(v[a][0], v[a][1]), max(v[a][2], v[a][3])))
		}
	}
	if j := template.Vector*vectors + i; j < last {
		low, high = min(low, in[j]), max(high, in[j])
	}
	for d := 16; d > 0; d /= 2 {
		low, high = min(low, kernel.ShuffleXor(t, low, d)), max(high, kernel.ShuffleXor(t, high, d))
	}
	if t.Lane() == 0 {
		lows[t.Warp()], highs[t.Warp()] = low, high
	}
	t.Sync()
	if t.Warp() == 0 {
		low, high = lows[t.Lane()%minMaxWarps], highs[t.Lane()%minMaxWarps]
		for d := minMaxWarps / 2; d > 0; d /= 2 {
			low, high = min(low, kernel.ShuffleXor(t, low, d)), max(high, kernel.ShuffleXor(t, high, d))
		}
		if swap {
			low, high = high, low
		}
		if t.Lane() == 0 {
			out[2*t.BlockIdx.X], out[2*t.BlockIdx.X+1] = low, high
		}
	}
}

// vectorOf returns a vector of in.
//
//quern:unchecked
func vectorOf[T Number](in []T, i int) (v [template.Vector]T) {
	for k := range template.Vector {
		v[k] = in[template.Vector*i+k]
	}
	return v
}
