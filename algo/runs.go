package algo

import (
	"quern.dev/algo/internal/template"
	"quern.dev/gpu"
)

// An Equal reports whether two neighbouring values are equal:
//
//	// near reports whether two angles differ by less than a degree.
//	//
//	//quern:op algo.Equal
//	func near(a, b float32) bool { return kernel.Abs(a-b) < 1 }
//
// quern gen declares OpNear, an Equal[float32]. Only quern gen sets the fields.
type Equal[T any] struct {
	Kernels *EqualKernels
	Bind    func(*gpu.Launch) // passes the bound parameters
}

// EqualKernels are the kernels of an [Equal].
type EqualKernels struct {
	RunTiles, UniqueTiles, RunParts *gpu.Kernel
}

func (e *Equal[T]) check(op string) error {
	if e.Kernels == nil {
		return notCompiled[T](op)
	}
	return nil
}

// Same returns the operator a == b, with Go's rules for floating-point numbers: -0 equals 0, and
// a NaN equals nothing.
func Same[T Number]() Equal[T] {
	return Equal[T]{Kernels: ofSigned[T](OpSame[int32]().Kernels, OpSame[int64]().Kernels, OpSame[float32]().Kernels, OpSame[float64]().Kernels)}
}

// same is the operator of [Same].
//
//quern:op Equal instantiate=int32,int64,float32,float64
func same[T Number](a, b T) bool { return a == b }

// Unique writes the first element of each run of neighbouring equal elements to dst, in order,
// and the number of runs to count[0]. Elements of dst behind these are not changed. dst has as
// many elements as src, and shares no memory with it.
func Unique[T any](s *gpu.Stream, equal Equal[T], dst *gpu.Buffer[T], count *gpu.Buffer[int], src *gpu.Buffer[T], work ...*gpu.Workspace) error {
	const name = "Unique"
	if err := arguments(name, "dst", dst, count, src); err != nil {
		return err
	}
	return equal.runs(name, s, dst, nil, count, src, work)
}

// RunLengths is the run-length encoding of src: it writes the first element of each run of
// neighbouring equal elements to values, the number of elements of each run to lengths, and the
// number of runs to count[0]. Elements of values and lengths behind these are not changed. Both
// have as many elements as src, and share no memory with it.
func RunLengths[T any](s *gpu.Stream, equal Equal[T], values *gpu.Buffer[T], lengths, count *gpu.Buffer[int], src *gpu.Buffer[T], work ...*gpu.Workspace) error {
	const name = "RunLengths"
	if err := arguments(name, "values", values, count, src); err != nil {
		return err
	}
	if err := length(name, "lengths", lengths, src.Len()); err != nil {
		return err
	}
	if err := apart(name, "lengths", lengths, "src", src); err != nil {
		return err
	}
	return equal.runs(name, s, values, lengths, count, src, work)
}

func (e *Equal[T]) runs(name string, s *gpu.Stream, values *gpu.Buffer[T], lengths, count *gpu.Buffer[int], src *gpu.Buffer[T], work []*gpu.Workspace) error {
	if err := e.check(name); err != nil {
		return err
	}
	if err := fewerThan32Bits(name, src.Len()); err != nil {
		return err
	}
	tmp, err := gpu.OpenScratch(s, work)
	if err != nil {
		return failed(name, err)
	}
	defer tmp.Close()
	if lengths == nil {
		lengths = gpu.Take[int](tmp, 0)
	}
	if lengths.Len() == 0 && s.Device().Backend() != gpu.CPU {
		return failed(name, e.unique(s, tmp, values, count, src))
	}
	f := newRunFinder(e, s, tmp, src, values, lengths, gpu.Take[uint8](tmp, 0), count)
	if run, err := tmp.Ready(); !run {
		return failed(name, err)
	}
	return failed(name, f.run())
}

