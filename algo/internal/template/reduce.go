package template

import "quern.dev/kernel"

// Threads is the size of the blocks of most kernels.
const Threads = 256

const (
	warpSize = 32
	warps    = Threads / warpSize
)

// Vector is how many neighbouring elements a thread loads at once.
const Vector = 4

// loadVector loads the elements Vector*i to Vector*i+Vector-1, at once if in begins at a multiple
// of 16 bytes.
//
//quern:unchecked
func loadVector[T any](in []T, i int) (v [Vector]T) {
	for k := range Vector {
		v[k] = in[Vector*i+k]
	}
	return v
}

// storeVector stores the elements Vector*i to Vector*i+Vector-1.
//
//quern:unchecked
func storeVector[T any](out []T, i int, v [Vector]T) {
	for k := range Vector {
		out[Vector*i+k] = v[k]
	}
}

// ReduceParts combines the elements of each part of in. Part p has the elements p*Vector*part to
// (p+1)*Vector*part-1, if there are as many. The result is out[p].
//
//quern:template Combine,merge block=256 only=gpu
//quern:unchecked
func ReduceParts[T any](t kernel.Thread, combine func(a, b T) T, part int, in, out []T) {
	partial := kernel.Shared[[warps]T](t)
	first := t.BlockIdx.X * part // vector
	count := min(Vector*part, len(in)-Vector*first)
	if count <= 0 {
		return
	}
	i := t.ThreadIdx.X
	vectors := count / Vector
	var sum T
	if i < vectors {
		v := loadVector(in, first+i)
		sum = combine(combine(v[0], v[1]), combine(v[2], v[3]))
		for j := i + Threads; j < vectors; j += Threads {
			v := loadVector(in, first+j)
			sum = combine(sum, combine(combine(v[0], v[1]), combine(v[2], v[3])))
		}
	}
	// Up to Vector-1 elements are left. If there are no vectors, they are all there is.
	if j := Vector*vectors + i; j < count {
		if v := in[Vector*first+j]; i < vectors {
			sum = combine(sum, v)
		} else {
			sum = v
		}
	}
	active := min(vectors, Threads)
	if vectors == 0 {
		active = count
	} else if left := count - Vector*vectors; left > active {
		active = left
	}
	sum = reduceBlock(t, combine, active, sum, partial)
	if i == 0 {
		out[t.BlockIdx.X] = sum
	}
}

// ReducePartsInTurn is [ReduceParts] with one thread per part. It combines the elements in the same
// order.
//
//quern:template Combine,merge only=cpu
func ReducePartsInTurn[T any](t kernel.Thread, combine func(a, b T) T, part int, in, out []T) {
	first := t.Global() * Vector * part
	if t.Global() >= len(out) || first >= len(in) {
		return
	}
	in = in[first:min(first+Vector*part, len(in))]
	vectors := len(in) / Vector
	active := min(vectors, Threads)
	var sums [Threads]T
	for i := range active {
		v := in[Vector*i:][:Vector]
		sums[i] = combine(combine(v[0], v[1]), combine(v[2], v[3]))
	}
	for j := Threads; j < vectors; j += Threads {
		row := in[Vector*j : Vector*min(j+Threads, vectors)]
		for i := range len(row) / Vector {
			v := row[Vector*i:][:Vector]
			sums[i] = combine(sums[i], combine(combine(v[0], v[1]), combine(v[2], v[3])))
		}
	}
	for i, v := range in[Vector*vectors:] {
		if i < active {
			sums[i] = combine(sums[i], v)
		} else {
			sums[i] = v
		}
	}
	active = max(active, len(in)-Vector*vectors)
	for d := 1; d < active; d *= 2 {
		for i := 0; i+d < active; i += 2 * d {
			sums[i] = combine(sums[i], sums[i+d])
		}
	}
	out[t.Global()] = sums[0]
}

// ReduceRows combines the elements of rows of n elements. Each row is divided into parts of part
// elements, and a group of 1<<group neighbouring threads of a warp combines a part. The result of
// part p of row r is out[r*parts+p].
//
//quern:template Combine block=256
//quern:unchecked
func ReduceRows[T any](t kernel.Thread, combine func(a, b T) T, n, parts, part, group int, in, out []T) {
	to := t.Global() >> group
	width := 1 << group
	lane := t.Lane() & (width - 1)
	row, first := to, 0
	if parts > 1 {
		row = to / parts
		first = (to - row*parts) * part
	}
	count := min(part, n-first)
	if to >= len(out) {
		count = 0
	}
	var sum T
	active := min(count, width)
	if n%Vector == 0 && part%Vector == 0 {
		at, vectors := row*(n/Vector)+first/Vector, count/Vector
		active = min(vectors, width)
		if lane < vectors {
			v := loadVector(in, at+lane)
			sum = combine(combine(v[0], v[1]), combine(v[2], v[3]))
			//quern:unroll 2
			for j := lane + width; j < vectors; j += width {
				v := loadVector(in, at+j)
				sum = combine(sum, combine(combine(v[0], v[1]), combine(v[2], v[3])))
			}
		}
	} else if lane < count {
		at := row*n + first
		sum = in[at+lane]
		for j := lane + width; j < count; j += width {
			sum = combine(sum, in[at+j])
		}
	}
	sum = reduceGroup(t, combine, width, active, sum)
	if to < len(out) && lane == 0 {
		out[to] = sum
	}
}

