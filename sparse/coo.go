package sparse

import "quern.dev/gpu"

// compression makes the CSR form of a list of entries.
type compression[T Float] struct {
	src  COO[T]
	dst  CSR[T]
	sort sorting // unless the entries are sorted
}

// takeCompression makes one whose result is in temporary memory. If the entries are sorted, the
// result has their buffers.
func takeCompression[T Float](scratch *gpu.Scratch, backend gpu.Backend, src COO[T]) compression[T] {
	dst := CSR[T]{Rows: src.Rows, Cols: src.Cols, Start: gpu.Take[int32](scratch, src.Rows+1), Index: src.Col, Value: src.Value}
	if !src.Sorted {
		dst.Index, dst.Value = gpu.Take[int32](scratch, src.Entries()), gpu.Take[T](scratch, src.Entries())
	}
	return takeCompressionTo(scratch, backend, dst, src)
}

func takeCompressionTo[T Float](scratch *gpu.Scratch, backend gpu.Backend, dst CSR[T], src COO[T]) compression[T] {
	c := compression[T]{src: src, dst: dst}
	if !src.Sorted {
		c.sort = takeSorting(scratch, backend, src.Entries(), src.Rows)
	}
	return c
}

func (c *compression[T]) run(s *gpu.Stream) error {
	rows, numbers, n := c.src.Row, (*gpu.Buffer[int32])(nil), c.src.Entries()
	if !c.src.Sorted {
		var err error
		if rows, numbers, err = c.sort.run(s, rows); err != nil {
			return err
		}
	}
	if err := LaunchStarts(s, gpu.Linear(max(c.dst.Rows+1, n)), rows, c.dst.Start); err != nil || n == 0 {
		return err
	}
	switch {
	case !c.src.Sorted:
		return LaunchGather(s, gpu.Linear(n), numbers, c.src.Col, c.src.Value, c.dst.Index, c.dst.Value)
	case c.dst.Index == c.src.Col:
		return nil
	}
	if err := gpu.Copy(s, c.dst.Index, c.src.Col); err != nil {
		return err
	}
	return gpu.Copy(s, c.dst.Value, c.src.Value)
}

// MulVecCOO computes y = alpha*a*x + beta*y, or alpha*aᵀ*x + beta*y if transpose is true. If beta
// is 0, y is not read. y must not overlap x or the buffers of a.
//
// The entries are divided evenly, whatever the lengths of the rows. If they are sorted by rows, as
// a.Sorted says, the function searches for the start of each row and multiplies the entries where
// they are. Otherwise, and for the transposed product, it sorts them in temporary memory first:
// convert the matrix once with [COOToCSR] if it is used several times.
func MulVecCOO[T Float](s *gpu.Stream, transpose bool, alpha T, a COO[T], x *gpu.Buffer[T], beta T, y *gpu.Buffer[T], work ...*gpu.Workspace) error {
	const op = "MulVecCOO"
	if err := a.check(op, "a"); err != nil {
		return err
	}
	if err := checkVectors(op, transpose, a.Rows, a.Cols, a.storage(), x, y); err != nil {
		return err
	}
	if transpose {
		a = a.Transpose()
	}
	scratch, err := gpu.OpenScratch(s, work)
	if err != nil {
		return failed(op, err)
	}
	defer scratch.Close()
	backend := s.Device().Backend()
	c := takeCompression(scratch, backend, a)
	p := takeProduct[T](scratch, backend, matrixSize{a.Rows, a.Entries(), a.Entries()}) // the longest row is not known
	if run, err := scratch.Ready(); !run || a.Rows == 0 {
		return failed(op, err)
	}
	if err := c.run(s); err != nil {
		return failed(op, err)
	}
	return failed(op, p.run(s, alpha, c.dst, x, beta, y))
}

// MulMatCOO computes c = alpha*a*b + beta*c, or alpha*aᵀ*b + beta*c if transpose is true. If beta
// is 0, c is not read. c must not overlap b or the buffers of a. Entries that are not sorted are
// sorted first, as in [MulVecCOO].
func MulMatCOO[T Float](s *gpu.Stream, transpose bool, alpha T, a COO[T], b Dense[T], beta T, c Dense[T], work ...*gpu.Workspace) error {
	const op = "MulMatCOO"
	if err := a.check(op, "a"); err != nil {
		return err
	}
	if err := checkMatrices(op, transpose, a.Rows, a.Cols, a.storage(), b, c); err != nil {
		return err
	}
	if transpose {
		a = a.Transpose()
	}
	scratch, err := gpu.OpenScratch(s, work)
	if err != nil {
		return failed(op, err)
	}
	defer scratch.Close()
	compressed := takeCompression(scratch, s.Device().Backend(), a)
	if run, err := scratch.Ready(); !run || c.Rows == 0 || c.Cols == 0 {
		return failed(op, err)
	}
	if err := compressed.run(s); err != nil {
		return failed(op, err)
	}
	return failed(op, mulCompressed(s, alpha, compressed.dst, b, beta, c))
}
