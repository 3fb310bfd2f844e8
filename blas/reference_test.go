package blas

import (
	"math"
	"math/rand/v2"
	"testing"

	"quern.dev/gpu"
	"quern.dev/gputest"
)

// unit returns the rounding error of T: half the distance from 1 to the next number.
func unit[T Float]() float64 {
	var x T
	if _, ok := any(x).(float32); ok {
		return 0x1p-24
	}
	return 0x1p-53
}

// exact is a sum of products in twice the precision of float64 (Ogita, Rump and Oishi, 2005).
type exact struct{ sum, rest, magnitude float64 }

func (e *exact) add(x, y float64) {
	p := x * y
	tail := math.FMA(x, y, -p)
	s := e.sum + p
	z := s - e.sum
	tail += (e.sum - (s - z)) + (p - z)
	e.sum, e.rest, e.magnitude = s, e.rest+tail, e.magnitude+math.Abs(p)
}

func (e *exact) value() float64 {
	if r := e.sum + e.rest; !math.IsNaN(r) {
		return r
	}
	return e.sum
}

// scale multiplies the sum.
func (e *exact) scale(f float64) (r exact) {
	r.add(f, e.sum)
	r.add(f, e.rest)
	r.magnitude = math.Abs(f) * e.magnitude
	return r
}

// matrix is a matrix on the host, with a gap that nothing may write after each row.
type matrix[T any] struct {
	rows, cols, stride int
	data               []T
}

const poison = 0x7FC0DEAD

func poisoned[T Float](n int) []T {
	s := make([]T, n)
	for i := range s {
		s[i] = T(math.Float32frombits(poison))
	}
	return s
}

func newMatrix[T Float](rng *rand.Rand, rows, cols, gap int) matrix[T] {
	m := matrix[T]{rows, cols, max(cols+gap, 1), nil}
	m.data = poisoned[T](max((rows-1)*m.stride+cols, 0))
	for i := range rows {
		for j := range cols {
			m.data[i*m.stride+j] = T(rng.NormFloat64())
		}
	}
	return m
}

func (m matrix[T]) at(t Transpose, i, j int) T {
	if t != NoTrans {
		i, j = j, i
	}
	return m.data[i*m.stride+j]
}

// upload returns the matrix in a buffer that starts skip elements into its memory, which
// changes its alignment.
func (m matrix[T]) upload(t testing.TB, d *gpu.Device, skip int) General[T] {
	all := append(make([]T, skip), m.data...)
	if len(all) == 0 {
		return General[T]{m.rows, m.cols, m.stride, nil}
	}
	return General[T]{m.rows, m.cols, m.stride, gputest.Upload(t, d, all).Slice(skip, len(all))}
}

// checkMatrix compares a result with the exact one within an absolute bound for each
// element, and the gaps with their poison.
func checkMatrix[T Float](t testing.TB, name string, got []T, c matrix[T], want func(i, j int) (value, bound float64)) {
	t.Helper()
	for i := range c.rows {
		for j := range c.stride {
			at := i*c.stride + j
			if at >= len(got) {
				break
			}
			if j >= c.cols {
				if x := float64(got[at]); !math.IsNaN(x) {
					t.Fatalf("%s: element (%d, %d), beyond the %d columns, was set to %g", name, i, j, c.cols, x)
				}
				continue
			}
			value, bound := want(i, j)
			x := float64(got[at])
			if math.IsNaN(value) != math.IsNaN(x) || !math.IsNaN(value) && value != x && !(math.Abs(value-x) <= bound) {
				t.Fatalf("%s: element (%d, %d) is %g, want %g within %g", name, i, j, x, value, bound)
			}
		}
	}
}
