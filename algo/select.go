package algo

import (
	"math"

	"quern.dev/algo/internal/template"
	"quern.dev/gpu"
)

// A Predicate is a condition on a value, for selecting elements:
//
//	// hot reports whether a sensor is above the limit.
//	//
//	//quern:op algo.Predicate
//	func hot(x Reading, limit float32) bool { return x.Celsius > limit }
//
// The parameters after the first one are bound when the operator is used: quern gen declares
// OpHot(limit float32) Predicate[Reading]. Only quern gen sets the fields.
type Predicate[T any] struct {
	Kernels *PredicateKernels
	Bind    func(*gpu.Launch) // passes the bound parameters
}

// PredicateKernels are the kernels of a [Predicate].
type PredicateKernels struct {
	KeepTiles, IndexTiles, CountMatches, CountLines, CountParts, KeepParts, IndexParts *gpu.Kernel
}

// NonZero returns the predicate x != 0, which is true for a NaN.
func NonZero[T Number]() Predicate[T] {
	return Predicate[T]{Kernels: ofSigned[T](OpNonZero[int32]().Kernels, OpNonZero[int64]().Kernels, OpNonZero[float32]().Kernels, OpNonZero[float64]().Kernels)}
}

// nonZero is the operator of [NonZero].
//
//quern:op Predicate instantiate=int32,int64,float32,float64
func nonZero[T Number](x T) bool { return x != 0 }

// Select copies the elements of src for which keep is true to dst, in their order, and writes
// their number to count[0]. dst has as many elements as src, and shares no memory with it. The
// elements of dst after the selected ones are not changed.
func Select[T any](s *gpu.Stream, keep Predicate[T], dst *gpu.Buffer[T], count *gpu.Buffer[int], src *gpu.Buffer[T], work ...*gpu.Workspace) error {
	return keep.keep("Select", s, dst, nil, count, src, work)
}

// Partition is [Select], and copies the other elements to rejected, in their order, too.
// rejected has as many elements as src, and shares no memory with it or dst.
func Partition[T any](s *gpu.Stream, keep Predicate[T], dst, rejected *gpu.Buffer[T], count *gpu.Buffer[int], src *gpu.Buffer[T], work ...*gpu.Workspace) error {
	const name = "Partition"
	if src != nil {
		if err := length(name, "rejected", rejected, src.Len()); err != nil {
			return err
		}
	}
	if err := apartFrom(name, "rejected", rejected, "src", src, "dst", dst); err != nil {
		return err
	}
	if err := apart(name, "count", count, "rejected", rejected); err != nil {
		return err
	}
	return keep.keep(name, s, dst, rejected, count, src, work)
}

// selection is the memory of a selection from n elements.
type selection struct {
	tiles, parts, part int // tiles on a GPU, parts on a CPU
	status             *gpu.Buffer[uint64]
	sums               *gpu.Buffer[uint32]
}

// take takes the memory.
func (c *selection) take(name string, s *gpu.Stream, tmp *gpu.Scratch, n int) error {
	if n > math.MaxUint32 {
		return invalid(name, "src", "%d elements are more than %d", n, uint32(math.MaxUint32))
	}
	if s.Device().Backend() == gpu.CPU {
		c.parts, c.part = hostParts(n)
		c.sums = gpu.Take[uint32](tmp, c.parts+1)
		return nil
	}
	c.tiles = (n + template.Tile - 1) / template.Tile
	c.status = takeStatus(tmp, c.tiles, sizeOf[uint32]())
	return nil
}

// arguments returns an error if the count or the lengths of a selection are wrong.
func arguments[T, U any](name, arg string, dst *gpu.Buffer[T], count *gpu.Buffer[int], src *gpu.Buffer[U]) error {
	if err := present(name, "src", src); err != nil {
		return err
	}
	if err := length(name, arg, dst, src.Len()); err != nil {
		return err
	}
	if err := length(name, "count", count, 1); err != nil {
		return err
	}
	if err := apart(name, arg, dst, "src", src); err != nil {
		return err
	}
	return apartFrom(name, "count", count, "src", src, arg, dst)
}

var (
	oneThread = gpu.Dim3{X: 1}
	block     = gpu.Dim3{X: template.Threads}
)

func (c *selection) grid() gpu.Grid {
	if c.parts > 0 {
		return gpu.Blocks(gpu.Dim3{X: c.parts}, oneThread)
	}
	return gpu.Blocks(gpu.Dim3{X: c.tiles}, block)
}

