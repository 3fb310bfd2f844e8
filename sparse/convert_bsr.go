package sparse

import (
	"context"
	"math"

	"quern.dev/gpu"
	"quern.dev/kernel"
)

// countBSR counts the elements of each row that are in blocks and within the matrix.
//
//quern:kernel
func countBSR(t kernel.Thread, rows, cols, block int, start, index, count []int32) {
	row := t.Global()
	if row >= len(count) {
		return
	}
	n := 0
	if row < rows {
		end := int(start[row/block+1])
		for k := int(start[row/block]); k < end; k++ {
			first := int(index[k]) * block
			kernel.Assert(first >= 0 && first < cols, "a block is outside of the matrix")
			n += min(block, cols-first)
		}
	}
	count[row] = int32(n)
}

// fromBSR writes the entries of a row with each thread.
//
//quern:kernel instantiate=float32,float64
func fromBSR[T Float](t kernel.Thread, rows, cols, block int, startIn, indexIn []int32, valueIn []T, start, index []int32, value []T) {
	kernel.Assert(int(start[rows]) == len(index), "the CSR matrix must have as many entries as the blocks have elements; CountBSR tells how many")
	row := t.Global()
	if row >= rows {
		return
	}
	to, end := int(start[row]), int(startIn[row/block+1])
	for k := int(startIn[row/block]); k < end; k++ {
		at, first := (k*block+row%block)*block, int(indexIn[k])*block
		for j := 0; j < block && first+j < cols; j++ {
			index[to], value[to] = int32(first+j), valueIn[at+j]
			to++
		}
	}
}

// BSRToCSR writes src to the buffers of dst, which has the same number of rows and columns, and
// shares no buffer with src. Each element of a block, also a 0, becomes an entry unless it is beyond
// the edges of the matrix. The entries of a row are in the order of the blocks. dst has as many
// entries, which [CountBSR] tells; otherwise the kernel stops, and the next wait returns a
// [gpu.KernelError].
func BSRToCSR[T Float](s *gpu.Stream, dst CSR[T], src BSR[T], work ...*gpu.Workspace) error {
	const op = "BSRToCSR"
	if err := dst.check(op, "dst"); err != nil {
		return err
	}
	if err := src.checkCount(op, "src"); err != nil {
		return err
	}
	switch {
	case dst.Rows != src.Rows || dst.Cols != src.Cols:
		return invalid(op, "dst", "is %d x %d, but src is %d x %d", dst.Rows, dst.Cols, src.Rows, src.Cols)
	case dst.Entries() > src.Value.Len():
		return invalid(op, "dst", "has %d entries, but src has %d elements", dst.Entries(), src.Value.Len())
	}
	if err := checkConversion(op, dst.storage(), src.storage()); err != nil {
		return err
	}
	scratch, err := gpu.OpenScratch(s, work)
	if err != nil {
		return failed(op, err)
	}
	defer scratch.Close()
	sums := takeScanning(scratch, dst.Rows+1)
	if run, err := scratch.Ready(); !run {
		return failed(op, err)
	}
	if err := src.starts(s, sums, dst.Start); err != nil {
		return failed(op, err)
	}
	return failed(op, LaunchFromBSR(s, gpu.Linear(max(src.Rows, 1)), src.Rows, src.Cols, src.Block, src.Start, src.Index, src.Value, dst.Start, dst.Index, dst.Value))
}

// checkCount is check for a matrix whose elements are counted.
func (a BSR[T]) checkCount(op, arg string) error {
	if err := a.check(op, arg); err != nil {
		return err
	}
	if a.Value.Len() > math.MaxInt32 {
		return invalid(op, arg, "has blocks with %d elements; at most 2^31-1 entries are possible", a.Value.Len())
	}
	return nil
}

// starts writes the number of entries before each row, and that of all entries.
func (a BSR[T]) starts(s *gpu.Stream, sums scanning, start *gpu.Buffer[int32]) error {
	if err := LaunchCountBSR(s, gpu.Linear(a.Rows+1), a.Rows, a.Cols, a.Block, a.Start, a.Index, start); err != nil {
		return err
	}
	return sums.run(s, start)
}

