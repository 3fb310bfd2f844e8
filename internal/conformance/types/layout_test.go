package types

import (
	"fmt"
	"math/rand/v2"
	"reflect"
	"strings"
	"testing"
	"unsafe"

	"quern.dev/gpu"
	"quern.dev/gputest"
	"quern.dev/kernel"
)

// scalars are the types that other types consist of.
var scalars = []struct {
	text string
	typ  reflect.Type
}{
	{"bool", reflect.TypeFor[bool]()}, {"int", reflect.TypeFor[int]()}, {"uint", reflect.TypeFor[uint]()},
	{"int8", reflect.TypeFor[int8]()}, {"int16", reflect.TypeFor[int16]()}, {"int32", reflect.TypeFor[int32]()}, {"int64", reflect.TypeFor[int64]()},
	{"uint8", reflect.TypeFor[uint8]()}, {"uint16", reflect.TypeFor[uint16]()}, {"uint32", reflect.TypeFor[uint32]()}, {"uint64", reflect.TypeFor[uint64]()},
	{"float32", reflect.TypeFor[float32]()}, {"float64", reflect.TypeFor[float64]()},
	{"complex64", reflect.TypeFor[complex64]()}, {"complex128", reflect.TypeFor[complex128]()},
	{"kernel.Float16", reflect.TypeFor[kernel.Float16]()}, {"kernel.BFloat16", reflect.TypeFor[kernel.BFloat16]()},
	{"kernel.Vec3[int16]", reflect.TypeFor[kernel.Vec3[int16]]()}, {"kernel.Vec4[float32]", reflect.TypeFor[kernel.Vec4[float32]]()},
}

// randomType returns a type as Go source text and as a reflect.Type.
func randomType(r *rand.Rand, depth int) (string, reflect.Type) {
	switch n := r.IntN(10); {
	case depth == 0 || n < 4:
		s := scalars[r.IntN(len(scalars))]
		return s.text, s.typ
	case n < 6:
		length := r.IntN(4)
		text, elem := randomType(r, depth-1)
		return fmt.Sprintf("[%d]%s", length, text), reflect.ArrayOf(length, elem)
	}
	var texts []string
	var fields []reflect.StructField
	for i := range r.IntN(5) {
		text, typ := randomType(r, depth-1)
		name := string(rune('A' + i))
		texts = append(texts, name+" "+text)
		fields = append(fields, reflect.StructField{Name: name, Type: typ})
	}
	return "struct{" + strings.Join(texts, "; ") + "}", reflect.StructOf(fields)
}

// paddedSize is the size to which all types of the test are padded, so that one type of
// buffer can hold them.
const paddedSize = 512

type padded [paddedSize]byte

// values fills v with random bits and sets the bytes of mask that are not padding.
func values(r *rand.Rand, v reflect.Value, mask []byte) {
	switch v.Kind() {
	case reflect.Struct:
		for i := range v.NumField() {
			values(r, v.Field(i), mask[v.Type().Field(i).Offset:])
		}
	case reflect.Array:
		for i := range v.Len() {
			values(r, v.Index(i), mask[uintptr(i)*v.Type().Elem().Size():])
		}
	default:
		size := v.Type().Size()
		to := unsafe.Slice((*byte)(v.Addr().UnsafePointer()), size)
		for i := range to {
			to[i], mask[i] = byte(r.Uint32()), 0xff
		}
		if v.Kind() == reflect.Bool {
			to[0] &= 1
		}
	}
}

// TestLayoutOfRandomTypesMatchesGo checks values of random types. A kernel that reads a
// value from a parameter, from memory, through a local array, and through a function must
// get the bytes that the host stored.
func TestLayoutOfRandomTypesMatchesGo(t *testing.T) {
	r := rand.New(rand.NewPCG(21, 22))
	gputest.Each(t, func(t *testing.T, d *gpu.Device) {
		for range 40 {
			text, typ := randomType(r, 3)
			if typ.Size() == 0 || typ.Size() > paddedSize-16 {
				continue
			}
			whole := reflect.StructOf([]reflect.StructField{{Name: "V", Type: typ}, {Name: "Rest", Type: reflect.ArrayOf(int(paddedSize-typ.Size()), reflect.TypeFor[uint8]())}})
			source := fmt.Sprintf(`package p

import "quern.dev/kernel"

type inner %s

type whole struct {
	V    inner
	Rest [%d]uint8
}

func same(v inner) inner { return v }

//quern:kernel
func move(t kernel.Thread, p whole, in, out []whole) {
	switch i := t.Global(); i {
	case 0:
		out[i].V = p.V
	case 1:
		out[i].V = same(in[i].V)
	case 2:
		var two [2]inner
		two[len(in)%%2] = in[i].V
		out[i].V = two[len(out)%%2]
	}
}
`, text, paddedSize-typ.Size())
			const n = 3
			var in, mask [n]padded
			for i := range in {
				values(r, reflect.NewAt(whole, unsafe.Pointer(&in[i])).Elem().Field(0), mask[i][:])
			}
			k, err := d.Compile(t.Context(), source, "move")
			if err != nil {
				t.Fatalf("%s\n%v", source, err)
			}
			grid := gpu.Blocks(gpu.Dim3{X: 1, Y: 1, Z: 1}, gpu.Dim3{X: n, Y: 1, Z: 1})
			// The value alone is too few arguments, but it has the layout of its
			// parameter.
			value := reflect.NewAt(whole, unsafe.Pointer(&in[0])).Elem().Interface()
			if err := k.Launch(d.DefaultStream(), grid, value); err == nil || !strings.Contains(err.Error(), "1 argument, want 3") {
				t.Fatalf("%s\n%v", source, err)
			}
			out := gputest.Upload(t, d, make([]padded, n))
			l, err := k.Begin(d.DefaultStream(), grid)
			if err != nil {
				t.Fatal(err)
			}
			gpu.Arg(l, in[0])
			gpu.SliceArg(l, gputest.Upload(t, d, in[:]))
			gpu.SliceArg(l, out)
			if err := l.End(); err != nil {
				t.Fatalf("%s\n%v", source, err)
			}
			for i, got := range gputest.Download(t, d, out) {
				for j := range got {
					if got[j] != in[i][j]&mask[i][j] {
						t.Fatalf("byte %d of value %d is %#02x, want %#02x\n%s", j, i, got[j], in[i][j], source)
					}
				}
			}
		}
	})
}
