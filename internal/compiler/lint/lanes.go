package lint

import (
	"math/bits"
	"strconv"
	"strings"

	"quern.dev/internal/compiler/ir"
)

// lanes is a number for each thread of a warp.
type lanes [32]int64

// value is what is known about an integer in the threads of a warp. In a lane it is the
// sum of the lane's number, of each term's number for the lane times its factor, and of
// a multiple of base that is the same for all lanes.
type value struct {
	data  bool // it depends on the thread in an unknown way
	lane  lanes
	terms []term
	base  int64  // 0: no multiple is added
	name  string // of a uniform value, as in the source; "" if unknown
	block bool   // it may depend on the block's index
	set   int    // when a variable was set: values set at the same time are equal
}

// term is a multiple of an unknown factor that is the same for all threads.
type term struct {
	factor string
	lane   lanes
}

// unaligned is the base of an arbitrary value, aligned the base of a value for which no
// divisor has been excluded.
const (
	unaligned = 1
	aligned   = 1 << 30
)

func unknown() value { return value{data: true} }

// same returns a uniform value that is a multiple of base.
func same(name string, base int64) value { return value{base: base, name: name} }

func constant(c int64) value {
	var v value
	for i := range v.lane {
		v.lane[i] = c
	}
	return v
}

// exact reports whether the value is known in every lane.
func (v value) exact() bool { return !v.data && v.base == 0 && len(v.terms) == 0 }

// uniform reports whether the value is the same for all threads.
func (v value) uniform() bool {
	if v.data {
		return false
	}
	for _, t := range v.terms {
		if !t.lane.equal() {
			return false
		}
	}
	return v.lane.equal()
}

func (l lanes) equal() bool {
	for _, x := range l {
		if x != l[0] {
			return false
		}
	}
	return true
}

// constant reports whether the value is the same known number in all lanes, and returns
// it.
func (v value) constant() (int64, bool) {
	return v.lane[0], v.exact() && v.lane.equal()
}

// pattern reports whether two values differ by the same amount in all lanes.
func (v value) pattern(w value) bool {
	if v.data || w.data || len(v.terms) != len(w.terms) {
		return false
	}
	for i := range v.terms {
		if v.terms[i] != w.terms[i] {
			return false
		}
	}
	return v.minus(w.lane).equal()
}

func (v value) minus(l lanes) lanes {
	for i := range l {
		l[i] = v.lane[i] - l[i]
	}
	return l
}

func gcd(a, b int64) int64 {
	for b != 0 {
		a, b = b, a%b
	}
	return max(a, -a)
}

func add(a, b value, sign int64) value {
	if a.data || b.data {
		return unknown()
	}
	out := value{base: gcd(a.base, b.base), block: a.block || b.block}
	if a.uniform() && b.uniform() && a.base|b.base != 0 {
		out.name = named(a, map[int64]string{1: "+", -1: "-"}[sign], b)
	}
	for i := range out.lane {
		out.lane[i] = a.lane[i] + sign*b.lane[i]
	}
	out.terms = append(out.terms, a.terms...)
	for _, t := range b.terms {
		out.terms = addTerm(out.terms, t, sign)
	}
	return out
}

func addTerm(list []term, t term, sign int64) []term {
	out := append([]term(nil), list...)
	for i := range out {
		if out[i].factor == t.factor {
			for k := range t.lane {
				out[i].lane[k] += sign * t.lane[k]
			}
			if out[i].lane == (lanes{}) {
				return append(out[:i], out[i+1:]...)
			}
			return out
		}
	}
	for k := range t.lane {
		t.lane[k] *= sign
	}
	return append(out, t)
}

func mul(a, b value) value {
	if a.data || b.data {
		return unknown()
	}
	if a.exact() && b.exact() {
		for i := range a.lane {
			a.lane[i] *= b.lane[i]
		}
		a.name = ""
		return a
	}
	if c, ok := a.constant(); ok {
		return scale(b, c)
	}
	if c, ok := b.constant(); ok {
		return scale(a, c)
	}
	if a.uniform() && b.uniform() {
		base := int64(unaligned)
		name, block := named(a, "*", b), a.block || b.block
		if a.lane == (lanes{}) && b.lane == (lanes{}) && len(a.terms)+len(b.terms) == 0 {
			if hi, lo := bits.Mul64(uint64(a.base), uint64(b.base)); hi == 0 && lo < aligned {
				base = int64(lo)
			} else {
				base = aligned
			}
		}
		out := same(name, base)
		out.block = block
		return out
	}
	if a.uniform() {
		a, b = b, a
	}
	// Every lane's number times a uniform value that is only a name.
	if !b.uniform() || len(a.terms) > 0 {
		return unknown()
	}
	out := value{terms: []term{{factor: b.name, lane: a.lane}}, block: a.block || b.block}
	if a.base != 0 {
		out.base = unaligned
	}
	return out
}

