package fft

import (
	"cmp"
	"errors"
	"math"
	"math/bits"
	"slices"

	"quern.dev/gpu"
)

// builder collects the steps and tables of a plan. It knows the device and the size of a
// complex number, but not its type.
type builder struct {
	host    bool
	workers int // of the CPU
	shared  int // bytes that a block may have
	size    int // bytes of a complex number
	most    int // points of one pass, if not 0; for tests of long transforms

	tables []complex128
	places map[tableKey]int32

	program *program
	err     error
}

var errTooLong = errors.New("a transform is too long for three passes")

// program is a sequence of launches.
type program struct {
	steps   []launch
	scratch []int // elements of each array of temporary memory, from place scratch on
	host    int   // elements of the scratch memory of kernel host
	pairs   bool  // whether launches take pairs of real numbers for complex ones
}

// area is an array that launches read and write.
type area int

const (
	input area = iota
	output
	second
	scratch // and following
)

// launch is one launch of a program.
type launch struct {
	kernel   kernelName
	pass     pass
	grid     gpu.Grid
	tiles    int    // of kernel host
	chirps   chirps // of the chirp kernels
	forward  pass   // of kernel hostChirp
	backward pass
	lines    lines // of the real kernels
	pairs    bool
	roots    int
	reading  reading
	sign     float64
	length   int // points of a line that are written
	total    int // elements that are written
	from, to area
}

type kernelName int

const (
	tileKernel kernelName = iota
	registersKernel
	hostKernel
	hostForwardKernel
	hostInverseKernel
	hostChirpKernel
	hostSplitKernel
	hostMergeKernel
	chirpReadKernel
	chirpMultiplyKernel
	chirpWriteKernel
	realReadKernel
	realSplitKernel
	realMergeKernel
	realWriteKernel
	padReadKernel
	padWriteKernel
	multiplySpectraKernel
	multiplyPairsKernel
)

// side is where an axis pass reads or writes: an area, and the distance between points.
type side struct {
	area   area
	stride int
}

// scaling is what a pass does to the points that it reads and writes; see pass.
type scaling struct{ sign, x, y float64 }

var unscaled = scaling{1, 1, 1}

func newBuilder(dev *gpu.Device, size int) *builder {
	a := dev.Attributes()
	return &builder{
		host:    dev.Backend() == gpu.CPU,
		workers: max(1, a.Multiprocessors),
		shared:  min(a.SharedPerBlock, 76<<10),
		size:    size,
		places:  make(map[tableKey]int32),
		tables:  []complex128{1}, // so that no table is empty
	}
}

// begin starts a new program.
func (b *builder) begin() *program {
	b.program = new(program)
	return b.program
}

// temporary returns a new area of n elements of scratch memory.
func (b *builder) temporary(n int) area {
	b.program.scratch = append(b.program.scratch, n)
	return scratch + area(len(b.program.scratch)-1)
}

// complex adds complex transforms of all dimensions.
func (b *builder) complex(from, to arrays, inverse bool, scale float64) {
	var axes []int
	for i := len(from.shape) - 1; i >= 0; i-- {
		if from.shape[i] > 1 {
			axes = append(axes, i)
		}
	}
	if len(axes) == 0 { // single points are copied
		axes = append(axes, len(from.shape)-1)
	}
	b.along(axes, from, to, input, output, inverse, scale)
}

// along adds complex transforms along the axes.
func (b *builder) along(axes []int, from, to arrays, in, out area, inverse bool, scale float64) {
	for n, i := range axes {
		last := n == len(axes)-1
		b.axis(from.shape[i], side{in, from.strides[i]}, side{out, to.strides[i]}, loopsBut(i, from, to),
			b.direction(inverse, n == 0, last, scale))
		in, from = out, to
	}
}

// direction returns the scaling of one of several axes.
func (b *builder) direction(inverse, first, last bool, scale float64) scaling {
	s := unscaled
	if last {
		s.x, s.y = scale, scale
	}
	switch {
	case !inverse:
	case b.host:
		s.sign = -1
	default:
		if first {
			s.sign = -1
		}
		if last {
			s.y = -s.y
		}
	}
	return s
}

