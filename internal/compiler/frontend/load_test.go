package frontend

import (
	"errors"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"quern.dev/internal/compiler/ir"
	"quern.dev/internal/testmodule"
)

// doubling is a package that lacks only its launcher.
const doubling = `
-- double/double.go --
package double

import (
	"quern.dev/gpu"
	"quern.dev/kernel"
)

//quern:kernel
func double(t kernel.Thread, x []float32) {
	if i := t.Global(); i < len(x) {
		x[i] = Twice(x[i])
	}
}

// Twice is for kernels and hosts.
func Twice(x float32) float32 { return 2 * x }

func Double(s *gpu.Stream, x *gpu.Buffer[float32]) error {
	err := LaunchDouble(s, gpu.Linear(x.Len()), x)
	return err
}
`

// user has a kernel that calls package double.
const user = doubling + `
-- user/user.go --
package user

import (
	"example.test/demo/double"
	"quern.dev/kernel"
)

//quern:kernel
func quadruple(t kernel.Thread, x []float32) { x[t.Global()] = double.Twice(double.Twice(x[t.Global()])) }

var launch = double.LaunchDouble
`

func TestLoad(t *testing.T) {
	tests := []struct {
		name    string
		files   string
		pattern string
		kernels []string // package.kernel, including called ones
		errors  []string // lines, with the directory cut
	}{
		{
			name:    "a package that lacks its launchers",
			files:   doubling,
			kernels: []string{"double.double"},
		},
		{
			name: "a generated file of another version of the source is not looked at",
			files: doubling + `
-- double/quern_gen.go --
package double

import "quern.dev/kernel"

var stale = missing(kernel.Thread{}.Removed)

func Twice() {}
`,
			kernels: []string{"double.double"},
		},
		{
			name:    "a generated file that was cut short is not looked at",
			files:   doubling + "\n-- double/quern_gen.go --\npackage double\n\nfunc LaunchDouble(",
			kernels: []string{"double.double"},
		},
		{
			name:    "an empty generated file is not looked at",
			files:   doubling + "\n-- double/quern_gen.go --\n",
			kernels: []string{"double.double"},
		},
		{
			name:    "a generated file whose embedded file is missing is not looked at",
			files:   doubling + "\n-- double/quern_gen.go --\npackage double\n\nimport _ \"embed\"\n\n//go:embed quern_gen.zip\nvar quernPTX string\n",
			kernels: []string{"double.double"},
		},
		{
			name: "a function with another version for programs",
			files: doubling + `
-- double/twice.go --
package double

import "quern.dev/kernel"

//quern:kernel
func twice(t kernel.Thread, x []float32) { x[t.Global()] = fast(x[t.Global()]) }
-- double/plain.go --
//go:build quern

package double

func fast(x float32) float32 { return 2 * x }
-- double/fast.go --
//go:build !quern

package double

func fast(x float32) float32 // in assembly
`,
			kernels: []string{"double.double", "double.twice"},
		},
		{
			name:    "a dependency that lacks its launchers",
			files:   user,
			pattern: "./user",
			kernels: []string{"user.quadruple"},
		},
		{
			name:    "a dependency whose generated file is damaged",
			files:   user + "\n-- double/quern_gen.go --\npackage double\n\nfunc LaunchDouble(",
			pattern: "./user",
			kernels: []string{"user.quadruple"},
		},
		{
			name:    "several packages that call each other",
			files:   user,
			kernels: []string{"double.double", "user.quadruple"},
		},
		{
			name: "a value of a package with kernels, through one without",
			files: `
-- scales/scales.go --
package scales

import "quern.dev/kernel"

type Scale struct{ By float32 }

//quern:kernel
func grow(t kernel.Thread, by Scale, x []float32) { x[t.Global()] *= by.By }
-- between/between.go --
package between

import "example.test/demo/scales"

type Holder struct{ Scale scales.Scale }
-- last/last.go --
package last

import (
	"example.test/demo/between"
	"example.test/demo/scales"
	"quern.dev/kernel"
)

func held(h between.Holder) scales.Scale { return h.Scale }

//quern:kernel
func first(t kernel.Thread, by scales.Scale, x []float32) { x[0] = held(between.Holder{Scale: by}).By }
`,
			kernels: []string{"last.first", "scales.grow"},
		},
		{
			name: "generic functions and types of another package, at a type of this one",
			files: `
-- numeric/numeric.go --
package numeric

type Number interface{ ~int32 | ~float32 }

type Interval[T Number] struct{ Lo, Hi T }

func (r Interval[T]) Clamp(x T) T { return clamp(x, r.Lo, r.Hi) }

func clamp[T Number](x, lo, hi T) T { return min(max(x, lo), hi) }

func Sum[S ~[]T, T Number](list S) T {
	var sum T
	for _, v := range list {
		sum += v
	}
	return sum
}
-- generic/generic.go --
package generic

import (
	"example.test/demo/numeric"
	"quern.dev/kernel"
)

type Level int32

//quern:kernel
func limit(t kernel.Thread, x []Level, y []float32) {
	r := numeric.Interval[Level]{Lo: 1, Hi: 9}
	x[0] = r.Clamp(numeric.Sum(x[1:]))
	y[0] = numeric.Interval[float32]{Hi: 1}.Clamp(numeric.Sum(y))
}
`,
			kernels: []string{"generic.limit"},
		},
		{
			name: "kernels of a package in several files, named unlike its directory",
			files: `
-- dir/a.go --
package other

import "quern.dev/kernel"

//quern:kernel
func first(t kernel.Thread, x []int32) { x[0] = common(1) }

func host() []int { return make([]int, 3) }
-- dir/b.go --
package other

import "quern.dev/kernel"

func common(x int32) int32 { return x + 1 }

//quern:kernel
func second(t kernel.Thread, x []int32) { x[0] = common(2) }
`,
			kernels: []string{"other.first", "other.second"},
		},
		{
			name: "packages that only mention the directive, and tests, have no kernels",
			files: `
-- plain/plain.go --
// Package plain mentions //quern:kernel.
package plain

const Text = "//quern:kernel"
-- plain/plain_test.go --
package plain

import "quern.dev/kernel"

//quern:kernel
func tested(t kernel.Thread, x []int32) {}
`,
		},
		{
			name: "a type error is reported, a missing launcher beside it is not",
			files: `
-- wrong/wrong.go --
package wrong

import "quern.dev/kernel"

//quern:kernel
func fill(t kernel.Thread, x []int32) {
	x[t.Global()] = "seven"
}

var launch = LaunchFill

func host() int { return undeclared }
`,
			errors: []string{
				`wrong/wrong.go:7:18: cannot use "seven" (untyped string constant) as int32 value in assignment`,
				`wrong/wrong.go:12:26: undefined: undeclared`,
			},
		},
		{
			name: "a kernel that calls a launcher",
			files: `
-- nested/nested.go --
package nested

import "quern.dev/kernel"

//quern:kernel
func inner(t kernel.Thread, x []int32) {}

//quern:kernel
func outer(t kernel.Thread, x []int32) {
	LaunchInner(x)
}
`,
			errors: []string{`nested/nested.go:10:2: kernel outer: LaunchInner starts a kernel from the host; a kernel cannot start another, but it can call one as a function`},
		},
		{
			name: "a variable that another package can assign, and one that it cannot",
			files: `
-- tables/tables.go --
package tables

var Weights = [2]float32{1, 2}

var offsets = [2]float32{3, 4}

func Offset(i int) float32 { return offsets[i] }

func Weight(i int) float32 { return Weights[i] }
-- reads/reads.go --
package reads

import (
	"example.test/demo/tables"
	"quern.dev/kernel"
)

func init() { tables.Weights[1] = 7 }

//quern:kernel
func read(t kernel.Thread, x []float32) {
	x[0] = tables.Offset(1)
	x[1] = tables.Weights[1]
	x[2] = tables.Weight(1)
}
`,
			errors: []string{
				"reads/reads.go:13:9: kernel read: exported variable Weights of package tables can be assigned by any package, so a kernel cannot read it; unexport it or pass it as a parameter",
				"reads/reads.go:14:9: kernel read: tables.Weight (called here): tables/tables.go:9:37: exported variable Weights of package tables can be assigned by any package, so a kernel cannot read it",
			},
		},
		{
			name: "directives that are only comments, alone in their packages",
			files: `
-- a/a.go --
package a

import "quern.dev/kernel"

// quern:kernel
func read(t kernel.Thread, x []float32) {}
-- b/b.go --
package b

import "quern.dev/kernel"

/*quern:kernel block=64*/
func read(t kernel.Thread, x []float32) {}
-- c/c.go --
package c

import "quern.dev/kernel"

//Quern:kernel
func read(t kernel.Thread, x []float32) {}
-- d/d.go --
package d

import "quern.dev/kernel"

func read(t kernel.Thread, x []float32) { //quern:kernel
}
-- e/e.go --
package e

import "quern.dev/kernel"

func read(t kernel.Thread, x []float32) {
	//quern:kernel
	x[0] = 1
}
-- f/f.go --
package f

import "quern.dev/kernel"

//quern:actor

func read(t kernel.Thread, state, in, out *int32) kernel.Action { return kernel.Done }
-- g/g.go --
package g

//quern:kernel
type read int
`,
			errors: []string{
				"a/a.go:5:1: a directive has no space after the slashes; write //quern:kernel",
				"b/b.go:5:1: a directive is a comment with two slashes; write //quern:kernel",
				"c/c.go:5:1: a directive is in lower case; write //quern:kernel",
				"d/d.go:5:43: the directive is inside a function, where it has no effect; put it directly above the function",
				"e/e.go:6:2: the directive is inside a function, where it has no effect; put it directly above the function",
				"f/f.go:5:1: the directive must be directly above the function, without a blank line",
				"g/g.go:3:1: //quern:kernel is above something that is not a function",
			},
		},
		{
			name: "what Go refuses because it is not used, unless that may be for a launcher",
			files: `
-- unused/unused.go --
package unused

import (
	"fmt"
	"math"

	"quern.dev/kernel"
)

//quern:kernel
func fill(t kernel.Thread, x []int32) {
	i := t.Global()
	x[0] = 1
	println(x[0])
}

func host() {
	n := 1
}

func launches() {
	n := 1
	LaunchFill(func() { m := 2 })
}
-- other/other.go --
package other

import (
	"os"

	"quern.dev/kernel"
)

//quern:kernel
func fill(t kernel.Thread, x []int32) { x[0] = 1 }

var launch = LaunchFill
`,
			errors: []string{
				`unused/unused.go:12:2: declared and not used: i`,
				`unused/unused.go:14:2: kernel fill: println is not supported in kernels; print with kernel.Printf`,
				`unused/unused.go:18:2: declared and not used: n`,
			},
			kernels: []string{"other.fill"},
		},
		{
			name: "an error in another package, in what is called there",
			files: `
-- sub/sub.go --
package sub

func F(x int32) int32 {
	return g(x)
}

func g(x int32) int32 {
	m := map[int32]int32{}
	return m[x]
}
-- calls/calls.go --
package calls

import (
	"example.test/demo/sub"
	"quern.dev/kernel"
)

//quern:kernel
func k(t kernel.Thread, x []int32) { x[0] = sub.F(x[0]) }
`,
			errors: []string{`calls/calls.go:9:45: kernel k: sub.g (called here): sub/sub.go:8:2: maps are not supported in kernels`},
		},
		{
			name: "a package in which another file declares what a kernel needs, and imports C",
			files: `
-- mixed/c.go --
package mixed

/*
static int answer(void) { return 42; }
typedef struct { int x; } point;
*/
` + importC + `

type Real = float32

const Width = 4

func Twice(x float32) float32 { return 2 * x }

func Answer() int { return int(C.answer()) }

func inC(x int32) int32 { return int32(C.answer()) + x }

type Point C.point
-- mixed/kernels.go --
package mixed

import "quern.dev/kernel"

//quern:kernel
func scale(t kernel.Thread, by Real, x [][Width]Real) {
	if i := t.Global(); i < len(x) {
		x[i][0] = by * Twice(x[i][0])
	}
}

var answer = Answer()
`,
			kernels: []string{"mixed.scale"},
		},
		{
			name: "a kernel that needs C",
			files: `
-- mixed/c.go --
package mixed

// static int answer(void) { return 42; }
` + importC + `

func inC(x int32) int32 { return int32(C.answer()) + x }
-- mixed/kernels.go --
package mixed

import "quern.dev/kernel"

//quern:kernel
func k(t kernel.Thread, x []int32) { x[0] = inC(x[0]) }
`,
			errors: []string{`mixed/c.go:6:40: kernel k: C.answer cannot be used in kernels; write it in Go`},
		},
		{
			name: "an import that does not exist is the only error",
			files: `
-- missing/missing.go --
package missing

import (
	"example.test/demo/nowhere"
	"quern.dev/kernel"
)

//quern:kernel
func run(t kernel.Thread, x []int32) { x[0] = nowhere.Value + nowhere.Function(x) }
`,
			errors: []string{"missing/missing.go:4:2: could not import example.test/demo/nowhere (package example.test/demo/nowhere: its source was not found)"},
		},
		{
			name: "a file that does not parse",
			files: `
-- syntax/syntax.go --
package syntax

import "quern.dev/kernel"

//quern:kernel
func run(t kernel.Thread, x []int32) { x[0] = }
`,
			errors: []string{"syntax/syntax.go:6:47: expected operand, found '}'"},
		},
		{
			name: "two packages in a directory",
			files: `
-- mixed/a.go --
package a
-- mixed/b.go --
package b

import "quern.dev/kernel"

//quern:kernel
func run(t kernel.Thread, x []int32) {}
`,
			errors: []string{"example.test/demo/mixed: found packages a (a.go) and b (b.go) in mixed"},
		},
		{
			name: "an import cycle",
			files: `
-- a/a.go --
package a

import (
	"example.test/demo/b"
	"quern.dev/kernel"
)

const Value = b.Value

//quern:kernel
func run(t kernel.Thread, x []int32) { x[0] = b.Value }
-- b/b.go --
package b

import "example.test/demo/a"

const Value = a.Value
`,
			pattern: "./a",
			errors:  []string{"example.test/demo/a: import cycle not allowed: example.test/demo/a -> example.test/demo/b -> example.test/demo/a"},
		},
		{
			name: "an import cycle among dependencies",
			files: `
-- top/top.go --
package top

import (
	"example.test/demo/a"
	"quern.dev/kernel"
)

//quern:kernel
func run(t kernel.Thread, x []int32) { x[0] = a.Value }
-- a/a.go --
package a

import "example.test/demo/b"

const Value = b.Value
-- b/b.go --
package b

import "example.test/demo/a"

const Value = a.Value
`,
			pattern: "./top",
			errors:  []string{"top/top.go:4:2: could not import example.test/demo/a (import cycle not allowed: example.test/demo/a -> example.test/demo/b -> example.test/demo/a)"},
		},
		{
			name:    "a directory that does not exist",
			files:   doubling,
			pattern: "./nowhere",
			errors:  []string{"stat nowhere: directory not found"},
		},
	}
	t.Setenv("CGO_ENABLED", "1") // otherwise the go command ignores files that import C
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			dir := testmodule.New(t, tt.files)
			if tt.pattern == "" {
				tt.pattern = "./..."
			}
			kernels, err := loadKernels(t, dir, tt.pattern)
			var lines []string
			if err != nil {
				lines = strings.Split(strings.ReplaceAll(err.Error(), dir+"/", ""), "\n")
			}
			if diff := cmp.Diff(tt.errors, lines); diff != "" {
				t.Errorf("errors: -want +got:\n%s", diff)
			}
			if diff := cmp.Diff(tt.kernels, kernels); diff != "" {
				t.Errorf("kernels: -want +got:\n%s", diff)
			}
		})
	}
}

// loadKernels loads and lowers packages and names their kernels.
func loadKernels(t *testing.T, dir, pattern string) (kernels []string, err error) {
	t.Helper()
	packages, err := Load(t.Context(), dir, pattern)
	if err != nil {
		return nil, err
	}
	var errs []error
	for _, p := range packages {
		prog, err := p.Lower()
		if err != nil {
			errs = append(errs, err)
			continue
		}
		for _, k := range prog.Kernels {
			if err := ir.Verify(k, ir.StageFront); err != nil {
				t.Error(err)
			}
			kernels = append(kernels, p.Name+"."+k.Name)
		}
	}
	slices.Sort(kernels)
	return kernels, errors.Join(errs...)
}

// importC makes a file a cgo file. It is not part of the tests' texts so that this file
// is not taken for one.
const importC = "import " + `"C"`
