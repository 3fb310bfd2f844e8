// Kernels that the tests of package gohost print and run.
package main

import (
	"math"
	"math/bits"

	"quern.dev/kernel"
)

//quern:kernel
func saxpy(t kernel.Thread, a float32, x, y []float32) {
	if i := t.Global(); i < len(y) {
		y[i] += a * x[i]
	}
}

//quern:kernel
func transpose(t kernel.Thread, w, h int, in, out []float32) {
	tile := kernel.Shared[[8][9]float32](t)
	x, y := t.BlockIdx.X*8+t.ThreadIdx.X, t.BlockIdx.Y*8+t.ThreadIdx.Y
	if x < w && y < h {
		tile[t.ThreadIdx.Y][t.ThreadIdx.X] = in[y*w+x]
	}
	t.Sync()
	x, y = t.BlockIdx.Y*8+t.ThreadIdx.X, t.BlockIdx.X*8+t.ThreadIdx.Y
	if x < h && y < w {
		out[y*h+x] = tile[t.ThreadIdx.X][t.ThreadIdx.Y]
	}
}

//quern:kernel
func sum(t kernel.Thread, x, total []float32) {
	part := kernel.Shared[[256]float32](t)
	var s float32
	for i := t.Global(); i < len(x); i += t.Stride() {
		s += x[i]
	}
	part[t.ThreadIdx.X] = s
	t.Sync()
	for n := t.BlockDim.X / 2; n > 0; n >>= 1 {
		if t.ThreadIdx.X < n {
			part[t.ThreadIdx.X] += part[t.ThreadIdx.X+n]
		}
		t.Sync()
	}
	if t.ThreadIdx.X == 0 {
		kernel.AtomicAdd(&total[0], part[0])
	}
}

//quern:kernel
func matmul(t kernel.Thread, n int, a, b, c []float32) {
	as := kernel.Shared[[16][16]float32](t)
	bs := kernel.Shared[[16][16]float32](t)
	tx, ty := t.ThreadIdx.X, t.ThreadIdx.Y
	row, col := t.BlockIdx.Y*16+ty, t.BlockIdx.X*16+tx
	var acc float32
	for k0 := 0; k0 < n; k0 += 16 {
		as[ty][tx], bs[ty][tx] = 0, 0
		if row < n && k0+tx < n {
			as[ty][tx] = a[row*n+k0+tx]
		}
		if col < n && k0+ty < n {
			bs[ty][tx] = b[(k0+ty)*n+col]
		}
		t.Sync()
		for k := range 16 {
			acc += as[ty][k] * bs[k][tx]
		}
		t.Sync()
	}
	if row < n && col < n {
		c[row*n+col] = acc
	}
}

// register blocks: each thread keeps 2x2 results in a local array.
//
//quern:kernel
func blocked(t kernel.Thread, n int, a, b, c []float64) {
	as := kernel.Shared[[8][8]float64](t)
	bs := kernel.Shared[[8][8]float64](t)
	tx, ty := t.ThreadIdx.X, t.ThreadIdx.Y
	row, col := t.BlockIdx.Y*8+ty*2, t.BlockIdx.X*8+tx*2
	var acc [2][2]float64
	for k0 := 0; k0 < n; k0 += 8 {
		for i := range 2 {
			for j := range 2 {
				as[ty*2+i][tx*2+j] = a[(row+i)*n+k0+tx*2+j]
				bs[ty*2+i][tx*2+j] = b[(k0+ty*2+i)*n+col+j]
			}
		}
		t.Sync()
		for k := range 8 {
			for i := range acc {
				for j := range acc[i] {
					acc[i][j] += as[ty*2+i][k] * bs[k][tx*2+j]
				}
			}
		}
		t.Sync()
	}
	for i := range 2 {
		for j := range 2 {
			c[(row+i)*n+col+j] = acc[i][j]
		}
	}
}

func magnitude(x float32) float32 {
	if x < 0 {
		return -x
	}
	return x
}

