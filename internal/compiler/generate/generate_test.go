package generate_test

import (
	"bytes"
	"errors"
	"go/ast"
	"go/format"
	"go/parser"
	"go/token"
	"os"
	"os/exec"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"quern.dev/gpu/compiled"
	"quern.dev/internal/archive"
	"quern.dev/internal/compiler/frontend"
	"quern.dev/internal/compiler/generate"
	"quern.dev/internal/testmodule"
)

// text generates the files for one source text.
func text(t testing.TB, src string) (*generate.Output, error) {
	t.Helper()
	p, err := frontend.Text(t.Context(), "kernels.go", src)
	if err != nil {
		t.Fatal(err)
	}
	return generate.Package(p)
}

// launchers returns the declarations of the launchers in generated code, without their
// bodies.
func launchers(t *testing.T, code []byte) string {
	t.Helper()
	fset := token.NewFileSet()
	file, err := parser.ParseFile(fset, "quern_gen.go", code, parser.ParseComments)
	if err != nil {
		t.Fatal(err)
	}
	var b bytes.Buffer
	for _, d := range file.Decls {
		if fd, ok := d.(*ast.FuncDecl); ok && strings.HasPrefix(fd.Name.Name, "Launch") {
			fd.Body = nil
			if err := format.Node(&b, fset, fd); err != nil {
				t.Fatal(err)
			}
			b.WriteByte('\n')
		}
	}
	return b.String()
}

