package fuzz

import (
	"fmt"
	"math/bits"
	"strings"
)

// variable is a value that expressions can read.
type variable struct {
	name   string
	t      *typ
	fixed  bool      // not assignable
	limit  int       // of an integer: 0 <= v < limit; 0 if unknown
	within *variable // of an integer: it is a valid index of this slice
	at     string    // of a slice: an index in range
	length int       // of a slice: its minimum length
	base   string    // of a slice: the index of the thread's first own element
	own    int       // of a slice: the number of the thread's own elements; 0 if the thread may use all
	read   bool      // of a slice: shared between threads and not writable
	below  int       // of a slice of integers: they are indices below it; 0 if they may be anything
	rising bool      // of a slice of integers: each is at least the one before
}

// place returns an element, field or variable of basic type within v.
func (f *frame) place(v *variable) (string, *typ) {
	text, t := v.name, v.t
	for !t.isBasic() {
		switch t.form {
		case structure:
			x := pick(f.g, t.fields)
			text, t = text+"."+x.name, x.t
		case array:
			text, t = text+"["+f.index(t.n)+"]", t.elem
		case slice:
			text, t = text+"["+f.element(v)+"]", t.elem
		case pointer:
			if t = t.elem; t.isBasic() {
				text = "(*" + text + ")"
			}
		}
	}
	return text, t
}

// element returns an index of slice v that the thread may use.
func (f *frame) element(v *variable) string {
	if v.own > 0 {
		saved := f.noFaults
		f.noFaults = true // elements past them belong to other threads
		i := f.index(v.own)
		f.noFaults = saved
		if v.base == "" {
			return i
		}
		if i == "0" {
			return v.base
		}
		return v.base + " + " + f.asInt(i)
	}
	if v.at != "" && f.g.IntN(2) == 0 {
		return v.at
	}
	for _, w := range f.vars {
		if w.within == v && (v.length == 0 || f.g.IntN(2) == 0) {
			return w.name
		}
	}
	if v.length == 0 {
		return f.leaf(tInt) // its length is unknown, so the program is faulty
	}
	return f.index(v.length)
}

// asInt converts an index to an operand of type int.
func (f *frame) asInt(i string) string {
	if strings.IndexFunc(i, func(r rune) bool { return r < '0' || r > '9' }) < 0 {
		return i
	}
	return "int(" + i + ")"
}

// index returns an index of any integer type, below n except in faulty programs.
func (f *frame) index(n int) string {
	g := f.g
	if f.faulty() && f.nested == 0 && g.IntN(12) == 0 {
		return f.expr(g.integerType(), 1)
	}
	if g.IntN(2) == 0 {
		var fit []string
		for _, v := range f.vars {
			switch {
			case v.limit == 0 || v.limit > 2*n:
			case v.limit <= n:
				fit = append(fit, v.name)
				if n <= 1<<7 { // every type holds n-1
					fit = append(fit, fmt.Sprintf("%d - %s", n-1, v.name))
				}
				if v.limit < n {
					fit = append(fit, v.name+" + 1")
				}
				if 2*v.limit <= n {
					fit = append(fit, v.name+" * 2", v.name+"*2 + 1")
				}
			default:
				fit = append(fit, v.name+" / 2", v.name+" >> 1")
			}
		}
		if len(fit) > 0 {
			return pick(g, fit)
		}
	}
	if f.nested > 1 {
		return fmt.Sprint(g.IntN(n))
	}
	f.nested++
	defer func() { f.nested-- }()
	d := g.IntN(2)
	if n > 100 { // some types do not hold n
		return fmt.Sprintf("%s %% %d", f.expr(tUint, d), n)
	}
	switch g.IntN(6) {
	case 0:
		if bits.OnesCount(uint(n)) == 1 {
			return fmt.Sprintf("%s & %d", f.expr(g.integerType(), d), n-1)
		}
		return fmt.Sprintf("%s %% %d", f.expr(pick(g, unsigned), d), n)
	case 1:
		return fmt.Sprintf("%s %% %d", f.expr(pick(g, unsigned), d), n)
	case 2:
		return fmt.Sprintf("min(max(%s, 0), %d)", f.expr(pick(g, []*typ{tInt, tInt32, tInt64}), d), n-1)
	}
	return fmt.Sprint(g.IntN(n))
}

