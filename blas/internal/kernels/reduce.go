package kernels

import (
	"unsafe"

	"quern.dev/kernel"
)

// Sums over vectors take two launches: each block of the first one reduces one chunk of the
// vector, a single block of the second one reduces the results of the blocks. The chunks
// depend only on n, and each is added up in a fixed order, so results are the same bits in
// each run.
const (
	ReduceThreads = 256

	// ReduceChunk is the least number of elements of a block, ReduceBlocks the largest number
	// of blocks.
	ReduceChunk  = 4096
	ReduceBlocks = 1024
)

// A thread adds up quads of elements. The last elements of a vector that are no quad have a
// thread each.

// chunkOf returns the elements of the block; from is a multiple of 4.
func chunkOf(t kernel.Thread, n, chunk int) (from, to int) {
	from = t.BlockIdx.X * chunk
	return from, min(from+chunk, n)
}

// dot writes to partial[b] the sum of x*y over the chunk of block b.
//
//quern:kernel block=ReduceThreads specialise=incX:1 specialise=incY:1 instantiate=float32,float64 unchecked only=gpu
func dot[T Float](t kernel.Thread, n, chunk, incX, incY int, x, y, partial []T) {
	warps := kernel.Shared[[ReduceThreads / 32]T](t)
	from, to := chunkOf(t, n, chunk)
	var sum [4]T
	for q := from/4 + t.ThreadIdx.X; q < to/4; q += ReduceThreads {
		at := q * 4
		for j := range 4 {
			sum[j] += x[place(at+j, n, incX)] * y[place(at+j, n, incY)]
		}
	}
	if i := to/4*4 + t.ThreadIdx.X; i < to {
		sum[0] += x[place(i, n, incX)] * y[place(i, n, incY)]
	}
	total := blockSum(t, warps, (sum[0]+sum[1])+(sum[2]+sum[3]))
	if t.ThreadIdx.X == 0 {
		partial[t.BlockIdx.X] = total
	}
}

// asum writes to partial[b] the sum of |x| over the chunk of block b. It also adds up such
// sums.
//
//quern:kernel block=ReduceThreads specialise=inc:1 instantiate=float32,float64 unchecked only=gpu
func asum[T Float](t kernel.Thread, n, chunk, inc int, x, partial []T) {
	warps := kernel.Shared[[ReduceThreads / 32]T](t)
	from, to := chunkOf(t, n, chunk)
	var sum [4]T
	for q := from/4 + t.ThreadIdx.X; q < to/4; q += ReduceThreads {
		at := q * 4
		for j := range 4 {
			sum[j] += kernel.Abs(x[place(at+j, n, inc)])
		}
	}
	if i := to/4*4 + t.ThreadIdx.X; i < to {
		sum[0] += kernel.Abs(x[place(i, n, inc)])
	}
	total := blockSum(t, warps, (sum[0]+sum[1])+(sum[2]+sum[3]))
	if t.ThreadIdx.X == 0 {
		partial[t.BlockIdx.X] = total
	}
}

// sum adds up the results of the blocks of dot.
//
//quern:kernel block=ReduceThreads instantiate=float32,float64
func sum[T Float](t kernel.Thread, n int, x, out []T) {
	warps := kernel.Shared[[ReduceThreads / 32]T](t)
	var sum T
	for i := t.ThreadIdx.X; i < n; i += ReduceThreads {
		sum += x[i]
	}
	total := blockSum(t, warps, sum)
	if t.ThreadIdx.X == 0 {
		out[0] = total
	}
}

// blockSum returns the sum of v over the block to all threads.
func blockSum[T Float](t kernel.Thread, warps *[ReduceThreads / 32]T, v T) (total T) {
	v = kernel.WarpReduceAdd(t, v)
	if t.Lane() == 0 {
		warps[t.Warp()] = v
	}
	t.Sync()
	for _, w := range warps {
		total += w
	}
	return total
}

