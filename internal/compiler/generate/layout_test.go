package generate_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// The GPU reads messages and states as the bytes that they were when its code was
// compiled.
func TestGeneratedCodeDoesNotCompileWithOtherMessages(t *testing.T) {
	const source = `
-- units/units.go --
package units

type Celsius float32

type Position struct{ x, y float32 }

func (p Position) X() float32 { return p.x }

type Pair[T any] struct{ First, Second T }
-- plant/plant.go --
package plant

import (
	"example.test/demo/units"
	"quern.dev/kernel"
	"quern.dev/ring/actor"
)

type Level uint8

type Reading struct {
	Sensor uint32
	Value  units.Celsius
	At     units.Position
	Both   units.Pair[Level]
	Half   [2]kernel.Float16
}

type State struct {
	counts [4]uint32
	rest   struct{ last Reading }
}

//quern:actor
func watch(t kernel.Thread, c *actor.Context, data []units.Pair[float64], state *State, in *Reading, out *int32) kernel.Action {
	return kernel.Done
}
`
	dir := generated(t, source, 1)
	if out, err := goCommand(t, dir, "vet", "./..."); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	for _, tt := range []struct{ name, file, old, new, want string }{
		{"a field is another's type", "plant/plant.go", "Sensor uint32", "Sensor int32", "*Reading"},
		{"fields change places", "plant/plant.go", "Value  units.Celsius\n\tAt     units.Position", "At     units.Position\n\tValue  units.Celsius", "*Reading"},
		{"a named number is another", "plant/plant.go", "Level uint8", "Level int8", "*Level"},
		{"a number of another package is another", "units/units.go", "Celsius float32", "Celsius int32", "*units.Celsius"},
		{"a struct with fields of its own has another size", "units/units.go", "x, y float32", "x, y, z float32", "[8]uint8"},
		{"an array in a state is longer", "plant/plant.go", "[4]uint32", "[5]uint32", "*State"},
		{"elements of payloads are others", "units/units.go", "First, Second T", "First T; Second int64", "*units.Pair[float64]"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			name := filepath.Join(dir, tt.file)
			text, err := os.ReadFile(name)
			if err != nil {
				t.Fatal(err)
			}
			changed := strings.Replace(string(text), tt.old, tt.new, 1)
			if changed == string(text) {
				t.Fatal("nothing changed")
			}
			if err := os.WriteFile(name, []byte(changed), 0o644); err != nil {
				t.Fatal(err)
			}
			out, err := goCommand(t, dir, "build", "./plant")
			if err == nil || !strings.Contains(out, "quern_gen.go") || !strings.Contains(out, tt.want) {
				t.Errorf("%v\n%s", err, out)
			}
			if err := os.WriteFile(name, text, 0o644); err != nil {
				t.Fatal(err)
			}
		})
	}
}