func (f *frame) faulty() bool { return f.g.faulty && !f.noFaults }

// variable picks a variable to read, often a recent one. It omits slices that may be empty
// where nothing may fail.
func (f *frame) variable() *variable {
	for {
		v := pick(f.g, f.vars)
		if n := len(f.vars); n > 6 && f.g.IntN(2) == 0 {
			v = f.vars[n-1-f.g.IntN(6)]
		}
		if v.t.form != slice || v.own > 0 || v.length > 0 || !f.noFaults && f.g.IntN(2) == 0 {
			return v
		}
	}
}

// leaf reads a variable or part of one and converts it to t. It is never a constant.
func (f *frame) leaf(t *typ) string {
	for range 4 {
		v := f.variable()
		if v.t.isBasic() && v.t.text != t.text && f.g.IntN(3) > 0 {
			continue
		}
		text, have := f.place(v)
		return f.convert(text, have, t)
	}
	text, have := f.place(f.variable())
	return f.convert(text, have, t)
}

// convert converts a value of one basic type to another, with a defined result.
func (f *frame) convert(text string, from, to *typ) string {
	g := f.g
	switch {
	case from.text == to.text:
		return text
	case to.form == boolean && from.form == integer:
		return fmt.Sprintf("(%s > %s)", text, g.constant(from))
	case to.form == boolean:
		return fmt.Sprintf("(%s < %s)", text, g.constant(from))
	case from.form == boolean && to.text == "int":
		return fmt.Sprintf("%s(%s)", g.helper("truth"), text)
	case from.form == boolean:
		return fmt.Sprintf("%s(%s(%s))", to.text, g.helper("truth"), text)
	case from.form == float && to.form == integer && g.IntN(3) == 0:
		return fmt.Sprintf("kernel.ToInteger[%s](%s)", to.text, text)
	case from.form == float && to.form == integer && !from.small && !to.small && g.IntN(2) == 0:
		return fmt.Sprintf("%s(%s)", g.cut(from, to), text)
	case from.form == float && to.form == integer && to.text == "int":
		return fmt.Sprintf("%s(%s)", g.helper("whole"), f.convert(text, from, tFloat64))
	case from.form == float && to.form == integer:
		return fmt.Sprintf("%s(%s(%s))", to.text, g.helper("whole"), f.convert(text, from, tFloat64))
	}
	return fmt.Sprintf("%s(%s)", to.text, text)
}

// expr returns a pure expression of basic type that is not a constant.
func (f *frame) expr(t *typ, depth int) string {
	if depth <= 0 || f.g.IntN(6) == 0 {
		return f.leaf(t)
	}
	switch t.form {
	case boolean:
		return f.condition(depth)
	case float:
		return f.floatExpr(t, depth-1)
	}
	return f.intExpr(t, depth-1)
}

// operand returns an expression or a constant.
func (f *frame) operand(t *typ, depth int) string {
	if f.g.IntN(3) == 0 {
		return f.g.constant(t)
	}
	return f.expr(t, depth)
}

func (f *frame) intExpr(t *typ, d int) string {
	g := f.g
	switch g.IntN(18) {
	case 0, 1, 2, 3, 4, 5:
		op := pick(g, []string{"+", "-", "*", "+", "-", "*", "&", "|", "^", "&^"})
		if g.IntN(8) == 0 {
			return fmt.Sprintf("(%s %s %s)", g.constant(t), op, f.expr(t, d))
		}
		return fmt.Sprintf("(%s %s %s)", f.expr(t, d), op, f.operand(t, d))
	case 6, 7:
		return fmt.Sprintf("(%s %s %s)", f.expr(t, d), pick(g, []string{"/", "%"}), f.divisor(t, d))
	case 8, 9:
		return fmt.Sprintf("(%s %s %s)", f.expr(t, d), pick(g, []string{"<<", ">>"}), f.count(d))
	case 10:
		return fmt.Sprintf("(%s%s)", pick(g, []string{"-", "^"}), f.expr(t, d))
	case 11:
		from := g.integerType()
		return fmt.Sprintf("%s(%s)", t.text, f.expr(from, d))
	case 12:
		return fmt.Sprintf("%s(%s, %s)", pick(g, []string{"min", "max"}), f.expr(t, d), f.operand(t, d))
	case 13:
		return f.bitsExpr(t, d)
	case 14, 15:
		return f.callExpr(t, d)
	case 16:
		if f.thread && !t.small {
			return f.convert(f.coordinate(), tInt, t)
		}
		if !g.noFloats {
			return f.convert(f.floatExpr(tFloat64, d), tFloat64, t)
		}
	}
	return f.convert(f.condition(d), tBool, t)
}

