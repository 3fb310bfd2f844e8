package generate_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"quern.dev/internal/compiler/frontend"
	"quern.dev/internal/compiler/generate"
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
	dir := generated(t, declarations, 1)
	if out, err := goCommand(t, dir, "vet", "./..."); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	for _, tt := range []struct{ name, file, old, new, want string }{
		{"fields of a parameter change places", "plant", "X, Y float32", "Y, X float32", "Scale"},
		{"a parameter is another's type, and calls pass constants", "plant", "offset, factor float32", "offset float32, factor float64", "stretch"},
		{"elements are of another type", "plant", "levels []Level", "levels []uint16", "stretch"},
		{"there is a parameter more", "plant", "x, y []float32)", "x, y, z []float32)", "stretch"},
		{"a kernel has gone", "plant", "func stretch(", "func strain(", "stretch"},
		{"a named number of elements is another", "plant", "Level uint8", "Level int8", "Level"},
		{"an alias is of another type", "plant", "Real = float32", "Real = float64", "sum_float32"},
		{"a constant in an array's type is another", "plant", "Width = 4", "Width = 5", "sum_float32"},
		{"a field of a message is another's type", "plant", "Sensor uint32", "Sensor int32", "Reading"},
		{"fields of a message change places", "plant", "Value  units.Celsius\n\tAt     units.Position", "At     units.Position\n\tValue  units.Celsius", "Reading"},
		{"the message is another", "plant", "in *Reading", "in *Scale", "watch"},
		{"elements of payloads are others", "plant", "[]units.Pair[float64]", "[]units.Pair[float32]", "watch"},
		{"a number of another package is another", "units", "Celsius float32", "Celsius int32", "units_Celsius"},
		{"a generic type of another package has other fields", "units", "First, Second T", "First T; Second int64", "units_Pair_float64"},
		{"a struct with fields of its own has another size", "units", "x, y float32", "x, y, z float32", "sizeof_units_Position"},
		{"visible fields of a struct with others change places", "units", "Low, High int32", "High, Low int32", "offsetof_units_Tagged_Low"},
		{"a visible field of a struct with others is another's type", "units", "Scale     float32", "Scale     int32", "units_Tagged_Scale"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			change(t, filepath.Join(dir, tt.file, tt.file+".go"), tt.old, tt.new)
			out, err := goCommand(t, dir, "build", "./plant")
			_, out, _ = strings.Cut(out, "\n") // package name
			first, _, _ := strings.Cut(out, "\n")
			// The first error names the stale file and the remedy.
			if err == nil || !strings.HasPrefix(first, "plant/quern_gen.go:") || !strings.Contains(first, "quern_gen_is_stale__run_go_generate__"+tt.want) && !strings.HasSuffix(first, "undefined: "+tt.want) {
				t.Errorf("%v\n%s", err, out)
			}
		})
	}
}

// Changes that Go's type checker does not detect are found by comparison with newly
// generated files.
func TestChangesThatCompileAreFound(t *testing.T) {
	dir := generated(t, declarations, 1)
	for _, tt := range []struct{ name, file, old, new string }{
		{"parameters of one type change places", "plant", "offset, factor float32", "factor, offset float32"},
		{"a body is another", "plant", "by.X*x[i] + offset", "by.X*x[i] - offset"},
		{"a constant is another", "plant", "T(r)", "2*T(r)"},
		{"hidden fields of another package change places", "units", "x, y float32", "y, x float32"},
		{"the kernel moves", "plant", "type Level", "// Level\ntype Level"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			change(t, filepath.Join(dir, tt.file, tt.file+".go"), tt.old, tt.new)
			if out, err := goCommand(t, dir, "build", "./plant"); err != nil {
				t.Fatalf("%v\n%s", err, out)
			}
			packages, err := frontend.Load(t.Context(), dir, "./plant")
			if err != nil {
				t.Fatal(err)
			}
			out, err := generate.Package(packages[0])
			if err != nil {
				t.Fatal(err)
			}
			old, err := os.ReadFile(filepath.Join(dir, "plant", generate.GoFile))
			if err != nil {
				t.Fatal(err)
			}
			if string(old) == string(out.Go) {
				t.Error("the same is generated")
			}
		})
	}
}

// change replaces text in a file until the end of the test.
func change(t *testing.T, name, old, new string) {
	t.Helper()
	text, err := os.ReadFile(name)
	if err != nil {
		t.Fatal(err)
	}
	changed := strings.Replace(string(text), old, new, 1)
	if changed == string(text) {
		t.Fatalf("%s has no %q", name, old)
	}
	if err := os.WriteFile(name, []byte(changed), 0o644); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := os.WriteFile(name, text, 0o644); err != nil {
			t.Fatal(err)
		}
	})
}
