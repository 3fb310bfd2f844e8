package algo

import (
	"quern.dev/algo/internal/template"
	"quern.dev/gpu"
)

// Scan writes to dst[i] the combination of src[0] to src[i], in this order, with an associative
// operator. dst has as many elements as src, and may be src. Each run has the same result, for
// floating-point numbers only up to the order of rounding; see "Determinism" in the documentation of
// the package.
func Scan[T any](s *gpu.Stream, op Combine[T], dst, src *gpu.Buffer[T], work ...*gpu.Workspace) error {
	var none T
	return op.scan("Scan", s, false, false, none, dst, src, work)
}

// ScanExclusive writes to dst[i] the combination of first and src[0] to src[i-1], in this order,
// so that dst[0] is first. Otherwise it is like [Scan].
func ScanExclusive[T any](s *gpu.Stream, op Combine[T], first T, dst, src *gpu.Buffer[T], work ...*gpu.Workspace) error {
	return op.scan("ScanExclusive", s, true, true, first, dst, src, work)
}

func (c *Combine[T]) scan(name string, s *gpu.Stream, exclusive, start bool, first T, dst, src *gpu.Buffer[T], work []*gpu.Workspace) error {
	if err := c.check(name); err != nil {
		return err
	}
	if err := present(name, "src", src); err != nil {
		return err
	}
	n := src.Len()
	if err := length(name, "dst", dst, n); err != nil {
		return err
	}
	if err := sameOrApart(name, dst, src); err != nil {
		return err
	}
	tmp, err := gpu.OpenScratch(s, work)
	if err != nil {
		return failed(name, err)
	}
	defer tmp.Close()
	if s.Device().Backend() == gpu.CPU {
		err = c.scanParts(s, tmp, exclusive, start, first, dst, src)
	} else {
		err = c.scanTiles(s, tmp, exclusive, start, first, dst, src)
	}
	return failed(name, err)
}

func (c *Combine[T]) scanTiles(s *gpu.Stream, tmp *gpu.Scratch, exclusive, start bool, first T, dst, src *gpu.Buffer[T]) error {
	tile := template.ScanTile(sizeOf[T]())
	tiles := (src.Len() + tile - 1) / tile
	status := takeStatus(tmp, tiles, sizeOf[T]())
	if run, err := tmp.Ready(); !run || tiles == 0 {
		return err
	}
	if err := gpu.Zero(s, status); err != nil {
		return err
	}
	l, err := begin(s, c.Kernels.ScanTiles, c.Bind, gpu.Blocks(gpu.Dim3{X: tiles}, gpu.Dim3{X: template.Threads}))
	if err != nil {
		return err
	}
	gpu.Arg(l, exclusive)
	gpu.Arg(l, start)
	gpu.Arg(l, first)
	gpu.SliceArg(l, src)
	gpu.SliceArg(l, dst)
	gpu.SliceArg(l, status)
	return l.End()
}

// takeStatus takes the memory for the look-back of a kernel with tiles whose sums have size bytes.
func takeStatus(tmp *gpu.Scratch, tiles, size int) *gpu.Buffer[uint64] {
	return gpu.Take[uint64](tmp, 1+tiles*template.StatusWords(size))
}

// hostParts returns into how many parts a kernel for the CPU divides n elements, and the size of
// all but the last one.
func hostParts(n int) (count, size int) {
	const smallest, most = 1 << 12, 256
	count = min(max(n/smallest, 1), most)
	size = max((n+count-1)/count, 1)
	return (n + size - 1) / size, size
}

func (c *Combine[T]) scanParts(s *gpu.Stream, tmp *gpu.Scratch, exclusive, start bool, first T, dst, src *gpu.Buffer[T]) error {
	count, size := hostParts(src.Len())
	before := gpu.Take[T](tmp, 1+count)
	if run, err := tmp.Ready(); !run || count == 0 {
		return err
	}
	grid := gpu.Blocks(gpu.Dim3{X: (count + template.Ways - 1) / template.Ways}, gpu.Dim3{X: 1})
	if count > 1 || start {
		l, err := begin(s, c.Kernels.TotalParts, c.Bind, grid)
		if err != nil {
			return err
		}
		gpu.Arg(l, size)
		gpu.SliceArg(l, src)
		gpu.SliceArg(l, before)
		if err := l.End(); err != nil {
			return err
		}
		l, err = begin(s, c.Kernels.PrefixParts, c.Bind, gpu.Blocks(gpu.Dim3{X: 1}, gpu.Dim3{X: 1}))
		if err != nil {
			return err
		}
		gpu.Arg(l, start)
		gpu.Arg(l, first)
		gpu.SliceArg(l, before)
		if err := l.End(); err != nil {
			return err
		}
	}
	l, err := begin(s, c.Kernels.ScanParts, c.Bind, grid)
	if err != nil {
		return err
	}
	gpu.Arg(l, exclusive)
	gpu.Arg(l, start)
	gpu.Arg(l, size)
	gpu.SliceArg(l, before)
	gpu.SliceArg(l, src)
	gpu.SliceArg(l, dst)
	return l.End()
}