// axis adds transforms of n points along one axis. others has the loops over transforms.
func (b *builder) axis(n int, from, to side, others []level, s scaling) {
	columns := from.stride != 1 || to.stride != 1
	if smooth(n) {
		if n <= b.limit(n, columns) {
			b.pass(n, from, to, others, -1, 0, s)
			return
		}
		if factors := b.split(n); factors != nil {
			b.long(factors, from, to, others, s)
			return
		}
		if n&(n-1) == 0 { // a convolution would be longer
			b.err = errTooLong
			return
		}
	}
	b.chirp(n, from, to, others, s)
}

// long adds transforms of n1*n2 or n1*n2*n3 points, each pass transforming the points
// of one factor: first those at distances of n2*n3, then, after multiplication by roots, the
// rest (Bailey's method).
func (b *builder) long(factors []int, from, to side, others []level, s scaling) {
	n := 1
	for _, f := range factors {
		n *= f
	}
	// If the transforms are columns, so are they in temporary memory.
	count, nearest := 1, -1
	for i, l := range others {
		count *= l.Count
		if l.Count > 1 && l.In < from.stride && (nearest < 0 || l.In < others[nearest].In) {
			nearest = i
		}
	}
	place, stride, next := b.temporary(n*count), 1, n
	in, out := slices.Clone(others), slices.Clone(others)
	if nearest >= 0 {
		stride, next = others[nearest].Count, n*others[nearest].Count
		in[nearest].Out, out[nearest].In = 1, 1
	}
	for i, l := range others {
		if i != nearest {
			in[i].Out, out[i].In = next, next
			next *= l.Count
		}
	}
	within := make([]level, len(others))
	for i := range others {
		within[i] = level{Count: others[i].Count, In: in[i].Out, Out: in[i].Out}
	}
	first, middle, last := unscaled, unscaled, s
	first.sign, last.sign = s.sign, 1
	if b.host {
		middle.sign, last.sign = s.sign, s.sign
	}

	temporary := func(step int) side { return side{place, stride * step} }
	rest := n / factors[0]
	b.pass(factors[0], side{from.area, from.stride * rest}, temporary(rest),
		append(in, level{Count: rest, In: from.stride, Out: stride}), len(in), n, first)
	done := []level{{Count: factors[0], In: stride * rest, Out: to.stride}} // the indices of the results
	if len(factors) == 3 {
		n2, n3 := factors[1], factors[2]
		b.pass(n2, temporary(n3), temporary(n3), append(within,
			level{Count: factors[0], In: stride * rest, Out: stride * rest},
			level{Count: n3, In: stride, Out: stride}), len(within)+1, rest, middle)
		done = append(done, level{Count: n2, In: stride * n3, Out: to.stride * factors[0]})
	}
	lastFactor := factors[len(factors)-1]
	b.pass(lastFactor, temporary(1), side{to.area, to.stride * (n / lastFactor)}, append(out, done...), -1, 0, last)
}

// pass adds one pass: transforms of n points, multiplied by the roots of long points for
// the index of the level numbered twist, if that is not negative.
func (b *builder) pass(n int, from, to side, loops []level, twist, long int, s scaling) {
	p := pass{N: int32(n), In: from.stride, Out: to.stride, Sign: s.sign, ScaleX: s.x, ScaleY: s.y}
	var twisted *level
	if twist >= 0 {
		twisted = &loops[twist]
	}
	p.Twist = b.levels(&p, loops, twisted)
	if twist >= 0 {
		p.Coarse, p.Fine, p.Shift = b.longRoots(long)
	}
	p.ReadColumns = p.Levels[0].Count > 1 && p.In > p.Levels[0].In
	p.WriteColumns = p.Levels[0].Count > 1 && p.Out > p.Levels[0].Out
	l := launch{from: from.area, to: to.area}
	b.choose(&l, &p)
	if b.host {
		b.hostLaunch(l, p, n)
		return
	}
	tiles := p.tiles()
	l.pass = p
	l.grid = gpu.Blocks(gpu.Dim3{X: tiles}, gpu.Dim3{X: b.threads(l.kernel, p), Y: int(p.Tile)}).Shared(b.sharedBytes(l.kernel, n, int(p.Tile)))
	b.program.steps = append(b.program.steps, l)
}

// tiles sets the blocks along level 0, and returns the number of tiles of the pass.
func (p *pass) tiles() int {
	p.Blocks = (p.Levels[0].Count + int(p.Tile) - 1) / int(p.Tile)
	tiles := p.Blocks
	for _, x := range p.Levels[1:] {
		tiles *= x.Count
	}
	return tiles
}

