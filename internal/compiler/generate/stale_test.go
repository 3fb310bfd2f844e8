package generate_test

import (
	"cmp"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	"quern.dev/internal/compiler/frontend"
	"quern.dev/internal/compiler/generate"
	"quern.dev/internal/testmodule"
)

// declarations contains kernels and an actor with parameters of every kind.
const declarations = `
-- units/units.go --
package units

type Celsius float32

type Position struct{ x, y float32 }

func (p Position) X() float32 { return p.x }

type Tagged struct {
	Low, High int32
	Scale     float32
	tag       uint32
}

type Pair[T any] struct{ First, Second T }
-- plant/plant.go --
package plant

import (
	"example.test/demo/units"
	"quern.dev/gpu"
	"quern.dev/kernel"
	"quern.dev/ring/actor"
)

type Level uint8

type Real = float32

const Width = 4

type Reading struct {
	Sensor uint32
	Value  units.Celsius
	At     units.Position
	Both   units.Pair[Level]
	Half   [2]kernel.Float16
	Tag    units.Tagged
}

type Scale struct{ X, Y float32 }

type State struct {
	counts [Width]uint32
	rest   struct{ last Reading }
}

//quern:actor
func watch(t kernel.Thread, c *actor.Context, data []units.Pair[float64], state *State, in *Reading, out *int32) kernel.Action {
	*out = int32(in.At.X())
	return kernel.Reply
}

//quern:kernel
func stretch(t kernel.Thread, by Scale, offset, factor float32, levels []Level, x, y []float32) {
	if i := t.Global(); i < len(x) {
		x[i] = by.X*x[i] + offset
		y[i] = by.Y*y[i]*factor + float32(levels[i])
	}
}

//quern:kernel instantiate=float32
func sum[T float32 | float64](t kernel.Thread, rows [][Width]T, r Real, out []T) {
	for _, row := range rows {
		for _, v := range row {
			out[0] += v + T(r)
		}
	}
}

func use(s *gpu.Stream, levels *gpu.Buffer[Level], x *gpu.Buffer[float32]) error {
	return LaunchStretch(s, gpu.Linear(x.Len()), Scale{X: 1, Y: 2}, 3, 4, levels, x, x)
}
`

func TestGeneratedCodeDoesNotCompileWithOtherDeclarations(t *testing.T) {
	tests := []struct {
		change
		want string
	}{
		{change{"fields of a parameter change places", "plant", "X, Y float32", "Y, X float32"}, "Scale"},
		{change{"a parameter is another's type, and calls pass constants", "plant", "offset, factor float32", "offset float32, factor float64"}, "stretch"},
		{change{"elements are of another type", "plant", "levels []Level", "levels []uint16"}, "stretch"},
		{change{"there is a parameter more", "plant", "x, y []float32)", "x, y, z []float32)"}, "stretch"},
		{change{"a kernel has gone", "plant", "func stretch(", "func strain("}, "stretch"},
		{change{"a named number of elements is another", "plant", "Level uint8", "Level int8"}, "Level"},
		{change{"an alias is of another type", "plant", "Real = float32", "Real = float64"}, "sum_float32"},
		{change{"a constant in an array's type is another", "plant", "Width = 4", "Width = 5"}, "sum_float32"},
		{change{"a field of a message is another's type", "plant", "Sensor uint32", "Sensor int32"}, "Reading"},
		{change{"fields of a message change places", "plant", "Value  units.Celsius\n\tAt     units.Position", "At     units.Position\n\tValue  units.Celsius"}, "Reading"},
		{change{"the message is another", "plant", "in *Reading", "in *Scale"}, "watch"},
		{change{"payloads have other elements", "plant", "[]units.Pair[float64]", "[]units.Pair[float32]"}, "watch"},
		{change{"a number of another package is another", "units", "Celsius float32", "Celsius int32"}, "units_Celsius"},
		{change{"a generic type of another package has other fields", "units", "First, Second T", "First T; Second int64"}, "units_Pair_float64"},
		{change{"a struct with fields of its own has another size", "units", "x, y float32", "x, y, z float32"}, "sizeof_units_Position"},
		{change{"visible fields of a struct with others change places", "units", "Low, High int32", "High, Low int32"}, "offsetof_units_Tagged_Low"},
		{change{"a visible field of a struct with others is another's type", "units", "Scale     float32", "Scale     int32"}, "units_Tagged_Scale"},
	}
	dir := copies(t, len(tests))
	if out, err := goCommand(t, dir, "vet", "./copy0/..."); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	for i, tt := range tests {
		tt.make(t, dir, i)
	}
	out, err := goCommand(t, dir, "build", "./...")
	if err == nil {
		t.Fatal("everything compiles")
	}
	errs := map[string]string{} // by package
	for _, text := range strings.Split("\n"+out, "\n# ")[1:] {
		name, text, _ := strings.Cut(text, "\n")
		errs[name] = text
	}
	for i, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			name := copyName(i) + "/plant"
			text := errs[testmodule.Path+"/"+name]
			first, _, _ := strings.Cut(text, "\n")
			// The first error names the stale file and the remedy.
			if !strings.HasPrefix(first, name+"/quern_gen.go:") || !strings.Contains(first, "quern_gen_is_stale__run_go_generate__"+tt.want) && !strings.HasSuffix(first, "undefined: "+tt.want) {
				t.Errorf("%s", text)
			}
		})
	}
}

