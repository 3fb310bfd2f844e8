package fft

import (
	"context"
	"errors"
	"fmt"
	"sync/atomic"
	"unsafe"

	"quern.dev/gpu"
	engines "quern.dev/internal/engine"
	"quern.dev/kernel"
)

// Float is the type of real and imaginary parts.
type Float interface{ float32 | float64 }

// Complex is the type of the elements of a plan.
type Complex interface{ complex64 | complex128 }

// Plan computes complex transforms of one shape. It owns tables of roots of unity on its
// device.
//
// A Plan is safe for concurrent use. It keeps nothing between calls but its tables.
type Plan[C Complex] struct {
	dev              *gpu.Device
	signal, spectrum arrays
	single           *engine[float32] // for complex64
	double           *engine[float64] // for complex128
	closed           atomic.Bool
}

// NewPlan returns a plan for complex transforms on dev. It waits until its tables are on the
// device. The caller closes the plan.
func NewPlan[C Complex](dev *gpu.Device, d Desc) (*Plan[C], error) {
	var zero C
	return newPlan[C](newBuilder(dev, int(unsafe.Sizeof(zero))), dev, d)
}

func newPlan[C Complex](b *builder, dev *gpu.Device, d Desc) (*Plan[C], error) {
	const op = "NewPlan"
	batch, err := d.check(op)
	if err != nil {
		return nil, err
	}
	p := &Plan[C]{dev: dev}
	if p.signal, err = d.Signal.resolve(op, "Signal", d.Shape, batch); err != nil {
		return nil, err
	}
	if p.spectrum, err = d.Spectrum.resolve(op, "Spectrum", d.Shape, batch); err != nil {
		return nil, err
	}
	if err := checkPlaces(op, p.signal, p.spectrum); err != nil {
		return nil, err
	}
	forward := b.begin()
	b.complex(p.signal, p.spectrum, false, d.Norm.scale(d.points(), false))
	inverse := b.begin()
	b.complex(p.spectrum, p.signal, true, d.Norm.scale(d.points(), true))
	if b.size == 8 {
		p.single, err = newEngine(dev, b, newVendorTransforms[float32]("Plan", false, d, p.signal, p.spectrum), forward, inverse)
	} else {
		p.double, err = newEngine(dev, b, newVendorTransforms[float64]("Plan", false, d, p.signal, p.spectrum), forward, inverse)
	}
	if err != nil {
		return nil, failed(op, err)
	}
	return p, nil
}

// Forward enqueues the transforms from signals to spectra:
//
//	out[k] = scale * sum over j of in[j] * exp(-2*pi*i*j*k/n)
//
// in and out may be the same elements if Desc.Signal and Desc.Spectrum are the same layout.
// Otherwise they must not overlap, from their first element to their last. Parts of out that the layout leaves out keep their
// contents.
func (p *Plan[C]) Forward(s *gpu.Stream, out, in *gpu.Buffer[C], work ...*gpu.Workspace) error {
	const op = "Plan.Forward"
	if p == nil || p.single == nil && p.double == nil {
		return notMade(op, "plan", "NewPlan")
	}
	if err := p.check(op, out, p.spectrum, in, p.signal); err != nil {
		return err
	}
	return p.run(op, s, forwardProgram, out, in, work)
}

// Inverse enqueues the transforms from spectra to signals, with the other sign in the
// exponent. Otherwise it is like Forward.
func (p *Plan[C]) Inverse(s *gpu.Stream, out, in *gpu.Buffer[C], work ...*gpu.Workspace) error {
	const op = "Plan.Inverse"
	if p == nil || p.single == nil && p.double == nil {
		return notMade(op, "plan", "NewPlan")
	}
	if err := p.check(op, out, p.signal, in, p.spectrum); err != nil {
		return err
	}
	return p.run(op, s, inverseProgram, out, in, work)
}

func (p *Plan[C]) check(op string, out *gpu.Buffer[C], to arrays, in *gpu.Buffer[C], from arrays) error {
	if err := check(op, p.closed.Load(), out.Len(), to, in.Len(), from); err != nil {
		return err
	}
	switch d, overlap := overlaps(out, to.extent, in, from.extent); {
	case overlap && d != 0:
		return invalid(op, "out", "overlaps in; they must be the same elements or have none in common")
	case overlap && !to.equal(from):
		return invalid(op, "out", "in and out are the same buffer, but their layouts differ")
	}
	return nil
}

