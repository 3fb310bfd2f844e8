package algo

import (
	"math"
	"unsafe"

	"quern.dev/gpu"
	"quern.dev/kernel"
)

// Key are the types that Sort orders.
type Key interface {
	int8 | int16 | int32 | int64 | uint8 | uint16 | uint32 | uint64 | float32 | float64 | kernel.Float16 | kernel.BFloat16
}

// Radix says how to order keys. The zero value means ascending, by all bits.
//
// The order of integers is that of Go. Floating-point numbers are ordered by value; -0 equals 0,
// and NaNs come after all numbers, whatever the direction. Keys that are equal keep their order.
type Radix struct {
	Descending bool

	// FirstBit and Bits select the bits of integer keys that count, from the lowest one. If
	// Bits is 0, all bits from FirstBit on count.
	FirstBit, Bits int
}

// Sort sorts keys in ascending order, in place, and keeps the order of equal keys. The number of
// operations is proportional to the number of keys: a radix sort reads and writes them once per
// 8 bits. It needs temporary memory for a copy of them.
func Sort[K Key](s *gpu.Stream, keys *gpu.Buffer[K], work ...*gpu.Workspace) error {
	return sortKeysOf("Sort", s, Radix{}, keys, work)
}

// SortRadix is [Sort] in the order of r.
func SortRadix[K Key](s *gpu.Stream, r Radix, keys *gpu.Buffer[K], work ...*gpu.Workspace) error {
	return sortKeysOf("SortRadix", s, r, keys, work)
}

// SortPairs sorts keys like [Sort], and moves the values with their keys: values[i] belongs to
// keys[i].
func SortPairs[K Key, V any](s *gpu.Stream, keys *gpu.Buffer[K], values *gpu.Buffer[V], work ...*gpu.Workspace) error {
	return sortPairsOf("SortPairs", s, Radix{}, keys, values, work)
}

// SortPairsRadix is [SortPairs] in the order of r.
func SortPairsRadix[K Key, V any](s *gpu.Stream, r Radix, keys *gpu.Buffer[K], values *gpu.Buffer[V], work ...*gpu.Workspace) error {
	return sortPairsOf("SortPairsRadix", s, r, keys, values, work)
}

// maxKeys is how many keys can be sorted: their positions are 32 bits.
const maxKeys = math.MaxUint32 - sortThreads*mostSortItems

// portion is how many keys a launch moves at most: counts have countBits bits. Tests change it.
var portion = 1 << (countBits - 1)

// sizeOf returns the size of a T in bytes.
func sizeOf[T any]() int {
	var zero T
	return int(unsafe.Sizeof(zero))
}

// orderOf returns how the bits of keys of type K order them, for the first pass, and the mask of
// the last of passes passes.
func orderOf[K Key, W word](name string, r Radix) (o digitOrder[W], passes int, last uint32, _ error) {
	bits := 8 * sizeOf[K]()
	var zero K
	var infinity uint64
	signed := false
	switch any(zero).(type) {
	case float32:
		infinity = uint64(math.Float32bits(float32(math.Inf(1))))
	case float64:
		infinity = math.Float64bits(math.Inf(1))
	case kernel.Float16:
		infinity = 0x7c00
	case kernel.BFloat16:
		infinity = 0x7f80
	case int8, int16, int32, int64:
		signed = true
	}
	o.Infinity = W(infinity)
	sign := W(uint64(1) << (bits - 1))
	if signed {
		o.Flip = sign
	}
	if infinity != 0 {
		o.Sign = sign
	}
	if r.Descending {
		o.Flip = ^o.Flip
	}
	count := r.Bits
	if count == 0 {
		count = bits - r.FirstBit
	}
	if infinity != 0 && (r.FirstBit != 0 || count != bits) {
		return o, 0, 0, invalid(name, "r", "FirstBit is %d and Bits is %d, but all %d bits of floating-point keys count; leave both 0", r.FirstBit, r.Bits, bits)
	}
	if r.FirstBit < 0 || r.FirstBit > bits || count <= 0 || count > bits-r.FirstBit {
		return o, 0, 0, invalid(name, "r", "FirstBit is %d and Bits is %d, but keys have %d bits", r.FirstBit, r.Bits, bits)
	}
	o.Shift, o.Mask = uint32(r.FirstBit), digits-1
	passes = (count + digitBits - 1) / digitBits
	last = 1<<(count-(passes-1)*digitBits) - 1
	if passes == 1 {
		o.Mask = last
	}
	return o, passes, last, nil
}