func TestLaunchers(t *testing.T) {
	tests := []struct {
		name string
		src  string
		want string
	}{
		{
			name: "numbers are parameters and slices are buffers; runs of one type are joined",
			src: `
//quern:kernel
func saxpy(t kernel.Thread, n int, a, b float32, x, y []float32, z []int32) {}
`,
			want: `// LaunchSaxpy runs saxpy on the grid g.
func LaunchSaxpy(s *gpu.Stream, g gpu.Grid, n int, a, b float32, x, y *gpu.Buffer[float32], z *gpu.Buffer[int32]) error
`,
		},
		{
			name: "a comment is carried over without directives",
			src: `
// blur makes it
// unsharp.
//
//   - slowly
//
//quern:kernel block=256
func blur(t kernel.Thread) {}
`,
			want: `// LaunchBlur runs blur on the grid g.
//
// blur makes it
// unsharp.
//
//   - slowly
func LaunchBlur(s *gpu.Stream, g gpu.Grid) error
`,
		},
		{
			name: "exported and unexported kernels have exported launchers",
			src: `
//quern:kernel
func Public(t kernel.Thread) {}

//quern:kernel
func private(t kernel.Thread) {}
`,
			want: `// LaunchPublic runs Public on the grid g.
func LaunchPublic(s *gpu.Stream, g gpu.Grid) error
// LaunchPrivate runs private on the grid g.
func LaunchPrivate(s *gpu.Stream, g gpu.Grid) error
`,
		},
		{
			name: "parameters that have the names of the launcher's own get others",
			src: `
//quern:kernel
func names(t kernel.Thread, s, g, l, err, gpu int32, s_ float32, quernNames, nil int8, kernel []uint8) {}
`,
			want: `// LaunchNames runs names on the grid g.
func LaunchNames(s *gpu.Stream, g gpu.Grid, s_, g_, l_, err_, gpu_ int32, s__ float32, quernNames_, nil_ int8, kernel *gpu.Buffer[uint8]) error
`,
		},
		{
			name: "parameters without a name are numbered",
			src: `
//quern:kernel
func unnamed(kernel.Thread, int32, []float32) {}

//quern:kernel
func blank(t kernel.Thread, _ int32, x []float32, _ float32) {}
`,
			want: `// LaunchUnnamed runs unnamed on the grid g.
func LaunchUnnamed(s *gpu.Stream, g gpu.Grid, arg0 int32, arg1 *gpu.Buffer[float32]) error
// LaunchBlank runs blank on the grid g.
func LaunchBlank(s *gpu.Stream, g gpu.Grid, arg0 int32, x *gpu.Buffer[float32], arg2 float32) error
`,
		},
		{
			name: "types keep their names, those of other packages too",
			src: `
type Pixel struct{ R, G, B uint8 }

type Level = int32

type Row []Pixel

//quern:kernel
func types(t kernel.Thread, Pixel Pixel, d kernel.Dim3, l Level, x []kernel.Dim3, r Row, a [3]float32) {}
`,
			want: `// LaunchTypes runs types on the grid g.
func LaunchTypes(s *gpu.Stream, g gpu.Grid, Pixel Pixel, d kernel.Dim3, l_ Level, x *gpu.Buffer[kernel.Dim3], r *gpu.Buffer[Pixel], a [3]float32) error
`,
		},
		{
			name: "generic kernels have one generic launcher",
			src: `
// scale multiplies.
//
//quern:kernel instantiate=float32,byte,kernel.Dim3
func scale[T any](t kernel.Thread, a T, x []T, d [2]T) {}
`,
			want: `// LaunchScale runs scale on the grid g.
//
// scale multiplies.
func LaunchScale[T float32 | uint8 | kernel.Dim3](s *gpu.Stream, g gpu.Grid, a T, x *gpu.Buffer[T], d [2]T) error
`,
		},
		{
			name: "type parameters have their own constraints, with the methods that are needed",
			src: `
type Length float64

func (l Length) Feet() float64 { return float64(l) / 0.3048 }

type Pair[A, B any] struct { First A; Second B }

//quern:kernel instantiate=Length:int8,Length:uint16
func two[L interface{ Feet() float64 }, N any](t kernel.Thread, x []Pair[L, N]) {}
`,
			want: `// LaunchTwo runs two on the grid g.
func LaunchTwo[L interface {
	interface{ Feet() float64 }
	Length
}, N int8 | uint16](s *gpu.Stream, g gpu.Grid, x *gpu.Buffer[Pair[L, N]]) error
`,
		},
		{
			name: "type parameters that have the names of the launcher's own keep them",
			src: `
//quern:kernel instantiate=int32:int8:uint8
func names[s, gpu, l any](t kernel.Thread, k s, x []gpu, err []l) {}
`,
			want: `// LaunchNames runs names on the grid g.
func LaunchNames[s int32, gpu int8, l uint8](s_ *gpu2.Stream, g gpu2.Grid, k_ s, x *gpu2.Buffer[gpu], err_ *gpu2.Buffer[l]) error
`,
		},
		{
			name: "a package that declares gpu and kernel itself",
			src: `
type gpu struct{ N int32 }

//quern:kernel
func own(t kernel.Thread, g gpu) {}
`,
			want: `// LaunchOwn runs own on the grid g.
func LaunchOwn(s *gpu2.Stream, g gpu2.Grid, g_ gpu) error
`,
		},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			out, err := text(t, "package filters\n\nimport \"quern.dev/kernel\"\n"+tt.src)
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(tt.want, launchers(t, out.Go)); diff != "" {
				t.Errorf("-want +got:\n%s", diff)
			}
		})
	}
}

