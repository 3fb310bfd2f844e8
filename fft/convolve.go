package fft

import (
	"errors"
	"math/bits"
	"sync/atomic"
	"unsafe"

	"quern.dev/gpu"
)

// Element is the type of the numbers that convolutions and shifts accept.
type Element interface {
	float32 | float64 | complex64 | complex128
}

// ConvolutionDesc describes a convolution or a correlation of signals with kernels.
type ConvolutionDesc struct {
	Signal int // points of a signal
	Kernel int // points of a kernel

	// Batch is the number of signals, which follow each other. 0 means 1.
	Batch int

	// Kernels is the number of kernels, which follow each other: one for each signal, or 1
	// for all. 0 means 1.
	Kernels int

	// Circular takes signals and kernels as periodic. Both have the same length then, and
	// so have the results.
	Circular bool

	// Correlate computes correlations instead of convolutions.
	Correlate bool
}

// Results returns the number of points of each result: Signal if the convolution is
// circular, Signal+Kernel-1 if it is linear.
func (d ConvolutionDesc) Results() int {
	if d.Circular {
		return d.Signal
	}
	return d.Signal + d.Kernel - 1
}

// Convolution computes convolutions or correlations with Fourier transforms:
//
//	convolution:           out[k] = sum over j of a[k-j] * b[j]
//	correlation, circular: out[k] = sum over j of a[k+j] * conj(b[j])
//	correlation, linear:   the same, for k-(Kernel-1) instead of k
//
// A linear correlation begins with the lag at which only the last point of the kernel and
// the first of the signal meet, as np.correlate(a, b, "full") does.
//
// The time is proportional to n*log(n) for n results, whatever the length of the kernel. For
// kernels of a few dozen points, computing the sums directly is faster.
//
// A Convolution is safe for concurrent use.
type Convolution[E Element] struct {
	desc    ConvolutionDesc
	batch   int
	kernels int
	single  *engine[float32]
	double  *engine[float64]
	closed  atomic.Bool
}

// NewConvolution returns a Convolution on dev. It waits until its tables are on the device.
// The caller closes it.
func NewConvolution[E Element](dev *gpu.Device, d ConvolutionDesc) (*Convolution[E], error) {
	const op = "NewConvolution"
	c := &Convolution[E]{desc: d, batch: max(1, d.Batch), kernels: max(1, d.Kernels)}
	const most = 1 << 29
	switch {
	case d.Signal < 1 || d.Signal > most:
		return nil, invalid(op, "Signal", "%d points are not from 1 to 2^29", d.Signal)
	case d.Kernel < 1 || d.Kernel > most:
		return nil, invalid(op, "Kernel", "%d points are not from 1 to 2^29", d.Kernel)
	case d.Circular && d.Signal != d.Kernel:
		return nil, invalid(op, "Kernel", "%d points, but a circular convolution needs as many as the signal, %d", d.Kernel, d.Signal)
	case d.Batch < 0 || c.batch > maxElements/d.Results():
		return nil, invalid(op, "Batch", "%d signals are not from 0 to 2^40 points in all", d.Batch)
	case c.kernels != 1 && c.kernels != c.batch || d.Kernels < 0:
		return nil, invalid(op, "Kernels", "%d kernels for %d signals; there must be as many, or 1", d.Kernels, c.batch)
	}
	var e E
	var err error
	var b *builder
	switch any(e).(type) {
	case float32:
		b = newBuilder(dev, 8)
		c.single, err = newEngine[float32](dev, b, nil, b.convolution(d, c.batch, c.kernels, true))
	case complex64:
		b = newBuilder(dev, 8)
		c.single, err = newEngine[float32](dev, b, nil, b.convolution(d, c.batch, c.kernels, false))
	case float64:
		b = newBuilder(dev, 16)
		c.double, err = newEngine[float64](dev, b, nil, b.convolution(d, c.batch, c.kernels, true))
	default:
		b = newBuilder(dev, 16)
		c.double, err = newEngine[float64](dev, b, nil, b.convolution(d, c.batch, c.kernels, false))
	}
	if err != nil {
		return nil, failed(op, err)
	}
	return c, nil
}