// CountBSR returns the number of elements of the blocks of a that are within the matrix. It waits
// for the device.
func CountBSR[T Float](ctx context.Context, s *gpu.Stream, a BSR[T]) (int, error) {
	const op = "CountBSR"
	if err := a.checkCount(op, "a"); err != nil {
		return 0, err
	}
	return countRows(ctx, s, op, a.Rows, a.starts)
}

// The conversion to blocks sorts the entries by block columns, and then by block rows. An entry
// whose block is not that of the entry before it is the first of a block.

// blockColumns finds the block column of each entry.
//
//quern:kernel
func blockColumns(t kernel.Thread, cols, block int, index, columns []int32) {
	if k := t.Global(); k < len(columns) {
		j := int(index[k])
		kernel.Assert(j >= 0 && j < cols, "an entry is outside of the matrix")
		columns[k] = int32(j / block)
	}
}

// blockLines finds the block row of each of the entries with the given numbers.
//
//quern:kernel
func blockLines(t kernel.Thread, block int, start, numbers, lines []int32) {
	if k := t.Global(); k < len(lines) {
		lines[k] = int32((search(start, numbers[k]+1) - 1) / block)
	}
}

// blockHeads marks the first entry of each block with 1, and others, and the last element, with 0.
//
//quern:kernel
func blockHeads(t kernel.Thread, block int, index, numbers, lines, heads []int32) {
	k := t.Global()
	if k >= len(heads) {
		return
	}
	head := int32(0)
	if k < len(lines) {
		if k == 0 || lines[k] != lines[k-1] || int(index[numbers[k]])/block != int(index[numbers[k-1]])/block {
			head = 1
		}
	}
	heads[k] = head
}

// blockStarts finds the first block of each block row. before[k] is the number of blocks before
// entry k.
//
//quern:kernel
func blockStarts(t kernel.Thread, lines, before, start []int32) {
	if i := t.Global(); i < len(start) {
		start[i] = before[search(lines, int32(i))]
	}
}

// fillBlocks adds the entries of a block with the thread of its first one. The values are 0 before.
//
//quern:kernel instantiate=float32,float64
func fillBlocks[T Float](t kernel.Thread, block int, start, indexIn []int32, valueIn []T, numbers, before, index []int32, value []T) {
	n := len(before) - 1
	kernel.Assert(int(before[n]) == len(index), "the BSR matrix must have as many blocks as the entries are in; CountBlocks tells how many")
	k := t.Global()
	if k >= n || before[k] == before[k+1] {
		return
	}
	b := before[k]
	index[b] = int32(int(indexIn[numbers[k]]) / block)
	for ; k < n && before[k+1] == b+1; k++ {
		number := numbers[k]
		i, j := (search(start, number+1)-1)%block, int(indexIn[number])%block
		value[(int(b)*block+i)*block+j] += valueIn[number]
	}
}

// blocking finds the blocks of a matrix.
type blocking[T Float] struct {
	src            CSR[T]
	block          int
	sort           sorting
	sums           scanning
	places, before *gpu.Buffer[int32] // block columns, then block rows; and blocks before an entry
}

func takeBlocking[T Float](scratch *gpu.Scratch, backend gpu.Backend, src CSR[T], block int) blocking[T] {
	n := src.Entries()
	return blocking[T]{
		src: src, block: block,
		sort:   takeSorting(scratch, backend, n, blocks(src.Cols, block)),
		sums:   takeScanning(scratch, n+1),
		places: gpu.Take[int32](scratch, n),
		before: gpu.Take[int32](scratch, n+1),
	}
}

