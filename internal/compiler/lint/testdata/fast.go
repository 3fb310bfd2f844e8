package fast

import "quern.dev/kernel"

//quern:kernel
func saxpy(t kernel.Thread, a float32, x, y []float32) {
	if i := t.Global(); i < len(y) {
		y[i] += a * x[i]
	}
}

//quern:kernel
func stride(t kernel.Thread, x []float64) {
	for i := t.Global(); i < len(x); i += t.Stride() {
		x[i] *= 2
	}
}

//quern:kernel
func rows(t kernel.Thread, w, h int, in, out []float32) {
	x, y := t.Global2()
	if x >= w || y >= h {
		return
	}
	sum := float32(0)
	for k := -3; k <= 3; k++ {
		sum += in[y*w+min(max(x+k, 0), w-1)] + in[min(max(y+k, 0), h-1)*w+x]
	}
	out[y*w+x] = sum
}

//quern:kernel block=32x8
func transpose(t kernel.Thread, w, h int, in, out []float32) {
	tile := kernel.Shared[[32][33]float32](t)
	x, y := t.BlockIdx.X*32+t.ThreadIdx.X, t.BlockIdx.Y*32+t.ThreadIdx.Y
	for r := 0; r < 32; r += 8 {
		if x < w && y+r < h {
			tile[t.ThreadIdx.Y+r][t.ThreadIdx.X] = in[(y+r)*w+x]
		}
	}
	t.Sync()
	x, y = t.BlockIdx.Y*32+t.ThreadIdx.X, t.BlockIdx.X*32+t.ThreadIdx.Y
	for r := 0; r < 32; r += 8 {
		if x < h && y+r < w {
			out[(y+r)*h+x] = tile[t.ThreadIdx.X][t.ThreadIdx.Y+r]
		}
	}
}

//quern:kernel block=32x8
func swizzled(t kernel.Thread, w int, in, out []float32) {
	tile := kernel.Shared[[32][32]float32](t)
	for r := 0; r < 32; r += 8 {
		y := t.ThreadIdx.Y + r
		tile[y][t.ThreadIdx.X^y] = in[(t.BlockIdx.Y*32+y)*w+t.BlockIdx.X*32+t.ThreadIdx.X]
	}
	t.Sync()
	for r := 0; r < 32; r += 8 {
		y := t.ThreadIdx.Y + r
		out[(t.BlockIdx.X*32+y)*w+t.BlockIdx.Y*32+t.ThreadIdx.X] = tile[t.ThreadIdx.X][y^t.ThreadIdx.X]
	}
}

//quern:kernel block=256
func reduce(t kernel.Thread, x, out []float32) {
	sums := kernel.Shared[[256]float32](t)
	sum := float32(0)
	for i := t.Global(); i < len(x); i += t.Stride() {
		sum += x[i]
	}
	sums[t.ThreadIdx.X] = sum
	t.Sync()
	for s := 128; s > 0; s /= 2 {
		if t.ThreadIdx.X < s {
			sums[t.ThreadIdx.X] += sums[t.ThreadIdx.X+s]
		}
		t.Sync()
	}
	if t.ThreadIdx.X == 0 {
		out[t.BlockIdx.X] = sums[0]
	}
}

type complexNumber struct{ re, im float32 }

//quern:kernel
func squares(t kernel.Thread, x []complexNumber) {
	if i := t.Global(); i < len(x) {
		re, im := x[i].re, x[i].im
		x[i].re, x[i].im = re*re-im*im, 2*re*im
	}
}

//quern:kernel
func gather(t kernel.Thread, index []int32, x, out []float32) {
	if i := t.Global(); i < len(index) {
		out[i] = x[index[i]]
	}
}

//quern:kernel
func guarded(t kernel.Thread, n int, x []float32) {
	i := t.Global()
	if i < n {
		v := x[i]
		for range 200 {
			v = v*v - 0.5
		}
		x[i] = v
	} else if i < len(x) {
		v := x[i]
		for range 200 {
			v = v*0.5 - 0.5
		}
		x[i] = v
	}
}