func sortKeysOf[K Key](name string, s *gpu.Stream, r Radix, keys *gpu.Buffer[K], work []*gpu.Workspace) error {
	if err := present(name, "keys", keys); err != nil {
		return err
	}
	tmp, err := gpu.OpenScratch(s, work)
	if err != nil {
		return failed(name, err)
	}
	defer tmp.Close()
	return sortWords[K](name, s, tmp, r, allOf(keys), keys, nil)
}

func sortPairsOf[K Key, V any](name string, s *gpu.Stream, r Radix, keys *gpu.Buffer[K], values *gpu.Buffer[V], work []*gpu.Workspace) error {
	if err := present(name, "keys", keys); err != nil {
		return err
	}
	if err := checkValues(name, keys, values); err != nil {
		return err
	}
	tmp, err := gpu.OpenScratch(s, work)
	if err != nil {
		return failed(name, err)
	}
	defer tmp.Close()
	if size := sizeOf[K](); sizeOf[V]() == 8 && size == 4 {
		return radixSort[K, uint32](name, s, tmp, r, allOf(keys), keys, gpu.ViewAs[uint64](tmp, values))
	} else if sizeOf[V]() == 8 && size == 8 {
		return radixSort[K, uint64](name, s, tmp, r, allOf(keys), keys, gpu.ViewAs[uint64](tmp, values))
	}
	if sizeOf[V]() == 4 {
		return sortWords(name, s, tmp, r, allOf(keys), keys, gpu.ViewAs[uint32](tmp, values))
	}
	// Sort the indices of the values, and then copy each value once.
	n := keys.Len()
	index, copied := gpu.Take[uint32](tmp, n), gpu.Take[V](tmp, n)
	if n > 0 && !tmp.Measuring() {
		if run, err := tmp.Ready(); !run {
			return failed(name, err)
		}
		if err := LaunchNumbers(s, gpu.Linear(n), index); err != nil {
			return failed(name, err)
		}
	}
	if err := sortWords(name, s, tmp, r, allOf(keys), keys, index); err != nil {
		return err
	}
	if run, err := tmp.Ready(); !run || n == 0 {
		return failed(name, err)
	}
	if err := gpu.Copy(s, copied, values); err != nil {
		return failed(name, err)
	}
	return failed(name, gather(s, tmp, n, values, copied, nil, index))
}

// checkValues returns an error if there is not one value for each key, in other memory.
func checkValues[K, V any](name string, keys *gpu.Buffer[K], values *gpu.Buffer[V]) error {
	if err := length(name, "values", values, keys.Len()); err != nil {
		return err
	}
	return apart(name, "values", values, "keys", keys)
}

// allOf returns the axis of a buffer.
func allOf[T any](x *gpu.Buffer[T]) Axis {
	if x == nil {
		return Axis{}
	}
	return Axis{Outer: 1, N: x.Len(), Inner: 1}
}

// sortWords sorts lines of keys, with values of 32 bits unless values is nil.
func sortWords[K Key](name string, s *gpu.Stream, tmp *gpu.Scratch, r Radix, axis Axis, keys *gpu.Buffer[K], values *gpu.Buffer[uint32]) error {
	switch sizeOf[K]() {
	case 1:
		return sortShort(name, s, tmp, r, axis, keys, values, LaunchWiden[uint8], LaunchNarrow[uint8])
	case 2:
		return sortShort(name, s, tmp, r, axis, keys, values, LaunchWiden[uint16], LaunchNarrow[uint16])
	case 4:
		return radixSort[K, uint32](name, s, tmp, r, axis, keys, values)
	default:
		return radixSort[K, uint64](name, s, tmp, r, axis, keys, values)
	}
}

// sortShort sorts keys whose bits are of type W. They are copied to words, which are sorted.
func sortShort[K Key, W uint8 | uint16](name string, s *gpu.Stream, tmp *gpu.Scratch, r Radix, axis Axis, keys *gpu.Buffer[K], values *gpu.Buffer[uint32],
	widen func(*gpu.Stream, gpu.Grid, *gpu.Buffer[W], *gpu.Buffer[uint32]) error,
	narrow func(*gpu.Stream, gpu.Grid, *gpu.Buffer[uint32], *gpu.Buffer[W]) error) error {
	n := axis.size()
	p, err := planSort[K](name, s, tmp, r, axis, gpu.Take[uint32](tmp, n), values)
	if err != nil {
		return err
	}
	short := gpu.ViewAs[W](tmp, keys)
	if run, err := tmp.Ready(); !run || n < 2 {
		return failed(name, err)
	}
	if err := widen(s, gpu.Linear(n), short, p.keys); err != nil {
		return failed(name, err)
	}
	sorted, err := p.run(s)
	if err == nil {
		err = narrow(s, gpu.Linear(n), sorted, short)
	}
	return failed(name, err)
}