//quern:kernel
func early(t kernel.Thread, n int32, x []float32) {
	i := t.Global()
	if i >= len(x) {
		return
	}
	for k := int32(0); k < n; k++ {
		switch {
		case x[i] > 10:
			return
		case x[i] < -10:
			continue
		case k == 5:
			x[i]++
			if x[i] > 3 {
				break
			}
			x[i] -= 0.5
		}
		x[i] = magnitude(x[i]) * 2
	}
}

// blockMax returns the largest of the block's values to thread 0.
func blockMax(t kernel.Thread, v float32) float32 {
	m := kernel.Shared[[64]float32](t)
	m[t.ThreadIdx.X] = v
	t.Sync()
	if t.ThreadIdx.X != 0 {
		return 0
	}
	best := m[0]
	for i := 1; i < t.BlockDim.X; i++ {
		best = max(best, m[i])
		if best > 1000 {
			return 1000
		}
	}
	return best
}

//quern:kernel
func maxes(t kernel.Thread, x, out []float32) {
	var histogram [4]int32
	v := float32(0)
	if i := t.Global(); i < len(x) {
		v = x[i]
		histogram[int(v)&3]++
	}
	m := blockMax(t, v)
	if t.ThreadIdx.X == 0 {
		out[t.BlockIdx.X] = m + float32(histogram[0])
	}
}

type metres float32

type point struct {
	X, Y metres
	Tag  uint8
}

func (p point) length() metres { return metres(kernel.Sqrt(float32(p.X*p.X + p.Y*p.Y))) }

func (p *point) move(d metres) {
	p.X += d
	p.Y -= d
}

type pair[T any] struct{ A, B T }

func swapped[T any](p pair[T]) pair[T] { return pair[T]{p.B, p.A} }

func divide(a, b int) (quotient, remainder int) {
	quotient = a / b
	remainder = a % b
	return
}

//quern:kernel
func structs(t kernel.Thread, origin point, points []point, lengths []metres, counts []int) {
	i := t.Global()
	if i >= len(points) {
		return
	}
	p := points[i]
	p.move(origin.X)
	q := &points[i]
	q.Y = p.Y + 1
	pr := swapped(pair[int]{i + 1, 7})
	d, r := divide(100, pr.B)
	_, again := divide(pr.A, 3)
	counts[i] = d*1000 + r + again + int(p.Tag)
	lengths[i] = p.length() + origin.length()
	corners := [3]point{{X: 1}, {Tag: 3}}
	corners[i%3].X = 5
	if corners[0] == corners[2] {
		lengths[i] += corners[i%3].X
	}
}

//quern:kernel
func integers(t kernel.Thread, x []int32, y []uint8, z []uint64, s []int) {
	i := t.Global()
	if i >= len(x) {
		return
	}
	v := x[i]
	w := v*v + math.MaxInt32
	w ^= v << (uint(i) % 40)
	w -= v >> 31
	var big int32 = math.MaxInt32
	big += 1
	x[i] = w + big&^3
	b := y[i]
	b = b<<3 | b>>5
	b += 250
	y[i] = -b + ^b
	u := z[i]*0x9E3779B97F4A7C15 + 1<<63
	hi, lo := bits.Mul64(u, u|1)
	z[i] = hi ^ lo ^ bits.RotateLeft64(u, -i) ^ bits.Reverse64(u) ^ uint64(bits.LeadingZeros32(uint32(u)))
	k := s[i]
	n := -7
	s[i] = k/7 + k%7 + n/2 + n%2 + int(int8(k)) + bits.OnesCount(uint(k)) + 1<<(uint(k)&3) + min(k, 3) + max(-2, k, i)
	if k > 0 {
		s[i] += 1000 / k
	}
	s[i] += int(float64(k)*1.5) - int(uint16(k))
}

//quern:kernel
func floats(t kernel.Thread, x, y []float32, z []float64) {
	i := t.Global()
	if i >= len(x) {
		return
	}
	v, w := x[i], y[i]
	inf := float32(math.Inf(1))
	zero := float32(0)
	nan := inf - inf
	s := kernel.FMA(v, w, 0.1) + kernel.Exp(-v*v) + kernel.Abs(w) + kernel.Floor(v) + kernel.Clamp(w, -1, 1)
	s += float32(v*w) + v*w
	if !(nan == nan) && -zero == zero && v < inf {
		s += min(v, w, 0.5) + kernel.Max(v, 3)
	}
	x[i] = s
	y[i] = math.Float32frombits(math.Float32bits(v)^1<<31) / 3
	z[i] = math.Sin(z[i]) + math.Sqrt(math.Abs(z[i])) + math.Pow(2, z[i]/8) + math.Floor(z[i]) + 1e-3
}

