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
const maxKeys = math.MaxUint32 - sortTile

// portion is how many keys a launch moves: counts have countBits bits. Tests change it.
var portion = 1 << (countBits - 1) / sortTile * sortTile

// sizeOf returns the size of a T in bytes.
func sizeOf[T any]() int {
	var zero T
	return int(unsafe.Sizeof(zero))
}

// order returns how the bits of keys of type K order them, for the first pass, and the mask of
// the last of passes passes.
func orderOf[K Key, W word](name string, r Radix) (o digitOrder[W], passes int, last uint32, _ error) {
	bits := 8 * sizeOf[K]()
	o = digitOrder[W]{Descending: r.Descending}
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
	if signed || infinity != 0 {
		o.Sign = W(uint64(1) << (bits - 1))
	}
	count := r.Bits
	if count == 0 {
		count = bits - r.FirstBit
	}
	if r.FirstBit < 0 || count <= 0 || r.FirstBit+count > bits || infinity != 0 && count != bits {
		if infinity != 0 {
			return o, 0, 0, invalid(name, "r", "bits %d to %d of floating-point keys; all %d bits of them count", r.FirstBit, r.FirstBit+r.Bits, bits)
		}
		return o, 0, 0, invalid(name, "r", "bits %d to %d of keys of %d bits", r.FirstBit, r.FirstBit+r.Bits, bits)
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
	tmp, err := gpu.OpenScratch(s, work)
	if err != nil {
		return failed(name, err)
	}
	defer tmp.Close()
	switch sizeOf[K]() {
	case 1:
		return radixSort[K, uint8, uint32](name, s, tmp, r, keys, nil)
	case 2:
		return radixSort[K, uint16, uint32](name, s, tmp, r, keys, nil)
	case 4:
		return radixSort[K, uint32, uint32](name, s, tmp, r, keys, nil)
	default:
		return radixSort[K, uint64, uint32](name, s, tmp, r, keys, nil)
	}
}

func sortPairsOf[K Key, V any](name string, s *gpu.Stream, r Radix, keys *gpu.Buffer[K], values *gpu.Buffer[V], work []*gpu.Workspace) error {
	if keys == nil {
		return invalid(name, "keys", "the buffer is nil")
	}
	if err := length(name, "values", values, keys.Len()); err != nil {
		return err
	}
	tmp, err := gpu.OpenScratch(s, work)
	if err != nil {
		return failed(name, err)
	}
	defer tmp.Close()
	if size := sizeOf[K](); sizeOf[V]() == 8 && size == 4 {
		return radixSort[K, uint32](name, s, tmp, r, keys, gpu.ViewAs[uint64](tmp, values))
	} else if sizeOf[V]() == 8 && size == 8 {
		return radixSort[K, uint64](name, s, tmp, r, keys, gpu.ViewAs[uint64](tmp, values))
	}
	if sizeOf[V]() == 4 {
		return sortWords(name, s, tmp, r, keys, gpu.ViewAs[uint32](tmp, values))
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
	if err := sortWords(name, s, tmp, r, keys, index); err != nil {
		return err
	}
	if run, err := tmp.Ready(); !run || n == 0 {
		return failed(name, err)
	}
	if err := gpu.Copy(s, copied, values); err != nil {
		return failed(name, err)
	}
	return failed(name, moveElements(name, s, true, values, copied, index))
}

// sortWords sorts keys with values of 32 bits.
func sortWords[K Key](name string, s *gpu.Stream, tmp *gpu.Scratch, r Radix, keys *gpu.Buffer[K], values *gpu.Buffer[uint32]) error {
	switch sizeOf[K]() {
	case 1:
		return radixSort[K, uint8](name, s, tmp, r, keys, values)
	case 2:
		return radixSort[K, uint16](name, s, tmp, r, keys, values)
	case 4:
		return radixSort[K, uint32](name, s, tmp, r, keys, values)
	default:
		return radixSort[K, uint64](name, s, tmp, r, keys, values)
	}
}

// radixSort sorts keys of type K, whose bits are words of type W, with values unless that is
// nil.
func radixSort[K Key, W word, V uint32 | uint64](name string, s *gpu.Stream, tmp *gpu.Scratch, r Radix, keys *gpu.Buffer[K], values *gpu.Buffer[V]) error {
	if keys == nil {
		return invalid(name, "keys", "the buffer is nil")
	}
	var p radixPlan[W, V]
	var err error
	if p.order, p.passes, p.last, err = orderOf[K, W](name, r); err != nil {
		return err
	}
	if err := p.take(name, s, tmp, gpu.ViewAs[W](tmp, keys), values); err != nil {
		return err
	}
	if run, err := tmp.Ready(); !run {
		return failed(name, err)
	}
	return failed(name, p.run(s))
}

// radixPlan is a sort whose memory has been taken.
type radixPlan[W word, V uint32 | uint64] struct {
	order                 digitOrder[W]
	passes                int
	last                  uint32 // mask of the last pass
	keys, spare           *gpu.Buffer[W]
	pairs                 bool
	values, spareValues   *gpu.Buffer[V]
	counts, bases, status *gpu.Buffer[uint32]
	parts, part           int // on a CPU
	portions              int
}

// take takes the memory of a sort.
func (p *radixPlan[W, V]) take(name string, s *gpu.Stream, tmp *gpu.Scratch, keys *gpu.Buffer[W], values *gpu.Buffer[V]) error {
	n := keys.Len()
	if n > maxKeys {
		return invalid(name, "keys", "%d keys are more than the %d that can be sorted", n, maxKeys)
	}
	p.keys, p.values, p.pairs = keys, values, values != nil
	p.spare = gpu.Take[W](tmp, n)
	if p.pairs {
		p.spareValues = gpu.Take[V](tmp, n)
	}
	if s.Device().Backend() == gpu.CPU {
		p.parts, p.part = sortParts(n)
		p.counts = gpu.Take[uint32](tmp, p.parts*digits)
		return nil
	}
	p.portions = (n + portion - 1) / portion
	p.counts = gpu.Take[uint32](tmp, p.passes*digits)
	p.bases = gpu.Take[uint32](tmp, p.passes*p.portions*digits)
	p.status = gpu.Take[uint32](tmp, 1+(min(n, portion)+sortTile-1)/sortTile*digits)
	return nil
}

// sortParts returns into how many parts the kernels for the CPU divide n keys, and the size of
// all but the last one.
func sortParts(n int) (count, size int) {
	const smallest, most = 1 << 14, 64
	count = min(max(n/smallest, 1), most)
	return count, max((n+count-1)/count, 1)
}

// run does the passes. The result is in the buffers of the caller.
func (p *radixPlan[W, V]) run(s *gpu.Stream) error {
	if p.keys.Len() < 2 {
		return nil
	}
	pass := p.passOnCPU
	if p.parts == 0 {
		if err := p.count(s); err != nil {
			return err
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
			return err
		}
		keys, spare, values, spareValues = spare, keys, spareValues, values
	}
	if p.passes%2 == 0 {
		return nil
	}
	if err := gpu.Copy(s, p.keys, p.spare); err != nil || !p.pairs {
		return err
	}
	return gpu.Copy(s, p.values, p.spareValues)
}

// count finds where the keys with each digit begin, for all passes.
func (p *radixPlan[W, V]) count(s *gpu.Stream) error {
	if err := gpu.Zero(s, p.counts); err != nil {
		return err
	}
	const most, each = 1024, 16 * sortThreads // blocks, keys of a block at least
	grid := gpu.Blocks(gpu.Dim3{X: min((p.keys.Len()+each-1)/each, most)}, gpu.Dim3{X: sortThreads})
	if err := LaunchSortHistogram(s, grid, p.order, p.passes, p.last, p.keys, p.counts); err != nil {
		return err
	}
	return LaunchSortBases(s, gpu.Blocks(gpu.Dim3{X: p.passes}, gpu.Dim3{X: sortThreads}), p.portions, p.counts, p.bases)
}

// pass sorts by one digit.
func (p *radixPlan[W, V]) pass(s *gpu.Stream, i int, o digitOrder[W], in, out *gpu.Buffer[W], values, outValues *gpu.Buffer[V]) error {
	n := in.Len()
	shared := sortTile * sizeOf[W]()
	if p.pairs {
		shared = max(shared, sortTile*sizeOf[V]())
	}
	for k := range p.portions {
		begin := k * portion
		count := min(n-begin, portion)
		if err := gpu.Zero(s, p.status); err != nil {
			return err
		}
		grid := gpu.Blocks(gpu.Dim3{X: (count + sortTile - 1) / sortTile}, gpu.Dim3{X: sortThreads}).Shared(shared)
		base := (i*p.portions + k) * digits
		var err error
		if p.pairs {
			err = LaunchSortPairs(s, grid, o, begin, count, base, k < p.portions-1, p.status, p.bases, in, out, values, outValues)
		} else {
			err = LaunchSortKeys(s, grid, o, begin, count, base, k < p.portions-1, p.status, p.bases, in, out)
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