func TestNamesThatGeneratedCodeNeedsCannotBeHidden(t *testing.T) {
	const kernel = "\n\n//quern:kernel\nfunc run(t kernel.Thread, x []int32) { x[0] = 1 }\n"
	hides := func(at, name string) string {
		return "kernels.go:" + at + ": " + name + " hides Go's own, which quern_gen.go needs; rename it"
	}
	tests := []struct {
		name string
		src  string
		want string // "" for none
	}{
		{"a function", "func min(a, b int32) int32 { return a }" + kernel, hides("5:6", "min")},
		{"a type", "type int int8" + kernel, hides("5:6", "int")},
		{"a type that stands for another size", "type int64 int32" + kernel, hides("5:6", "int64")},
		{"a constant", "const nil = 3" + kernel, hides("5:7", "nil")},
		{"a variable", "var true = false" + kernel, hides("5:5", "true")},
		{"a kernel called len", "//quern:kernel\nfunc len(t kernel.Thread) {}", hides("6:6", "len")},
		{"a kernel called nil", "//quern:kernel\nfunc nil(t kernel.Thread) {}", hides("6:6", "nil")},
		{"a kernel called error", "//quern:kernel\nfunc error(t kernel.Thread) {}", hides("6:6", "error")},
		{"a kernel called string", "//quern:kernel\nfunc string(t kernel.Thread) {}", hides("6:6", "string")},
		{"a kernel called int, which makes other errors", "//quern:kernel\nfunc int(t kernel.Thread, n int) {}", hides("6:6", "int")},
		{"two at once", "type bool int8\n\nfunc panic() {}" + kernel, hides("5:6", "bool") + "\n" + hides("7:6", "panic")},
		{"names that generated code does without", "func append() {}\n\ntype any int\n\nconst iota = 4" + kernel, ""},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			_, err := text(t, "package filters\n\nimport \"quern.dev/kernel\"\n\n"+tt.src)
			got := ""
			if err != nil {
				got = err.Error()
			}
			if diff := cmp.Diff(tt.want, got); diff != "" {
				t.Errorf("-want +got:\n%s", diff)
			}
		})
	}
}

func TestAPanicOfTheCompilerIsAFault(t *testing.T) {
	_, err := generate.Package(&frontend.Package{Path: "example.test/broken"})
	var fault *frontend.Fault
	if !errors.As(err, &fault) || fault.Package != "example.test/broken" {
		t.Fatalf("error %v", err)
	}
}

// The bytes depend only on the source: not on map order, nor on earlier compilations.
func TestSameSourceGivesTheSameBytes(t *testing.T) {
	testmodule.NeedSource(t)
	var outputs [2]*generate.Output
	for i := range outputs {
		packages, err := frontend.Load(t.Context(), "../../../examples/language", ".")
		if err != nil {
			t.Fatal(err)
		}
		if outputs[i], err = generate.Package(packages[0]); err != nil {
			t.Fatal(err)
		}
	}
	if !bytes.Equal(outputs[0].Go, outputs[1].Go) || !bytes.Equal(outputs[0].Archive, outputs[1].Archive) {
		t.Fatal("the second compilation gave other bytes")
	}
}

