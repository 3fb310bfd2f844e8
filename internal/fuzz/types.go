package fuzz

import (
	"fmt"
	"math"
	"slices"
	"strings"
)

// shape is the kind of a type.
type shape uint8

const (
	integer shape = iota
	float
	boolean
	array
	structure
	slice
	pointer
)

// typ is a type of the generated program.
type typ struct {
	form   shape
	text   string // Go source
	bits   int    // size of a number
	signed bool
	small  bool // a type parameter, whose smallest instance must hold all constants
	elem   *typ
	n      int // number of elements of an array
	fields []field

	methods []*callable // of a struct
}

type field struct {
	name string
	t    *typ
}

var (
	tBool    = &typ{form: boolean, text: "bool"}
	tInt     = &typ{form: integer, text: "int", bits: 64, signed: true}
	tUint    = &typ{form: integer, text: "uint", bits: 64}
	tInt32   = &typ{form: integer, text: "int32", bits: 32, signed: true}
	tUint8   = &typ{form: integer, text: "uint8", bits: 8}
	tUint16  = &typ{form: integer, text: "uint16", bits: 16}
	tUint32  = &typ{form: integer, text: "uint32", bits: 32}
	tInt64   = &typ{form: integer, text: "int64", bits: 64, signed: true}
	tUint64  = &typ{form: integer, text: "uint64", bits: 64}
	tFloat32 = &typ{form: float, text: "float32", bits: 32}
	tFloat64 = &typ{form: float, text: "float64", bits: 64}

	integers = []*typ{
		tInt, tInt, tInt, tInt32, tInt32, tUint32, tUint8, tInt64, tUint64, tUint, tUint16,
		{form: integer, text: "int8", bits: 8, signed: true},
		{form: integer, text: "int16", bits: 16, signed: true},
	}
	unsigned = []*typ{tUint8, tUint16, tUint32, tUint64, tUint}
	floats   = []*typ{tFloat32, tFloat32, tFloat64}
)

func (t *typ) isBasic() bool { return t.form <= boolean }

// leaves returns the number of basic values in a value of the type.
func (t *typ) leaves() int {
	switch t.form {
	case array:
		return t.n * t.elem.leaves()
	case structure:
		n := 0
		for _, f := range t.fields {
			n += f.t.leaves()
		}
		return n
	}
	return 1
}

func arrayOf(n int, elem *typ) *typ {
	return &typ{form: array, text: fmt.Sprintf("[%d]%s", n, elem.text), n: n, elem: elem}
}

func sliceOf(elem *typ) *typ { return &typ{form: slice, text: "[]" + elem.text, elem: elem} }

func pointerTo(elem *typ) *typ { return &typ{form: pointer, text: "*" + elem.text, elem: elem} }

// basic picks a basic type.
func (g *generator) basic() *typ {
	switch n := g.IntN(10); {
	case n < 7:
		return pick(g, integers)
	case n < 9 && !g.noFloats:
		return pick(g, floats)
	}
	return tBool
}

// integerType picks an integer type, usually int.
func (g *generator) integerType() *typ { return pick(g, integers) }

// composite picks or declares an array or struct type.
func (g *generator) composite() *typ {
	if len(g.structs) > 0 && g.IntN(2) == 0 {
		return pick(g, g.structs)
	}
	elem := g.basic()
	if len(g.structs) > 0 && g.IntN(4) == 0 {
		elem = pick(g, g.structs)
	} else if g.IntN(6) == 0 {
		elem = arrayOf(2+g.IntN(2), elem)
	}
	return arrayOf(2+g.IntN(5), elem)
}

// declareStruct declares a struct type at package level.
func (g *generator) declareStruct() {
	t := &typ{form: structure, text: g.global("rec")}
	var b strings.Builder
	fmt.Fprintf(&b, "type %s struct {\n", t.text)
	n, numbers := 2+g.IntN(4), []*typ(nil)
	if g.IntN(2) == 0 { // numbers of the same size, which vector accesses move together
		n = pick(g, []int{2, 3, 4, 4, 8})
		bits := pick(g, []int{8, 16, 32, 32, 32, 64})
		for _, t := range slices.Concat(integers, floats) {
			if t.bits == bits && (t.form == integer || !g.noFloats) {
				numbers = append(numbers, t)
			}
		}
	}
	for i := range n {
		f := field{name: string(rune('a' + i)), t: g.basic()}
		if numbers != nil {
			f.t = pick(g, numbers)
			t.fields = append(t.fields, f)
			fmt.Fprintf(&b, "%s %s\n", f.name, f.t.text)
			continue
		}
		switch g.IntN(6) {
		case 0:
			f.t = arrayOf(1+g.IntN(4), g.basic())
		case 1:
			if len(g.structs) > 0 {
				f.t = pick(g, g.structs)
			}
		}
		t.fields = append(t.fields, f)
		fmt.Fprintf(&b, "%s %s\n", f.name, f.t.text)
	}
	b.WriteString("}\n")
	g.decls = append(g.decls, b.String())
	g.structs = append(g.structs, t)
}

// vector adds a vector type of package kernel to the program.
func (g *generator) vector() {
	elem := pick(g, []*typ{tInt32, tInt32, tUint8, tInt64, tUint16, tFloat32, tFloat32, tFloat64})
	if g.noFloats && elem.form == float {
		elem = tInt32
	}
	n := 2 + g.IntN(3)
	t := &typ{form: structure, text: fmt.Sprintf("kernel.Vec%d[%s]", n, elem.text)}
	for _, name := range []string{"X", "Y", "Z", "W"}[:n] {
		t.fields = append(t.fields, field{name, elem})
	}
	g.structs = append(g.structs, t)
	method := func(name string, result *typ, params ...*typ) {
		g.callables = append(g.callables, &callable{name: name, recv: t, pure: true, params: params, results: []*typ{result}, cost: 1})
	}
	method("Add", t, t)
	method("Sub", t, t)
	method("Min", t, t)
	method("Max", t, t)
	method("Neg", t)
	if elem.form == integer { // products of floats might be fused
		method("Mul", t, t)
		method("Scale", t, elem)
		method("Dot", elem, t)
		method("AddScaled", t, elem, t)
	}
}

// constant returns a constant of basic type t.
func (g *generator) constant(t *typ) string {
	switch t.form {
	case boolean:
		return pick(g, []string{"true", "false"})
	case float:
		return pick(g, []string{"0.5", "2", "1", "-1", "0.25", "3", "-2.5", "0.1", "1e3", "7", "0x1p-10", "100", "1.5e-3"})
	}
	low, high := int64(0), int64(100)
	if !t.small {
		high = math.MaxInt64
		switch {
		case t.signed:
			high >>= 64 - t.bits
			low = -high - 1
		case t.bits < 64:
			high = 1<<t.bits - 1
		}
	}
	var v int64
	switch g.IntN(6) {
	case 0:
		v = pick(g, []int64{low, high, low + 1, high - 1, high/2 + 1, -1})
	case 1:
		v = pick(g, []int64{15, 16, 31, 32, 63, 64, 127, 128, 255, 256, 65535, 1 << 16, 1<<31 - 1, 1 << 31, 1 << 32})
	case 2:
		v = g.Int64() >> g.UintN(64)
	default:
		v = int64(g.IntN(11))
	}
	if v < low || v > high {
		v = int64(g.IntN(11))
	}
	return fmt.Sprint(v)
}

// nonzero returns a nonzero constant.
func (g *generator) nonzero(t *typ) string {
	for {
		if c := g.constant(t); c != "0" {
			return c
		}
	}
}

func pick[T any](g *generator, list []T) T { return list[g.IntN(len(list))] }
