package gputest

import (
	"fmt"
	"math"
	"reflect"
	"strings"
	"testing"
	"unsafe"
)

// Option changes when numbers count as equal, or how they are compared.
type Option struct{ set func(*options) }

type options struct {
	ulp      uint64
	abs, rel float64
	nan      bool
	bits     bool
	name     string
}

// ULP lets floating-point numbers differ by n units in the last place: there are at most
// n-1 numbers of their type between them. Zero has the two smallest numbers for
// neighbours, whatever its sign.
func ULP(n uint) Option { return Option{func(o *options) { o.ulp = uint64(n) }} }

// Abs lets numbers, also integers, differ by at most d.
func Abs(d float64) Option { return Option{func(o *options) { o.abs = d }} }

// Rel lets floating-point numbers differ by at most r times the absolute value of the
// one that is wanted.
func Rel(r float64) Option { return Option{func(o *options) { o.rel = r }} }

// NaNEqual makes every NaN equal to every other.
var NaNEqual = Option{func(o *options) { o.nan = true }}

// Bits makes numbers equal if their bits are: a zero is not equal to one of the other
// sign, and a NaN is equal to one with the same bits. With a tolerance it has no effect.
var Bits = Option{func(o *options) { o.bits = true }}

// Name says in messages what is compared.
func Name(name string) Option { return Option{func(o *options) { o.name = name }} }

// shown is how many differences a message lists.
const shown = 10

// Equal compares two slices and reports whether they are equal. If not, the test fails,
// with a message that has the first elements that differ, what each is and should be,
// how far apart they are, and how many differ.
//
// Elements are numbers and bools, and arrays and structs of these, whose parts are
// compared one by one. The options say when numbers are equal.
func Equal[T any](t testing.TB, got, want []T, opts ...Option) bool {
	t.Helper()
	c, err := newComparison[T](opts)
	if err != nil {
		t.Fatalf("gputest.Equal: %v", err)
	}
	if message := compare(c, got, want); message != "" {
		t.Error(message)
		return false
	}
	return true
}

// comparison compares values of one type.
type comparison struct {
	options
	leaves []leaf
	// poisoned: got and want were poison before they were computed.
	poisoned bool
}

func newComparison[T any](opts []Option) (*comparison, error) {
	c := new(comparison)
	for _, o := range opts {
		if o.set != nil {
			o.set(&c.options)
		}
	}
	var err error
	c.leaves, err = leaves(reflect.TypeFor[T]())
	return c, err
}

// compare returns how two slices differ, "" if they are equal.
func compare[T any](c *comparison, got, want []T) string {
	prefix := ""
	if c.name != "" {
		prefix = c.name + ": "
	}
	if len(got) != len(want) {
		return fmt.Sprintf("%slength: got %d, want %d", prefix, len(got), len(want))
	}
	var b strings.Builder
	different, listed := 0, 0
	for i := range got {
		g, w := unsafe.Pointer(&got[i]), unsafe.Pointer(&want[i])
		same := true
		for _, l := range c.leaves {
			x, y := l.form.bits(unsafe.Add(g, l.offset)), l.form.bits(unsafe.Add(w, l.offset))
			if c.same(l.form, x, y) {
				continue
			}
			same = false
			if listed < shown {
				fmt.Fprintf(&b, "\n\t[%d]%s: got %s, want %s%s", i, l.path, c.text(l.form, x, ofDevice), c.text(l.form, y, ofHost), c.distance(l.form, x, y))
			}
			listed++
		}
		if !same {
			different++
		}
	}
	if different == 0 {
		return ""
	}
	if listed > shown {
		b.WriteString("\n\t...")
	}
	verb := "differ"
	if different == 1 {
		verb = "differs"
	}
	return fmt.Sprintf("%s%d of %d elements %s:%s", prefix, different, len(got), verb, b.String())
}

// same reports whether leaves with these bits are equal.
func (c *comparison) same(f form, got, want uint64) bool {
	if c.poisoned && ofDevice.is(f, got) && ofHost.is(f, want) {
		return true // neither has written it
	}
	if !f.isFloat() {
		return got == want || c.abs > 0 && f.kind != reflect.Bool && f.integerDistance(got, want) <= c.abs
	}
	x, y := f.float(got), f.float(want)
	switch {
	case c.poisoned && (ofDevice.is(f, got) || ofHost.is(f, want)):
		return false // one of the two has, maybe another NaN
	case x != x && y != y:
		return c.nan || c.bits && got == want
	case c.bits && c.ulp == 0 && c.abs == 0 && c.rel == 0:
		return got == want
	case x == y:
		return true
	case x != x || y != y || math.IsInf(x, 0) || math.IsInf(y, 0):
		return false
	}
	d := math.Abs(x - y)
	return f.ulps(got, want) <= c.ulp || d <= c.abs || d <= c.rel*math.Abs(y)
}

// integerDistance is the difference of two integers.
func (f form) integerDistance(x, y uint64) float64 {
	if f.kind <= reflect.Int64 {
		a, b := f.signed(x), f.signed(y)
		return float64(uint64(max(a, b)) - uint64(min(a, b)))
	}
	return float64(max(x, y) - min(x, y))
}

// ulps is how many steps from a number to the next there are between two floats.
func (f form) ulps(x, y uint64) uint64 {
	a, b := f.ordinal(x), f.ordinal(y)
	return uint64(max(a, b)) - uint64(min(a, b))
}

// ordinal numbers the floats of a type in their order, both zeros as 0.
func (f form) ordinal(bits uint64) int64 {
	sign := uint64(1) << (8*f.size - 1)
	if bits&sign != 0 {
		return -int64(bits &^ sign)
	}
	return int64(bits)
}

// text writes a value, and that nobody has computed it.
func (c *comparison) text(f form, bits uint64, p poison) string {
	if c.poisoned && p.is(f, bits) {
		return "nothing (it was not written)"
	}
	return f.text(bits)
}

// distance says how far apart two leaves are that are not equal.
func (c *comparison) distance(f form, got, want uint64) string {
	switch {
	case c.poisoned && (ofDevice.is(f, got) || ofHost.is(f, want)), f.kind == reflect.Bool:
		return ""
	case !f.isFloat():
		return fmt.Sprintf(" (%v apart)", f.integerDistance(got, want))
	}
	x, y := f.float(got), f.float(want)
	switch {
	case x != x || y != y || math.IsInf(x, 0) || math.IsInf(y, 0):
		return ""
	case x == y:
		return " (the signs of the zeros differ)"
	}
	d := math.Abs(x - y)
	return fmt.Sprintf(" (%d ULP, %.3g apart)", f.ulps(got, want), d)
}