// run returns the numbers of the entries in the order of blocks, and their block rows.
func (c *blocking[T]) run(s *gpu.Stream) (numbers, lines *gpu.Buffer[int32], err error) {
	n := c.src.Entries()
	numbers, lines = c.sort.numbers[0], c.places
	if n > 0 {
		if err := LaunchBlockColumns(s, gpu.Linear(n), c.src.Cols, c.block, c.src.Index, c.places); err != nil {
			return nil, nil, err
		}
		if _, numbers, err = c.sort.run(s, c.places); err != nil {
			return nil, nil, err
		}
		if err := LaunchBlockLines(s, gpu.Linear(n), c.block, c.src.Start, numbers, c.places); err != nil {
			return nil, nil, err
		}
		if lines, numbers, err = c.sort.runAgain(s, c.places, blocks(c.src.Rows, c.block)); err != nil {
			return nil, nil, err
		}
	}
	if err := LaunchBlockHeads(s, gpu.Linear(n+1), c.block, c.src.Index, numbers, lines, c.before); err != nil {
		return nil, nil, err
	}
	return numbers, lines, c.sums.run(s, c.before)
}

// CSRToBSR writes src to the buffers of dst, which has the same number of rows and columns, and
// shares no buffer with src. Blocks without entries are not stored, and those of a block row are in
// ascending order of columns. Entries with the same row and column are added up. dst has as many
// blocks as the entries are in, which [CountBlocks] tells; otherwise the kernel stops, and the next
// wait returns a [gpu.KernelError].
func CSRToBSR[T Float](s *gpu.Stream, dst BSR[T], src CSR[T], work ...*gpu.Workspace) error {
	const op = "CSRToBSR"
	if err := dst.check(op, "dst"); err != nil {
		return err
	}
	if err := src.check(op, "src"); err != nil {
		return err
	}
	switch {
	case dst.Rows != src.Rows || dst.Cols != src.Cols:
		return invalid(op, "dst", "is %d x %d, but src is %d x %d", dst.Rows, dst.Cols, src.Rows, src.Cols)
	case dst.Index.Len() > src.Entries():
		return invalid(op, "dst", "has %d blocks, but src has only %d entries", dst.Index.Len(), src.Entries())
	}
	if err := checkConversion(op, dst.storage(), src.storage()); err != nil {
		return err
	}
	scratch, err := gpu.OpenScratch(s, work)
	if err != nil {
		return failed(op, err)
	}
	defer scratch.Close()
	c := takeBlocking(scratch, s.Device().Backend(), src, dst.Block)
	if run, err := scratch.Ready(); !run {
		return failed(op, err)
	}
	numbers, lines, err := c.run(s)
	if err != nil {
		return failed(op, err)
	}
	if err := LaunchBlockStarts(s, gpu.Linear(dst.Start.Len()), lines, c.before, dst.Start); err != nil || src.Entries() == 0 {
		return failed(op, err)
	}
	if err := gpu.Zero(s, dst.Value); err != nil {
		return failed(op, err)
	}
	return failed(op, LaunchFillBlocks(s, gpu.Linear(src.Entries()), dst.Block, src.Start, src.Index, src.Value, numbers, c.before, dst.Index, dst.Value))
}

// CountBlocks returns how many blocks of the given size, from 1 to 64, the entries of a are in. It
// waits for the device.
func CountBlocks[T Float](ctx context.Context, s *gpu.Stream, a CSR[T], block int) (int, error) {
	const op = "CountBlocks"
	if err := a.check(op, "a"); err != nil {
		return 0, err
	}
	if block < 1 || block > maxBlock {
		return 0, invalid(op, "block", "is %d; it must be from 1 to %d", block, maxBlock)
	}
	scratch, err := gpu.OpenScratch(s, nil)
	if err != nil {
		return 0, failed(op, err)
	}
	defer scratch.Close()
	c := takeBlocking(scratch, s.Device().Backend(), a, block)
	if _, err := scratch.Ready(); err != nil {
		return 0, failed(op, err)
	}
	if _, _, err := c.run(s); err != nil {
		return 0, failed(op, err)
	}
	var n [1]int32
	err = gpu.Download(ctx, s, n[:], c.before.Slice(a.Entries(), a.Entries()+1))
	return int(n[0]), failed(op, err)
}