// awkward holds packages whose generated code is hard to get right.
const awkward = `
-- names/names.go --
package names

import k "quern.dev/kernel"

type Pixel struct{ R, G, B uint8 }

type gpu int32

const host, quern, math, unsafe, driver = 1, 2, 3, 4, 5

var bits, atomic = 6, 7

//quern:kernel
func copy(t k.Thread, s, g, l, err, kernel int32, r []int32, Pixel Pixel, min, max, nil_ float32) {
	i := t.Global()
	if i >= len(r) {
		return
	}
	base, tx, end, row, _x := s, g, l, err, kernel
	r[i] = base + tx + end + row + _x + int32(Pixel.R) + int32(min*max)
}

//quern:kernel
func clear(t k.Thread, len, int, int32 float32, x []gpu) {
	if x[0] > 3 {
		x[t.ThreadIdx.X] = 7
	}
}

//quern:kernel
func append(t k.Thread, x []int32, quern_fault, quern_kernel, x_len, x_ptr int32, π, mov, reg float32) {
	x[t.Global()] = quern_fault + quern_kernel + x_len + x_ptr + int32(π+mov+reg)
}

//quern:kernel
func _leading(t k.Thread, x []int32) { x[t.Global()] = int32(host + quern + math) }

//quern:kernel
func real(t k.Thread, x []int32) { x[t.Global()]++ }
-- renamed-dir/v2/kernels.go --
package other

import (
	"example.test/demo/names"
	"quern.dev/kernel"
)

type local struct {
	Pixel names.Pixel
	N     [2]int32
}

//quern:kernel
func set(t kernel.Thread, p names.Pixel, x []names.Pixel, q []local, l local) {
	i := t.Global()
	if i < len(x) && i < len(q) {
		x[i], q[i] = p, l
		q[i].Pixel = x[i]
	}
}

// Twice is a generic struct.
type Twice[T any] struct{ A, B T }

// First returns an element.
func First[T any](x []T, i int) T { return x[i] }
-- user/user.go --
package user

import (
	"example.test/demo/renamed-dir/v2"
	"quern.dev/gpu"
)

var launch func(*gpu.Stream, gpu.Grid, ...any)

func use() { _ = other.LaunchSet }
-- program/main.go --
package main

import (
	"fmt"

	"quern.dev/gpu"
	"quern.dev/kernel"
)

//quern:kernel
func fill(t kernel.Thread, v int32, x []int32) {
	if i := t.Global(); i < len(x) {
		x[i] = v
	}
}

func main() { fmt.Println(run()) }

func run() error {
	dev, err := gpu.Open(gpu.Config{})
	if err != nil {
		return err
	}
	defer dev.Close()
	x, err := gpu.Alloc[int32](dev, 10)
	if err != nil {
		return err
	}
	return LaunchFill(dev.DefaultStream(), gpu.Linear(10), 3, x)
}
-- generic/generic.go --
package generic

import "quern.dev/kernel"

type number interface{ ~int32 | ~float32 }

type Level int32

type Interval[T number] struct{ Lo, Hi T }

func (r Interval[T]) Clamp(x T) T { return min(max(x, r.Lo), r.Hi) }

func sum[S ~[]T, T number](list S) T {
	var total T
	for _, v := range list {
		total += v
	}
	return total
}

type point struct{ x, y float32 }

func (p *point) move(d float32) { p.x += d }

func reduce[T number](t kernel.Thread, v T) T {
	s := kernel.Shared[[64]T](t)
	s[t.ThreadIdx.X] = v
	t.Sync()
	return s[0]
}

//quern:kernel block=64
func all(t kernel.Thread, x []Level, y []float32, r Interval[Level], p []point) {
	i := t.Global()
	if i < len(x) {
		x[i] = r.Clamp(sum(x[i:]))
	}
	if i < len(y) {
		y[i] = Interval[float32]{Hi: 1}.Clamp(sum(y))
	}
	if i < len(p) {
		p[i].move(2)
		q := point{1, 2}
		q.move(p[i].y)
		p[i] = q
	}
	v := reduce(t, float32(i))
	w := reduce(t, Level(i))
	if i == 0 {
		y[0], x[0] = v, w
	}
}

//quern:kernel instantiate=Level,float32 specialise=most:0,-4,10
func bounded[T number](t kernel.Thread, most int8, r Interval[T], x []T, s func_) {
	f := r.Clamp
	if i := t.Global(); i < len(x) && most != 0 {
		x[i] = f(x[i]) + T(100/most)
	}
}

//quern:kernel only=gpu specialise=step:1
func onGPU(t kernel.Thread, step int, x []int32) {
	if i := t.Global() * step; i < len(x) {
		x[i]++
	}
}

type func_ struct{ func_ int32 }
-- instances/instances.go --
package instances

import (
	"example.test/demo/names"
	other "example.test/demo/renamed-dir/v2"
	"quern.dev/kernel"
)

type any int32

var _ names.Pixel

type measured interface {
	comparable
	Measure() float32
}

type Rod struct{ Length float32 }

func (r Rod) Measure() float32 { return r.Length }

//quern:kernel instantiate=names.Pixel:any,other.Twice[Rod]:Rod,[2]names.Pixel:any
func pair[T comparable, U comparable](t kernel.Thread, x []T, y []U, quernPair int32, interface_ T) {
	apply := func(f func(i int) T) { x[t.Global()] = f(0) }
	apply(func(i int) T { return other.First(x, i) })
}

//quern:kernel instantiate=Rod
func measure[T measured](t kernel.Thread, x []T, out []float32) {
	total(x, func(v T) { out[0] += T.Measure(v) })
}

func total[T measured](x []T, f func(T)) {
	for _, v := range x {
		f(v)
	}
}
`