//quern:kernel
func loops(t kernel.Thread, n int, out []int) {
	g := t.Global()
	total := 0
outer:
	for i := 0; i < n; i++ {
		for j := range n {
			switch (i + j + g) % 5 {
			case 0:
				continue outer
			case 1:
				total += 10
				fallthrough
			case 2:
				total++
			case 3:
				if total > 400 {
					break outer
				}
			default:
				continue
			}
			total += j
		}
		total += 1000
	}
	for i, j := 0, n; i < j; i, j = i+1, j-1 {
		if i == 2 {
			continue
		}
		if total < 0 {
			break
		}
		total += j - i
	}
	for total > 300 {
		total /= 2
	}
	n = total & 15 // a parameter of one thread's own
	for i := range out[:min(3, len(out))] {
		n += i
	}
	if g < len(out) {
		out[g] = total + n
	}
}

//quern:kernel
func atomics(t kernel.Thread, x []uint32, bins []uint32, top []int64, firsts []int32) {
	local := kernel.Shared[[8]uint32](t)
	if t.ThreadIdx.X < 8 {
		local[t.ThreadIdx.X] = 0
	}
	t.Sync()
	i := t.Global()
	if i < len(x) {
		kernel.AtomicAdd(&local[x[i]&7], 1)
		kernel.AtomicMax(&top[0], int64(x[i]))
		kernel.AtomicMin(&top[1], int64(x[i]))
		kernel.AtomicOr(&top[2], int64(x[i]))
		old := kernel.AtomicAdd(&bins[8], 2)
		kernel.AtomicXor(&bins[9], old)
		kernel.AtomicCompareAndSwap(&firsts[x[i]&7], -1, int32(x[i]&7)*2)
	}
	t.Sync()
	if t.ThreadIdx.X < 8 {
		kernel.AtomicAdd(&bins[t.ThreadIdx.X], kernel.AtomicExchange(&local[t.ThreadIdx.X], 0))
	}
}

// phases leaves its loop, and the kernel, for whole blocks at a time.
//
//quern:kernel
func phases(t kernel.Thread, limits []int32, x []int32) {
	shared := kernel.Shared[[32]int32](t)
	id := t.ThreadIdx.X
	limit := limits[t.BlockIdx.X]
	if limit < 0 {
		return
	}
	mine := x[t.Global()]
	rounds, steps := int32(0), 0
	for {
		shared[id] = mine
		t.Sync()
		mine += shared[(id+1)%t.BlockDim.X]
		rounds++
		steps += 2
		if rounds > limit {
			break
		}
		if rounds == 3 {
			t.Sync()
			continue
		}
		mine ^= int32(steps)
		t.Sync()
	}
	x[t.Global()] = mine*100 + rounds
}

//quern:kernel
func volume(t kernel.Thread, w, h, d int, out []int32) {
	x, y, z := t.Global3()
	if x >= w || y >= h || z >= d {
		return
	}
	out[(z*h+y)*w+x] = int32(x + 10*y + 100*z + 1000*t.Lane() + 100000*t.Warp())
}

// exchange keeps pointers, slices and booleans across a barrier.
//
//quern:kernel
func exchange(t kernel.Thread, x []int32) {
	box := kernel.Shared[[16]int32](t)
	i := t.ThreadIdx.X
	part := x[t.BlockIdx.X*t.BlockDim.X:][:t.BlockDim.X]
	slot := &box[i]
	odd := i%2 == 1
	var counter int32
	count := &counter
	*slot = part[i]
	*count += 5
	t.Sync()
	if odd {
		*count += box[i-1]
	}
	t.Sync()
	*slot += counter
	t.Sync()
	part[i] = *slot + box[t.BlockDim.X-1-i]
}

