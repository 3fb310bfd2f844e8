package algo

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"

	"quern.dev/gpu"
	"quern.dev/gputest"
)

// setsOf returns the union, intersection, difference and symmetric difference of sorted slices,
// by the rules of C++'s std::set_union and its siblings.
func setsOf[T any](a, b []T, compare func(a, b T) int) (union, both, difference, symmetric []T) {
	for len(a) > 0 || len(b) > 0 {
		c := 0
		switch {
		case len(a) == 0:
			c = 1
		case len(b) == 0:
			c = -1
		default:
			c = compare(a[0], b[0])
		}
		switch {
		case c < 0:
			union, difference, symmetric = append(union, a[0]), append(difference, a[0]), append(symmetric, a[0])
			a = a[1:]
		case c > 0:
			union, symmetric = append(union, b[0]), append(symmetric, b[0])
			b = b[1:]
		default:
			union, both = append(union, a[0]), append(both, a[0])
			a, b = a[1:], b[1:]
		}
	}
	return union, both, difference, symmetric
}

func TestSets(t *testing.T) {
	each(t, func(t *testing.T, d *gpu.Device, s *gpu.Stream) {
		part := mergeTile[float32]()
		if d.Backend() == gpu.CPU {
			part = hostPart
		}
		for _, n := range []int{0, 1, 100, part - 1, part + 50} {
			for _, m := range []int{0, 12, part/2 + 3} {
				sets(t, d, s, n, m, Ascending[float32](), ascending)
			}
		}
		sets(t, d, s, 300, 200, Descending[int64](), descendingOrder)
	})
}

func sets[T Number](t *testing.T, d *gpu.Device, s *gpu.Stream, n, m int, order Less[T], compare func(a, b T) int) {
	t.Helper()
	as, bs := fewer(d, n+m, inputs[T](n)), inputs[T](m)
	for _, values := range []int{2, 500} {
		name := fmt.Sprintf("%d values", values)
		as[name], bs[name] = random[T](n, float64(values)), random[T](m, float64(values))
		for _, x := range [][]T{as[name], bs[name]} {
			for i := range x {
				x[i] = T(rand.IntN(values))
			}
		}
	}
	for name, a := range as {
		b := bs[name]
		slices.SortStableFunc(a, compare)
		slices.SortStableFunc(b, compare)
		union, both, difference, symmetric := setsOf(a, b, compare)
		x, y := gputest.Upload(t, d, a), gputest.Upload(t, d, b)
		for _, test := range []struct {
			name string
			f    func(s *gpu.Stream, order Less[T], dst *gpu.Buffer[T], count *gpu.Buffer[int], a, b *gpu.Buffer[T], work ...*gpu.Workspace) error
			n    int
			want []T
		}{
			{"union", Union[T], n + m, union},
			{"intersection", Intersection[T], min(n, m), both},
			{"difference", Difference[T], n, difference},
			{"symmetric difference", SymmetricDifference[T], n + m, symmetric},
		} {
			title := fmt.Sprintf("%s of %d and %d %s ", test.name, n, m, name)
			dst, count := gputest.Upload(t, d, filled[T](test.n)), gputest.Upload(t, d, []int{-1})
			if err := test.f(s, order, dst, count, x, y); err != nil {
				t.Fatal(err)
			}
			if !gputest.Equal(t, gputest.Download(t, d, count), []int{len(test.want)}, gputest.Name(title+"count")) ||
				!gputest.Equal(t, gputest.Download(t, d, dst), written(test.want, test.n), gputest.Bits, gputest.Name(title)) {
				return
			}
		}
	}
}