// coordinate returns a coordinate of the thread.
func (f *frame) coordinate() string {
	return pick(f.g, []string{"t.ThreadIdx.X", "t.BlockIdx.X", "t.BlockDim.X", "t.GridDim.X", "t.Global()", "t.Stride()",
		"t.ThreadIdx.Y", "t.BlockIdx.Y", "t.BlockDim.Y", "t.GridDim.Z", "t.Lane()", "t.Warp()"})
}

// divisor returns a divisor, which is nonzero except in faulty programs.
func (f *frame) divisor(t *typ, d int) string {
	g := f.g
	if f.faulty() && g.IntN(6) == 0 {
		return f.expr(t, d)
	}
	switch g.IntN(3) {
	case 0:
		return fmt.Sprintf("(%s | 1)", f.expr(t, d))
	case 1:
		if !t.small {
			return fmt.Sprintf("max(%s, 1)", f.expr(t, d))
		}
	}
	return g.nonzero(t)
}

// count returns a shift count, which is not negative except in faulty programs.
func (f *frame) count(d int) string {
	g := f.g
	if f.faulty() && g.IntN(6) == 0 {
		return f.expr(g.integerType(), d)
	}
	switch g.IntN(3) {
	case 0:
		return f.expr(pick(g, unsigned), d)
	case 1:
		return fmt.Sprintf("(%s & %d)", f.expr(g.integerType(), d), pick(g, []int{3, 7, 15, 31, 63, 127}))
	}
	return fmt.Sprint(g.IntN(70))
}

// bitsExpr returns a call of a function of math/bits.
func (f *frame) bitsExpr(t *typ, d int) string {
	g := f.g
	from := pick(g, unsigned)
	suffix := from.text[4:]
	x := f.expr(from, d)
	switch g.IntN(4) {
	case 0:
		if suffix == "8" || g.IntN(2) == 0 {
			return f.convert(fmt.Sprintf("bits.Reverse%s(%s)", suffix, x), from, t)
		}
		return f.convert(fmt.Sprintf("bits.ReverseBytes%s(%s)", suffix, x), from, t)
	case 1:
		return f.convert(fmt.Sprintf("bits.RotateLeft%s(%s, %s)", suffix, x, f.operand(tInt, d)), from, t)
	}
	return f.convert(fmt.Sprintf("bits.%s%s(%s)", pick(g, []string{"OnesCount", "LeadingZeros", "TrailingZeros", "Len"}), suffix, x), tInt, t)
}

func (f *frame) condition(d int) string {
	g := f.g
	switch g.IntN(9) {
	case 0:
		return fmt.Sprintf("(%s && %s)", f.condition(d-1), f.condition(d-1))
	case 1:
		return fmt.Sprintf("(%s || %s)", f.condition(d-1), f.condition(d-1))
	case 2:
		return fmt.Sprintf("!%s", f.expr(tBool, d-1))
	case 3:
		if a, b := f.twoOf(equatable); a != nil && d > 0 {
			return fmt.Sprintf("(%s %s %s)", a.name, pick(g, []string{"==", "!="}), b.name)
		}
	case 4:
		if !g.noFloats {
			t := pick(g, floats)
			return fmt.Sprintf("(%s %s %s)", f.expr(t, d), g.comparison(), f.operand(t, d))
		}
	}
	t := g.integerType()
	return fmt.Sprintf("(%s %s %s)", f.expr(t, d), g.comparison(), f.operand(t, d))
}

// equatable reports whether kernels may compare values of composite type t.
func equatable(t *typ) bool { return (t.form == structure || t.form == array) && t.leaves() <= 64 }

func (g *generator) comparison() string {
	return pick(g, []string{"<", "<=", ">", ">=", "==", "!="})
}