//quern:kernel block=32x32
func dynamicTile(t kernel.Thread, w int, in, out []float32) {
	s := kernel.Dynamic[[33]float32](t)
	s[t.ThreadIdx.Y][t.ThreadIdx.X] = in[(t.BlockIdx.Y*32+t.ThreadIdx.Y)*w+t.Global()]
	t.Sync()
	out[(t.BlockIdx.X*32+t.ThreadIdx.Y)*w+t.BlockIdx.Y*32+t.ThreadIdx.X] = s[t.ThreadIdx.X][t.ThreadIdx.Y]
}

//quern:kernel
func unrolled(t kernel.Thread, w int, in, out []float32) {
	i := t.Global()
	if i >= len(out) {
		return
	}
	var window [48]float32
	for k := range 48 {
		window[k] = in[k*w+i]
	}
	for k := range 24 {
		window[k], window[47-k] = min(window[k], window[47-k]), max(window[k], window[47-k])
	}
	sum := float32(0)
	for k := 0; k < 48; k += 2 {
		sum += window[k]
	}
	out[i] = sum
}

//quern:kernel
func wholeElements(t kernel.Thread, in, out []kernel.Vec4[float32]) {
	for i := t.Global(); i < len(out); i += t.Stride() {
		v := in[i]
		v.X, v.W = v.W*2, v.X*2
		out[i] = v
	}
}

//quern:kernel block=256
func oneAtomicABlock(t kernel.Thread, x []int32, sum []int32) {
	partial := kernel.Shared[int32](t)
	if t.ThreadIdx.X == 0 {
		*partial = 0
	}
	t.Sync()
	v := int32(0)
	if i := t.Global(); i < len(x) {
		v = x[i]
	}
	if s := kernel.WarpReduceAdd(t, v); t.Lane() == 0 {
		kernel.AtomicAdd(partial, s)
	}
	t.Sync()
	if t.ThreadIdx.X == 0 {
		kernel.AtomicAdd(&sum[0], *partial)
	}
}

//quern:kernel
func rareError(t kernel.Thread, x []float32, errors []int32) {
	if i := t.Global(); i < len(x) {
		if x[i] != x[i] {
			kernel.AtomicAdd(&errors[0], 1)
		}
		x[i] *= 2
	}
}

//quern:kernel
func coldDivision(t kernel.Thread, n int, x []int64, out []float32) {
	i := t.Global()
	if i >= len(x) || i >= len(out) {
		return
	}
	v := float32(x[i] / int64(n))
	for range n {
		for range n {
			v = v*v - 0.5
		}
	}
	out[i] = v
}

// What is copied may overlap, and is copied either way.
//
//quern:kernel block=1
func copied(t kernel.Thread, from, to, n int, x []float32) {
	if t.Global() == 0 {
		copy(x[to:to+n], x[from:from+n])
		x[0] += float32(copy(x[n:], x[to:]))
	}
}

// ptxas keeps a few elements in registers and selects one of them.
//
//quern:kernel
func choose(t kernel.Thread, x []float32, which []int32) {
	if i := t.Global(); i < len(x) && i < len(which) {
		v := [4]float32{1, 2, x[i], 4}
		x[i] = v[which[i]&3]
	}
}

// The element depends on both numbers of a point, which one access reads.
//
//quern:kernel
func count(t kernel.Thread, points, centers []kernel.Vec2[float32], totals []int64) {
	if i := t.Global(); i < len(points) {
		nearest, at := float32(1e30), 0
		for c, q := range centers {
			d := points[i].Sub(q)
			if s := d.X*d.X + d.Y*d.Y; s < nearest {
				nearest, at = s, c
			}
		}
		kernel.AtomicAdd(&totals[at], 1)
	}
}
