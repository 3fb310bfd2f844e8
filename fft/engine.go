package fft

import (
	"errors"
	"fmt"
	"slices"
	"sync"
	"unsafe"

	"quern.dev/gpu"
	engines "quern.dev/internal/engine"
	"quern.dev/kernel"
)

// vendorTransforms is the transforms of a plan by the library of the device's vendor. They are
// made when they are first needed.
type vendorTransforms[T Float] struct {
	op               [2]string // by program
	kind             [2]engines.TransformKind
	shape            []int // of the signal
	signal, spectrum arrays
	factor           [2]float64

	mu   sync.Mutex
	made [2]*vendorTransform
}

// vendorTransform is a transform of the library, and what Quern does around it. The library
// overwrites the spectra of inverse real transforms, so they are copied; and it multiplies only
// results without gaps by a factor.
type vendorTransform struct {
	engines.Transformer
	copied        int      // elements of the copy of the spectra
	before, after []launch // passes that copy spectra with gaps, and that multiply
}

func newVendorTransforms[T Float](name string, isReal bool, d Desc, signal, spectrum arrays) *vendorTransforms[T] {
	f := &vendorTransforms[T]{
		op:    [2]string{"fft." + name + ".Forward", "fft." + name + ".Inverse"},
		kind:  [2]engines.TransformKind{engines.Forward, engines.Inverse},
		shape: slices.Clone(d.Shape), signal: signal, spectrum: spectrum,
		factor: [2]float64{d.Norm.scale(d.points(), false), d.Norm.scale(d.points(), true)},
	}
	if isReal {
		f.kind = [2]engines.TransformKind{engines.RealForward, engines.RealInverse}
	}
	return f
}

// sides returns the arrays that a program reads and writes.
func (f *vendorTransforms[T]) sides(which int) (from, to arrays) {
	if which == forwardProgram {
		return f.signal, f.spectrum
	}
	return f.spectrum, f.signal
}

// class returns the class of the transforms for measurements.
func (f *vendorTransforms[T]) class(which int) engines.Class {
	from, to := f.sides(which)
	n := [...]int{
		int(f.kind[which]), int(unsafe.Sizeof(T(0))), 0, 0, 0, engines.Size(f.signal.batch),
		from.strides[len(from.strides)-1], to.strides[len(to.strides)-1], engines.Size(from.extent), engines.Size(to.extent), 13: 0,
	}
	copy(n[2:5], f.shape)
	if f.factor[which] != 1 {
		n[10] = 1
	}
	return engines.Class{Operation: f.op[which], Library: engines.FFT, Numbers: n}
}

// transform returns the transform of a program, which is made on first use.
func (f *vendorTransforms[T]) transform(p engines.Provider, d *gpu.Device, which int) (*vendorTransform, error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	if t := f.made[which]; t != nil {
		return t, nil
	}
	t := new(vendorTransform)
	from, to := f.sides(which)
	b := newBuilder(d, 2*int(unsafe.Sizeof(T(0))))
	factor := f.factor[which]
	if f.kind[which] == engines.RealInverse {
		packed, err := Layout{}.resolve("", "", from.shape, from.batch)
		if err != nil {
			return nil, err
		}
		t.copied = packed.extent
		if !from.equal(packed) {
			t.before = b.scaled(from, packed, input, scratch, factor)
			from, factor = packed, 1
		}
	}
	desc := engines.Transform{
		Op: f.op[which], Kind: f.kind[which], Double: unsafe.Sizeof(T(0)) == 8, Rank: len(f.shape), Batch: f.signal.batch,
		In: layoutOf(from), Out: layoutOf(to), Factor: 1,
	}
	switch isReal := f.kind[which] == engines.RealInverse; {
	case factor == 1:
	case !to.hasGaps():
		desc.Factor, desc.Floats = factor, to.extent
		if !isReal {
			desc.Floats *= 2
		}
	case isReal:
		t.before = b.scaled(from, from, input, scratch, factor)
	default:
		t.after = b.scaled(to, to, output, output, factor)
	}
	copy(desc.Shape[:], f.shape)
	var err error
	if t.Transformer, err = p.NewTransform(d, desc); err != nil {
		return nil, err
	}
	f.made[which] = t
	return t, nil
}

// hasGaps reports whether there are elements between the first and the last one that belong to
// no array.
func (a arrays) hasGaps() bool {
	n := a.batch
	for _, x := range a.shape {
		n *= x
	}
	return a.overlaps || a.extent != n
}

// scaled returns the launches that copy arrays, multiplied by a factor: transforms of one point.
func (b *builder) scaled(from, to arrays, in, out area, factor float64) []launch {
	p := b.begin()
	loops := []level{{Count: from.batch, In: from.dist, Out: to.dist}}
	for i, n := range from.shape {
		loops = append(loops, level{Count: n, In: from.strides[i], Out: to.strides[i]})
	}
	// A distance between points that is not 1 makes threads take adjacent transforms.
	b.pass(1, side{in, from.extent + 1}, side{out, to.extent + 1}, loops, -1, 0, scaling{1, factor, factor})
	return p.steps
}