var weights = [5]float32{0.1, 0.2, 0.4, 0.2, 0.1}

//quern:kernel
func blur(t kernel.Thread, w, h int, in, out []float32) {
	x, y := t.Global2()
	if x >= w || y >= h {
		return
	}
	var s float32
	for k := range weights {
		s += weights[k] * in[y*w+kernel.Clamp(x+k-2, 0, w-1)]
	}
	out[y*w+x] = s
}

//quern:kernel
func indexFails(t kernel.Thread, x []int32) {
	i := t.Global()
	if i == 21 {
		x[i+100] = 1
	}
}

//quern:kernel
func divisionFails(t kernel.Thread, x []int32) {
	tile := kernel.Shared[[8]int32](t)
	tile[t.ThreadIdx.X] = x[t.Global()]
	t.Sync()
	x[t.Global()] = 10 /
		tile[7-t.ThreadIdx.X]
}

//quern:kernel
func panics(t kernel.Thread, x []int32) {
	if t.Global() == 13 {
		panic("thirteen")
	}
}

// scan is an inclusive prefix sum of each block, in rounds.
//
//quern:kernel
func scan(t kernel.Thread, x []int32, steps int) {
	buffer := kernel.Shared[[2][64]int32](t)
	id := t.ThreadIdx.X
	from := 0
	buffer[from][id] = x[t.Global()]
	t.Sync()
	for round := range steps {
		for distance := 1; distance < t.BlockDim.X; distance *= 2 {
			to := 1 - from
			v := buffer[from][id]
			if id >= distance {
				v += buffer[from][id-distance]
			}
			buffer[to][id] = v
			from = to
			t.Sync()
		}
		if round%2 == 0 {
			total := buffer[from][t.BlockDim.X-1]
			t.Sync()
			buffer[from][id] -= total / 2
			t.Sync()
		} else {
			buffer[1-from][id] = buffer[from][t.BlockDim.X-1-id]
			from = 1 - from
			t.Sync()
		}
	}
	x[t.Global()] = buffer[from][id]
}

// neighbour returns the value of the thread to the right, or 0 at the end. It
// uses m.
func neighbour(t kernel.Thread, m *[64]int32, v int32) int32 {
	i := t.ThreadIdx.X
	t.Sync()
	m[i] = v
	t.Sync()
	if i+1 >= t.BlockDim.X {
		return 0
	}
	v = m[i+1]
	if v < 0 {
		return -v
	}
	return v
}

//quern:kernel
func stencil(t kernel.Thread, rounds int32, x []int32) {
	m := kernel.Shared[[64]int32](t)
	i := t.Global()
	if rounds <= 0 {
		return
	}
	var v int32
	if i < len(x) {
		v = x[i]
	}
	for r := int32(0); r < rounds; r++ {
		n := neighbour(t, m, v)
		if n == 3 {
			continue
		}
		v = v*2 - n
		for k := int32(0); k < r; k++ {
			if v > 1000 {
				break
			}
			v += k * n
		}
	}
	if i >= len(x) {
		return
	}
	x[i] = v
}

// costly computes more for a thread than it is worth to compute early.
//
//quern:kernel
func costly(t kernel.Thread, n int, x []float64) {
	i := t.Global()
	if i >= len(x) {
		return
	}
	z := math.Sqrt(math.Sqrt(float64(i+1))+math.Floor(float64(i)/3)) + math.Abs(float64(i-5))*1.5
	zz := z
	var s float64
	for k := range n {
		f := float64(k)
		w := z*2 + 1
		if k%2 == 0 {
			y := zz
			f += y * w
		}
		s += f * (w + float64(i-n+k))
	}
	x[i] = s
}

type settings struct {
	Scale  float32
	Window [3]int32
	On     bool
}