// Squares is a sum of squares in three parts, in float64, so that neither the largest nor the
// smallest numbers overflow or vanish (Blue, 1978; Anderson, 2017): large numbers are scaled
// down before they are squared, small ones up.
type Squares struct{ Large, Medium, Small float64 }

// The limits and factors for float64, as in LAPACK.
const (
	squareSmall = 0x1p-511 // numbers below are small
	squareLarge = 0x1p486  // numbers above are large
	scaleSmall  = 0x1p537
	scaleLarge  = 0x1p-538
)

func (s *Squares) add(v float64) {
	a := kernel.Abs(v)
	switch {
	case a > squareLarge:
		a *= scaleLarge
		s.Large += a * a
	case a < squareSmall:
		a *= scaleSmall
		s.Small += a * a
	default: // and NaN
		s.Medium += a * a
	}
}

// addSquare is add for both types. Squares of float32 are neither large nor small.
func addSquare[T Float](s *Squares, v T) {
	w := float64(v)
	if int(unsafe.Sizeof(v)) == 4 {
		s.Medium += w * w
		return
	}
	s.add(w)
}

// root returns the square root of the sum.
func (s Squares) root() float64 {
	switch {
	case s.Large > 0:
		if s.Medium > 0 || s.Medium != s.Medium {
			s.Large += s.Medium * scaleLarge * scaleLarge
		}
		return kernel.Sqrt(s.Large) / scaleLarge
	case s.Small > 0:
		if s.Medium == 0 {
			return kernel.Sqrt(s.Small) / scaleSmall
		}
		if s.Medium != s.Medium {
			return s.Medium
		}
		medium, small := kernel.Sqrt(s.Medium), kernel.Sqrt(s.Small)/scaleSmall
		small, medium = min(small, medium), max(small, medium)
		return medium * kernel.Sqrt(1+small/medium*(small/medium))
	}
	return kernel.Sqrt(s.Medium)
}

// squares writes to partial[b] the sum of the squares of the chunk of block b.
//
//quern:kernel block=ReduceThreads specialise=inc:1 instantiate=float32,float64 unchecked only=gpu
func squares[T Float](t kernel.Thread, n, chunk, inc int, x []T, partial []Squares) {
	warps := kernel.Shared[[ReduceThreads / 32]Squares](t)
	from, to := chunkOf(t, n, chunk)
	var sum [4]Squares
	for q := from/4 + t.ThreadIdx.X; q < to/4; q += ReduceThreads {
		at := q * 4
		for j := range 4 {
			addSquare(&sum[j], x[place(at+j, n, inc)])
		}
	}
	if i := to/4*4 + t.ThreadIdx.X; i < to {
		addSquare(&sum[0], x[place(i, n, inc)])
	}
	for j := range 3 {
		sum[0].merge(sum[j+1])
	}
	total := blockSquares(t, warps, sum[0])
	if t.ThreadIdx.X == 0 {
		partial[t.BlockIdx.X] = total
	}
}

// norm writes the square root of the sum of the results of squares.
//
//quern:kernel block=ReduceThreads only=gpu instantiate=float32,float64
func norm[T Float](t kernel.Thread, n int, partial []Squares, out []T) {
	warps := kernel.Shared[[ReduceThreads / 32]Squares](t)
	var sum Squares
	for i := t.ThreadIdx.X; i < n; i += ReduceThreads {
		sum.merge(partial[i])
	}
	total := blockSquares(t, warps, sum)
	if t.ThreadIdx.X == 0 {
		out[0] = T(total.root())
	}
}

// normCPU is norm for the CPU device.
//
//quern:kernel block=1 instantiate=float32,float64 only=cpu
func normCPU[T Float](t kernel.Thread, n int, partial []Squares, out []T) {
	var sum Squares
	for _, s := range partial[:n] {
		sum.merge(s)
	}
	out[0] = T(sum.root())
}

func (s *Squares) merge(o Squares) {
	s.Large += o.Large
	s.Medium += o.Medium
	s.Small += o.Small
}

