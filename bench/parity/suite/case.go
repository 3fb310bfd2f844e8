package suite

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"runtime"
	"sync"

	"quern.dev/bench/kernels"
	"quern.dev/gpu"
	"quern.dev/gpu/compiled"
)

// Size says what a case is for.
type Size int

const (
	Small Size = iota // tests: small enough for the simulator
	CPU               // a comparison on the CPU
	GPU               // a comparison on a GPU: arrays are several times its cache
)

// of chooses one of the numbers.
func (z Size) of(small, cpu, gpu int) int { return [...]int{small, cpu, gpu}[z] }

// Unit is that of the work of a launch.
type Unit string

const (
	Bytes Unit = "GB/s"    // that must move: each input read once, each output written once
	Flops Unit = "GFLOP/s" // a multiplication and an addition count as two
	Items Unit = "G/s"     // what is counted depends on the kernel
)

// Case is a kernel with the data of a launch.
type Case struct {
	Name   string // also that of the CUDA C function
	Kernel kernels.Pair
	Grid   gpu.Grid
	Args   []any // in the order of the kernel's parameters; an Array for a slice

	Unit Unit
	Work float64 // of a launch

	TwinShared int // bytes of dynamic shared memory that the CUDA C function needs

	// ByHand computes from the arrays' Host what the kernel writes to the
	// outputs, into their Hand.
	ByHand func()
}

// Entry is a case that can be made in several sizes.
type Entry struct {
	Name string
	New  func(Size) *Case
}

// All is the whole set.
var All = []Entry{
	{"saxpy", saxpy},
	{"transpose", transpose},
	{"reduce", reduce},
	{"histogram", histogram},
	{"stencil", stencil},
	{"convolve", convolve},
	{"life", life},
	{"lbm", lbm},
	{"rotate", rotate},
	{"spmv", spmv},
	{"block_scan", blockScan},
	{"bitonic_sort", bitonicSort},
	{"align", align},
	{"fft", fft},
	{"tile_matmul", tileMatmul},
	{"register_matmul", registerMatmul},
	{"tensor_matmul", tensorMatmul},
	{"nbody", nbody},
	{"mandelbrot", mandelbrot},
	{"black_scholes", blackScholes},
	{"pi", pi},
	{"sha256", sha256},
	{"chacha20", chacha20},
}

// Bound is a case whose arrays are on a device.
type Bound struct {
	*Case
	stream *gpu.Stream
	args   []any
}

// Bind uploads the arrays to the device of a stream.
func (c *Case) Bind(s *gpu.Stream) (*Bound, error) {
	b := &Bound{Case: c, stream: s}
	for i, arg := range c.Args {
		if a, ok := arg.(Argument); ok {
			buffer, err := a.bind(s)
			if err != nil {
				return nil, errors.Join(fmt.Errorf("%s, argument %d: %w", c.Name, i, err), b.Close())
			}
			arg = buffer
		}
		b.args = append(b.args, arg)
	}
	return b, nil
}

// Close frees the arrays on the device.
func (b *Bound) Close() error {
	var errs []error
	for _, a := range b.arrays() {
		errs = append(errs, a.release())
	}
	return errors.Join(errs...)
}

func (c *Case) arrays() []Argument {
	var all []Argument
	for _, arg := range c.Args {
		if a, ok := arg.(Argument); ok {
			all = append(all, a)
		}
	}
	return all
}

// Reset gives the arrays that kernels write their first contents: those of Host
// where the kernel reads them too, otherwise poison.
func (b *Bound) Reset() error {
	for _, a := range b.arrays() {
		if err := a.reset(b.stream); err != nil {
			return fmt.Errorf("%s: %w", b.Name, err)
		}
	}
	return nil
}

// Launch launches one of the case's kernels, or another with the same
// parameters.
func (b *Bound) Launch(k *gpu.Kernel) error { return k.Launch(b.stream, b.Grid, b.args...) }

// LaunchTwin launches a kernel that takes int as 32 bits.
func (b *Bound) LaunchTwin(k *gpu.Kernel) error {
	return k.Launch(b.stream, b.Grid, twinArgs(b.args)...)
}

// Compare compares the outputs on the device with what ByHand has computed.
func (b *Bound) Compare(ctx context.Context) error {
	return b.each(func(a Argument) error { return a.compare(ctx, b.stream) })
}

// Keep takes the outputs on the device for the right ones: the next Compare
// compares with them.
func (b *Bound) Keep(ctx context.Context) error {
	return b.each(func(a Argument) error { return a.keep(ctx, b.stream) })
}

func (b *Bound) each(f func(Argument) error) error {
	for i, arg := range b.Case.Args {
		if a, ok := arg.(Argument); ok {
			if err := f(a); err != nil {
				return fmt.Errorf("%s, argument %d: %w", b.Name, i, err)
			}
		}
	}
	return nil
}

// TwinParams are the parameters of the CUDA C function.
func (c *Case) TwinParams() []compiled.Param {
	params := c.Kernel.Checked.Params()
	for i := range params {
		if p := &params[i]; p.Type == "int" && p.Kind == compiled.Scalar {
			p.Type, p.Size = "int32", 4
		}
	}
	return params
}

// twinArgs are the arguments of the CUDA C function.
func twinArgs(args []any) []any {
	out := make([]any, len(args))
	for i, arg := range args {
		if v, ok := arg.(int); ok {
			arg = int32(v)
		}
		out[i] = arg
	}
	return out
}

// random fills an array of n elements.
func random[T any](n int, f func(r *rand.Rand) T) []T {
	v := make([]T, n)
	workers := runtime.GOMAXPROCS(0)
	var wg sync.WaitGroup
	for w := range workers {
		wg.Go(func() {
			r := rand.New(rand.NewPCG(rand.Uint64(), rand.Uint64()))
			for i := w * n / workers; i < (w+1)*n/workers; i++ {
				v[i] = f(r)
			}
		})
	}
	wg.Wait()
	return v
}

// between returns a source of numbers in a range.
func between(lo, hi float32) func(r *rand.Rand) float32 {
	return func(r *rand.Rand) float32 { return lo + (hi-lo)*r.Float32() }
}

func ceilDiv(a, b int) int { return (a + b - 1) / b }
