package gpu_test

import (
	"errors"
	"testing"

	"quern.dev/gpu"
	"quern.dev/gpu/compiled"
	"quern.dev/kernel"
)

const layoutSource = `package shapes

import "quern.dev/kernel"

type P struct{ X, Y float32 }

type Nested struct {
	Rows [2]P
	N    int32
	Flag bool
	_    int16
}

type Level int32

//quern:kernel
func value(t kernel.Thread, p P, out []float32) { out[0] = p.X - p.Y }

//quern:kernel
func nested(t kernel.Thread, p Nested) {}

//quern:kernel
func array(t kernel.Thread, a [3]float32) {}

//quern:kernel
func number(t kernel.Thread, a float32, l Level) {}

//quern:kernel
func half(t kernel.Thread, h kernel.Float16) {}

//quern:kernel
func complexes(t kernel.Thread, c complex64) {}

//quern:kernel
func elements(t kernel.Thread, x []P, c []complex64, h []kernel.Float16, l []Level) {}
`

// Types with the same layouts as those of the source, and with different ones.
type (
	sameNames  struct{ X, Y float32 }
	lowerNames struct{ x, y float32 }
	otherNames struct{ A, B float32 }
	swapped    struct{ Y, X float32 }
	integers   struct{ X, Y int32 }
	mixed      struct {
		X float32
		Y int32
	}
	larger     struct{ X, Y, Z float32 }
	wide       struct{ X float64 }
	pair       [2]float32
	nestedLike struct {
		Rows [2]otherNames
		N    int32
		Flag bool
		Pad  int16
	}
	nestedOther struct {
		Rows [2]integers
		N    int32
		Flag bool
		Pad  int16
	}
	nestedMoved struct {
		N    int32
		Rows [2]sameNames
		Flag bool
		Pad  int16
	}
	bits  struct{ bits uint16 }
	level int32
)

