package sparse

import (
	"quern.dev/gpu"
	"quern.dev/kernel"
)

// scaled returns alpha*sum + beta*y. Where beta is 0, y may be anything, also NaN.
func scaled[T Float](alpha, sum, beta T, y *T) T {
	if beta == 0 {
		return alpha * sum
	}
	return alpha*sum + beta**y
}

// mulRows computes a row with 2^log threads, at most a warp, which take its entries in
// turn.
//
//quern:kernel instantiate=float32,float64
func mulRows[T Float](t kernel.Thread, log int, alpha, beta T, start, index []int32, value, x, y []T) {
	row, lane := t.Global()>>uint(log), t.Global()&(1<<uint(log)-1)
	sum := T(0)
	if row < len(y) && row+1 < len(start) {
		end := int(start[row+1])
		for k := int(start[row]) + lane; k < end; k += 1 << uint(log) {
			sum += value[k] * x[index[k]]
		}
	}
	for d := 1 << uint(log) >> 1; d > 0; d >>= 1 {
		sum += kernel.ShuffleXor(t, sum, d)
	}
	if lane == 0 && row < len(y) {
		y[row] = scaled(alpha, sum, beta, &y[row])
	}
}

// mulRow computes a row with one thread.
//
//quern:kernel instantiate=float32,float64
func mulRow[T Float](t kernel.Thread, alpha, beta T, start, index []int32, value, x, y []T) {
	if row := t.Global(); row < len(y) && row+1 < len(start) {
		sum := T(0)
		end := int(start[row+1])
		for k := int(start[row]); k < end; k++ {
			sum += value[k] * x[index[k]]
		}
		y[row] = scaled(alpha, sum, beta, &y[row])
	}
}

// The kernels that follow divide the work evenly, whatever the lengths of the rows
// (Merrill and Garland, "Merge-based parallel sparse matrix-vector multiplication",
// 2016). The work is a list of steps: each entry is one, and the end of each row is one.
// A thread does the same number of steps. A row whose end is in another thread's part
// is carried: the part's sum is added to the row later.

// diagonal returns how many of the first d steps are ends of rows.
func diagonal(d, rows, entries int, start []int32) int {
	low, high := max(0, d-entries), min(d, rows)
	for low < high {
		mid := (low + high) / 2
		if int(start[mid+1]) < d-mid {
			low = mid + 1
		} else {
			high = mid
		}
	}
	return low
}

// mulParts does a part of the steps with one thread, for CPUs. The carried sum of part
// p is carry[p], which belongs to row rows[p].
//
//quern:kernel instantiate=float32,float64
func mulParts[T Float](t kernel.Thread, steps int, alpha, beta T, start, index []int32, value, x, y []T, rows []int32, carry []T) {
	p := t.Global()
	if p >= len(carry) || p >= len(rows) {
		return
	}
	n := len(y)
	row := diagonal(min(p*steps, n+len(value)), n, len(value), start)
	k := min(p*steps, n+len(value)) - row
	last := diagonal(min((p+1)*steps, n+len(value)), n, len(value), start)
	end := min((p+1)*steps, n+len(value)) - last
	for ; row < last; row++ {
		sum := T(0)
		stop := int(start[row+1])
		for ; k < stop; k++ {
			sum += value[k] * x[index[k]]
		}
		y[row] = scaled(alpha, sum, beta, &y[row])
	}
	sum := T(0)
	for ; k < end; k++ {
		sum += value[k] * x[index[k]]
	}
	rows[p], carry[p] = int32(last), sum
}

const (
	mergeThreads = 128
	mergeWarps   = mergeThreads / warpSize
	warpSize     = 32
	mergeSteps   = 8 // per thread
	mergeTile    = mergeThreads * mergeSteps
)

// mergeBounds finds the first row of each tile of steps, and the one after the last.
//
//quern:kernel
func mergeBounds(t kernel.Thread, rows, entries int, start, bounds []int32) {
	if p := t.Global(); p < len(bounds) {
		bounds[p] = int32(diagonal(min(p*mergeTile, rows+entries), rows, entries, start))
	}
}