// Run enqueues the convolution of the signals a with the kernels b. out must not overlap b;
// it may be a if the convolution is circular.
func (c *Convolution[E]) Run(s *gpu.Stream, out, a, b *gpu.Buffer[E], work ...*gpu.Workspace) error {
	const op = "Convolution.Run"
	if c == nil || c.single == nil && c.double == nil {
		return notMade(op, "convolution", "NewConvolution")
	}
	d := c.desc
	switch {
	case c.closed.Load():
		return invalid(op, "convolution", "it is closed")
	case a.Len() < d.Signal*c.batch:
		return invalid(op, "a", "%d elements; the signals have %d", a.Len(), d.Signal*c.batch)
	case b.Len() < d.Kernel*c.kernels:
		return invalid(op, "b", "%d elements; the kernels have %d", b.Len(), d.Kernel*c.kernels)
	case out.Len() < d.Results()*c.batch:
		return invalid(op, "out", "%d elements; the results have %d", out.Len(), d.Results()*c.batch)
	}
	results := d.Results() * c.batch
	if _, overlap := overlaps(out, results, b, d.Kernel*c.kernels); overlap {
		return invalid(op, "out", "overlaps b, the kernels")
	}
	if distance, overlap := overlaps(out, results, a, d.Signal*c.batch); overlap && (distance != 0 || !d.Circular) {
		return invalid(op, "out", "overlaps a, the signals; they may be the same elements if the convolution is circular")
	}
	if c.single != nil {
		return failed(op, c.single.run(s, 0, operands[float32](out, a, b), work))
	}
	return failed(op, c.double.run(s, 0, operands[float64](out, a, b), work))
}

// operands returns the buffers as real or complex ones.
func operands[T Float, E Element](out, a, b *gpu.Buffer[E]) arguments[T] {
	var e E
	if unsafe.Sizeof(e) == unsafe.Sizeof(T(0)) {
		return arguments[T]{realOut: reals[T](out), realIn: reals[T](a), realSecond: reals[T](b)}
	}
	return arguments[T]{out: vectors[T](out), in: vectors[T](a), second: vectors[T](b)}
}

// reals returns b, whose elements are of type T.
func reals[T Float, E Element](b *gpu.Buffer[E]) *gpu.Buffer[T] {
	return any(b).(*gpu.Buffer[T])
}

// Close frees the tables once the work that uses them is done. Closing again does nothing.
func (c *Convolution[E]) Close() error {
	if c == nil || c.closed.Swap(true) {
		return nil
	}
	return errors.Join(c.single.close(), c.double.close())
}

// convolution returns the program of a convolution.
func (b *builder) convolution(d ConvolutionDesc, batch, kernels int, real bool) *program {
	program := b.begin()
	n := d.Signal
	if !d.Circular {
		n = paddedLength(d.Results())
	}
	flipped, sign := reading{Length: d.Kernel}, 1.
	if d.Correlate {
		flipped.Flip, sign = d.Kernel, -1
		if d.Circular {
			flipped.Flip++
		}
	}
	pairs := real && n%2 == 0
	points, roots := n, 0
	if pairs {
		points = n / 2
		roots = b.roots(n, points+1)
	}
	signals := lines{Points: points, Columns: 1, Total: points * batch}
	others := lines{Points: points, Columns: 1, Total: points * kernels}
	x, y := b.temporary(signals.Total), b.temporary(others.Total)
	read := func(from, to area, l lines, r reading, sign float64) {
		step := launch{kernel: padReadKernel, lines: l, reading: r, sign: sign, grid: l.grid(), from: from, to: to}
		if real {
			step.kernel, step.pairs = realReadKernel, pairs
			step.pass = adjacent(points, l.Total/points, r.Length, 0)
		}
		b.program.steps = append(b.program.steps, step)
		line := side{to, 1}
		b.axis(points, line, line, l.loops(), unscaled)
	}
	read(input, x, signals, reading{Length: d.Signal}, 1)
	read(second, y, others, flipped, sign)
	product := launch{kernel: multiplySpectraKernel, lines: signals, total: others.Total, grid: signals.grid(), from: y, to: x}
	if pairs {
		product.kernel, product.roots, product.grid = multiplyPairsKernel, roots, signals.of(points/2+1).grid()
	}
	b.program.steps = append(b.program.steps, product)
	line := side{x, 1}
	b.axis(points, line, line, signals.loops(), b.direction(true, true, true, 1/float64(n)))
	write := launch{kernel: padWriteKernel, lines: signals, length: d.Results(), total: d.Results() * batch, from: x, to: output}
	write.grid = lines{Total: write.total}.grid()
	if real {
		write.kernel, write.pairs, write.grid = realWriteKernel, pairs, signals.grid()
		write.pass = adjacent(points, batch, 0, d.Results())
	}
	b.program.steps = append(b.program.steps, write)
	return program
}

// adjacent returns a pass of transforms that follow each other.
func adjacent(n, count, in, out int) pass {
	p := pass{N: int32(n), In: 1, Out: 1, Sign: 1, ScaleX: 1, ScaleY: 1}
	for i := range p.Levels {
		p.Levels[i].Count = 1
	}
	p.Levels[0] = level{Count: count, In: in, Out: out}
	return p
}

// paddedLength returns an even length of at least n whose transforms are fast.
func paddedLength(n int) int {
	m := max(2, 1<<bits.Len(uint(n-1)))
	for _, f := range []int{5, 6} { // eighths
		if m >= 16 && m/8*f >= n {
			return m / 8 * f
		}
	}
	return m
}