func TestDynamicArgumentsHaveTheLayoutOfTheirParameters(t *testing.T) {
	d, err := gpu.Open(gpu.Config{Device: "cpu"})
	if err != nil {
		t.Fatal(err)
	}
	s := d.DefaultStream()
	out := must[*gpu.Buffer[float32]](t)(gpu.Alloc[float32](d, 1))
	defer d.Close()
	defer out.Close()
	kernels := map[string]*gpu.Kernel{}
	for _, name := range []string{"value", "nested", "array", "number", "half", "complexes"} {
		kernels[name] = must[*gpu.Kernel](t)(d.Compile(t.Context(), layoutSource, name))
	}
	const here = "quern.dev/gpu_test."
	for _, c := range []struct {
		kernel string
		arg    any
		want   string // behind "argument p: "; empty if the argument is good
	}{
		{"value", sameNames{3, 1}, ""},
		{"value", lowerNames{3, 1}, ""},
		{"value", otherNames{3, 1}, ""},
		{"value", struct{ A, B float32 }{3, 1}, ""},
		{"value", swapped{1, 3}, "have " + here + "swapped, want shapes.P: the layouts differ: .X is at offset 4, want 0"},
		{"value", integers{3, 1}, "have " + here + "integers, want shapes.P: the layouts differ: .X is int32, want float32"},
		{"value", mixed{3, 1}, "have " + here + "mixed, want shapes.P: the layouts differ: .Y is int32, want float32"},
		{"value", larger{}, "have " + here + "larger, want shapes.P: the sizes differ: 12 bytes, want 8; it has 3 fields, want 2"},
		{"value", wide{}, "have " + here + "wide, want shapes.P: the layouts differ: it has 1 field, want 2"},
		{"value", pair{}, "have " + here + "pair, want shapes.P: the layouts differ: it is " + here + "pair, want struct{X float32; Y float32}"},
		{"value", 3.0, "have float64, want shapes.P: the layouts differ: it is float64, want struct{X float32; Y float32}"},
		{"value", &sameNames{}, "have *" + here + "sameNames, want shapes.P: the layouts differ: it is *" + here + "sameNames, want struct{X float32; Y float32}"},
		{"value", nil, "have nil, want shapes.P"},
		{"value", out, "have *gpu.Buffer[float32], want shapes.P"},
		{"nested", nestedLike{}, ""},
		{"nested", nestedOther{}, "have " + here + "nestedOther, want shapes.Nested: the layouts differ: .Rows[i].X is int32, want float32"},
		{"nested", nestedMoved{}, "have " + here + "nestedMoved, want shapes.Nested: the layouts differ: .Rows is at offset 4, want 0"},
		{"array", [3]float32{}, ""},
		{"array", [3]int32{}, "have [3]int32, want [3]float32: the layouts differ: [i] is int32, want float32"},
		{"array", [4]float32{}, "have [4]float32, want [3]float32: the sizes differ: 16 bytes, want 12; it is [4]float32, want [3]float32"},
		{"array", larger{}, "have " + here + "larger, want [3]float32: the layouts differ: it is " + here + "larger, want [3]float32"},
		{"half", kernel.ToFloat16(1), ""},
		{"half", kernel.ToBFloat16(1), "have quern.dev/kernel.BFloat16, want quern.dev/kernel.Float16: the layouts differ: it is quern.dev/kernel.BFloat16, want quern.dev/kernel.Float16"},
		{"half", bits{}, "have " + here + "bits, want quern.dev/kernel.Float16: the layouts differ: it is " + here + "bits, want quern.dev/kernel.Float16"},
		{"complexes", complex64(1), ""},
		{"complexes", sameNames{}, "have " + here + "sameNames, want complex64: the layouts differ: it is " + here + "sameNames, want complex64"},
		{"number", float32(1), ""},
		{"number", 1.0, "have float64, want float32"},
		{"number", 1, "have int, want float32"},
		{"number", sameNames{}, "have " + here + "sameNames, want float32: the sizes differ: 8 bytes, want 4; it is " + here + "sameNames, want float32"},
	} {
		args := []any{c.arg}
		switch c.kernel {
		case "value":
			args = append(args, out)
		case "number":
			args = append(args, level(1))
		}
		name := map[string]string{"array": "a", "number": "a", "half": "h", "complexes": "c"}[c.kernel]
		if name == "" {
			name = "p"
		}
		for range 2 { // also when the types are already known
			err := kernels[c.kernel].Launch(s, gpu.Linear(1), args...)
			want := "gpu: launch " + c.kernel + ": argument " + name + ": " + c.want
			if c.want == "" && err != nil || c.want != "" && (err == nil || err.Error() != want || !errors.Is(err, gpu.ErrInvalid)) {
				t.Errorf("%s with %T:\ngot  %v\nwant %s", c.kernel, c.arg, err, want)
			}
			if c.kernel == "value" && err == nil {
				var got [1]float32
				if err := gpu.Download(t.Context(), s, got[:], out); err != nil || got[0] != 2 {
					t.Errorf("%T: computed %v, %v", c.arg, got, err)
				}
			}
		}
	}
}

