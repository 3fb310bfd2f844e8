package gputest

import (
	"fmt"
	"math"
	"unsafe"
)

// Distance is how far two slices are apart. Numbers within structs and arrays count one by
// one.
type Distance struct {
	Numbers   int // compared
	Different int // not equal; two NaNs are equal, and so are zeros of both signs
	// Largest differences between numbers. The relative one is to the larger number of the two.
	// Infinities and NaNs are not differences but mismatches.
	Absolute, Relative float64
	ULP                uint64 // of floats
	// Mismatches is the number of pairs of which only one is a NaN, or only one is infinite, or
	// which are infinities of different signs.
	Mismatches int
	// Index is the element of the first difference, -1 if there is none.
	Index int
}

// Measure returns how far two slices of the same length are apart. It needs no test.
func Measure[T any](x, y []T) (Distance, error) {
	d := Distance{Index: -1}
	c, err := newComparison[T](nil)
	if err != nil {
		return d, err
	}
	if len(x) != len(y) {
		return d, fmt.Errorf("gputest: measure: lengths %d and %d differ", len(x), len(y))
	}
	for i := range x {
		before := d.Different
		c.values.leaves(0, func(at uintptr, f form) {
			d.add(f, f.bits(unsafe.Add(unsafe.Pointer(&x[i]), at)), f.bits(unsafe.Add(unsafe.Pointer(&y[i]), at)))
		})
		if d.Index < 0 && d.Different > before {
			d.Index = i
		}
	}
	return d, nil
}

// add adds a pair of numbers.
func (d *Distance) add(f form, x, y uint64) {
	d.Numbers++
	if !f.isFloat() {
		if x == y {
			return
		}
		d.Different++
		apart := f.integerDistance(x, y)
		d.Absolute = max(d.Absolute, apart)
		d.Relative = max(d.Relative, 1)
		return
	}
	a, b := f.float(x), f.float(y)
	switch {
	case a == b || a != a && b != b:
		return
	case a != a || b != b || math.IsInf(a, 0) || math.IsInf(b, 0):
		d.Different++
		d.Mismatches++
		return
	}
	d.Different++
	apart := math.Abs(a - b)
	d.Absolute = max(d.Absolute, apart)
	d.Relative = max(d.Relative, apart/max(math.Abs(a), math.Abs(b)))
	d.ULP = max(d.ULP, f.ulps(x, y))
}