func TestGeneratedCodeCompiles(t *testing.T) {
	dir := generated(t, awkward, 5)
	if out, err := goCommand(t, dir, "vet", "./..."); err != nil {
		t.Errorf("%v\n%s", err, out)
	}
	if out, err := goCommand(t, dir, "run", "./program"); err != nil || out != "<nil>\n" {
		t.Errorf("%v\n%s", err, out)
	}
}

// degenerate has kernels that the compiler simplifies to nothing or to constants.
const degenerate = `
-- kernels.go --
package demo

import "quern.dev/kernel"

type pair struct{ a, b int32 }

//quern:kernel
func rangeIndex(t kernel.Thread, x [][3]int32, y []int32) {
	i := t.Global()
	if i >= len(x) {
		return
	}
	for k := range x[i] {
		y[0] += int32(k)
	}
	for k := range 3 {
		y[i] *= int32(k)
		y[i+k] |= int32(k)
	}
}

//quern:kernel
func identities(t kernel.Thread, x []int32, f []float32, p []pair, a [][4]int32) {
	i := t.Global()
	for k := range 2 {
		x[i] = x[i] + int32(k)
		x[i] = int32(1-k) + x[i]
		x[i] = x[i] * int32(k)
		x[i] = x[i] / int32(k+1)
		x[i] -= int32(k)
		x[i] &= int32(k - 1)
		x[i] ^= int32(k)
		x[i] &^= int32(k)
		x[i] <<= k
		x[i] >>= k
		f[i] *= float32(k)
		f[i] /= float32(k + 1)
		f[i] -= float32(k)
		p[i].a += int32(k)
		p[k].b *= int32(k)
		a[i][k] += int32(k)
		a[0][1] -= int32(k)
		pointer := &p[i]
		pointer.a |= int32(k)
		row := a[i]
		row[k] += int32(k)
		row[k+1] *= int32(k)
		a[i] = row
	}
}

//quern:kernel
func comparisons(t kernel.Thread, x []int32, flags []bool) {
	i := t.Global()
	for k := range 2 {
		if x[i]+int32(k) == x[i] || x[i] == x[i]+int32(k) {
			flags[i] = true
		}
		if x[i]*int32(k+1) > 2 && x[i] > 2 {
			flags[k] = flags[k] && k == 0
		}
		flags[i] = flags[i] || k == 1
	}
	for k := range 3 {
		if k == 1 {
			x[k] = x[i]
			continue
		}
		if k == 2 {
			break
		}
		x[i] += int32(k)
	}
}

//quern:kernel
func endings(t kernel.Thread, x []int32, n int32) {
	i := t.Global()
	//quern:unroll
	for k := range 4 {
		x[i] = clip(x[i]+int32(k), n)
		if k > 2 {
			return
		}
		x[i]++
	}
	x[i] = 0
}

func clip(v, n int32) int32 {
	for range 1 {
		if v > n {
			return n
		}
		return v
	}
	panic("unreachable")
}

//quern:kernel block=1
func lone(t kernel.Thread, x []int32) {
	x[t.ThreadIdx.X] += int32(t.ThreadIdx.X)
	x[t.BlockIdx.X] *= int32(t.BlockDim.X)
	x[t.BlockIdx.X*t.BlockDim.X] <<= t.ThreadIdx.X
}
`