// mulMerge does a tile of steps with each block. It computes the products of the block's
// entries into shared memory, then each thread does its steps, and the carried sums of
// the threads are added by a segmented scan. carry[p] belongs to row bounds[p+1].
//
//quern:kernel block=mergeThreads instantiate=float32,float64
func mulMerge[T Float](t kernel.Thread, alpha, beta T, start, index []int32, value, x, y []T, bounds []int32, carry []T) {
	products := kernel.Shared[[mergeTile]T](t)
	ends := kernel.Shared[[mergeTile + 1]int32](t) // of the rows of the block, relative to its first entry
	warpSums := kernel.Shared[[mergeWarps]T](t)
	warpWhole := kernel.Shared[[mergeWarps]bool](t)

	n, i, tile := len(y), t.ThreadIdx.X, t.BlockIdx.X
	if tile+1 >= len(bounds) || tile >= len(carry) {
		return
	}
	first := min(tile*mergeTile, n+len(value))
	last := min(first+mergeTile, n+len(value))
	row0, row1 := int(bounds[tile]), int(bounds[tile+1])
	k0, k1 := first-row0, last-row1
	for k := i; k < k1-k0 && k < mergeTile; k += mergeThreads {
		products[k] = value[k0+k] * x[index[k0+k]]
	}
	for r := i; r <= row1-row0 && r < mergeTile+1; r += mergeThreads {
		ends[r] = int32(k1 - k0)
		if row0+r+1 < len(start) {
			ends[r] = start[row0+r+1] - int32(k0)
		}
	}
	t.Sync()

	// The thread's own steps.
	steps, count := last-first, row1-row0
	d := min(i*mergeSteps, steps)
	low, high := max(0, d-(k1-k0)), min(d, count)
	for low < high {
		mid := (low + high) / 2
		if int(ends[mid]) < d-mid {
			low = mid + 1
		} else {
			high = mid
		}
	}
	row, k := low, d-low
	sum, head := T(0), T(0)
	done := -1 // the first row that ends in the thread's part
	for s := 0; s < mergeSteps && d+s < steps; s++ {
		if k < int(ends[row]) {
			sum += products[k]
			k++
			continue
		}
		if done < 0 {
			done, head = row, sum
		} else {
			y[row0+row] = scaled(alpha, sum, beta, &y[row0+row])
		}
		sum = 0
		row++
	}

	// What threads carry: the sum of all parts back to one in which a row ended.
	whole := done >= 0 // the sum goes back to the start of a row
	lane, warp := t.Lane(), i/warpSize
	for d := 1; d < warpSize; d *= 2 {
		s, w := kernel.ShuffleUp(t, sum, d), kernel.ShuffleUp(t, whole, d)
		if lane >= d && !whole {
			sum, whole = sum+s, w
		}
	}
	if lane == warpSize-1 {
		warpSums[warp], warpWhole[warp] = sum, whole
	}
	before, beforeWhole := kernel.ShuffleUp(t, sum, 1), kernel.ShuffleUp(t, whole, 1)
	if lane == 0 {
		before, beforeWhole = 0, false
	}
	t.Sync()
	carried := T(0) // into the warp
	for w := range mergeWarps {
		if w < warp {
			if warpWhole[w] {
				carried = 0
			}
			carried += warpSums[w]
		}
	}
	if done >= 0 {
		if !beforeWhole {
			before += carried
		}
		y[row0+done] = scaled(alpha, head+before, beta, &y[row0+done])
	}
	if i == mergeThreads-1 {
		if !whole {
			sum += carried
		}
		carry[tile] = sum
	}
}

// addCarries adds the carried sums of parts to y. A thread adds those of one row, in
// order; the parts of a row are neighbors.
//
//quern:kernel instantiate=float32,float64
func addCarries[T Float](t kernel.Thread, alpha T, rows []int32, carry, y []T) {
	p := t.Global()
	if p >= len(rows) || p >= len(carry) {
		return
	}
	row := rows[p]
	if int(row) >= len(y) || p > 0 && rows[p-1] == row {
		return
	}
	sum := T(0)
	for ; p < len(rows) && p < len(carry) && rows[p] == row; p++ {
		sum += carry[p]
	}
	y[row] += alpha * sum
}

const carryThreads = 256