//quern:kernel block=32x4
func configured(t kernel.Thread, s settings, w int, x []float32, table []settings) {
	tile := kernel.Shared[[4][32]float32](t)
	u, v := t.Global2()
	best := s
	if !s.On {
		best = table[t.BlockIdx.X]
	}
	half := w / 2
	tile[t.ThreadIdx.Y][t.ThreadIdx.X] = x[v*w+u] * best.Scale
	t.Sync()
	var sum float32
	for k, weight := range best.Window {
		c := t.ThreadIdx.X + k - 1
		if c >= 0 && c < t.BlockDim.X {
			sum += float32(weight) * tile[t.ThreadIdx.Y][c]
		}
	}
	t.Sync()
	if best.On && u < half {
		x[v*w+u] = sum
	} else {
		x[v*w+u] -= float32(best.Window[u%3])
	}
}

// leaver has threads that leave individually after a barrier, but not at the end.
//
//quern:kernel
func leaver(t kernel.Thread, n int, x []int32) {
	m := kernel.Shared[[32]int32](t)
	i := t.Global()
	m[t.ThreadIdx.X] = x[i]
	for k := range n {
		t.Sync()
		if k > 0 {
			v := m[(t.ThreadIdx.X+k)%t.BlockDim.X]
			t.Sync()
			if v%3 == 0 {
				continue
			}
			m[t.ThreadIdx.X] += v
			if k == 2 {
				x[i] += 3
			}
		}
		x[i] ^= int32(k)
	}
	if n > 2 {
		t.Sync()
		for j := range 3 {
			if x[i] > int32(40*j) {
				x[i]--
				return
			}
		}
		x[i] += m[t.ThreadIdx.X]
	}
	x[i] *= 2
}

type matrix struct {
	Rows [4][4]float64
	Name [8]uint8
}

// large has arguments and constants that are worth passing by reference.
//
//quern:kernel
func large(t kernel.Thread, m matrix, x []float64, chosen []matrix) {
	i := t.Global()
	window := [12]float64{1, 2, 3, 4, 5, 6, 5, 4, 3, 2, 1, 0}
	tile := kernel.Shared[[32]float64](t)
	own := chosen[t.BlockIdx.X]
	tile[t.ThreadIdx.X] = x[i]
	t.Sync()
	var s float64
	for k, w := range window {
		s += w * tile[(t.ThreadIdx.X+k)%32]
	}
	row := m.Rows[i&3]
	x[i] = s*row[i>>2&3] + own.Rows[0][i&3] + m.Rows[1][1] + float64(own.Name[i&7])
}

// barrier does nothing but wait.
//
//quern:kernel
func barrier(t kernel.Thread) { t.Sync() }

// barriers does nothing but wait, a number of times.
//
//quern:kernel
func barriers(t kernel.Thread, rounds int, x []int32) {
	t.Sync()
	t.Sync()
	for range rounds {
		t.Sync()
	}
	if rounds > 2 {
		t.Sync()
	}
}

// shrink updates a part of a tile that gets smaller with each step. The flag of a thread
// lives longer than the step.
//
//quern:kernel block=16x4
func shrink(t kernel.Thread, w, h, steps int, x, out []int32) {
	tile := kernel.Shared[[4][16]int32](t)
	tx, ty := t.ThreadIdx.X, t.ThreadIdx.Y
	col, row := t.BlockIdx.X*16+tx, t.BlockIdx.Y*4+ty
	inside := col < w && row < h
	if inside {
		tile[ty][tx] = x[row*w+col]
	}
	t.Sync()
	var v int32
	mine := false
	for i := range steps {
		mine = inside && tx > i && tx < 15-i
		if mine {
			v = tile[ty][tx-1] + tile[ty][min(tx+1, w-1-t.BlockIdx.X*16)] + int32(i)
		}
		t.Sync()
		if mine {
			tile[ty][tx] = v
		}
		t.Sync()
	}
	if mine {
		out[row*w+col] = v
	}
	if ty == 0 && inside {
		out[row*w+col] += tile[0][tx] * 1000
	}
}

type couple struct{ A, B int32 }

func turn(p [4]couple) [4]couple {
	p[0].A += p[3].B
	return [4]couple{p[1], p[2], p[3], p[0]}
}