// radixSort sorts keys of type K, whose bits are words of type W, with values unless that is
// nil.
func radixSort[K Key, W word, V uint32 | uint64](name string, s *gpu.Stream, tmp *gpu.Scratch, r Radix, axis Axis, keys *gpu.Buffer[K], values *gpu.Buffer[V]) error {
	p, err := planSort[K](name, s, tmp, r, axis, gpu.ViewAs[W](tmp, keys), values)
	if err != nil {
		return err
	}
	if run, err := tmp.Ready(); !run || keys.Len() < 2 {
		return failed(name, err)
	}
	sorted, err := p.run(s)
	if err == nil && sorted != p.keys {
		err = gpu.Copy(s, p.keys, sorted)
	}
	return failed(name, err)
}

// radixPlan is a sort whose memory has been taken.
type radixPlan[W word, V uint32 | uint64] struct {
	axis                Axis // the lines that are sorted
	order               digitOrder[W]
	passes              int
	last                uint32 // mask of the last pass
	keys, spare         *gpu.Buffer[W]
	pairs               bool
	values, spareValues *gpu.Buffer[V]
	noValues            *gpu.Buffer[uint32]

	parts, part int                 // on a CPU
	counts      *gpu.Buffer[uint32] // of digits

	// On a GPU a launch sorts portion keys, in tiles. Up to mostInLine
	// keys are sorted by one block.
	tile, portion, portions int
	bases                   *gpu.Buffer[uint32] // where the keys with each digit begin
	status                  *gpu.Buffer[uint32] // tickets, the counts of all passes, and words per tile
}

// planSort takes the memory to sort n keys of type K.
func planSort[K Key, W word, V uint32 | uint64](name string, s *gpu.Stream, tmp *gpu.Scratch, r Radix, axis Axis, keys *gpu.Buffer[W], values *gpu.Buffer[V]) (p radixPlan[W, V], err error) {
	if p.order, p.passes, p.last, err = orderOf[K, W](name, r); err != nil {
		return p, err
	}
	n := axis.size() // a workspace that measures has no keys
	if n > maxKeys {
		return p, invalid(name, "keys", "%d keys are more than the %d that can be sorted", n, maxKeys)
	}
	p.axis, p.keys, p.values, p.pairs = axis, keys, values, values != nil
	p.noValues = gpu.Take[uint32](tmp, 0)
	onCPU := s.Device().Backend() == gpu.CPU
	if !onCPU {
		p.tile = sortThreads * sortItems[W, uint32]()
		if p.pairs {
			p.tile = sortThreads * sortItems[W, V]()
		}
		if p.short() {
			return p, nil
		}
	}
	p.spare = gpu.Take[W](tmp, n)
	if p.pairs {
		p.spareValues = gpu.Take[V](tmp, n)
	}
	if onCPU {
		p.parts, p.part = sortParts(n)
		p.counts = gpu.Take[uint32](tmp, p.parts*digits)
		return p, nil
	}
	p.portion = portion / p.tile * p.tile
	p.portions = (n + p.portion - 1) / p.portion
	counts, tiles := p.passes*digits, (n+p.tile-1)/p.tile
	p.bases = gpu.Take[uint32](tmp, p.passes*p.portions*digits)
	p.status = gpu.Take[uint32](tmp, counts+tiles*digits+p.portions)
	p.counts = p.status
	return p, nil
}

// short reports whether one block sorts a line.
func (p *radixPlan[W, V]) short() bool {
	return p.parts == 0 && p.axis.N <= mostInLine && (!p.pairs || sizeOf[V]() == 4)
}

// sortParts returns into how many parts the kernels for the CPU divide n keys, and the size of
// all but the last one.
func sortParts(n int) (count, size int) {
	const smallest, most = 1 << 14, 64
	count = min(max(n/smallest, 1), most)
	return count, max((n+count-1)/count, 1)
}