func TestGeneratedCodePassesVet(t *testing.T) {
	dir := generated(t, degenerate, 1)
	if out, err := goCommand(t, dir, "vet", "."); err != nil {
		t.Errorf("%v\n%s", err, out)
	}
}

// Kernels compute the same on every device as in plain Go.
func TestGeneratedCodeRuns(t *testing.T) {
	testmodule.NeedSource(t)
	archive, err := os.ReadFile("testdata/features.txt")
	if err != nil {
		t.Fatal(err)
	}
	dir := generated(t, string(archive), 1)
	if out, err := goCommand(t, dir, "run", "."); err != nil || out != "896 values agree\n" {
		t.Errorf("%v\n%s", err, out)
	}
}

// generated creates a module in which the given number of packages have kernels, with
// their generated files.
func generated(t *testing.T, archive string, count int) (dir string) {
	t.Helper()
	if _, err := exec.LookPath("go"); err != nil {
		t.Skip(err)
	}
	dir = testmodule.New(t, archive)
	packages, err := frontend.Load(t.Context(), dir, "./...")
	if err != nil {
		t.Fatal(err)
	}
	if len(packages) != count {
		t.Fatalf("%d packages with kernels, want %d", len(packages), count)
	}
	for _, p := range packages {
		out, err := generate.Package(p)
		if err != nil {
			t.Fatal(err)
		}
		goFile, archiveFile := generate.Files(p)
		for name, text := range map[string][]byte{goFile: out.Go, archiveFile: out.Archive} {
			if err := os.WriteFile(name, text, 0o644); err != nil {
				t.Fatal(err)
			}
		}
	}
	return dir
}

func goCommand(t *testing.T, dir string, args ...string) (string, error) {
	t.Helper()
	cmd := exec.CommandContext(t.Context(), "go", args...)
	cmd.Dir = dir
	out, err := cmd.CombinedOutput()
	return string(out), err
}

func TestParametersAreDescribed(t *testing.T) {
	out, err := text(t, `package p

import "quern.dev/kernel"

type Pixel struct{ R, G uint8 }

type Level int32

//quern:kernel
func describe(t kernel.Thread, n int, p Pixel, a [2]Pixel, h kernel.Float16, c complex64, in []Pixel, out []Level, sums []float64) {
	out[0] = Level(in[0].R) + Level(p.G)
	sums[0] = real(complex128(c))
}
`)
	if err != nil {
		t.Fatal(err)
	}
	const pixel = "struct{R uint8; G uint8}"
	a, err := archive.Open(string(out.Archive))
	if err != nil {
		t.Fatal(err)
	}
	text := string(out.Archive)
	code := &compiled.Code{Package: "p", Archive: &text, Sum: a.Sum()}
	k, err := code.Describe(&compiled.Declaration{Name: "describe"})
	if err != nil {
		t.Fatal(err)
	}
	want := []compiled.Param{
		{Name: "n", Kind: compiled.Scalar, Type: "int", Size: 8},
		{Name: "p", Kind: compiled.Struct, Type: "main.Pixel", Size: 2, Layout: pixel},
		{Name: "a", Kind: compiled.Struct, Type: "[2]main.Pixel", Size: 4, Layout: "[2]" + pixel},
		{Name: "h", Kind: compiled.Struct, Type: "quern.dev/kernel.Float16", Size: 2},
		{Name: "c", Kind: compiled.Struct, Type: "complex64", Size: 8},
		{Name: "in", Kind: compiled.Slice, Type: "main.Pixel", Size: 2, Layout: pixel, ReadOnly: true},
		{Name: "out", Kind: compiled.Slice, Type: "main.Level", Size: 4, Layout: "int32"},
		{Name: "sums", Kind: compiled.Slice, Type: "float64", Size: 8},
	}
	if !slices.Equal(k.Params, want) {
		t.Errorf("got  %v\nwant %v", k.Params, want)
	}
}