// ReduceColumns combines the elements of columns. A plane has n rows of width elements, and
// begins at a multiple of n*width. Columns are divided into parts of part rows; the result of
// part p of column x of plane z is out[(z*parts+p)*width+x]. The grid has width threads along
// X, parts along Y, and planes along Z; if there are more planes, a thread has several. If width
// is a multiple of Vector, a thread has Vector columns, and there are fewer threads along X.
//
//quern:template Combine
//quern:unchecked
func ReduceColumns[T any](t kernel.Thread, combine func(a, b T) T, n, width, part int, in, out []T) {
	x, p := t.Global(), t.BlockIdx.Y
	first := p * part
	last := min(first+part, n)
	if width%Vector == 0 {
		vectors := width / Vector
		if x >= vectors {
			return
		}
		for z := t.BlockIdx.Z; z*n*width < len(in); z += t.GridDim.Z {
			at := (z*n+first)*vectors + x
			sum := loadVector(in, at)
			//quern:unroll 8
			for y := 1; y < last-first; y++ {
				v := loadVector(in, at+y*vectors)
				for k := range Vector {
					sum[k] = combine(sum[k], v[k])
				}
			}
			storeVector(out, (z*t.GridDim.Y+p)*vectors+x, sum)
		}
		return
	}
	if x >= width {
		return
	}
	for z := t.BlockIdx.Z; z*n*width < len(in); z += t.GridDim.Z {
		column := in[(z*n+first)*width+x:]
		sum := column[0]
		//quern:unroll 8
		for y := 1; y < last-first; y++ {
			sum = combine(sum, column[y*width])
		}
		out[(z*t.GridDim.Y+p)*width+x] = sum
	}
}

// ReduceSegments combines the elements of segments. Segment i has the elements ends[i] to
// ends[i+1]-1 of in. A group of neighbouring threads of a warp, a power of two, combines a
// segment. The result of an empty segment is empty.
//
//quern:template Combine block=256
//quern:unchecked
func ReduceSegments[T any](t kernel.Thread, combine func(a, b T) T, group int, empty T, ends []int32, in, out []T) {
	segment := t.Global() / group
	lane := t.Lane() & (group - 1)
	first, last := 0, 0
	if segment < len(out) {
		first, last = int(ends[segment]), int(ends[segment+1])
	}
	var sum T
	if first+lane < last {
		sum = in[first+lane]
		for j := first + lane + group; j < last; j += group {
			sum = combine(sum, in[j])
		}
	}
	sum = reduceGroup(t, combine, group, min(last-first, group), sum)
	if segment < len(out) && lane == 0 {
		if first >= last {
			sum = empty
		}
		out[segment] = sum
	}
}

// reduceBlock combines the values of the first count threads of a block, at least one. The
// first thread gets the result.
//
//quern:unchecked
func reduceBlock[T any](t kernel.Thread, combine func(a, b T) T, count int, v T, partial *[warps]T) T {
	i := t.ThreadIdx.X
	v = reduceGroup(t, combine, warpSize, count-i+t.Lane(), v)
	if t.Lane() == 0 {
		partial[i/warpSize] = v
	}
	t.Sync()
	if t.Warp() == 0 {
		v = reduceGroup(t, combine, warps, (count+warpSize-1)/warpSize, partial[t.Lane()%warps])
	}
	return v
}

// reduceGroup combines the values of the first count threads of each group of neighbouring
// threads of a warp. The first thread of a group gets the result.
func reduceGroup[T any](t kernel.Thread, combine func(a, b T) T, group, count int, v T) T {
	lane := t.Lane() & (group - 1)
	if group == 1 {
		return v
	}
	for d := 1; d < warpSize; d *= 2 {
		other := kernel.ShuffleDown(t, v, d)
		if d < group && lane+d < count && lane&(2*d-1) == 0 {
			v = combine(v, other)
		}
	}
	return v
}

// ReduceBlock combines the values of the first count threads of a block of [Threads], at least
// one. The first thread gets the result. It is for kernels.
func ReduceBlock[T any](t kernel.Thread, combine func(a, b T) T, count int, v T) T {
	partial := kernel.Shared[[warps]T](t)
	return reduceBlock(t, combine, count, v, partial)
}
