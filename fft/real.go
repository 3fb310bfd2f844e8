package fft

import (
	"slices"
	"sync/atomic"
	"unsafe"

	"quern.dev/gpu"
)

// RealPlan computes transforms of real signals, whose spectra are complex. C is the complex
// type of R: complex64 for float32, complex128 for float64.
//
// The spectrum of a real signal is Hermitian, so only the elements 0 to n/2 of the last
// dimension are stored: Desc.Shape is the shape of the signal, and the last dimension of
// the spectrum has Shape/2+1 elements.
//
// A RealPlan is safe for concurrent use.
type RealPlan[R Float, C Complex] struct {
	dev              *gpu.Device
	signal, spectrum arrays
	engine           *engine[R]
	closed           atomic.Bool
}

// NewRealPlan returns a plan for real transforms on dev. It waits until its tables are on
// the device. The caller closes the plan.
func NewRealPlan[R Float, C Complex](dev *gpu.Device, d Desc) (*RealPlan[R, C], error) {
	const op = "NewRealPlan"
	var c C
	if unsafe.Sizeof(c) != 2*unsafe.Sizeof(R(0)) {
		return nil, invalid(op, "C", "%T does not consist of numbers of type %T; use complex64 with float32, complex128 with float64", c, R(0))
	}
	batch, err := d.check(op)
	if err != nil {
		return nil, err
	}
	p := &RealPlan[R, C]{dev: dev}
	if p.signal, err = d.Signal.resolve(op, "Signal", d.Shape, batch); err != nil {
		return nil, err
	}
	half := slices.Clone(d.Shape)
	last := len(half) - 1
	half[last] = half[last]/2 + 1
	if p.spectrum, err = d.Spectrum.resolve(op, "Spectrum", half, batch); err != nil {
		return nil, err
	}
	if err := checkPlaces(op, p.signal, p.spectrum); err != nil {
		return nil, err
	}
	b := newBuilder(dev, int(unsafe.Sizeof(c)))
	forward := b.begin()
	b.realForward(p.signal, p.spectrum, d.Norm.scale(d.points(), false))
	inverse := b.begin()
	b.realInverse(p.spectrum, p.signal, d.Norm.scale(d.points(), true))
	if p.engine, err = newEngine(dev, b, newVendorTransforms[R]("RealPlan", true, d, p.signal, p.spectrum), forward, inverse); err != nil {
		return nil, failed(op, err)
	}
	return p, nil
}

// Forward enqueues the transforms from signals to spectra, like [Plan.Forward]. in and out
// must not overlap.
func (p *RealPlan[R, C]) Forward(s *gpu.Stream, out *gpu.Buffer[C], in *gpu.Buffer[R], work ...*gpu.Workspace) error {
	const op = "RealPlan.Forward"
	if p == nil || p.engine == nil {
		return notMade(op, "plan", "NewRealPlan")
	}
	if err := check(op, p.closed.Load(), out.Len(), p.spectrum, in.Len(), p.signal); err != nil {
		return err
	}
	if _, overlap := overlaps(out, p.spectrum.extent, in, p.signal.extent); overlap {
		return invalid(op, "out", "overlaps in; the results need memory of their own")
	}
	return failed(op, p.engine.run(s, forwardProgram, arguments[R]{out: vectors[R](out), realIn: in}, work))
}

// Inverse enqueues the transforms from spectra to signals, like [Plan.Inverse]. The
// imaginary parts of elements that are real for a real signal, such as element 0, are
// ignored along the last dimension. in keeps its contents.
func (p *RealPlan[R, C]) Inverse(s *gpu.Stream, out *gpu.Buffer[R], in *gpu.Buffer[C], work ...*gpu.Workspace) error {
	const op = "RealPlan.Inverse"
	if p == nil || p.engine == nil {
		return notMade(op, "plan", "NewRealPlan")
	}
	if err := check(op, p.closed.Load(), out.Len(), p.signal, in.Len(), p.spectrum); err != nil {
		return err
	}
	if _, overlap := overlaps(out, p.signal.extent, in, p.spectrum.extent); overlap {
		return invalid(op, "out", "overlaps in; the results need memory of their own")
	}
	return failed(op, p.engine.run(s, inverseProgram, arguments[R]{in: vectors[R](in), realOut: out}, work))
}

// Close frees the tables once the work that uses them is done. Closing again does nothing.
func (p *RealPlan[R, C]) Close() error {
	if p == nil || p.closed.Swap(true) {
		return nil
	}
	return p.engine.close()
}