// foldCarries adds the carried sums of a block's parts, where they are of one row. The
// sum for the last row of the block, which may continue in the next block, is carried
// again.
//
//quern:kernel block=carryThreads instantiate=float32,float64
func foldCarries[T Float](t kernel.Thread, alpha T, bounds []int32, carry, y []T, foldedRows []int32, folded []T) {
	sums := kernel.Shared[[2][carryThreads]T](t)
	own := kernel.Shared[[carryThreads]int32](t)
	p, i := t.Global(), t.ThreadIdx.X
	row, sum := int32(len(y)), T(0)
	if p+1 < len(bounds) && p < len(carry) {
		row, sum = bounds[p+1], carry[p]
	}
	own[i], sums[0][i] = row, sum
	t.Sync()
	from := 0
	for d := 1; d < carryThreads; d *= 2 {
		s := sums[from][i]
		if i >= d && own[i-d] == row {
			s += sums[from][i-d]
		}
		sums[1-from][i] = s
		from = 1 - from
		t.Sync()
	}
	if i == carryThreads-1 {
		if t.BlockIdx.X < len(foldedRows) && t.BlockIdx.X < len(folded) {
			foldedRows[t.BlockIdx.X], folded[t.BlockIdx.X] = row, sums[from][i]
		}
		return
	}
	if own[i+1] != row && int(row) < len(y) {
		y[row] += alpha * sums[from][i]
	}
}

// Method is a way to multiply a matrix by a vector.
type Method uint8

// Methods. Their results differ by rounding; each of them always gives the same bits.
const (
	ByRow  Method = iota + 1 // one thread per row
	ByWarp                   // 2 to 32 threads per row
	Merge                    // the same number of entries and rows for each thread
)

// entriesPerThread is the most that a thread of mulRows has on average: enough that their
// loads are under way together.
const entriesPerThread = 8

// matrixSize is what the choice of a kernel depends on.
type matrixSize struct{ rows, entries, longest int }

func (a CSR[T]) size() matrixSize { return matrixSize{a.Rows, a.Entries(), a.Longest} }

// method chooses the kernel for a device, and the threads per row as a power of two.
func (a matrixSize) method(backend gpu.Backend) (m Method, log int) {
	mean := a.entries / max(a.rows, 1)
	switch {
	case backend == gpu.CPU || a.longest > 64+16*mean:
		return Merge, 0
	case mean <= 2:
		return ByRow, 0
	}
	for log = 1; log < 5 && entriesPerThread<<log < mean; log++ {
	}
	return ByWarp, log
}

// Method returns how [MulVec] multiplies a by a vector on a device.
func (a CSR[T]) Method(d *gpu.Device) Method {
	m, _ := a.size().method(d.Backend())
	return m
}

// MulVec computes y = alpha*a*x + beta*y, or alpha*aᵀ*x + beta*y if transpose is true.
// If beta is 0, y is not read. y must not overlap x or the buffers of a.
//
// The kernel is chosen by the number of entries and rows and by a.Longest: rows of
// about the same length get a number of threads according to it; if the longest row is
// much longer than the others, entries are divided evenly. The transposed product
// transposes the matrix in temporary memory first: transpose it once with [Transpose]
// if it is used several times.
func MulVec[T Float](s *gpu.Stream, transpose bool, alpha T, a CSR[T], x *gpu.Buffer[T], beta T, y *gpu.Buffer[T], work ...*gpu.Workspace) error {
	const op = "MulVec"
	if err := a.check(op, "a"); err != nil {
		return err
	}
	if err := checkVectors(op, transpose, a.Rows, a.Cols, a.storage(), x, y); err != nil {
		return err
	}
	if done, err := mulVecByVendor(s, transpose, alpha, a, x, beta, y, work); done {
		return failed(op, err)
	}
	return failed(op, mulVec(s, transpose, alpha, a, x, beta, y, work))
}

// checkVectors returns an error if x and y do not fit a matrix, or y shares memory with others.
func checkVectors[T Float](op string, transpose bool, rows, cols int, a storage, x, y *gpu.Buffer[T]) error {
	from, to := "columns", "rows"
	if transpose {
		rows, cols, from, to = cols, rows, to, from
	}
	switch {
	case x == nil || x.Len() != cols:
		return invalid(op, "x", "has %d elements, but a has %d %s", x.Len(), cols, from)
	case y == nil || y.Len() != rows:
		return invalid(op, "y", "has %d elements, but a has %d %s", y.Len(), rows, to)
	}
	return checkResult(op, "y", y, a, "x", x, false)
}