func (p *Predicate[T]) check(op string) error {
	if p.Kernels == nil {
		return notCompiled[T](op)
	}
	return nil
}

func (p *Predicate[T]) keep(name string, s *gpu.Stream, dst, rejected *gpu.Buffer[T], count *gpu.Buffer[int], src *gpu.Buffer[T], work []*gpu.Workspace) error {
	if err := p.check(name); err != nil {
		return err
	}
	if err := arguments(name, "dst", dst, count, src); err != nil {
		return err
	}
	tmp, err := gpu.OpenScratch(s, work)
	if err != nil {
		return failed(name, err)
	}
	defer tmp.Close()
	var c selection
	if err := c.take(name, s, tmp, src.Len()); err != nil {
		return err
	}
	if run, err := tmp.Ready(); !run {
		return failed(name, err)
	}
	rejects := rejected != nil
	if !rejects {
		rejected = dst // not used
	}
	return failed(name, c.run(s, count, p.countParts(&c, src), func() error {
		if c.parts > 0 {
			l, err := begin(s, p.Kernels.KeepParts, p.Bind, c.grid())
			if err != nil {
				return err
			}
			gpu.Arg(l, rejects)
			gpu.Arg(l, c.part)
			gpu.SliceArg(l, c.sums)
			gpu.SliceArg(l, src)
			gpu.SliceArg(l, dst)
			gpu.SliceArg(l, rejected)
			return l.End()
		}
		l, err := begin(s, p.Kernels.KeepTiles, p.Bind, c.grid().Shared(template.StageBytes(sizeOf[T]())))
		if err != nil {
			return err
		}
		gpu.Arg(l, rejects)
		gpu.SliceArg(l, src)
		gpu.SliceArg(l, dst)
		gpu.SliceArg(l, rejected)
		gpu.SliceArg(l, count)
		gpu.SliceArg(l, c.status)
		return l.End()
	}))
}

// countParts returns a function that counts the matches of each part.
func (p *Predicate[T]) countParts(c *selection, src *gpu.Buffer[T]) func(s *gpu.Stream) error {
	return func(s *gpu.Stream) error {
		l, err := begin(s, p.Kernels.CountParts, p.Bind, c.grid())
		if err != nil {
			return err
		}
		gpu.Arg(l, c.part)
		gpu.SliceArg(l, src)
		gpu.SliceArg(l, c.sums)
		return l.End()
	}
}

// run counts and places the elements on a CPU, and calls write.
func (c *selection) run(s *gpu.Stream, count *gpu.Buffer[int], countParts func(s *gpu.Stream) error, write func() error) error {
	switch {
	case c.tiles+c.parts == 0:
		return gpu.Zero(s, count)
	case c.tiles > 0:
		if err := gpu.Zero(s, c.status); err != nil {
			return err
		}
		return write()
	}
	if err := countParts(s); err != nil {
		return err
	}
	if err := LaunchPlaceCounts(s, gpu.Blocks(oneThread, oneThread), c.sums, count); err != nil {
		return err
	}
	return write()
}

// Where writes the indices of the elements of src for which match is true to dst, in ascending
// order, and their number to count[0]. dst has as many elements as src, and shares no memory with it.
func Where[T any](s *gpu.Stream, match Predicate[T], dst *gpu.Buffer[uint32], count *gpu.Buffer[int], src *gpu.Buffer[T], work ...*gpu.Workspace) error {
	const name = "Where"
	if err := match.check(name); err != nil {
		return err
	}
	if err := arguments(name, "dst", dst, count, src); err != nil {
		return err
	}
	tmp, err := gpu.OpenScratch(s, work)
	if err != nil {
		return failed(name, err)
	}
	defer tmp.Close()
	var c selection
	if err := c.take(name, s, tmp, src.Len()); err != nil {
		return err
	}
	if run, err := tmp.Ready(); !run {
		return failed(name, err)
	}
	return failed(name, c.run(s, count, match.countParts(&c, src), func() error {
		if c.parts > 0 {
			l, err := begin(s, match.Kernels.IndexParts, match.Bind, c.grid())
			if err != nil {
				return err
			}
			gpu.Arg(l, c.part)
			gpu.SliceArg(l, c.sums)
			gpu.SliceArg(l, src)
			gpu.SliceArg(l, dst)
			return l.End()
		}
		l, err := begin(s, match.Kernels.IndexTiles, match.Bind, c.grid().Shared(template.StageBytes(sizeOf[uint32]())))
		if err != nil {
			return err
		}
		gpu.SliceArg(l, src)
		gpu.SliceArg(l, dst)
		gpu.SliceArg(l, count)
		gpu.SliceArg(l, c.status)
		return l.End()
	}))
}

