// Command oracle compares the results of the libraries for random inputs with those of NumPy and
// SciPy, and of CuPy if there is a GPU.
//
//	CGO_ENABLED=0 go build -o .gpu/oracle ./bench/libs/oracle
//	.gpu/oracle [-device cuda] [-python python3] [-rounds 3] [-seed 1] [library ...]
//
// Each case says, as a Python expression, what the result is and how far from it a device may be.
// check.py evaluates them with both libraries. The machine that runs the program needs no Go.
package main

import (
	"context"
	_ "embed"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"log"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"

	"quern.dev/gpu"
	"quern.dev/npy"
)

//go:embed check.py
var script string

// libraries are the functions that run the cases of each library.
var libraries = []struct {
	name string
	run  func(*suite)
}{{"algo", algoCases}, {"blas", blasCases}, {"fft", fftCases}, {"random", randomCases}, {"sparse", sparseCases}, {"filter", filterCases}}

func main() {
	log.SetFlags(0)
	device := flag.String("device", "", "the device; the best one by default")
	python := flag.String("python", "python3", "the Python interpreter")
	rounds := flag.Int("rounds", 3, "how many random inputs each case has")
	seed := flag.Uint64("seed", 1, "the seed of the inputs")
	most := flag.Int("elements", 1<<16, "the most elements of an input")
	verbose := flag.Bool("v", false, "print the distance and the bound of each case")
	flag.Parse()
	if err := compare(context.Background(), *device, *python, *rounds, *most, *seed, *verbose, flag.Args()); err != nil {
		log.Fatal(err)
	}
}

func compare(ctx context.Context, device, python string, rounds, most int, seed uint64, verbose bool, names []string) (err error) {
	dev, err := gpu.Open(gpu.Config{Device: device})
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, dev.Close()) }()
	fmt.Println(dev.Name())
	folder, err := os.MkdirTemp("", "oracle")
	if err != nil {
		return err
	}
	defer os.RemoveAll(folder)
	for _, l := range libraries {
		if len(names) > 0 && !slices.Contains(names, l.name) {
			continue
		}
		for round := range rounds {
			file := filepath.Join(folder, l.name+".npz")
			q := &suite{ctx: ctx, s: dev.DefaultStream(), rng: rand.New(rand.NewPCG(seed, uint64(round))), most: most}
			if err := q.write(file, l.run); err != nil {
				return fmt.Errorf("%s: %w", l.name, err)
			}
			check := exec.CommandContext(ctx, python, "-c", script, file)
			if verbose {
				check.Args = append(check.Args, "-v")
			}
			check.Stdout, check.Stderr = os.Stdout, os.Stderr
			if failed := check.Run(); failed != nil {
				err = errors.Join(err, fmt.Errorf("%s, seed %d, round %d: %w", l.name, seed, round, failed))
			}
		}
	}
	return err
}

// suite runs the cases of a library. After an error it does nothing.
type suite struct {
	ctx     context.Context
	s       *gpu.Stream
	rng     *rand.Rand
	most    int
	archive *npy.ArchiveWriter
	cases   []*test
	close   []func() error
	err     error
}

// write runs the cases, and writes them with their arrays to a file.
func (q *suite) write(name string, run func(*suite)) error {
	f, err := os.Create(name)
	if err != nil {
		return err
	}
	defer f.Close()
	q.archive = npy.NewArchiveWriter(f)
	run(q)
	for _, c := range q.close {
		q.err = errors.Join(q.err, c())
	}
	text, err := json.Marshal(q.cases)
	if err != nil {
		return err
	}
	q.err = errors.Join(q.err, npy.Add(q.archive, "cases", npy.Array[uint8]{Shape: []int{len(text)}, Data: text}))
	return errors.Join(q.err, q.archive.Close(), f.Close())
}

// test is a case. Want, Bound and Got are Python expressions of its arrays; see check.py.
type test struct {
	Name, Want, Bound string
	Got               string // "got" unless something is computed of the outputs
	Host              bool   // whether only NumPy and SciPy can evaluate it

	q     *suite
	saves []func() error
}