// overlaps returns the distance of the first elements of two buffers in bytes, and whether
// the first elements, as many as given, have memory in common.
func overlaps[A, B any](a *gpu.Buffer[A], elements int, b *gpu.Buffer[B], others int) (distance int, ok bool) {
	var x A
	var y B
	d, ok := gpu.Distance(a, b)
	return d, ok && d < elements*int(unsafe.Sizeof(x)) && -d < others*int(unsafe.Sizeof(y))
}

// notMade returns the error of a plan that is nil or the zero value.
func notMade(op, arg, by string) error { return invalid(op, arg, "it was not made by %s", by) }

// check returns an error if a plan is closed, or cannot use buffers of these lengths.
func check(op string, closed bool, out int, to arrays, in int, from arrays) error {
	switch {
	case closed:
		return invalid(op, "plan", "the plan is closed")
	case in < from.extent:
		return invalid(op, "in", "%d elements; the plan reads %d", in, from.extent)
	case out < to.extent:
		return invalid(op, "out", "%d elements; the plan writes %d", out, to.extent)
	case to.overlaps:
		return invalid(op, "out", "elements of the layout overlap; only what is read may overlap")
	default:
		return nil
	}
}

func (p *Plan[C]) run(op string, s *gpu.Stream, which int, out, in *gpu.Buffer[C], work []*gpu.Workspace) error {
	if p.single != nil {
		return failed(op, p.single.run(s, which, arguments[float32]{in: vectors[float32](in), out: vectors[float32](out)}, work))
	}
	return failed(op, p.double.run(s, which, arguments[float64]{in: vectors[float64](in), out: vectors[float64](out)}, work))
}

// Close frees the tables once the work that uses them is done. Closing again does nothing.
func (p *Plan[C]) Close() error {
	if p == nil || p.closed.Swap(true) {
		return nil
	}
	return errors.Join(p.single.close(), p.double.close())
}

// vectors returns b as a buffer of real and imaginary parts. The type parameter of a Buffer
// is that of its elements only, and complex numbers have the layout of a Vec2.
func vectors[T Float, C any](b *gpu.Buffer[C]) *gpu.Buffer[kernel.Vec2[T]] {
	return (*gpu.Buffer[kernel.Vec2[T]])(unsafe.Pointer(b))
}

const (
	forwardProgram = iota
	inverseProgram
)

// engine runs the programs of a plan with numbers of type T.
type engine[T Float] struct {
	tables   *gpu.Buffer[kernel.Vec2[T]]
	programs []*program
	vendor   *vendorTransforms[T] // nil if there are only Quern's kernels
}

func newEngine[T Float](dev *gpu.Device, b *builder, f *vendorTransforms[T], programs ...*program) (*engine[T], error) {
	if b.err != nil {
		return nil, b.err
	}
	tables := make([]kernel.Vec2[T], len(b.tables))
	for i, w := range b.tables {
		tables[i] = kernel.Vec2[T]{X: T(real(w)), Y: T(imag(w))}
	}
	s, err := dev.NewStream(context.Background())
	if err != nil {
		return nil, err
	}
	defer s.Close()
	e := &engine[T]{programs: programs, vendor: f}
	if e.tables, err = gpu.Upload(s, tables); err != nil {
		return nil, err
	}
	if err := s.Synchronize(context.Background()); err != nil {
		return nil, errors.Join(err, e.close())
	}
	return e, nil
}

func (e *engine[T]) close() error {
	if e == nil {
		return nil
	}
	return errors.Join(e.vendor.close(), e.tables.Close())
}

// maxAreas is the maximum number of areas of a program.
const maxAreas = 12

// arguments are the buffers of a call. A real transform has one of the real buffers, and
// not the complex one in its place.
type arguments[T Float] struct {
	in, out, second             *gpu.Buffer[kernel.Vec2[T]]
	realIn, realOut, realSecond *gpu.Buffer[T]
}

// real returns the real buffer for an area that is read.
func (a *arguments[T]) real(from area) *gpu.Buffer[T] {
	if from == second {
		return a.realSecond
	}
	return a.realIn
}

// run enqueues a program, or the transforms of another library that do the same.
func (e *engine[T]) run(s *gpu.Stream, which int, a arguments[T], work []*gpu.Workspace) error {
	if u := engines.Of(s); u != nil && e.vendor != nil {
		if done, err := e.tryVendor(u, s, which, a, work); done {
			return err
		}
	}
	return e.runOwn(s, which, a, work)
}