// SelectFlagged copies the elements of src whose flag is not zero to dst, in their order, and
// writes their number to count[0]. flags and dst have as many elements as src, with which dst shares
// no memory. Elements have 1, 2, 4 or 8 bytes.
func SelectFlagged[T any](s *gpu.Stream, flags *gpu.Buffer[uint8], dst *gpu.Buffer[T], count *gpu.Buffer[int], src *gpu.Buffer[T], work ...*gpu.Workspace) error {
	const name = "SelectFlagged"
	if err := arguments(name, "dst", dst, count, src); err != nil {
		return err
	}
	if err := length(name, "flags", flags, src.Len()); err != nil {
		return err
	}
	if err := apart(name, "dst", dst, "flags", flags); err != nil {
		return err
	}
	if err := apart(name, "count", count, "flags", flags); err != nil {
		return err
	}
	tmp, err := gpu.OpenScratch(s, work)
	if err != nil {
		return failed(name, err)
	}
	defer tmp.Close()
	switch size := sizeOf[T](); size {
	case 1:
		return selectFlagged(name, s, tmp, flags, gpu.ViewAs[uint8](tmp, dst), count, gpu.ViewAs[uint8](tmp, src))
	case 2:
		return selectFlagged(name, s, tmp, flags, gpu.ViewAs[uint16](tmp, dst), count, gpu.ViewAs[uint16](tmp, src))
	case 4:
		return selectFlagged(name, s, tmp, flags, gpu.ViewAs[uint32](tmp, dst), count, gpu.ViewAs[uint32](tmp, src))
	case 8:
		return selectFlagged(name, s, tmp, flags, gpu.ViewAs[uint64](tmp, dst), count, gpu.ViewAs[uint64](tmp, src))
	default:
		return invalid(name, "src", "elements of %d bytes; want 1, 2, 4 or 8", size)
	}
}

func selectFlagged[W chunk](name string, s *gpu.Stream, tmp *gpu.Scratch, flags *gpu.Buffer[uint8], dst *gpu.Buffer[W], count *gpu.Buffer[int], src *gpu.Buffer[W]) error {
	var c selection
	if err := c.take(name, s, tmp, src.Len()); err != nil {
		return err
	}
	if run, err := tmp.Ready(); !run {
		return failed(name, err)
	}
	countParts := func(s *gpu.Stream) error { return LaunchCountFlags(s, c.grid(), c.part, flags, c.sums) }
	return failed(name, c.run(s, count, countParts, func() error {
		if c.parts > 0 {
			return LaunchKeepFlaggedParts(s, c.grid(), c.part, c.sums, flags, src, dst)
		}
		return LaunchKeepFlagged(s, c.grid().Shared(template.StageBytes(sizeOf[W]())), flags, src, dst, count, c.status)
	}))
}

// Count writes the number of elements of src for which match is true to dst[0].
func Count[T any](s *gpu.Stream, match Predicate[T], dst *gpu.Buffer[int], src *gpu.Buffer[T]) error {
	const name = "Count"
	if err := match.check(name); err != nil {
		return err
	}
	if err := present(name, "src", src); err != nil {
		return err
	}
	if err := length(name, "dst", dst, 1); err != nil {
		return err
	}
	if err := apart(name, "dst", dst, "src", src); err != nil {
		return err
	}
	if err := gpu.Zero(s, dst); err != nil || src.Len() == 0 {
		return failed(name, err)
	}
	const most, each = 1024, 8 * template.Threads // blocks, elements of a block at least
	blocks := min((src.Len()+each-1)/each, most)
	l, err := begin(s, match.Kernels.CountMatches, match.Bind, gpu.Blocks(gpu.Dim3{X: blocks}, block))
	if err != nil {
		return failed(name, err)
	}
	gpu.SliceArg(l, src)
	gpu.SliceArg(l, dst)
	return failed(name, l.End())
}