// realForward adds transforms of real arrays: along the last dimension, then complex ones
// along the others.
func (b *builder) realForward(from, to arrays, scale float64) {
	last := len(from.shape) - 1
	var others []int
	for i := last - 1; i >= 0; i-- {
		if from.shape[i] > 1 {
			others = append(others, i)
		}
	}
	s := unscaled
	if len(others) == 0 {
		s.x = scale
	}
	n := from.shape[last]
	p, l, pairs, roots := b.realPass(n, from, to, s)
	if b.hostReal(hostForwardKernel, p, pairs, roots, input, output) {
		b.along(others, to, to, output, output, false, scale)
		return
	}
	if pairs, ok := from.pairs(); b.host && ok {
		b.program.pairs = true
		b.axis(n/2, side{input, 1}, side{output, to.strides[last]}, loopsBut(last, pairs, to), unscaled)
		b.levels(&p, loopsBut(last, to, to), nil)
		p.Tile = hostRows(&p, n/2)
		b.hostLaunch(launch{kernel: hostSplitKernel, roots: roots, to: output}, p, 0)
		b.along(others, to, to, output, output, false, scale)
		return
	}
	place := b.temporary(l.Total)
	line := side{place, l.Columns}
	b.program.steps = append(b.program.steps, launch{kernel: realReadKernel, pass: p, lines: l, pairs: pairs, reading: reading{Length: n}, grid: l.grid(), from: input, to: place})
	b.axis(l.Points, line, line, l.loops(), unscaled)
	half := l.of(n/2 + 1)
	b.program.steps = append(b.program.steps, launch{kernel: realSplitKernel, pass: p, lines: half, pairs: pairs, roots: roots, grid: half.grid(), from: place, to: output})
	b.along(others, to, to, output, output, false, scale)
}

// realInverse is the inverse of realForward.
func (b *builder) realInverse(from, to arrays, scale float64) {
	last := len(from.shape) - 1
	var others []int
	for i := range last {
		if from.shape[i] > 1 {
			others = append(others, i)
		}
	}
	source := input
	if len(others) > 0 {
		packed, _ := Layout{}.resolve("", "", from.shape, from.batch)
		source = b.temporary(packed.extent)
		b.along(others, from, packed, input, source, true, 1)
		from = packed
	}
	s := unscaled
	s.x = scale
	n := to.shape[last]
	p, l, pairs, roots := b.realPass(n, from, to, s)
	if b.hostReal(hostInverseKernel, p, pairs, roots, source, output) {
		return
	}
	if pairs, ok := to.pairs(); b.host && ok {
		b.program.pairs = true
		packed, _ := Layout{}.resolve("", "", pairs.shape, pairs.batch)
		place := b.temporary(packed.extent)
		p.Out = 1
		b.levels(&p, loopsBut(last, from, packed), nil)
		p.Tile = hostRows(&p, n/2)
		b.hostLaunch(launch{kernel: hostMergeKernel, roots: roots, from: source, to: place}, p, 0)
		b.axis(n/2, side{place, 1}, side{output, 1}, loopsBut(last, packed, pairs), b.direction(true, true, true, scale))
		return
	}
	place := b.temporary(l.Total)
	line := side{place, l.Columns}
	b.program.steps = append(b.program.steps, launch{kernel: realMergeKernel, pass: p, lines: l, pairs: pairs, roots: roots, grid: l.grid(), from: source, to: place})
	b.axis(l.Points, line, line, l.loops(), b.direction(true, true, true, 1))
	b.program.steps = append(b.program.steps, launch{kernel: realWriteKernel, pass: p, lines: l, pairs: pairs, length: n, grid: l.grid(), from: place, to: output})
}

// pairs returns real arrays as arrays of complex numbers, which are pairs of neighbouring ones.
func (a arrays) pairs() (_ arrays, ok bool) {
	last := len(a.shape) - 1
	if a.shape[last]%2 != 0 || a.strides[last] != 1 || a.batch > 1 && a.dist%2 != 0 {
		return a, false
	}
	a.shape, a.strides = slices.Clone(a.shape), slices.Clone(a.strides)
	a.shape[last] /= 2
	a.dist /= 2
	for i := range last {
		if a.shape[i] > 1 && a.strides[i]%2 != 0 {
			return a, false
		}
		a.strides[i] /= 2
	}
	return a, true
}

// loopsBut returns the loops over the transforms along an axis.
func loopsBut(axis int, from, to arrays) []level {
	loops := []level{{Count: from.batch, In: from.dist, Out: to.dist}}
	for i, n := range from.shape {
		if i != axis {
			loops = append(loops, level{Count: n, In: from.strides[i], Out: to.strides[i]})
		}
	}
	return loops
}

// hostReal adds the launch that computes a real pass on the CPU, unless its transforms are
// too long for one.
func (b *builder) hostReal(k kernelName, p pass, pairs bool, roots int, from, to area) bool {
	n := int(p.N)
	if !b.host || !smooth(n) || n > b.limit(n, false) {
		return false
	}
	if k == hostInverseKernel {
		p.Sign = -1
	}
	b.radices(&p, hostRadices(n), p.Sign < 0)
	p.Tile = hostRows(&p, n)
	b.hostLaunch(launch{kernel: k, pairs: pairs, roots: roots, from: from, to: to}, p, n)
	return true
}

// realPass returns the pass along the last dimension, of complex numbers that are pairs of
// the n points if n is even, the lines for it, and the place of the roots of n points.
func (b *builder) realPass(n int, from, to arrays, s scaling) (p pass, l lines, pairs bool, roots int) {
	last := len(from.shape) - 1
	pairs = n%2 == 0
	points := n
	if pairs {
		points = n / 2
		roots = b.roots(n, points+1)
	}
	p = pass{N: int32(points), In: from.strides[last], Out: to.strides[last], Sign: s.sign, ScaleX: s.x, ScaleY: s.y}
	b.levels(&p, loopsBut(last, from, to), nil)
	return p, linesOf(&p, points), pairs, roots
}
