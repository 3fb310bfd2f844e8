package slow

import (
	"math"

	"quern.dev/kernel"
)

//quern:kernel
func columns(t kernel.Thread, w, h int, in, out []float32) {
	i := t.Global()
	if i >= h {
		return
	}
	for x := range w {
		out[i*w+x] = 2 * in[i*w+x]
	}
}

//quern:kernel
func constantStride(t kernel.Thread, in, out []float32) {
	if i := t.Global(); i < len(out) {
		out[i] = in[i*16]
	}
}

//quern:kernel
func transposed(t kernel.Thread, w, h int, in, out []float32) {
	x, y := t.Global2()
	if x < w && y < h {
		out[x*h+y] = in[y*w+x]
	}
}

type particle struct {
	position, velocity [3]float32
	mass               float32
	charge             float32
}

//quern:kernel
func oneField(t kernel.Thread, p []particle, out []float32) {
	if i := t.Global(); i < len(p) {
		out[i] = p[i].mass
	}
}

//quern:kernel block=32x8
func unpadded(t kernel.Thread, w int, in, out []float32) {
	tile := kernel.Shared[[32][32]float32](t)
	x, y := t.BlockIdx.X*32+t.ThreadIdx.X, t.BlockIdx.Y*32+t.ThreadIdx.Y
	for r := 0; r < 32; r += 8 {
		tile[t.ThreadIdx.Y+r][t.ThreadIdx.X] = in[(y+r)*w+x]
	}
	t.Sync()
	x, y = t.BlockIdx.Y*32+t.ThreadIdx.X, t.BlockIdx.X*32+t.ThreadIdx.Y
	for r := 0; r < 32; r += 8 {
		out[(y+r)*w+x] = tile[t.ThreadIdx.X][t.ThreadIdx.Y+r]
	}
}

//quern:kernel block=256
func strided(t kernel.Thread, in, out []float64) {
	sums := kernel.Shared[[2048]float64](t)
	sums[t.ThreadIdx.X*8] = in[t.Global()]
	t.Sync()
	out[t.Global()] = sums[t.ThreadIdx.X*8]
}

//quern:kernel
func oddAndEven(t kernel.Thread, x []float32) {
	i := t.Global()
	if i >= len(x) {
		return
	}
	if i%2 == 0 {
		v := x[i]
		for range 100 {
			v = v*v + 0.25
		}
		x[i] = v
	}
}

//quern:kernel
func eitherWay(t kernel.Thread, x []float32) {
	i := t.Global()
	if i >= len(x) {
		return
	}
	v := x[i]
	if v > 0 {
		for k := range 100 {
			v = v*v + float32(k)
		}
	} else {
		for k := range 100 {
			v = v*0.5 - float32(k)*v
		}
	}
	x[i] = v
}

//quern:kernel
func wideIndex(t kernel.Thread, n int64, x []float32) {
	i := int64(t.Global())
	if i < n {
		x[i]++
	}
}

//quern:kernel
func wideDivision(t kernel.Thread, n uint64, x []uint64) {
	if i := t.Global(); i < len(x) {
		x[i] = x[i] % n
	}
}

//quern:kernel
func throughFloat64(t kernel.Thread, x []float32) {
	if i := t.Global(); i < len(x) {
		x[i] = float32(math.Sqrt(float64(x[i]))*2 + 1)
	}
}

//quern:kernel
func localArray(t kernel.Thread, x []int32) {
	i := t.Global()
	if i >= len(x) {
		return
	}
	var counts [16]int32
	for k := range x {
		counts[x[k]&15]++
	}
	x[i] = counts[x[i]&15]
}

//quern:kernel
func undeclared(t kernel.Thread, x []float32) {
	tile := kernel.Shared[[256]float32](t)
	tile[t.ThreadIdx.X] = x[t.Global()]
	t.Sync()
	x[t.Global()] = tile[255-t.ThreadIdx.X]
}

//quern:kernel
func rowsAsSlices(t kernel.Thread, w int, in, out []float32) {
	r := t.Global()
	if r >= len(out) {
		return
	}
	sum := float32(0)
	for _, v := range in[r*w : (r+1)*w] {
		sum += v
	}
	row := in[r*w:]
	for k := range w {
		sum += row[k]
	}
	out[r] = sum
}

//quern:kernel
func rowsAsArrays(t kernel.Thread, in [][64]float32, out []float32) {
	r := t.Global()
	if r >= len(out) {
		return
	}
	sum := float32(0)
	for _, v := range in[r] {
		sum += v
	}
	out[r] = sum
}

//quern:kernel block=256
func dynamicBanks(t kernel.Thread, x []float32) {
	s := kernel.Dynamic[float32](t)
	s[t.ThreadIdx.X*32] = x[t.Global()]
	t.Sync()
	x[t.Global()] = s[t.ThreadIdx.X*32]
}

//quern:kernel
func vectorByParts(t kernel.Thread, in, out []kernel.Vec4[float32]) {
	for i := t.Global(); i < len(out); i += t.Stride() {
		v := &in[i]
		out[i].X = v.X * 2
		out[i].Y = v.Y * 2
		out[i].Z = v.Z * 2
		out[i].W = v.W * 2
	}
}

//quern:kernel
func elementByElement(t kernel.Thread, in, out [][4]float32) {
	i := t.Global()
	if i >= len(out) || i >= len(in) {
		return
	}
	for k := range 3 {
		out[i][k] = in[i][k]
	}
}

type wide28 struct {
	position, velocity [3]float32
	mass               float32
}

//quern:kernel
func stride28(t kernel.Thread, p []wide28) {
	i := t.Global()
	if i >= len(p) {
		return
	}
	for k := range 3 {
		p[i].position[k] += p[i].velocity[k] / p[i].mass
	}
}

type wide128 struct{ v [32]float32 }

//quern:kernel
func stride128(t kernel.Thread, p []wide128, out []float32) {
	i := t.Global()
	if i >= len(p) || i >= len(out) {
		return
	}
	sum := float32(0)
	for k := range 32 {
		sum += p[i].v[k]
	}
	out[i] = sum
}

//quern:kernel
func hotDivision(t kernel.Thread, n int, x []int) {
	i := t.Global()
	if i >= len(x) {
		return
	}
	sum := 0
	for k := 1; k < 64; k++ {
		sum += x[i] / (n + k)
	}
	x[i] = sum
}

//quern:kernel
func oneCounter(t kernel.Thread, x []float32, count []int32) {
	if i := t.Global(); i < len(x) {
		kernel.AtomicAdd(&count[0], 1)
	}
}

//quern:kernel
func oneSum(t kernel.Thread, n int, x, sums []float32) {
	if i := t.Global(); i < len(x) {
		kernel.AtomicAdd(&sums[n], x[i])
	}
}

//quern:kernel
func oneTicket(t kernel.Thread, x, next []int64) {
	if i := t.Global(); i < len(x) {
		x[i] = kernel.AtomicAdd(&next[0], 1)
	}
}

//quern:kernel
func score(t kernel.Thread, w, h int, score []float32) {
	x, y := t.Global2()
	if x >= w || y >= h {
		return
	}
	stride := h + 1
	score[x*stride+y+1] = score[(x+1)*(h+1)]
}