// named returns the source form of an operation on two values, "" if one of them has no
// name or it is long.
func named(a value, op string, b value) string {
	const long = 32
	x, y := operand(a, op, false), operand(b, op, op == "-")
	switch {
	case x == "" || y == "" || len(x)+len(y) > long:
		return ""
	case y == "0" && op != "*":
		return x
	case x == "0" && op == "+":
		return y
	}
	return x + op + y
}

// operand returns the source form of an operand.
func operand(v value, op string, right bool) string {
	name := v.name
	if c, ok := v.constant(); ok && name == "" {
		name = strconv.FormatInt(c, 10)
	}
	if strings.ContainsAny(name, "+-") && (op == "*" || right) {
		return "(" + name + ")"
	}
	return name
}

func scale(v value, c int64) value {
	switch {
	case v.data:
		return unknown()
	case c == 0:
		return constant(0)
	}
	out := value{base: v.base * max(c, -c), block: v.block}
	if v.uniform() && v.base != 0 {
		out.name = named(v, "*", constant(c))
	}
	if v.base >= aligned {
		out.base = aligned
	}
	for i := range v.lane {
		out.lane[i] = v.lane[i] * c
	}
	for _, t := range v.terms {
		for k := range t.lane {
			t.lane[k] *= c
		}
		out.terms = append(out.terms, t)
	}
	return out
}

// divide returns v/c, or v%c, for non-negative values.
func divide(v value, c int64, remainder bool) value {
	switch {
	case v.data || c <= 0:
		return unknown()
	case v.uniform() && !v.exact():
		out := same(named(v, map[bool]string{false: "/", true: "%"}[remainder], constant(c)), unaligned)
		out.block = v.block
		return out
	case len(v.terms) > 0 || v.base%c != 0:
		return unknown()
	}
	out := value{block: v.block}
	if !remainder {
		out.base = v.base / c
	}
	for i, x := range v.lane {
		if remainder {
			out.lane[i] = x % c
		} else {
			out.lane[i] = x / c
		}
	}
	return out
}

// bitwise applies an operation to bits. The uniform multiple must not affect them.
func bitwise(a, b value, op ir.BinaryOp) value {
	if mask, ok := b.constant(); ok && op == ir.And && mask >= 0 {
		if a.base != 0 && mask&(mask+1) == 0 {
			return divide(a, mask+1, true)
		}
	}
	if a.uniform() && b.uniform() && !(a.exact() && b.exact()) {
		return opaque(a, b)
	}
	// Bits below the lowest bit of the base receive no carry from it.
	whole := func(v value) bool {
		if v.data || len(v.terms) > 0 {
			return false
		}
		for _, x := range v.lane {
			if x < 0 || v.base != 0 && x >= v.base&-v.base {
				return false
			}
		}
		return true
	}
	if !whole(a) || !whole(b) || op == ir.And && a.base != 0 && b.base != 0 {
		return unknown()
	}
	out := value{base: gcd(a.base, b.base), block: a.block || b.block}
	if op == ir.And || op == ir.AndNot {
		out.base = 0
		if a.base != 0 || b.base != 0 {
			return unknown()
		}
	}
	for i := range out.lane {
		x, y := a.lane[i], b.lane[i]
		switch op {
		case ir.And:
			x &= y
		case ir.Or:
			x |= y
		case ir.Xor:
			x ^= y
		case ir.AndNot:
			x &^= y
		}
		out.lane[i] = x
	}
	return out
}

// meet returns what is known about a variable that has one of two values.
func meet(a, b value) value {
	switch {
	case a.data || b.data:
		return unknown()
	case a.pattern(b):
		a.base = gcd(gcd(a.base, b.base), a.lane[0]-b.lane[0])
		a.block = a.block || b.block
		if a.name != b.name {
			a.name = ""
		}
		return a
	default:
		return unknown()
	}
}