// unique is [Unique] on a GPU.
func (e *Equal[T]) unique(s *gpu.Stream, tmp *gpu.Scratch, values *gpu.Buffer[T], count *gpu.Buffer[int], src *gpu.Buffer[T]) error {
	size := sizeOf[T]()
	tile := template.ScanTile(size)
	tiles := (src.Len() + tile - 1) / tile
	status := takeStatus(tmp, tiles, sizeOf[uint32]())
	if run, err := tmp.Ready(); !run {
		return err
	}
	if tiles == 0 {
		return gpu.Zero(s, count)
	}
	if err := gpu.Zero(s, status); err != nil {
		return err
	}
	l, err := begin(s, e.Kernels.UniqueTiles, e.Bind, gpu.Blocks(gpu.Dim3{X: tiles}, block).Shared(template.UniqueBytes(size)))
	if err != nil {
		return err
	}
	gpu.SliceArg(l, src)
	gpu.SliceArg(l, values)
	gpu.SliceArg(l, count)
	gpu.SliceArg(l, status)
	return l.End()
}

// fewerThan32Bits returns an error if the positions of n elements do not fit in 32 bits.
func fewerThan32Bits(name string, n int) error {
	if n > maxSorted {
		return invalid(name, "src", "%d elements; at most %d are possible", n, maxSorted)
	}
	return nil
}

// runFinder finds the runs of equal elements. Outputs without elements are not written.
type runFinder[T any] struct {
	Equal[T]
	s           *gpu.Stream
	src, values *gpu.Buffer[T]
	lengths     *gpu.Buffer[int]
	heads       *gpu.Buffer[uint8]
	count       *gpu.Buffer[int]

	status *gpu.Buffer[uint64]    // nil on the CPU
	sums   *gpu.Buffer[[2]uint32] // only there
	parts  int
	size   int // of a part
}

func newRunFinder[T any](e *Equal[T], s *gpu.Stream, tmp *gpu.Scratch, src, values *gpu.Buffer[T], lengths *gpu.Buffer[int], heads *gpu.Buffer[uint8], count *gpu.Buffer[int]) runFinder[T] {
	f := runFinder[T]{Equal: *e, s: s, src: src, values: values, lengths: lengths, heads: heads, count: count}
	n := src.Len()
	if s.Device().Backend() == gpu.CPU {
		f.parts, f.size = hostParts(n)
		f.sums = gpu.Take[[2]uint32](tmp, f.parts)
	} else {
		f.parts = (n + template.Tile - 1) / template.Tile
		f.status = takeStatus(tmp, f.parts, template.RunsSize)
	}
	return f
}

func (f *runFinder[T]) run() error {
	if f.parts == 0 {
		if f.count.Len() == 0 {
			return nil
		}
		return gpu.Zero(f.s, f.count)
	}
	if f.status == nil {
		for launch := range 3 {
			if err := f.launch(f.Kernels.RunParts, launch, gpu.Blocks(gpu.Dim3{X: f.parts}, oneThread)); err != nil {
				return err
			}
		}
		return nil
	}
	if err := gpu.Zero(f.s, f.status); err != nil {
		return err
	}
	shared := 0
	if f.values.Len() > 0 {
		shared = template.StageBytes(sizeOf[T]())
	}
	if f.lengths.Len() > 0 {
		shared = max(shared, template.StageBytes(sizeOf[uint32]()))
	}
	return f.launch(f.Kernels.RunTiles, 0, gpu.Blocks(gpu.Dim3{X: f.parts}, block).Shared(shared))
}

func (f *runFinder[T]) launch(k *gpu.Kernel, number int, g gpu.Grid) error {
	l, err := begin(f.s, k, f.Bind, g)
	if err != nil {
		return err
	}
	if f.status == nil {
		gpu.Arg(l, number)
		gpu.Arg(l, f.size)
	}
	gpu.SliceArg(l, f.src)
	gpu.SliceArg(l, f.values)
	gpu.SliceArg(l, f.lengths)
	gpu.SliceArg(l, f.heads)
	gpu.SliceArg(l, f.count)
	if f.status != nil {
		gpu.SliceArg(l, f.status)
	} else {
		gpu.SliceArg(l, f.sums)
	}
	return l.End()
}