// twoOf picks two variables of the same type. They may be the same variable.
func (f *frame) twoOf(want func(t *typ) bool) (a, b *variable) {
	for range 5 {
		a, b = f.variable(), f.variable()
		if a.t.text == b.t.text && want(a.t) {
			return a, b
		}
	}
	return nil, nil
}

// floatExpr returns a floating-point expression that rounds every product, so that nothing
// can be fused.
func (f *frame) floatExpr(t *typ, d int) string {
	g := f.g
	switch g.IntN(12) {
	case 0, 1, 2, 3:
		return fmt.Sprintf("(%s %s %s)", f.expr(t, d), pick(g, []string{"+", "-"}), f.operand(t, d))
	case 4, 5:
		return fmt.Sprintf("%s(%s * %s)", t.text, f.expr(t, d), f.operand(t, d))
	case 6:
		return fmt.Sprintf("%s(%s / %s)", t.text, f.expr(t, d), f.expr(t, d))
	case 7:
		return fmt.Sprintf("(-%s)", f.expr(t, d))
	case 8:
		return f.callExpr(t, d)
	case 9:
		return fmt.Sprintf("%s(%s, %s)", pick(g, []string{"min", "max"}), f.expr(t, d), f.operand(t, d))
	case 10:
		if t.small {
			break
		}
		switch g.IntN(7) {
		case 5, 6:
			return f.halfExpr(t, d)
		case 0:
			return fmt.Sprintf("kernel.FMA(%s, %s, %s)", f.expr(t, d), f.expr(t, d), f.expr(t, d))
		case 1:
			return fmt.Sprintf("kernel.Sqrt(kernel.Abs(%s))", f.expr(t, d))
		case 2:
			// The sign of a NaN is unspecified.
			return fmt.Sprintf("kernel.Copysign(%s, %s(%s))", f.expr(t, d), t.text, f.expr(g.integerType(), d))
		}
		return fmt.Sprintf("kernel.%s(%s)", pick(g, []string{"Abs", "Floor", "Ceil", "Trunc", "RoundToEven", "Sqrt"}), f.expr(t, d))
	}
	from := g.integerType()
	return fmt.Sprintf("%s(%s)", t.text, f.expr(from, d))
}

// halfExpr returns an expression of 16-bit floats.
func (f *frame) halfExpr(t *typ, d int) string {
	g := f.g
	name := pick(g, []string{"kernel.ToFloat16", "kernel.ToBFloat16"})
	half := func() string { return name + "(" + f.expr(g.number(), d) + ")" }
	result := ".Float" + t.text[5:] + "()"
	switch g.IntN(4) {
	case 0:
		return half() + result
	case 1:
		return half() + ".FMA(" + half() + ", " + half() + ")" + result
	}
	return half() + pick(g, []string{".Add(", ".Sub(", ".Mul(", ".Div(", ".Min(", ".Max("}) + half() + ")" + result
}

// number picks a numeric type.
func (g *generator) number() *typ {
	if g.IntN(2) == 0 {
		return pick(g, floats)
	}
	return g.integerType()
}

// fusedExpr returns a sum of products and the sum of their magnitudes.
func (f *frame) fusedExpr(t *typ, d int) (value, bound string) {
	g := f.g
	if d == 0 {
		leaf := f.leaf(t)
		return leaf, "kernel.Abs(" + leaf + ")"
	}
	x, xb := f.fusedExpr(t, d-1)
	y, yb := f.fusedExpr(t, g.IntN(d))
	if g.IntN(5) < 2 {
		return fmt.Sprintf("%s * %s", x, y), fmt.Sprintf("%s(%s * %s)", t.text, xb, yb)
	}
	return fmt.Sprintf("(%s %s %s)", x, pick(g, []string{"+", "-"}), y), fmt.Sprintf("(%s + %s)", xb, yb)
}

// cut declares a function that converts a float to an integer, which may not be able to
// hold it.
func (g *generator) cut(from, to *typ) string {
	name := "cutf"
	if from.bits == 64 {
		name = "cutd"
	}
	name += to.text
	if !g.helpers[name] {
		g.decls = append(g.decls, fmt.Sprintf("func %s%s(x %s) %s {\n\treturn %s(x)\n}\n", name, suffix, from.text, to.text, to.text))
	}
	return g.helper(name)
}