// mulVec is MulVec with Quern's kernels.
func mulVec[T Float](s *gpu.Stream, transpose bool, alpha T, a CSR[T], x *gpu.Buffer[T], beta T, y *gpu.Buffer[T], work []*gpu.Workspace) error {
	scratch, err := gpu.OpenScratch(s, work)
	if err != nil {
		return err
	}
	defer scratch.Close()
	var turned transposition[T]
	size := a.size()
	if transpose {
		turned = takeTransposition(scratch, a)
		size = matrixSize{a.Cols, size.entries, size.entries} // the longest column is not known
	}
	p := takeProduct[T](scratch, s.Device().Backend(), size)
	if run, err := scratch.Ready(); !run {
		return err
	}
	if transpose {
		if err := turned.run(s); err != nil {
			return err
		}
		a = turned.dst.Transpose()
	}
	return p.run(s, alpha, a, x, beta, y)
}

// product is a multiplication by a matrix: the kernel, and its temporary memory.
type product[T Float] struct {
	method           Method
	log, part, parts int
	bounds           *gpu.Buffer[int32] // of mulMerge
	rows, foldedRows *gpu.Buffer[int32]
	carry, folded    *gpu.Buffer[T]
}

func takeProduct[T Float](scratch *gpu.Scratch, backend gpu.Backend, a matrixSize) (p product[T]) {
	p.method, p.log = a.method(backend)
	if p.method != Merge {
		return p
	}
	steps := a.rows + a.entries
	p.part = mergeTile
	if backend == gpu.CPU {
		p.part = max(4096, (steps+255)/256)
	}
	p.parts = (steps + p.part - 1) / p.part
	p.carry = gpu.Take[T](scratch, p.parts)
	if backend == gpu.CPU {
		p.rows = gpu.Take[int32](scratch, p.parts)
	} else {
		p.bounds = gpu.Take[int32](scratch, p.parts+1)
		folds := (p.parts + carryThreads - 1) / carryThreads
		p.foldedRows, p.folded = gpu.Take[int32](scratch, folds), gpu.Take[T](scratch, folds)
	}
	return p
}

// run computes y = alpha*a*x + beta*y.
func (p *product[T]) run(s *gpu.Stream, alpha T, a CSR[T], x *gpu.Buffer[T], beta T, y *gpu.Buffer[T]) error {
	switch {
	case a.Rows == 0:
		return nil
	case p.method == ByRow:
		return LaunchMulRow(s, gpu.Linear(a.Rows), alpha, beta, a.Start, a.Index, a.Value, x, y)
	case p.method == ByWarp:
		return LaunchMulRows(s, gpu.Linear(a.Rows<<p.log), p.log, alpha, beta, a.Start, a.Index, a.Value, x, y)
	case p.foldedRows == nil:
		if err := LaunchMulParts(s, gpu.Blocks(gpu.Dim3{X: p.parts}, gpu.Dim3{X: 1}), p.part, alpha, beta, a.Start, a.Index, a.Value, x, y, p.rows, p.carry); err != nil {
			return err
		}
		return LaunchAddCarries(s, gpu.Linear(p.parts), alpha, p.rows, p.carry, y)
	}
	if err := LaunchMergeBounds(s, gpu.Linear(p.parts+1), a.Rows, a.Value.Len(), a.Start, p.bounds); err != nil {
		return err
	}
	if err := LaunchMulMerge(s, gpu.Linear(p.parts*mergeThreads), alpha, beta, a.Start, a.Index, a.Value, x, y, p.bounds, p.carry); err != nil {
		return err
	}
	if err := LaunchFoldCarries(s, gpu.Linear(p.parts), alpha, p.bounds, p.carry, y, p.foldedRows, p.folded); err != nil {
		return err
	}
	return LaunchAddCarries(s, gpu.Linear(p.foldedRows.Len()), alpha, p.foldedRows, p.folded, y)
}
