package suite

import (
	"context"
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"runtime"
	"sync"

	"quern.dev/bench/kernels"
	"quern.dev/gpu"
	"quern.dev/gpu/compiled"
)

// Size says how large a case is. Sizes between two of the constants are between them, in
// equal ratios.
type Size float64

const (
	Small Size = 0 // tests: small enough for the simulator
	CPU   Size = 1 // comparison on the CPU
	GPU   Size = 2 // comparison on a GPU: arrays are several times as large as its cache
)

// of returns the number for size z. Between two sizes it is a multiple of their greatest
// common divisor, so that kernels which need multiples of a tile get them.
func (z Size) of(small, cpu, gpu int) int {
	lo, hi, share := small, cpu, float64(z)
	if z > CPU {
		lo, hi, share = cpu, gpu, float64(z-CPU)
	}
	if share <= 0 || lo == hi {
		return lo
	}
	if share >= 1 {
		return hi
	}
	unit := divisor(lo, hi)
	if lo <= 0 || hi <= 0 {
		return max(lo, hi)
	}
	n := float64(lo) * math.Pow(float64(hi)/float64(lo), share)
	return max(1, int(math.Round(n/float64(unit)))) * unit
}

// divisor returns the greatest common divisor.
func divisor(a, b int) int {
	for b != 0 {
		a, b = b, a%b
	}
	return max(1, a)
}

// Unit is the unit of the work of a launch.
type Unit string

const (
	Bytes Unit = "GB/s"    // minimum to move: each input read once, each output written once
	Flops Unit = "GFLOP/s" // a multiply-add counts as two
	Items Unit = "G/s"     // what counts depends on the kernel
)

// Case is a kernel with the data of a launch.
type Case struct {
	Name   string // also the name of the CUDA C function
	Kernel kernels.Pair
	Grid   gpu.Grid
	Args   []any // in the order of the kernel's parameters; an *Array for a slice

	Unit Unit
	Work float64 // per launch

	TwinShared int // bytes of dynamic shared memory for the CUDA C function

	// ByHand computes the outputs of the kernel from Host of the arrays and stores them in
	// Hand.
	ByHand func()
}

// Entry creates a case in several sizes.
type Entry struct {
	Name string
	New  func(Size) *Case
}

// All lists all entries.
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

	{"hotspot", hotspot},
	{"srad1", srad1},
	{"srad2", srad2},
	{"pathfinder", pathfinder},
	{"needle", needle},
	{"lud", lud},
	{"bfs", bfs},
	{"kmeans", kmeans},
	{"lavamd", lavaMD},
	{"backprop", backprop},
	{"fdtd", fdtd},
	{"stencil27", stencil27},
	{"jacobi", jacobi},
	{"atax1", atax1},
	{"atax2", atax2},
	{"gemm64", gemm64},
	{"dgemm", dgemm},
	{"inv8", inv8},
	{"lu4", lu4},
	{"fft256", fft256},
	{"spmv_warp", spmvWarp},
	{"particles_aos", particlesAOS},
	{"particles_soa", particlesSOA},
	{"lorenz", lorenz},

	{"pagerank", pagerank},
	{"triangles", triangles},
	{"relax", relax},
	{"knapsack", knapsack},
	{"fold", fold},
	{"shift_and", shiftAnd},
	{"kmers", kmers},
	{"binomial", binomial},
	{"asian", asian},
	{"lennard_jones", lennardJones},
	{"ising", ising},
	{"wave", wave},
	{"bilateral", bilateral},
	{"median", median},
	{"yuv", yuv},
	{"integral", integral},
	{"aes", aes},
	{"sha3", sha3},
	{"ell", ell},
	{"bsr", bsr},
	{"softmax", softmax},
	{"layer_norm", layerNorm},
	{"attention", attention},
	{"dot_int8", dotInt8},
	{"gelu", gelu},
	{"embedding", embedding},
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

// Reset restores the arrays that kernels write: with Host if the kernel also reads them,
// otherwise with poison.
func (b *Bound) Reset() error {
	for _, a := range b.arrays() {
		if err := a.reset(b.stream); err != nil {
			return fmt.Errorf("%s: %w", b.Name, err)
		}
	}
	return nil
}

// Launch launches one of the case's kernels, or another kernel with the same parameters.
func (b *Bound) Launch(k *gpu.Kernel) error { return k.Launch(b.stream, b.Grid, b.args...) }

// LaunchTwin launches a kernel whose int has 32 bits.
func (b *Bound) LaunchTwin(k *gpu.Kernel) error {
	return k.Launch(b.stream, b.Grid, twinArgs(b.args)...)
}

// Compare compares the outputs on the device with the results of ByHand.
func (b *Bound) Compare(ctx context.Context) error {
	return b.each(func(a Argument) error { return a.compare(ctx, b.stream) })
}

// Keep makes the current outputs on the device the expected ones for Compare.
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

// TwinParams returns the parameters of the CUDA C function.
func (c *Case) TwinParams() []compiled.Param {
	params := c.Kernel.Checked.Params()
	for i := range params {
		if p := &params[i]; p.Type == "int" && p.Kind == compiled.Scalar {
			p.Type, p.Size = "int32", 4
		}
	}
	return params
}

// twinArgs returns the arguments of the CUDA C function.
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

// random returns an array of n elements from f.
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

// between returns a source of random numbers in [lo, hi).
func between(lo, hi float32) func(r *rand.Rand) float32 {
	return func(r *rand.Rand) float32 { return lo + (hi-lo)*r.Float32() }
}

func ceilDiv(a, b int) int { return (a + b - 1) / b }