// ReduceByKey combines the elements of src whose neighbouring keys are equal. It writes the first
// key of each run of equal keys to dstKeys, the combination of its elements to dst, and the number
// of runs to count[0]. Elements of dst and dstKeys behind these are not changed. All buffers but
// count have the same number of elements, and the results share no memory with the arguments.
// Results have the same bits in each run under the same conditions as those of [Scan].
func ReduceByKey[K, V any](s *gpu.Stream, equal Equal[K], op Combine[V], dstKeys *gpu.Buffer[K], dst *gpu.Buffer[V], count *gpu.Buffer[int], keys *gpu.Buffer[K], src *gpu.Buffer[V], work ...*gpu.Workspace) error {
	const name = "ReduceByKey"
	if err := arguments(name, "dst", dst, count, src); err != nil {
		return err
	}
	if err := length(name, "keys", keys, src.Len()); err != nil {
		return err
	}
	if err := length(name, "dstKeys", dstKeys, src.Len()); err != nil {
		return err
	}
	if err := apart(name, "dstKeys", dstKeys, "keys", keys); err != nil {
		return err
	}
	var none V
	return byKey(name, s, &equal, &op, true, false, none, dstKeys, dst, count, keys, src, work)
}

// ScanByKey scans each run of neighbouring elements with equal keys by itself: it writes to
// dst[i] the combination of the elements of the run of src[i] up to src[i]. All buffers have the
// same number of elements. dst may be src. Otherwise it is like [Scan].
func ScanByKey[K, V any](s *gpu.Stream, equal Equal[K], op Combine[V], dst *gpu.Buffer[V], keys *gpu.Buffer[K], src *gpu.Buffer[V], work ...*gpu.Workspace) error {
	var none V
	return scanByKey("ScanByKey", s, &equal, &op, false, none, dst, keys, src, work)
}

// ScanExclusiveByKey writes to dst[i] the combination of first and the elements of the run of
// src[i] before src[i]. Otherwise it is like [ScanByKey].
func ScanExclusiveByKey[K, V any](s *gpu.Stream, equal Equal[K], op Combine[V], first V, dst *gpu.Buffer[V], keys *gpu.Buffer[K], src *gpu.Buffer[V], work ...*gpu.Workspace) error {
	return scanByKey("ScanExclusiveByKey", s, &equal, &op, true, first, dst, keys, src, work)
}

func scanByKey[K, V any](name string, s *gpu.Stream, equal *Equal[K], op *Combine[V], exclusive bool, first V, dst *gpu.Buffer[V], keys *gpu.Buffer[K], src *gpu.Buffer[V], work []*gpu.Workspace) error {
	if err := present(name, "src", src); err != nil {
		return err
	}
	if err := length(name, "dst", dst, src.Len()); err != nil {
		return err
	}
	if err := length(name, "keys", keys, src.Len()); err != nil {
		return err
	}
	return byKey(name, s, equal, op, false, exclusive, first, nil, dst, nil, keys, src, work)
}

// byKey finds where runs of equal keys begin, and combines the elements of each run.
func byKey[K, V any](name string, s *gpu.Stream, equal *Equal[K], op *Combine[V], reduce, exclusive bool, first V, dstKeys *gpu.Buffer[K], dst *gpu.Buffer[V], count *gpu.Buffer[int], keys *gpu.Buffer[K], src *gpu.Buffer[V], work []*gpu.Workspace) error {
	if err := equal.check(name); err != nil {
		return err
	}
	if err := fewerThan32Bits(name, src.Len()); err != nil {
		return err
	}
	tmp, err := gpu.OpenScratch(s, work)
	if err != nil {
		return failed(name, err)
	}
	defer tmp.Close()
	return byKeyIn(name, s, tmp, equal, op, reduce, exclusive, first, dstKeys, dst, count, keys, src)
}