// passes exchanges pairs in unrolled passes. One lane of each warp adds up what the warp
// has read.
//
//quern:kernel block=64
func passes(t kernel.Thread, starts []int32, x []couple, sums []int32) {
	rows := kernel.Shared[[2][128]couple](t)
	j := t.ThreadIdx.X % 32
	row := &rows[t.Warp()]
	var v [4]couple
	//quern:unroll
	for r := range v {
		v[r] = x[t.Warp()*128+j+32*r]
	}
	//quern:unroll
	for pass := range 3 {
		n := 1 << (2 * pass)
		k := j % n
		if pass > 0 {
			v[1].B += int32(k)
		}
		v = turn(v)
		if pass == 2 {
			break
		}
		t.Sync()
		//quern:unroll
		for r := range v {
			row[(j-k)*4+k+n*r] = v[r]
		}
		t.Sync()
		//quern:unroll
		for r := range v {
			v[r] = row[j+32*r]
		}
	}
	//quern:unroll
	for r := range v {
		x[t.Warp()*128+j+32*r] = v[r]
	}
	t.Sync()
	if t.Warp() >= len(sums) {
		return
	}
	sum := int32(0)
	for e := starts[t.Warp()] + int32(t.Lane()); e < starts[t.Warp()+1]; e += 32 {
		sum += x[t.Warp()*128+int(e)%128].A
	}
	sum = kernel.WarpReduceAdd(t, sum)
	if t.Lane() == 3 {
		sums[t.Warp()] = sum
	}
}

// tiles adds up tiles of x in steps along diagonals. Between barriers it uses a number that
// the tile determines, and one that a later statement would change.
//
//quern:kernel block=32
func tiles(t kernel.Thread, n int, x, sums []int32) {
	tile := kernel.Shared[[32]int32](t)
	tx := t.ThreadIdx.X
	sum, shift := int32(0), 0
	for left := 0; left < n; left += 32 {
		i := left + tx
		before := shift + tx
		shift += 3
		tile[tx] = x[i%len(x)]
		t.Sync()
		for d := range 44 {
			if y := d - tx; y > 2 && 9 >= y && d-tx-left != 4 {
				sum += int32(y) * tile[tx]
			}
			t.Sync()
		}
		if i >= 40 {
			sum += int32(before)
		}
		sum -= int32(i) / int32(shift)
		t.Sync()
	}
	sums[t.Global()] = sum
}

// jumpers has threads that jump over a return, whose condition is the block's.
//
//quern:kernel
func jumpers(t kernel.Thread, n int, x []int32) {
	i := t.Global()
	t.Sync()
	if x[i] > 10 {
		goto large
	}
	if n == 0 {
		return
	}
	x[i] += 1000
large:
	x[i] *= 2
}

// stopped has threads that jump over a return without a condition.
//
//quern:kernel
func stopped(t kernel.Thread, x []int32) {
	i := t.Global()
	t.Sync()
	if x[i] > 0 {
		goto on
	}
	x[i] = 9
	return
on:
	x[i] *= 2
}

// seekers has a loop that threads leave individually, and that has a return whose condition
// is the block's.
//
//quern:kernel
func seekers(t kernel.Thread, n int, x []int32) {
	i := t.Global()
	if n > 0 {
		t.Sync()
		k := int32(0)
		for {
			if x[i]%7 == k%7 {
				break
			}
			k++
			if n == 3 {
				return
			}
			x[i] += 7
		}
		x[i] += k
	}
	x[i] *= 2
}

//quern:kernel
func rowProducts(t kernel.Thread, rows, cols int, a, x, y []float32) {
	r := t.Global()
	if r >= rows {
		return
	}
	sum := float32(0)
	for c := range cols {
		sum += a[r*cols+c] * x[c]
	}
	y[r] = sum
}

// spans has loops that begin after the first element, two in turn, and a condition inside.
//
//quern:kernel block=16x2
func spans(t kernel.Thread, n, first int, limits []int32, x []float64, y []float64) {
	r := t.Global()
	if r < first || r >= len(y) {
		return
	}
	at := r*n - first
	low, high := 0.0, x[r]
	for i := 1; i < n; i++ {
		if v := x[at+i]; v < low {
			low = v * float64(i)
		}
	}
	if low < -2 {
		high = -high
	}
	for i := 0; i < n-3; i++ {
		high = high/3 + x[at+i+3] + float64(limits[i])
	}
	y[r] = low + high
}