// layoutOf returns the layout of arrays.
func layoutOf(a arrays) engines.Layout {
	last := len(a.strides) - 1
	l := engines.Layout{Stride: a.strides[last], Dist: a.dist}
	l.Embed[0] = a.shape[0]
	for i := 1; i <= last; i++ {
		l.Embed[i] = a.strides[i-1] / a.strides[i]
	}
	return l
}

func (f *vendorTransforms[T]) close() error {
	if f == nil {
		return nil
	}
	f.mu.Lock()
	defer f.mu.Unlock()
	var errs []error
	for i, t := range f.made {
		if t != nil {
			errs = append(errs, t.Close())
			f.made[i] = nil
		}
	}
	return errors.Join(errs...)
}

// tryVendor computes the transforms with the library of the device's vendor if that is what the
// engine of the stream chooses. Otherwise done is false.
func (e *engine[T]) tryVendor(u engines.Chooser, s *gpu.Stream, which int, a arguments[T], work []*gpu.Workspace) (done bool, err error) {
	class := e.vendor.class(which)
	chosen, known, err := u.Choose(s, class)
	if !known {
		chosen, err = e.measure(u, s, which, a, class)
	}
	if err != nil || chosen != engines.Vendor {
		return err != nil, err
	}
	err = e.runVendor(u, s, which, a, engines.First(work))
	return !u.FallsBack(class, err), err
}

// measure lets the engine measure both implementations. The results go to temporary memory.
func (e *engine[T]) measure(u engines.Chooser, s *gpu.Stream, which int, a arguments[T], class engines.Class) (engines.Engine, error) {
	_, to := e.vendor.sides(which)
	size := int(unsafe.Sizeof(T(0)))
	if a.realOut == nil {
		size *= 2
	}
	instead := func(result *gpu.Buffer[byte]) arguments[T] {
		b := a
		if a.realOut != nil {
			b.realOut = engines.Elements[T](result)
		} else {
			b.out = engines.Elements[kernel.Vec2[T]](result)
		}
		return b
	}
	return u.Measure(s, class, fmt.Sprintf("%d transforms of %v", e.vendor.signal.batch, e.vendor.shape), engines.Trial{
		Bytes: to.extent * size,
		Check: func() error {
			_, err := e.vendor.transform(u.Provider(), s.Device(), which)
			return err
		},
		Own: func(s *gpu.Stream, result *gpu.Buffer[byte]) error {
			return e.runOwn(s, which, instead(result), nil)
		},
		Vendor: func(s *gpu.Stream, result *gpu.Buffer[byte]) error {
			return e.runVendor(u, s, which, instead(result), nil)
		},
	})
}

// runVendor enqueues the transforms of the library.
func (e *engine[T]) runVendor(u engines.Chooser, s *gpu.Stream, which int, a arguments[T], w *gpu.Workspace) error {
	t, err := e.vendor.transform(u.Provider(), s.Device(), which)
	if err != nil {
		return err
	}
	tmp, err := gpu.OpenScratch(s, []*gpu.Workspace{w})
	if err != nil {
		return err
	}
	defer tmp.Close()
	areas := [...]*gpu.Buffer[kernel.Vec2[T]]{input: a.in, output: a.out, scratch: nil}
	in, out := engines.Bytes(a.in), engines.Bytes(a.realOut)
	if a.realIn != nil {
		in = engines.Bytes(a.realIn)
	}
	if a.realOut == nil {
		out = engines.Bytes(gpu.ViewAs[T](tmp, a.out))
	}
	if t.copied > 0 {
		areas[scratch] = gpu.Take[kernel.Vec2[T]](tmp, t.copied)
		in = engines.Bytes(areas[scratch])
	}
	work := gpu.Take[byte](tmp, t.Bytes())
	if run, err := tmp.Ready(); !run {
		return err
	}
	if t.copied > 0 && t.before == nil {
		if err := copyFirst(s, areas[scratch], a.in); err != nil {
			return err
		}
	}
	for i := range t.before {
		l := &t.before[i]
		if err := LaunchTile(s, l.grid, l.pass, e.tables, areas[l.from], areas[l.to]); err != nil {
			return err
		}
	}
	if err := t.Run(s, out, in, work); err != nil {
		return err
	}
	for i := range t.after {
		l := &t.after[i]
		if err := LaunchTile(s, l.grid, l.pass, e.tables, areas[l.from], areas[l.to]); err != nil {
			return err
		}
	}
	return nil
}

// copyFirst copies as many elements as dst has.
func copyFirst[T any](s *gpu.Stream, dst, src *gpu.Buffer[T]) error {
	if src.Len() != dst.Len() {
		src = src.Slice(0, dst.Len())
	}
	return gpu.Copy(s, dst, src)
}