// hostLaunch adds the launch of a kernel for the CPU, whose lines in scratch memory have
// the given number of points.
func (b *builder) hostLaunch(l launch, p pass, points int) {
	l.tiles = p.tiles()
	l.pass = p
	blocks := min(l.tiles, 4*b.workers)
	l.grid = gpu.Blocks(gpu.Dim3{X: blocks}, gpu.Dim3{X: 1})
	b.program.host = max(b.program.host, blocks*2*int(p.Tile)*hostPitch(points))
	b.program.steps = append(b.program.steps, l)
}

// hostRows returns the number of transforms of a tile on the CPU: enough that a tile takes
// long compared with its start.
func hostRows(p *pass, points int) int32 {
	return int32(min(max(1, 2048/points), p.Levels[0].Count))
}

// levels sorts the loops into the levels of p, and returns 1 plus the level of twisted.
// Level 0 is the one whose transforms are the nearest to each other where the points of one
// transform are not adjacent.
func (b *builder) levels(p *pass, loops []level, twisted *level) int32 {
	var l []level
	for i := range loops {
		if x := loops[i]; x.Count > 1 && &loops[i] != twisted {
			l = append(l, x)
		}
	}
	// Loops of which one continues the other are one loop.
	slices.SortFunc(l, func(a, b level) int { return cmp.Or(cmp.Compare(a.Out, b.Out), cmp.Compare(a.In, b.In)) })
	for i := 0; i+1 < len(l); {
		if x, y := l[i], l[i+1]; y.In == x.Count*x.In && y.Out == x.Count*x.Out {
			l[i].Count *= y.Count
			l = slices.Delete(l, i+1, i+2)
		} else {
			i++
		}
	}
	if twisted != nil {
		l = append(l, *twisted)
	}
	order := func(key func(level) int) int {
		best := -1
		for i, x := range l {
			if best < 0 || key(x) < key(l[best]) {
				best = i
			}
		}
		return best
	}
	first := -1
	if p.In != 1 {
		first = order(func(x level) int { return x.In })
	} else if p.Out != 1 {
		first = order(func(x level) int { return x.Out })
	} else {
		first = order(func(x level) int { return -x.Count })
	}
	for i := range p.Levels {
		p.Levels[i].Count = 1
	}
	if len(l) == 0 {
		return 0
	}
	position := int32(0)
	if twisted != nil {
		position = 2
		if first == len(l)-1 {
			position = 1
		}
	}
	p.Levels[0] = l[first]
	at := 1
	if position == 2 {
		p.Levels[1], at = *twisted, 2
		l = l[:len(l)-1]
	}
	for i, x := range l {
		if i != first {
			p.Levels[at] = x
			at++
		}
	}
	return position
}

// choose picks the kernel of a pass, its tile and its steps.
func (b *builder) choose(l *launch, p *pass) {
	n, count := int(p.N), p.Levels[0].Count
	line := max(1, 64/b.size) // transforms whose adjacent points are 64 bytes
	switch columns := p.ReadColumns || p.WriteColumns; {
	case b.host:
		l.kernel = hostKernel
		p.Tile = hostRows(p, n)
		if p.In != 1 || p.Out != 1 {
			p.Tile = int32(min(max(8, min(32, 256<<10/(2*n*b.size))), count))
		}
		b.radices(p, hostRadices(n), p.Sign < 0)
	case n >= perThread && n&(n-1) == 0:
		l.kernel = registersKernel
		threads, limit := n/perThread, 8192/b.size // of a row, and of a block
		rows := max(1, 256/threads)
		if columns {
			rows = max(rows, line)
		}
		rows = min(rows, limit/threads, 1<<bits.Len(uint(count-1)))
		for rows > 1 && b.sharedBytes(l.kernel, n, rows) > b.shared {
			rows /= 2
		}
		p.Tile = int32(rows)
		b.radices(p, registersRadices(n), false)
	default:
		l.kernel = tileKernel
		b.radices(p, tileRadices(n), false)
		threads := b.threads(l.kernel, *p)
		rows := max(1, 256/threads)
		if columns {
			rows = max(rows, line)
		}
		rows = max(1, min(rows, 512/threads, count))
		for rows > 1 && b.sharedBytes(l.kernel, n, rows) > b.shared {
			rows--
		}
		p.Tile = int32(rows)
	}
}