func blockSquares(t kernel.Thread, warps *[ReduceThreads / 32]Squares, v Squares) (total Squares) {
	v = Squares{kernel.WarpReduceAdd(t, v.Large), kernel.WarpReduceAdd(t, v.Medium), kernel.WarpReduceAdd(t, v.Small)}
	if t.Lane() == 0 {
		warps[t.Warp()] = v
	}
	t.Sync()
	for _, w := range warps {
		total.merge(w)
	}
	return total
}

// Largest is the place of the element with the largest magnitude.
type Largest[T Float] struct {
	Magnitude T
	Index     int
}

// take replaces l if o has the larger magnitude, or the same at a lower index. A NaN is
// larger than every number. An index of -1 is no element.
func (l *Largest[T]) take(o Largest[T]) {
	nan, other := l.Magnitude != l.Magnitude, o.Magnitude != o.Magnitude
	larger := o.Magnitude > l.Magnitude || other && !nan
	same := o.Magnitude == l.Magnitude || other && nan
	if o.Index >= 0 && (l.Index < 0 || larger || same && o.Index < l.Index) {
		*l = o
	}
}

// largest writes to partial[b] the largest element of the chunk of block b.
//
//quern:kernel block=ReduceThreads specialise=inc:1 instantiate=float32,float64 unchecked only=gpu
func largest[T Float](t kernel.Thread, n, chunk, inc int, x []T, partial []Largest[T]) {
	warps := kernel.Shared[[ReduceThreads / 32]Largest[T]](t)
	from, to := chunkOf(t, n, chunk)
	best := Largest[T]{Index: -1}
	for i := from + t.ThreadIdx.X*4; i < to; i += 4 * ReduceThreads {
		for j := range 4 {
			if i+j < to {
				best.take(Largest[T]{kernel.Abs(x[place(i+j, n, inc)]), i + j})
			}
		}
	}
	best = blockLargest(t, warps, best)
	if t.ThreadIdx.X == 0 {
		partial[t.BlockIdx.X] = best
	}
}

// largestOf writes the index of the largest of the results of largest.
//
//quern:kernel block=ReduceThreads instantiate=float32,float64 only=gpu
func largestOf[T Float](t kernel.Thread, n int, partial []Largest[T], out []int) {
	warps := kernel.Shared[[ReduceThreads / 32]Largest[T]](t)
	best := Largest[T]{Index: -1}
	for i := t.ThreadIdx.X; i < n; i += ReduceThreads {
		best.take(partial[i])
	}
	best = blockLargest(t, warps, best)
	if t.ThreadIdx.X == 0 {
		out[0] = best.Index
	}
}

func blockLargest[T Float](t kernel.Thread, warps *[ReduceThreads / 32]Largest[T], v Largest[T]) Largest[T] {
	for offset := 16; offset > 0; offset /= 2 {
		v.take(Largest[T]{kernel.ShuffleXor(t, v.Magnitude, offset), kernel.ShuffleXor(t, v.Index, offset)})
	}
	if t.Lane() == 0 {
		warps[t.Warp()] = v
	}
	t.Sync()
	for _, w := range warps {
		v.take(w)
	}
	return v
}

// The kernels for the CPU device have one thread per block. Four sums hide the latency of the
// additions.

// dotCPU is dot for the CPU device.
//
//quern:kernel block=1 instantiate=float32,float64 only=cpu
func dotCPU[T Float](t kernel.Thread, n, chunk, incX, incY int, x, y, partial []T) {
	from, to := chunkOf(t, n, chunk)
	if incX == 1 && incY == 1 {
		partial[t.BlockIdx.X] = dotOf(x[from:to], y[from:to])
		return
	}
	var sum T
	for i := from; i < to; i++ {
		sum += x[place(i, n, incX)] * y[place(i, n, incY)]
	}
	partial[t.BlockIdx.X] = sum
}