// Changes that Go's type checker does not detect are found by comparison with newly
// generated files.
func TestChangesThatCompileAreFound(t *testing.T) {
	tests := []change{
		{}, // none
		{"parameters of one type change places", "plant", "offset, factor float32", "factor, offset float32"},
		{"a body is another", "plant", "by.X*x[i] + offset", "by.X*x[i] - offset"},
		{"a constant is another", "plant", "T(r)", "2*T(r)"},
		{"hidden fields of another package change places", "units", "x, y float32", "y, x float32"},
		{"the kernel moves", "plant", "type Level", "// Level\ntype Level"},
	}
	dir := copies(t, len(tests))
	for i, tt := range tests {
		tt.make(t, dir, i)
	}
	if out, err := goCommand(t, dir, "vet", "./..."); err != nil { // type-checks, and costs less than a build
		t.Fatalf("%v\n%s", err, out)
	}
	packages, err := frontend.Load(t.Context(), dir, "./...")
	if err != nil {
		t.Fatal(err)
	}
	if len(packages) != len(tests) {
		t.Fatalf("%d packages, want %d", len(packages), len(tests))
	}
	for _, p := range packages {
		i, err := strconv.Atoi(strings.TrimPrefix(filepath.Base(filepath.Dir(p.Dir)), "copy"))
		if err != nil {
			t.Fatal(err)
		}
		t.Run(cmp.Or(tests[i].name, "nothing changes"), func(t *testing.T) {
			out, err := generate.Package(p)
			if err != nil {
				t.Fatal(err)
			}
			old, err := os.ReadFile(filepath.Join(p.Dir, generate.GoFile))
			if err != nil {
				t.Fatal(err)
			}
			if same := string(old) == string(out.Go); same != (i == 0) {
				t.Errorf("the same is generated: %v", same)
			}
		})
	}
}

// copies creates a module with copies of the declarations, and their generated files.
func copies(t *testing.T, n int) (dir string) {
	t.Helper()
	var all strings.Builder
	for i := range n {
		text := strings.ReplaceAll(declarations, testmodule.Path+"/", testmodule.Path+"/"+copyName(i)+"/") // imports
		all.WriteString(strings.ReplaceAll(text, "\n-- ", "\n-- "+copyName(i)+"/"))
	}
	return generated(t, all.String(), n)
}

func copyName(i int) string { return fmt.Sprint("copy", i) }

// change is a change of the declarations.
type change struct{ name, file, old, new string }

// make changes a copy.
func (c *change) make(t *testing.T, dir string, i int) {
	t.Helper()
	name := filepath.Join(dir, copyName(i), c.file, c.file+".go")
	if c.file == "" {
		return
	}
	text, err := os.ReadFile(name)
	if err != nil {
		t.Fatal(err)
	}
	changed := strings.Replace(string(text), c.old, c.new, 1)
	if changed == string(text) {
		t.Fatalf("%s has no %q", name, c.old)
	}
	if err := os.WriteFile(name, []byte(changed), 0o644); err != nil {
		t.Fatal(err)
	}
}
