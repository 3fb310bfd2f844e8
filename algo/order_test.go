package algo

import (
	"cmp"
	"flag"
	"fmt"
	"maps"
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"quern.dev/gpu"
	"quern.dev/gputest"
)

// inputs are sequences that are hard for sorting algorithms, by name.
func inputs[T Number](n int) map[string][]T {
	shapes := map[string]func(i int) int{
		"equal":     func(int) int { return 7 },
		"sorted":    func(i int) int { return i },
		"reversed":  func(i int) int { return n - i },
		"organ":     func(i int) int { return min(i, n-i) },
		"few":       func(int) int { return rand.IntN(4) },
		"random":    func(int) int { return rand.IntN(1 << 30) },
		"saw":       func(i int) int { return i % 100 },
		"last low":  func(i int) int { return (i + 1) % max(n, 1) },
		"first low": func(i int) int { return (i + n - 1) % max(n, 1) },
	}
	all := map[string][]T{}
	for name, at := range shapes {
		x := make([]T, n)
		for i := range x {
			x[i] = T(at(i))
		}
		all[name] = x
	}
	if special := specials[T](); len(special) > 0 {
		x := make([]T, n)
		for i := range x {
			x[i] = special[rand.IntN(len(special))]
		}
		all["special"] = x
	}
	return all
}

// specials returns the values of a floating-point type with rules of their own.
func specials[T Number]() []T {
	var x []T
	switch x := any(&x).(type) {
	case *[]float32:
		inf := float32(math.Inf(1))
		*x = []float32{float32(math.NaN()), -float32(math.NaN()), inf, -inf, 0, float32(math.Copysign(0, -1)), 1, -1, 1e-45, -1e-45, math.MaxFloat32}
	case *[]float64:
		*x = []float64{math.NaN(), -math.NaN(), math.Inf(1), math.Inf(-1), 0, math.Copysign(0, -1), 1, -1, 5e-324, -5e-324, math.MaxFloat64}
	}
	return x
}

// ascending is the order of [Ascending], as slices.SortFunc takes it.
func ascending[T Number](a, b T) int {
	switch {
	case a != a && b != b:
		return 0
	case a != a:
		return 1
	case b != b:
		return -1
	}
	return cmp.Compare(a, b)
}

// descendingOrder is the order of [Descending].
func descendingOrder[T Number](a, b T) int {
	if a != a || b != b {
		return ascending(a, b)
	}
	return ascending(b, a)
}

// sortLengths returns numbers of elements around the edges of tiles and parts.
func sortLengths(d *gpu.Device) []int {
	if d.Backend() == gpu.CPU {
		return []int{0, 1, 2, 15, 16, 17, 31, 32, 33, 100, hostPart - 1, hostPart, hostPart + 1, 2*hostPart - 1, 2 * hostPart, 3*hostPart + 5, 9 * hostPart}
	}
	n := mergeTile[int32]()
	return []int{0, 1, 2, 10, 11, 12, 100, n - 1, n + 1, 2*n + 5}
}

// fewer returns all inputs for the CPU and a few for a large n on other devices, because the
// simulator is slow. Tests with -long use all.
func fewer[T any](d *gpu.Device, n int, all map[string][]T) map[string][]T {
	if d.Backend() != gpu.CPU && n > 12 && !*long {
		maps.DeleteFunc(all, func(name string, _ []T) bool { return !slices.Contains(hard, name) })
	}
	return all
}

var (
	long = flag.Bool("long", false, "use all inputs in the tests of merging and of runs")
	hard = []string{"random", "special", "runs up to 40"}
)

func each(t *testing.T, f func(t *testing.T, d *gpu.Device, s *gpu.Stream)) {
	gputest.Each(t, func(t *testing.T, d *gpu.Device) { f(t, d, d.DefaultStream()) })
}

func TestSortBy(t *testing.T) {
	each(t, func(t *testing.T, d *gpu.Device, s *gpu.Stream) {
		for _, n := range sortLengths(d) {
			sortBy(t, d, s, n, "ascending", Ascending[int32](), ascending)
			sortBy(t, d, s, n, "descending", Descending[float32](), descendingOrder)
		}
		n := sortLengths(d)[9]
		sortBy(t, d, s, n, "ascending", Ascending[float32](), ascending)
		sortBy(t, d, s, n, "descending", Descending[float64](), descendingOrder)
		sortBy(t, d, s, n, "descending", Descending[int64](), descendingOrder)
		sortBy(t, d, s, n, "ascending", Ascending[uint32](), ascending)
		sortBy(t, d, s, n, "ascending", Ascending[uint64](), ascending)
	})
}

func sortBy[T Number](t *testing.T, d *gpu.Device, s *gpu.Stream, n int, what string, order Less[T], compare func(a, b T) int) {
	t.Helper()
	for name, x := range fewer(d, n, inputs[T](n)) {
		want := slices.Clone(x)
		slices.SortStableFunc(want, compare)
		keys := gputest.Upload(t, d, x)
		if err := SortBy(s, order, keys); err != nil {
			t.Fatal(err)
		}
		if !gputest.Equal(t, gputest.Download(t, d, keys), want, gputest.Bits, gputest.Name(fmt.Sprintf("%s, %d %s", what, n, name))) {
			return
		}
	}
}

func TestSortPairsByMovesValuesOfAnyType(t *testing.T) {
	type wide struct {
		At   int32
		More [4]int16
	}
	each(t, func(t *testing.T, d *gpu.Device, s *gpu.Stream) {
		for _, n := range sortLengths(d) {
			sortPairsBy(t, d, s, n, func(i int) int32 { return int32(i) })
		}
		n := sortLengths(d)[9]
		sortPairsBy(t, d, s, n, func(i int) uint8 { return uint8(i) })
		sortPairsBy(t, d, s, n, func(i int) [3]uint8 { return [3]uint8{uint8(i), uint8(i >> 8), uint8(i >> 16)} })
		sortPairsBy(t, d, s, n, func(i int) [3]uint16 { return [3]uint16{uint16(i), uint16(i >> 8), 5} })
		sortPairsBy(t, d, s, n, func(i int) float64 { return float64(i) })
		sortPairsBy(t, d, s, n, func(i int) wide { return wide{At: int32(i), More: [4]int16{3: int16(i)}} })
	})
}

func sortPairsBy[V comparable](t *testing.T, d *gpu.Device, s *gpu.Stream, n int, value func(i int) V) {
	t.Helper()
	type pair struct {
		key   float32
		value V
	}
	for name, x := range fewer(d, n, inputs[float32](n)) {
		pairs := make([]pair, n)
		values := make([]V, n)
		for i, k := range x {
			values[i] = value(i)
			pairs[i] = pair{k, values[i]}
		}
		slices.SortStableFunc(pairs, func(a, b pair) int { return ascending(a.key, b.key) })
		want, wantValues := make([]float32, n), make([]V, n)
		for i, p := range pairs {
			want[i], wantValues[i] = p.key, p.value
		}
		keys, with := gputest.Upload(t, d, x), gputest.Upload(t, d, values)
		if err := SortPairsBy(s, Ascending[float32](), keys, with); err != nil {
			t.Fatal(err)
		}
		title := fmt.Sprintf("%d %s", n, name)
		if !gputest.Equal(t, gputest.Download(t, d, keys), want, gputest.Bits, gputest.Name(title+" keys")) {
			return
		}
		if got := gputest.Download(t, d, with); !slices.Equal(got, wantValues) {
			t.Fatalf("%s values of type %T: %v, want %v", title, values, got[:min(n, 20)], wantValues[:min(n, 20)])
		}
	}
}