// byKeyIn is byKey with temporary memory.
func byKeyIn[K, V any](name string, s *gpu.Stream, tmp *gpu.Scratch, equal *Equal[K], op *Combine[V], reduce, exclusive bool, first V, dstKeys *gpu.Buffer[K], dst *gpu.Buffer[V], count *gpu.Buffer[int], keys *gpu.Buffer[K], src *gpu.Buffer[V]) error {
	if err := op.check(name); err != nil {
		return err
	}
	n := src.Len()
	if dstKeys == nil {
		dstKeys = gpu.Take[K](tmp, 0)
	}
	noInts := gpu.Take[int](tmp, 0)
	if count == nil {
		count = noInts
	}
	heads := gpu.Take[uint8](tmp, n)
	f := newRunFinder(equal, s, tmp, keys, dstKeys, noInts, heads, count)
	// The scan has as many tiles or parts.
	var status *gpu.Buffer[uint64]
	var counts *gpu.Buffer[uint32]
	var sums *gpu.Buffer[V]
	if f.status != nil {
		status = takeStatus(tmp, f.parts, template.TallySize[V]())
	} else {
		counts, sums = gpu.Take[uint32](tmp, f.parts), gpu.Take[V](tmp, f.parts)
	}
	if run, err := tmp.Ready(); !run {
		return failed(name, err)
	}
	if err := f.run(); err != nil || n == 0 {
		return failed(name, err)
	}
	launches, k, grid := 3, op.Kernels.RunScanParts, gpu.Blocks(gpu.Dim3{X: f.parts}, oneThread)
	if f.status != nil {
		launches, k, grid = 1, op.Kernels.ScanRuns, gpu.Blocks(gpu.Dim3{X: f.parts}, block)
		if err := gpu.Zero(s, status); err != nil {
			return failed(name, err)
		}
	}
	for number := range launches {
		l, err := begin(s, k, op.Bind, grid)
		if err != nil {
			return failed(name, err)
		}
		if f.status == nil {
			gpu.Arg(l, number)
			gpu.Arg(l, f.size)
		}
		gpu.Arg(l, reduce)
		gpu.Arg(l, exclusive)
		gpu.Arg(l, first)
		gpu.SliceArg(l, heads)
		gpu.SliceArg(l, src)
		gpu.SliceArg(l, dst)
		if status != nil {
			gpu.SliceArg(l, status)
		} else {
			gpu.SliceArg(l, counts)
			gpu.SliceArg(l, sums)
		}
		if err := l.End(); err != nil {
			return failed(name, err)
		}
	}
	return nil
}

// ScanSegments scans each segment of src by itself, like [ScanByKey]. Segment i has the elements
// ends[i] to ends[i+1]-1; ends does not decrease, and its elements are at most src.Len(). The
// elements before the first segment, and those behind the last one, are scanned as one segment each.
func ScanSegments[T any](s *gpu.Stream, op Combine[T], dst, src *gpu.Buffer[T], ends *gpu.Buffer[int32], work ...*gpu.Workspace) error {
	var none T
	return scanSegments("ScanSegments", s, &op, false, none, dst, src, ends, work)
}

// ScanExclusiveSegments is [ScanSegments] without the element itself, beginning with first, like
// [ScanExclusiveByKey].
func ScanExclusiveSegments[T any](s *gpu.Stream, op Combine[T], first T, dst, src *gpu.Buffer[T], ends *gpu.Buffer[int32], work ...*gpu.Workspace) error {
	return scanSegments("ScanExclusiveSegments", s, &op, true, first, dst, src, ends, work)
}

func scanSegments[T any](name string, s *gpu.Stream, op *Combine[T], exclusive bool, first T, dst, src *gpu.Buffer[T], ends *gpu.Buffer[int32], work []*gpu.Workspace) error {
	if err := present(name, "src", src); err != nil {
		return err
	}
	if err := length(name, "dst", dst, src.Len()); err != nil {
		return err
	}
	if ends == nil || ends.Len() == 0 {
		return invalid(name, "ends", "no elements; want one more than there are segments")
	}
	if err := fewerThan32Bits(name, src.Len()); err != nil {
		return err
	}
	tmp, err := gpu.OpenScratch(s, work)
	if err != nil {
		return failed(name, err)
	}
	defer tmp.Close()
	n := src.Len()
	segment := gpu.Take[uint32](tmp, n)
	if err := step(name, tmp, n, func() error {
		if err := LaunchNumbers(s, gpu.Linear(n), segment); err != nil {
			return err
		}
		return LaunchSegmentsOf(s, gpu.Linear(n), ends, segment, segment)
	}); err != nil {
		return err
	}
	same := Same[uint32]()
	return byKeyIn(name, s, tmp, &same, op, false, exclusive, first, nil, dst, nil, segment, src)
}
