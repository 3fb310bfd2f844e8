package gputest

import (
	"fmt"
	"math"
	"reflect"
	"strings"
	"testing"
	"unsafe"
)

// Option changes how numbers are compared.
type Option struct{ set func(*options) }

type options struct {
	ulp      uint64
	abs, rel float64
	nan      bool
	bits     bool
	name     string
}

// ULP allows floating-point numbers to differ by n units in the last place, with
// at most n-1 numbers of their type between them. Both zeros count as one number.
func ULP(n uint) Option { return Option{func(o *options) { o.ulp = uint64(n) }} }

// Abs allows numbers, including integers, to differ by at most d.
func Abs(d float64) Option { return Option{func(o *options) { o.abs = d }} }

// Rel allows floating-point numbers to differ by at most r times the absolute
// value of the expected one.
func Rel(r float64) Option { return Option{func(o *options) { o.rel = r }} }

// NaNEqual treats all NaNs as equal.
var NaNEqual = Option{func(o *options) { o.nan = true }}

// Bits compares numbers by their bits: zeros with different signs are not equal,
// and a NaN equals a NaN with the same bits. It has no effect together with a
// tolerance.
var Bits = Option{func(o *options) { o.bits = true }}

// Name sets the name of the compared values in messages.
func Name(name string) Option { return Option{func(o *options) { o.name = name }} }

// maxListed is the maximum number of differences that a message lists.
const maxListed = 10

// Equal compares two slices and reports whether they are equal. If they are not,
// the test fails. The message lists the first differing elements with their
// actual and expected values and the distance between them, and the number of
// elements that differ.
//
// Elements are numbers, bools, and arrays and structs of these, whose parts are
// compared one by one. The options define when numbers are equal.
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
	values part
	// poisoned is set if got and want were filled with poison beforehand.
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
	c.values, err = partOf(reflect.TypeFor[T]())
	return c, err
}

// compare describes how two slices differ. It returns "" if they are equal.
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
		c.values.leaves(0, func(at uintptr, f form) {
			x, y := f.bits(unsafe.Add(g, at)), f.bits(unsafe.Add(w, at))
			if c.same(f, x, y) {
				return
			}
			same = false
			if listed < maxListed {
				fmt.Fprintf(&b, "\n\t[%d]%s: got %s, want %s%s", i, c.values.path(at), c.text(f, x, ofDevice), c.text(f, y, ofHost), c.distance(f, x, y))
			}
			listed++
		})
		if !same {
			different++
		}
	}
	if different == 0 {
		return ""
	}
	if listed > maxListed {
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
		return false // only one has written it, possibly with another NaN
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

// integerDistance returns the difference between two integers.
func (f form) integerDistance(x, y uint64) float64 {
	if f.kind <= reflect.Int64 {
		a, b := f.signed(x), f.signed(y)
		return float64(uint64(max(a, b)) - uint64(min(a, b)))
	}
	return float64(max(x, y) - min(x, y))
}

// ulps returns the distance between two floats in units in the last place.
func (f form) ulps(x, y uint64) uint64 {
	a, b := f.ordinal(x), f.ordinal(y)
	return uint64(max(a, b)) - uint64(min(a, b))
}

// ordinal maps the floats of a type to consecutive integers in their order. Both
// zeros map to 0.
func (f form) ordinal(bits uint64) int64 {
	sign := uint64(1) << (8*f.size - 1)
	if bits&sign != 0 {
		return -int64(bits &^ sign)
	}
	return int64(bits)
}

// text formats a value, or says that it was not written.
func (c *comparison) text(f form, bits uint64, p poison) string {
	if c.poisoned && p.is(f, bits) {
		return "nothing (it was not written)"
	}
	return f.text(bits)
}

// distance describes the distance between two unequal leaves.
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