// run sorts the keys, and returns the buffer that has them: p.keys or p.spare. The values are in
// the buffer of the caller.
func (p *radixPlan[W, V]) run(s *gpu.Stream) (*gpu.Buffer[W], error) {
	pass := p.passOnCPU
	if p.short() {
		return p.keys, p.lines(s)
	}
	if p.axis.N < p.keys.Len() {
		grid := gpu.Linear(p.axis.Outer * p.axis.Inner)
		values, spareValues := p.noValues, p.noValues
		if p.pairs {
			values, spareValues = any(p.values).(*gpu.Buffer[uint32]), any(p.spareValues).(*gpu.Buffer[uint32])
		}
		return p.keys, LaunchSortLineParts(s, grid, p.order, int32(p.passes), p.last, p.axis.N, p.axis.Inner, p.keys, p.spare, values, spareValues)
	}
	if p.parts == 0 {
		if err := p.count(s); err != nil {
			return nil, err
		}
		pass = p.pass
	}
	keys, spare, values, spareValues := p.keys, p.spare, p.values, p.spareValues
	for i := range p.passes {
		o := p.order
		o.Shift += uint32(i) * digitBits
		if i == p.passes-1 {
			o.Mask = p.last
		}
		if err := pass(s, i, o, keys, spare, values, spareValues); err != nil {
			return nil, err
		}
		keys, spare, values, spareValues = spare, keys, spareValues, values
	}
	if p.pairs && values != p.values {
		return keys, gpu.Copy(s, p.values, values)
	}
	return keys, nil
}

// lines sorts each line in a warp or a block. Values have 4 bytes.
func (p *radixPlan[W, V]) lines(s *gpu.Stream) error {
	axis := p.axis
	if !p.pairs && axis.N <= mostInWarp && p.whole() {
		return p.inRegisters(s)
	}
	values := p.noValues
	if p.pairs {
		values = any(p.values).(*gpu.Buffer[uint32])
	}
	items := (axis.N + sortThreads - 1) / sortThreads
	grid := gpu.Blocks(gpu.Dim3{X: axis.Outer * axis.Inner}, gpu.Dim3{X: sortThreads}).Shared(items * sortThreads * sizeOf[W]())
	return LaunchSortLines(s, grid, p.order, int32(p.passes), p.last, uint32(axis.N), uint32(axis.Inner), p.keys, values)
}

// count finds where the keys with each digit begin, for all passes.
func (p *radixPlan[W, V]) count(s *gpu.Stream) error {
	if err := gpu.Zero(s, p.status); err != nil {
		return err
	}
	const most, each = 1024, 16 * sortThreads // blocks, keys of a block at least
	block := gpu.Dim3{X: sortThreads}
	grid := gpu.Blocks(gpu.Dim3{X: min((p.keys.Len()+each-1)/each, most)}, block)
	if err := LaunchSortHistogram(s, grid, p.order, int32(p.passes), p.last, p.keys, p.counts); err != nil {
		return err
	}
	return LaunchSortBases(s, gpu.Blocks(gpu.Dim3{X: p.passes}, block), int32(p.portions), p.counts, p.bases)
}

// pass sorts by one digit.
func (p *radixPlan[W, V]) pass(s *gpu.Stream, i int, o digitOrder[W], in, out *gpu.Buffer[W], values, outValues *gpu.Buffer[V]) error {
	n := in.Len()
	shared := p.tile * sizeOf[W]()
	if p.pairs {
		shared = max(shared, p.tile*sizeOf[V]())
	}
	words := p.passes*digits + p.portions // in status, before those of the tiles
	for k := range p.portions {
		begin := k * p.portion
		count := min(n-begin, p.portion)
		tiles := (count + p.tile - 1) / p.tile
		l := sortLaunch{
			Begin: uint32(begin), Count: uint32(count), Bases: uint32((i*p.portions + k) * digits),
			Ticket: uint32(p.passes*digits + k), Taken: uint32(i * tiles),
			Status: uint32(words + begin/p.tile*digits),
			All:    countEven, More: k < p.portions-1,
		}
		if i%2 == 1 {
			l.All = countOdd
		}
		grid := gpu.Blocks(gpu.Dim3{X: tiles}, gpu.Dim3{X: sortThreads}).Shared(shared)
		var err error
		if p.pairs {
			err = LaunchSortPairs(s, grid, o, l, p.status, p.bases, in, out, values, outValues)
		} else {
			err = LaunchSortKeys(s, grid, o, l, p.status, p.bases, in, out)
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// passOnCPU is pass on a CPU.
func (p *radixPlan[W, V]) passOnCPU(s *gpu.Stream, _ int, o digitOrder[W], in, out *gpu.Buffer[W], values, outValues *gpu.Buffer[V]) error {
	one := gpu.Dim3{X: 1}
	grid := gpu.Blocks(gpu.Dim3{X: p.parts}, one)
	if err := LaunchCountParts(s, grid, o, p.part, in, p.counts); err != nil {
		return err
	}
	if err := LaunchPlaceParts(s, gpu.Blocks(one, one), p.parts, p.counts); err != nil {
		return err
	}
	if p.pairs {
		return LaunchMovePairs(s, grid, o, p.part, p.counts, in, out, values, outValues)
	}
	return LaunchMoveParts(s, grid, o, p.part, p.counts, in, out)
}