func TestDynamicBuffersHaveTheLayoutOfTheirParameters(t *testing.T) {
	d := must[*gpu.Device](t)(gpu.Open(gpu.Config{Device: "cpu"}))
	k := must[*gpu.Kernel](t)(d.Compile(t.Context(), layoutSource, "elements"))
	s := d.DefaultStream()
	good := []any{alloc[otherNames](t, d), alloc[complex64](t, d), alloc[kernel.Float16](t, d), alloc[level](t, d)}
	const here = "quern.dev/gpu_test."
	for _, c := range []struct {
		at   int
		arg  any
		want string // empty if the argument is good
	}{
		{0, alloc[lowerNames](t, d), ""},
		{0, alloc[float64](t, d), "x: have *gpu.Buffer[float64], want *gpu.Buffer[shapes.P]: the layouts differ: it is float64, want struct{X float32; Y float32}"},
		{0, alloc[complex64](t, d), "x: have *gpu.Buffer[complex64], want *gpu.Buffer[shapes.P]: the layouts differ: it is complex64, want struct{X float32; Y float32}"},
		{0, alloc[swapped](t, d), "x: have *gpu.Buffer[" + here + "swapped], want *gpu.Buffer[shapes.P]: the layouts differ: .X is at offset 4, want 0"},
		{0, sameNames{}, "x: have " + here + "sameNames, want *gpu.Buffer[shapes.P]"},
		{1, alloc[float64](t, d), "c: have *gpu.Buffer[float64], want *gpu.Buffer[complex64]"},
		{2, alloc[uint16](t, d), "h: have *gpu.Buffer[uint16], want *gpu.Buffer[quern.dev/kernel.Float16]"},
		{3, alloc[int32](t, d), ""},
		{3, alloc[uint32](t, d), "l: have *gpu.Buffer[uint32], want *gpu.Buffer[shapes.Level]"},
	} {
		args := append([]any(nil), good...)
		args[c.at] = c.arg
		err := k.Launch(s, gpu.Linear(1), args...)
		got := ""
		if err != nil {
			got = err.Error()
		}
		want := c.want
		if want != "" {
			want = "gpu: launch elements: argument " + want
		}
		if got != want {
			t.Errorf("got  %s\nwant %s", got, want)
		}
	}
	if err := d.Close(); err != nil {
		if _, leak := errors.AsType[*gpu.LeakError](err); !leak {
			t.Error(err)
		}
	}
}

func alloc[T any](t *testing.T, d *gpu.Device) *gpu.Buffer[T] {
	return must[*gpu.Buffer[T]](t)(gpu.Alloc[T](d, 1))
}

func must[T any](t *testing.T) func(v T, err error) T {
	return func(v T, err error) T {
		t.Helper()
		if err != nil {
			t.Fatal(err)
		}
		return v
	}
}

// Two types may have the same name, for example in two main packages.
func TestAnotherTypeOfTheSameNameIsCalledAnother(t *testing.T) {
	d := must[*gpu.Device](t)(gpu.Open(gpu.Config{Device: "cpu"}))
	defer d.Close()
	k := gpu.NewKernel(compiled.Kernel{Name: "k", Params: []compiled.Param{
		{Name: "p", Kind: compiled.Struct, Type: "quern.dev/gpu_test.swapped", Layout: "struct{X float32; Y float32}", Size: 8},
	}})
	err := k.Launch(d.DefaultStream(), gpu.Linear(1), swapped{})
	want := "gpu: launch k: argument p: have quern.dev/gpu_test.swapped, want another quern.dev/gpu_test.swapped: the layouts differ: .X is at offset 4, want 0"
	if err == nil || err.Error() != want {
		t.Errorf("got  %v\nwant %s", err, want)
	}
}

// A damaged layout is ignored: only sizes are compared.
func TestDamagedLayouts(t *testing.T) {
	d := must[*gpu.Device](t)(gpu.Open(gpu.Config{Device: "cpu"}))
	defer d.Close()
	for _, layout := range []string{"", "struct{", "struct{X float32", "struct{X float32;Y float32}", "struct{X}", "[", "[2", "[x]int32", "[2]", "[-1]int8", "Pixel", "float32 ", "}"} {
		k := gpu.NewKernel(compiled.Kernel{Name: "k", Params: []compiled.Param{{Name: "p", Kind: compiled.Struct, Type: "pixel", Layout: layout, Size: 8}}})
		for _, arg := range []any{larger{}, 3.0} {
			if err := k.Launch(d.DefaultStream(), gpu.Linear(1), arg); !errors.Is(err, gpu.ErrInvalid) {
				t.Errorf("layout %q takes a %T: %v", layout, arg, err)
			}
		}
	}
}
