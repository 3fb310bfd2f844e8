package culib

import (
	"context"
	"errors"
	"sync"
	"unsafe"

	"quern.dev/blas"
	"quern.dev/gpu"
	"quern.dev/internal/engine"
)

// Functions of cuFFT.
const (
	fftCreate = iota
	fftDestroy
	fftSetAutoAllocation
	fftMakePlanMany
	fftSetWorkArea
	fftSetStream
	fftExecC2C
	fftExecR2C
	fftExecC2R
	fftExecZ2Z
	fftExecD2Z
	fftExecZ2D
)

var fftFunctions = [...]string{
	fftCreate:            "cufftCreate",
	fftDestroy:           "cufftDestroy",
	fftSetAutoAllocation: "cufftSetAutoAllocation",
	fftMakePlanMany:      "cufftMakePlanMany64",
	fftSetWorkArea:       "cufftSetWorkArea",
	fftSetStream:         "cufftSetStream",
	fftExecC2C:           "cufftExecC2C",
	fftExecR2C:           "cufftExecR2C",
	fftExecC2R:           "cufftExecC2R",
	fftExecZ2Z:           "cufftExecZ2Z",
	fftExecD2Z:           "cufftExecD2Z",
	fftExecZ2D:           "cufftExecZ2D",
}

// transformTypes gives the type (cufftType), the function and the direction of a transform, in
// single and in double precision. Transforms of real numbers have one direction.
var transformTypes = [...]struct {
	kind, function [2]int
	direction      int
}{
	engine.Forward:     {[2]int{0x29, 0x69}, [2]int{fftExecC2C, fftExecZ2Z}, -1},
	engine.Inverse:     {[2]int{0x29, 0x69}, [2]int{fftExecC2C, fftExecZ2Z}, 1},
	engine.RealForward: {[2]int{0x2a, 0x6a}, [2]int{fftExecR2C, fftExecD2Z}, 0},
	engine.RealInverse: {[2]int{0x2c, 0x6c}, [2]int{fftExecC2R, fftExecZ2D}, 0},
}

// transform is a plan of cuFFT.
type transform struct {
	dev      *device
	lib      *library
	op       string
	function int
	sign     int

	double bool
	factor float64
	floats int

	mu                   sync.Mutex // held while work is queued
	plan                 int32      // cufftHandle
	made                 bool
	memory               int
	out, in, work, queue uintptr // of the current call
	run                  func() error
}

// NewTransform implements engine.Provider.
func (Provider) NewTransform(d *gpu.Device, t engine.Transform) (engine.Transformer, error) {
	x, l, err := libraryOf(d, engine.FFT)
	if err != nil {
		return nil, own(t.Op, err)
	}
	double := 0
	if t.Double {
		double = 1
	}
	types := &transformTypes[t.Kind]
	f := &transform{dev: x, lib: l, op: t.Op, function: types.function[double], sign: types.direction, double: t.Double, factor: t.Factor, floats: t.Floats}
	f.run = f.do
	err = d.Native(func() error {
		if err := f.prepare(&t, types.kind[double]); err != nil {
			return errors.Join(err, f.destroy())
		}
		return nil
	})
	if err != nil {
		return nil, own(t.Op, err)
	}
	x.mu.Lock()
	defer x.mu.Unlock()
	x.plans[f] = struct{}{}
	return f, nil
}

// prepare makes the plan, which allocates no memory of its own.
func (f *transform) prepare(t *engine.Transform, kind int) error {
	l := f.lib
	if err := l.call(fftCreate, uintptr(unsafe.Pointer(&f.plan))); err != nil {
		return err
	}
	f.made = true
	if err := l.call(fftSetAutoAllocation, uintptr(f.plan), 0); err != nil {
		return err
	}
	var n, in, out [3]int64
	for i := range t.Rank {
		n[i], in[i], out[i] = int64(t.Shape[i]), int64(t.In.Embed[i]), int64(t.Out.Embed[i])
	}
	var memory uint64
	err := l.call(fftMakePlanMany, uintptr(f.plan), uintptr(t.Rank), uintptr(unsafe.Pointer(&n)),
		uintptr(unsafe.Pointer(&in)), uintptr(t.In.Stride), uintptr(t.In.Dist),
		uintptr(unsafe.Pointer(&out)), uintptr(t.Out.Stride), uintptr(t.Out.Dist),
		uintptr(kind), uintptr(t.Batch), uintptr(unsafe.Pointer(&memory)))
	f.memory = int(memory)
	return err
}

// Bytes implements engine.Transformer.
func (f *transform) Bytes() int { return f.memory }

// Run implements engine.Transformer. The library does not multiply by a factor.
func (f *transform) Run(s *gpu.Stream, out, in, work *gpu.Buffer[byte]) error {
	if err := f.transform(s, out, in, work); err != nil || f.factor == 1 {
		return err
	}
	if f.double {
		return scale(s, f.factor, f.floats, out)
	}
	return scale(s, float32(f.factor), f.floats, out)
}

// scale multiplies the first n elements of a buffer, which is a cast one.
func scale[T blas.Float](s *gpu.Stream, factor T, n int, x *gpu.Buffer[byte]) error {
	return blas.Scal(s, factor, blas.Vector[T]{N: n, Inc: 1, Data: (*gpu.Buffer[T])(unsafe.Pointer(x))})
}

func (f *transform) transform(s *gpu.Stream, out, in, work *gpu.Buffer[byte]) error {
	n, err := gpu.OpenNative(s, f.lib.functions[f.function])
	if err != nil {
		return err
	}
	defer n.Close()
	f.mu.Lock()
	defer f.mu.Unlock()
	f.in, f.out, f.work, f.queue = gpu.Address(n, in, false), gpu.Address(n, out, true), gpu.Address(n, work, true), n.Stream()
	return own(f.op, n.Run(f.run))
}

// do queues the transforms.
func (f *transform) do() error {
	if !f.made {
		return &engine.Error{Library: f.lib.kind.String(), Reason: "the plan is closed", Err: gpu.ErrClosed}
	}
	l := f.lib
	if err := l.enqueue(fftSetStream, uintptr(f.plan), f.queue); err != nil {
		return err
	}
	if f.memory > 0 {
		if err := l.enqueue(fftSetWorkArea, uintptr(f.plan), f.work); err != nil {
			return err
		}
	}
	if f.sign == 0 {
		return l.enqueue(f.function, uintptr(f.plan), f.in, f.out)
	}
	return l.enqueue(f.function, uintptr(f.plan), f.in, f.out, uintptr(f.sign))
}

// Close waits for the device: the plan has tables in its memory.
func (f *transform) Close() error {
	d := f.dev.dev
	if err := d.Synchronize(context.Background()); errors.Is(err, gpu.ErrClosed) {
		return nil // closed with the device
	}
	f.dev.mu.Lock()
	delete(f.dev.plans, f)
	f.dev.mu.Unlock()
	f.mu.Lock()
	defer f.mu.Unlock()
	return own(f.op, d.Native(f.destroy))
}

func (f *transform) destroy() error {
	if !f.made {
		return nil
	}
	f.made = false
	return f.lib.call(fftDestroy, uintptr(f.plan))
}
