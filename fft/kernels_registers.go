package fft

import (
	"math/bits"

	"quern.dev/kernel"
)

// perThread is the number of points of a transform that a thread of the kernels in this
// file has in registers.
const perThread = 16

// registers32 computes transforms whose lengths are powers of two, from 16 on, of complex
// numbers of float32. The 64 registers per thread allow blocks of 1024 threads.
//
//quern:kernel unchecked only=gpu maxregs=64
func registers32(t kernel.Thread, p pass, tables, in, out []kernel.Vec2[float32]) {
	transform(t, p, tables, in, out)
}

// registers64 is registers32 for float64, for blocks of up to 512 threads.
//
//quern:kernel unchecked only=gpu maxregs=128
func registers64(t kernel.Thread, p pass, tables, in, out []kernel.Vec2[float64]) {
	transform(t, p, tables, in, out)
}

// transform computes one tile. Steps have radix 16, the last one possibly less. A
// thread reads its points from global memory and writes them there itself; between steps,
// threads exchange points through shared memory. A block has as many rows as the tile has
// transforms, which is a power of two, and N/16 threads per row.
func transform[T kernel.Float](t kernel.Thread, p pass, tables, in, out []kernel.Vec2[T]) {
	e := exchange[T]{shared: kernel.Dynamic[T](t)}
	// What a block needs only at its end is not in registers meanwhile.
	later := kernel.Shared[[3]int](t)
	first, readAt, writeAt, twist := place(p, t.BlockIdx.X)
	x, y := int32(t.ThreadIdx.X), int32(t.ThreadIdx.Y)
	threads, rows := int32(t.BlockDim.X), int32(t.BlockDim.Y)
	count := min(int32(p.Levels[0].Count-first), rows)
	if p.Twist == 1 {
		twist = first
	}
	if t.ThreadIdx.X == 0 && t.ThreadIdx.Y == 0 {
		later[0], later[1], later[2] = writeAt, twist, int(count)
	}
	number := y*threads + x
	columnRow, columnThread := number&(rows-1), number>>uint32(bits.TrailingZeros32(uint32(rows)))

	var v [perThread]kernel.Vec2[T]
	row, j := y, x
	if p.ReadColumns {
		row, j = columnRow, columnThread
	}
	if row < count {
		sign := T(p.Sign)
		at, step := readAt+int(row)*p.Levels[0].In+int(j)*p.In, int(threads)*p.In
		//quern:unroll
		for i := range perThread {
			v[i] = in[at]
			v[i].Y *= sign
			at += step
		}
	}

	// From the first exchange on, a thread has the points that it writes.
	pitch := spread(p.N) + 32/rows // columns of a tile are in different banks
	e.threads, e.put = threads, row*pitch+spread(j*16)
	row, j = y, x
	if p.WriteColumns {
		row, j = columnRow, columnThread
	}
	e.get = row*pitch + spread(j)
	done := int32(16)
	butterfly16(&v)
	if p.N > 16 {
		e.run(t, 1, &v)
		e.put = e.get - spread(j)
		if p.N >= 256 {
			done = 256
			k := j & 15
			rotate16(&v, tables[p.Roots+15+k:], 16)
			butterfly16(&v)
			if p.N > 256 {
				e.put += spread((j-k)*16) + k
				e.run(t, 16, &v)
				if p.N >= 4096 {
					done = 4096
					k := j & 255
					rotate16(&v, tables[p.Roots+255+k:], 256)
					butterfly16(&v)
					if p.N > 4096 {
						e.put = e.get - spread(j) + spread((j-k)*16+k)
						e.run(t, 256, &v)
					}
				}
			}
		}
	}
	roots := p.Roots + done - 1 + j
	switch p.N / done {
	case 2:
		//quern:unroll
		for m := range int32(8) {
			b := [2]kernel.Vec2[T]{v[m], multiply(v[m+8], tables[roots+m*threads])}
			butterfly2(&b)
			v[m], v[m+8] = b[0], b[1]
		}
	case 4:
		//quern:unroll
		for m := range int32(4) {
			at := roots + m*threads
			b := [4]kernel.Vec2[T]{v[m],
				multiply(v[m+4], tables[at]), multiply(v[m+8], tables[at+done]), multiply(v[m+12], tables[at+2*done])}
			butterfly4(&b)
			v[m], v[m+4], v[m+8], v[m+12] = b[0], b[1], b[2], b[3]
		}
	case 8:
		//quern:unroll
		for m := range int32(2) {
			at := roots + m*threads
			b := [8]kernel.Vec2[T]{v[m],
				multiply(v[m+2], tables[at]), multiply(v[m+4], tables[at+done]), multiply(v[m+6], tables[at+2*done]),
				multiply(v[m+8], tables[at+3*done]), multiply(v[m+10], tables[at+4*done]),
				multiply(v[m+12], tables[at+5*done]), multiply(v[m+14], tables[at+6*done])}
			butterfly8(&b)
			v[m], v[m+2], v[m+4], v[m+6] = b[0], b[1], b[2], b[3]
			v[m+8], v[m+10], v[m+12], v[m+14] = b[4], b[5], b[6], b[7]
		}
	}

	if p.N == 16 {
		t.Sync()
	}
	writeAt, twist, count = later[0], later[1], int32(later[2])
	if row >= count {
		return
	}
	if p.Twist == 1 {
		twist += int(row)
	}
	at, step := writeAt+int(row)*p.Levels[0].Out+int(j)*p.Out, int(threads)*p.Out
	if p.Twist > 0 {
		//quern:unroll
		for i := range perThread {
			v[i] = multiply(v[i], root(p, tables, twist*(int(j)+i*int(threads))))
		}
	}
	scaleX, scaleY := T(p.ScaleX), T(p.ScaleY)
	//quern:unroll
	for i := range perThread {
		out[at] = kernel.Vec2[T]{X: v[i].X * scaleX, Y: v[i].Y * scaleY}
		at += step
	}
}

// rotate16 multiplies points 1 to 15 by their roots, which are done apart.
func rotate16[T kernel.Float](v *[perThread]kernel.Vec2[T], roots []kernel.Vec2[T], done int) {
	//quern:unroll
	for i := 1; i < perThread; i++ {
		v[i] = multiply(v[i], roots[(i-1)*done])
	}
}

// exchange is an exchange of points between the threads of a row.
type exchange[T kernel.Float] struct {
	shared   []T
	threads  int32
	put, get int32 // where a thread puts its first point, and gets it
}

// run exchanges points: real parts first, so that half the memory is enough. Point i of a
// thread goes to place put+spread(i*done) and comes from get+spread(i*threads): in neither
// sum do the last five bits carry, so these are the places of points.
func (e exchange[T]) run(t kernel.Thread, done int32, v *[perThread]kernel.Vec2[T]) {
	//quern:unroll
	for i := range int32(perThread) {
		e.shared[e.put+spread(i*done)] = v[i].X
	}
	t.Sync()
	//quern:unroll
	for i := range int32(perThread) {
		v[i].X = e.shared[e.get+spread(i*e.threads)]
	}
	t.Sync()
	//quern:unroll
	for i := range int32(perThread) {
		e.shared[e.put+spread(i*done)] = v[i].Y
	}
	t.Sync()
	//quern:unroll
	for i := range int32(perThread) {
		v[i].Y = e.shared[e.get+spread(i*e.threads)]
	}
	t.Sync()
}

// spread returns the place of a point in shared memory, with a gap after every 32.
func spread(i int32) int32 { return i + i>>5 }