// runOwn enqueues a program.
func (e *engine[T]) runOwn(s *gpu.Stream, which int, a arguments[T], work []*gpu.Workspace) error {
	tmp, err := gpu.OpenScratch(s, work)
	if err != nil {
		return err
	}
	defer tmp.Close()
	p := e.programs[which]
	areas := [maxAreas]*gpu.Buffer[kernel.Vec2[T]]{input: a.in, output: a.out, second: a.second}
	if p.pairs {
		if a.realIn != nil {
			areas[input] = pairsOf(tmp, a.realIn)
		} else {
			areas[output] = pairsOf(tmp, a.realOut)
		}
	}
	for i, n := range p.scratch {
		areas[int(scratch)+i] = gpu.Take[kernel.Vec2[T]](tmp, n)
	}
	var host *gpu.Buffer[kernel.Vec2[T]]
	if p.host > 0 {
		host = gpu.Take[kernel.Vec2[T]](tmp, p.host)
	}
	if run, err := tmp.Ready(); !run {
		return err
	}
	for i := range p.steps {
		l := &p.steps[i]
		from, to := areas[l.from], areas[l.to]
		switch l.kernel {
		case tileKernel:
			err = LaunchTile(s, l.grid, l.pass, e.tables, from, to)
		case registersKernel:
			err = e.registers(s, l, from, to)
		case hostKernel:
			err = LaunchHost(s, l.grid, l.pass, l.tiles, e.tables, host, from, to)
		case hostForwardKernel:
			err = LaunchHostForward(s, l.grid, l.pass, l.tiles, l.pairs, l.roots, e.tables, host, a.realIn, to)
		case hostInverseKernel:
			err = LaunchHostInverse(s, l.grid, l.pass, l.tiles, l.pairs, l.roots, e.tables, host, from, a.realOut)
		case hostChirpKernel:
			err = LaunchHostChirp(s, l.grid, l.pass, l.tiles, l.chirps, l.forward, l.backward, e.tables, host, from, to)
		case hostSplitKernel:
			err = LaunchHostSplit(s, l.grid, l.pass, l.tiles, l.roots, e.tables, to)
		case hostMergeKernel:
			err = LaunchHostMerge(s, l.grid, l.pass, l.tiles, l.roots, e.tables, from, to)
		case chirpReadKernel:
			err = LaunchChirpRead(s, l.grid, l.pass, l.chirps, e.tables, from, to)
		case chirpMultiplyKernel:
			err = LaunchChirpMultiply(s, l.grid, l.chirps, e.tables, to)
		case chirpWriteKernel:
			err = LaunchChirpWrite(s, l.grid, l.pass, l.chirps, e.tables, from, to)
		case realReadKernel:
			err = LaunchRealRead(s, l.grid, l.pass, l.lines, l.pairs, l.reading, a.real(l.from), to)
		case realSplitKernel:
			err = LaunchRealSplit(s, l.grid, l.pass, l.lines, l.pairs, l.roots, e.tables, from, to)
		case realMergeKernel:
			err = LaunchRealMerge(s, l.grid, l.pass, l.lines, l.pairs, l.roots, e.tables, from, to)
		case realWriteKernel:
			err = LaunchRealWrite(s, l.grid, l.pass, l.lines, l.pairs, l.length, from, a.realOut)
		case padReadKernel:
			err = LaunchPadRead(s, l.grid, l.lines, l.reading, l.sign, from, to)
		case padWriteKernel:
			err = LaunchPadWrite(s, l.grid, l.lines, l.length, l.total, from, to)
		case multiplySpectraKernel:
			err = LaunchMultiplySpectra(s, l.grid, l.lines, l.total, to, from)
		case multiplyPairsKernel:
			err = LaunchMultiplyPairs(s, l.grid, l.lines, l.total, l.roots, e.tables, to, from)
		default:
			err = fmt.Errorf("unknown kernel %d", l.kernel)
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// pairsOf returns the pairs of neighbouring numbers of a buffer.
func pairsOf[T Float](tmp *gpu.Scratch, b *gpu.Buffer[T]) *gpu.Buffer[kernel.Vec2[T]] {
	if n := b.Len(); n%2 != 0 {
		b = b.Slice(0, n-1) // no signal of pairs has the last one
	}
	return gpu.ViewAs[kernel.Vec2[T]](tmp, b)
}

// registers launches registers32 or registers64.
func (e *engine[T]) registers(s *gpu.Stream, l *launch, from, to *gpu.Buffer[kernel.Vec2[T]]) error {
	if unsafe.Sizeof(T(0)) == 4 {
		return LaunchRegisters32(s, l.grid, l.pass, vectors[float32](e.tables), vectors[float32](from), vectors[float32](to))
	}
	return LaunchRegisters64(s, l.grid, l.pass, vectors[float64](e.tables), vectors[float64](from), vectors[float64](to))
}