// threads returns the number of threads per transform.
func (b *builder) threads(k kernelName, p pass) int {
	n := int(p.N)
	if k == registersKernel {
		return n / perThread
	}
	smallest := maxRadix
	for i, r := 0, p.Radices; i < int(p.Steps); i, r = i+1, r>>4 {
		smallest = min(smallest, cmp.Or(int(r&15), 16))
	}
	butterflies := max(1, n/smallest)
	rounds := (butterflies + 255) / 256
	return (butterflies + rounds - 1) / rounds
}

// sharedBytes returns the dynamic shared memory of a block.
func (b *builder) sharedBytes(k kernelName, n, rows int) int {
	if k == registersKernel {
		return rows * int(spread(int32(n))+32/int32(rows)) * b.size / 2
	}
	return 2 * rows * int(pitch(int32(n))) * b.size
}

// limit returns the length of the longest transforms that one pass computes, among those
// that have the same kernel as n points.
func (b *builder) limit(n int, columns bool) int {
	if b.most > 0 {
		return b.most
	}
	line := 32 / b.size // the least number of adjacent transforms that a tile should have
	if !columns {
		line = 1
	}
	switch {
	case b.host && columns:
		return 1 << 11
	case b.host:
		return 1 << 14
	case n&(n-1) == 0:
		n := 8192
		for n > perThread && (b.sharedBytes(registersKernel, n, line) > b.shared || n/perThread*line > 8192/b.size) {
			n /= 2
		}
		return n
	default:
		return b.shared/(2*line*b.size)*16/17 - 8
	}
}

// split returns two or three factors of n, each of which one pass transforms, as equal as
// possible. It returns nil if there are none.
func (b *builder) split(n int) []int {
	for _, columns := range []bool{true, false} {
		fits := func(f int) bool { return f > 1 && f <= b.limit(f, columns) }
		best, most := []int(nil), math.MaxInt
		consider := func(f ...int) {
			if m := slices.Max(f); m < most {
				best, most = f, m
			}
		}
		d := divisors(n)
		for _, f := range d {
			if fits(f) && fits(n/f) {
				consider(f, n/f)
			}
		}
		for _, f := range d {
			for _, g := range d {
				if best == nil || len(best) == 3 {
					if fits(f) && n/f%g == 0 && fits(g) && fits(n/f/g) {
						consider(f, g, n/f/g)
					}
				}
			}
		}
		if best != nil {
			return best
		}
	}
	return nil
}

func divisors(n int) []int {
	var d []int
	for i := 1; i*i <= n; i++ {
		if n%i == 0 {
			d = append(d, i)
			if i*i != n {
				d = append(d, n/i)
			}
		}
	}
	slices.Sort(d)
	return d
}

// smooth reports whether n has no prime factor above 13.
func smooth(n int) bool {
	for _, p := range []int{2, 3, 5, 7, 11, 13} {
		for n%p == 0 {
			n /= p
		}
	}
	return n == 1
}

// registersRadices returns the steps of kernels registers32 and registers64.
func registersRadices(n int) []int {
	var r []int
	for ; n >= 16; n /= 16 {
		r = append(r, 16)
	}
	return r
}

// tileRadices returns the steps of kernel tile: as few as possible, and then with the
// smallest sum.
func tileRadices(n int) []int {
	found := map[int][]int{1: nil}
	sum := func(r []int) (s int) {
		for _, x := range r {
			s += x
		}
		return s
	}
	var search func(n int) []int
	search = func(n int) []int {
		best, ok := found[n]
		if ok {
			return best
		}
		for _, r := range []int{2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 16} {
			if n%r != 0 {
				continue
			}
			if rest := search(n / r); best == nil || len(rest)+1 < len(best) || len(rest)+1 == len(best) && sum(rest)+r < sum(best) {
				best = append([]int{r}, rest...)
			}
		}
		found[n] = best
		return best
	}
	return search(n)
}

// hostRadices returns the steps of kernel host: as few as possible with radices 8 and 4.
func hostRadices(n int) []int {
	twos := bits.TrailingZeros(uint(n))
	odd := oddRadices(n >> twos)
	var r []int
	for twos > 0 {
		step := min(twos, 3)
		if twos == 4 {
			step = 2
		}
		r, twos = append(r, 1<<step), twos-step
	}
	return append(r, odd...)
}

func oddRadices(n int) []int {
	var r []int
	for _, p := range []int{13, 11, 7, 5, 3} {
		for ; n%p == 0; n /= p {
			r = append(r, p)
		}
	}
	return r
}