// test adds a case. A bound of "0" means that all bits are the same, apart from those of NaNs.
func (q *suite) test(name, want, bound string) *test {
	t := &test{Name: name, Want: want, Bound: bound, Got: "got", q: q}
	q.cases = append(q.cases, t)
	return t
}

// of sets the expression that is compared.
func (t *test) of(got string) *test {
	t.Got = got
	return t
}

// onHost says that only NumPy and SciPy have what the expressions call.
func (t *test) onHost() *test {
	t.Host = true
	return t
}

// array adds an array of the case.
func array[T npy.Element](t *test, name string, x []T, shape ...int) {
	if t.q.err != nil {
		return
	}
	if len(shape) == 0 {
		shape = []int{len(x)}
	}
	t.q.err = npy.Add(t.q.archive, fmt.Sprintf("%d/%s", len(t.q.cases)-1, name), npy.Array[T]{Shape: shape, Data: x})
}

// input adds an array, and uploads it.
func input[T npy.Element](t *test, name string, x []T, shape ...int) *gpu.Buffer[T] {
	array(t, name, x, shape...)
	if t.q.err != nil {
		return nil
	}
	b, err := gpu.Upload(t.q.s, x)
	t.q.err = err
	t.q.close = append(t.q.close, b.Close)
	return b
}

// output returns a buffer for an array of the case, which has the given shape.
func output[T npy.Element](t *test, name string, shape ...int) *gpu.Buffer[T] {
	n := 1
	for _, x := range shape {
		n *= x
	}
	if t.q.err != nil {
		return nil
	}
	b, err := gpu.Alloc[T](t.q.s.Device(), n)
	if err == nil {
		err = gpu.Zero(t.q.s, b)
	}
	t.q.err = err
	t.q.close = append(t.q.close, b.Close)
	save(t, name, b, shape...)
	return b
}

// save adds a buffer to the case after it has run.
func save[T npy.Element](t *test, name string, b *gpu.Buffer[T], shape ...int) {
	t.saves = append(t.saves, func() error {
		x := make([]T, b.Len())
		if err := gpu.Download(t.q.ctx, t.q.s, x, b); err != nil {
			return err
		}
		array(t, name, x, shape...)
		return nil
	})
}

// run runs the case.
func (t *test) run(f func() error) {
	if t.q.err != nil {
		return
	}
	err := f()
	for _, save := range t.saves {
		if err == nil {
			err = save()
		}
	}
	if err != nil {
		t.q.err = errors.Join(t.q.err, fmt.Errorf("%s: %w", t.Name, err))
	}
}

// size returns a random number from 1 to most. Small numbers are as likely as large ones.
func (q *suite) size(most int) int {
	n := 1
	for n < most {
		n *= 2
	}
	return 1 + q.rng.IntN(max(1, min(most, n>>q.rng.IntN(max(1, bitsOf(n))))))
}

func bitsOf(n int) int { return len(fmt.Sprintf("%b", n)) - 1 }

// number are the types of random inputs.
type number interface {
	~int8 | ~int16 | ~int32 | ~int64 | ~uint8 | ~uint16 | ~uint32 | ~uint64 | ~float32 | ~float64
}

// between returns n random numbers from low to high.
func between[T number](q *suite, n int, low, high float64) []T {
	x := make([]T, n)
	for i := range x {
		x[i] = T(low + (high-low)*q.rng.Float64())
	}
	return x
}

// complexes returns n random complex numbers.
func complexes[C complex64 | complex128](q *suite, n int) []C {
	x := make([]C, n)
	for i := range x {
		x[i] = C(complex(q.rng.NormFloat64(), q.rng.NormFloat64()))
	}
	return x
}

// replace puts the values of pairs for their names in an expression.
func replace(expression string, pairs ...string) string {
	return strings.NewReplacer(pairs...).Replace(expression)
}