// dotOfPlain returns the sum of the products of slices of the same length.
func dotOfPlain[T Float](x, y []T) T {
	var s0, s1, s2, s3 T
	for i := range len(x) / 8 {
		x, y := (*[8]T)(x[i*8:]), (*[8]T)(y[i*8:])
		s0 += x[0] * y[0]
		s1 += x[1] * y[1]
		s2 += x[2] * y[2]
		s3 += x[3] * y[3]
		s0 += x[4] * y[4]
		s1 += x[5] * y[5]
		s2 += x[6] * y[6]
		s3 += x[7] * y[7]
	}
	for i := range len(x) % 8 {
		i += len(x) / 8 * 8
		s0 += x[i] * y[i]
	}
	return (s0 + s1) + (s2 + s3)
}

// asumCPU is asum for the CPU device.
//
//quern:kernel block=1 instantiate=float32,float64 only=cpu
func asumCPU[T Float](t kernel.Thread, n, chunk, inc int, x, partial []T) {
	from, to := chunkOf(t, n, chunk)
	var s0, s1, s2, s3 T
	i := from
	for ; i+4 <= to; i += 4 {
		s0 += kernel.Abs(x[place(i, n, inc)])
		s1 += kernel.Abs(x[place(i+1, n, inc)])
		s2 += kernel.Abs(x[place(i+2, n, inc)])
		s3 += kernel.Abs(x[place(i+3, n, inc)])
	}
	for ; i < to; i++ {
		s0 += kernel.Abs(x[place(i, n, inc)])
	}
	partial[t.BlockIdx.X] = (s0 + s1) + (s2 + s3)
}

// largestOfCPU is largestOf for the CPU device.
//
//quern:kernel block=1 instantiate=float32,float64 only=cpu
func largestOfCPU[T Float](t kernel.Thread, n int, partial []Largest[T], out []int) {
	best := Largest[T]{Index: -1}
	for _, l := range partial[:n] {
		best.take(l)
	}
	out[0] = best.Index
}

// squaresCPU is squares for the CPU device.
//
//quern:kernel block=1 instantiate=float32,float64 only=cpu
func squaresCPU[T Float](t kernel.Thread, n, chunk, inc int, x []T, partial []Squares) {
	from, to := chunkOf(t, n, chunk)
	if inc == 1 {
		// This is right unless there are very large or small numbers.
		if s := sumOfSquares(x[from:to]); s > 0x1p-900 && s < 0x1p1000 {
			partial[t.BlockIdx.X] = Squares{Medium: s}
			return
		}
	}
	var sum Squares
	for i := from; i < to; i++ {
		sum.add(float64(x[place(i, n, inc)]))
	}
	partial[t.BlockIdx.X] = sum
}

// sumOfSquares adds up the squares in float64.
func sumOfSquares[T Float](x []T) float64 {
	var s0, s1, s2, s3 float64
	for i := range len(x) / 4 {
		x := (*[4]T)(x[i*4:])
		a, b, c, d := float64(x[0]), float64(x[1]), float64(x[2]), float64(x[3])
		s0 += a * a
		s1 += b * b
		s2 += c * c
		s3 += d * d
	}
	for i := range len(x) % 4 {
		a := float64(x[len(x)/4*4+i])
		s0 += a * a
	}
	return (s0 + s1) + (s2 + s3)
}

// largestCPU is largest for the CPU device.
//
//quern:kernel block=1 instantiate=float32,float64 only=cpu
func largestCPU[T Float](t kernel.Thread, n, chunk, inc int, x []T, partial []Largest[T]) {
	from, to := chunkOf(t, n, chunk)
	best := Largest[T]{Index: -1}
	for i := from; i < to; i++ {
		if a := kernel.Abs(x[place(i, n, inc)]); !(a <= best.Magnitude) || best.Index < 0 {
			best.take(Largest[T]{a, i})
		}
	}
	partial[t.BlockIdx.X] = best
}
