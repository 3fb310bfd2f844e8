package fft

import (
	"cmp"
	"fmt"
	"math"
	"slices"
)

// Desc describes the transforms of a plan.
type Desc struct {
	// Shape has the lengths of one, two or three dimensions. The last dimension is the one
	// whose elements are adjacent in memory.
	Shape []int

	// Batch is the number of transforms. 0 means 1.
	Batch int

	// Signal and Spectrum say where the elements are. Forward reads Signal and writes
	// Spectrum, Inverse reads Spectrum and writes Signal. The zero value is a packed array.
	Signal, Spectrum Layout

	// Norm is the normalization of both directions.
	Norm Norm
}

// Layout says where the elements of transforms are in a buffer, as FFTW's and cuFFT's
// advanced interfaces do. Element (i, j, k) of transform b is at
//
//	b*Dist + ((i*Embed[1]+j)*Embed[2]+k)*Stride
//
// Several elements may be at the same place where a transform only reads them. A plan in which
// those of Signal are has no Inverse, and a plan in which those of Spectrum are has no Forward: the
// method returns an error. If those of both are, there is no plan.
type Layout struct {
	// Embed is the shape of the array that contains a transform, or nil if that is the
	// shape of the transform. Embed[0] is used for the default of Dist only.
	Embed []int

	// Stride is the distance between elements that are adjacent in the last dimension. 0
	// means 1.
	Stride int

	// Dist is the distance between the first elements of successive transforms. 0 means
	// that they follow each other: the product of Embed and Stride.
	Dist int
}

// Norm is a normalization.
type Norm int

const (
	// NormInverse divides the result of Inverse by the number of points, so that it
	// undoes Forward. It is the default, as in NumPy.
	NormInverse Norm = iota

	// NormOrtho divides the results of both directions by the square root of the number
	// of points, which makes both unitary.
	NormOrtho

	// NormNone scales neither direction, as cuFFT and FFTW do. Forward and Inverse
	// together multiply by the number of points.
	NormNone
)

// String returns the name of the constant.
func (n Norm) String() string {
	switch n {
	case NormInverse:
		return "NormInverse"
	case NormOrtho:
		return "NormOrtho"
	case NormNone:
		return "NormNone"
	default:
		return fmt.Sprintf("Norm(%d)", int(n))
	}
}

// scale returns the factor for one direction of transforms of n points.
func (n Norm) scale(points int, inverse bool) float64 {
	switch {
	case n == NormOrtho:
		return 1 / math.Sqrt(float64(points))
	case n == NormInverse && inverse:
		return 1 / float64(points)
	default:
		return 1
	}
}

// maxElements limits the elements of a plan, so that no place overflows.
const maxElements = 1 << 40

// arrays is a checked Layout of a number of arrays.
type arrays struct {
	shape    []int
	strides  []int // by dimension
	batch    int
	dist     int
	extent   int // elements that a buffer must have
	overlaps bool
}

// resolve returns the layout of batch arrays of the shape.
func (l Layout) resolve(op, arg string, shape []int, batch int) (arrays, error) {
	embed := l.Embed
	if embed == nil {
		embed = shape
	}
	if len(embed) != len(shape) {
		return arrays{}, invalid(op, arg+".Embed", "%d lengths for %d dimensions", len(embed), len(shape))
	}
	a := arrays{shape: slices.Clone(shape), strides: make([]int, len(shape)), batch: batch, dist: l.Dist}
	stride := cmp.Or(l.Stride, 1)
	if stride < 0 || stride > maxElements {
		return arrays{}, invalid(op, arg+".Stride", "%d is not from 0 to 2^40", stride)
	}
	for i := len(shape) - 1; i >= 0; i-- {
		if embed[i] < shape[i] {
			return arrays{}, invalid(op, arg+".Embed", "length %d of dimension %d is less than the %d points there", embed[i], i, shape[i])
		}
		a.strides[i] = stride
		if stride > maxElements/embed[i] {
			return arrays{}, invalid(op, arg, "the array has more than 2^40 elements")
		}
		stride *= embed[i]
	}
	if a.dist == 0 {
		a.dist = stride
	}
	if a.dist < 0 || a.dist > maxElements || batch > maxElements/a.dist {
		return arrays{}, invalid(op, arg+".Dist", "%d transforms at a distance of %d exceed the range of 0 to 2^40 elements", batch, a.dist)
	}
	a.extent = (batch-1)*a.dist + 1
	for i, n := range shape {
		a.extent += (n - 1) * a.strides[i]
	}
	a.overlaps = overlap(append([]level{{Count: batch, Out: a.dist}}, a.axes(-1)...))
	return a, nil
}

// checkPlaces returns an error if neither direction has a place of its own for each result.
func checkPlaces(op string, signal, spectrum arrays) error {
	if signal.overlaps && spectrum.overlaps {
		return invalid(op, "Spectrum", "elements of this layout overlap, and those of Signal do, so that neither direction can write its results")
	}
	return nil
}

// axes returns the dimensions but one as levels.
func (a arrays) axes(but int) []level {
	var l []level
	for i, n := range a.shape {
		if i != but {
			l = append(l, level{Count: n, In: a.strides[i], Out: a.strides[i]})
		}
	}
	return l
}

// overlap reports whether two elements may be at the same place: whether some stride is
// within the extent of the levels with smaller ones.
func overlap(l []level) bool {
	slices.SortFunc(l, func(a, b level) int { return cmp.Compare(a.Out, b.Out) })
	extent := 1
	for _, x := range l {
		if x.Count == 1 {
			continue
		}
		if x.Out < extent {
			return true
		}
		extent += (x.Count - 1) * x.Out
	}
	return false
}

func (a arrays) equal(b arrays) bool {
	return slices.Equal(a.shape, b.shape) && slices.Equal(a.strides, b.strides) && a.dist == b.dist
}

// check returns an error if the shape, the batch or the normalization is invalid, and the
// number of transforms.
func (d Desc) check(op string) (batch int, err error) {
	if len(d.Shape) < 1 || len(d.Shape) > 3 {
		return 0, invalid(op, "Shape", "%d dimensions; transforms have 1 to 3", len(d.Shape))
	}
	points := 1
	for i, n := range d.Shape {
		if n < 1 || n > 1<<30 {
			return 0, invalid(op, "Shape", "length %d of dimension %d is not from 1 to 2^30", n, i)
		}
		if n > 1<<27 && !smooth(n) {
			return 0, invalid(op, "Shape", "length %d of dimension %d has a prime factor above 13; such lengths are at most 2^27", n, i)
		}
		if points > maxElements/n {
			return 0, invalid(op, "Shape", "a transform of %v has more than 2^40 points", d.Shape)
		}
		points *= n
	}
	batch = cmp.Or(d.Batch, 1)
	if batch < 1 || batch > maxElements/points {
		return 0, invalid(op, "Batch", "%d is not from 1 to 2^40 points in all", d.Batch)
	}
	if d.Norm < NormInverse || d.Norm > NormNone {
		return 0, invalid(op, "Norm", "%v is not a normalization", d.Norm)
	}
	return batch, nil
}

// points returns the number of points of one transform.
func (d Desc) points() int {
	n := 1
	for _, x := range d.Shape {
		n *= x
	}
	return n
}
