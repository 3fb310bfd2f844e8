package algo

import (
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"quern.dev/gpu"
	"quern.dev/gputest"
)

var lineShapes = []Axis{{1, 1, 1}, {3, 5, 1}, {7, 33, 1}, {1, 5000, 1}, {100, 64, 1}, {2, 300, 1}, {1, 7, 5}, {4, 3, 100}, {2, 1000, 3}, {5, 1, 7}, {0, 4, 2}}

// linesOfSlice returns the lines of an array along an axis.
func linesOfSlice[T any](x []T, a Axis) (lines [][]T) {
	for o := range a.Outer {
		for i := range a.Inner {
			line := make([]T, a.N)
			for k := range line {
				line[k] = x[(o*a.N+k)*a.Inner+i]
			}
			lines = append(lines, line)
		}
	}
	return lines
}

// segmentsOfSlice returns the segments of a slice.
func segmentsOfSlice[T any](x []T, ends []int32) (segments [][]T) {
	for i := range len(ends) - 1 {
		segments = append(segments, x[ends[i]:ends[i+1]])
	}
	return segments
}

// randomEnds returns the ends of some segments: there are elements before the first one, and empty
// segments.
func randomEnds(segments, longest int) []int32 {
	ends := []int32{int32(rand.IntN(5))}
	for range segments {
		ends = append(ends, ends[len(ends)-1]+int32(max(rand.IntN(longest+2)-1, 0)))
	}
	return ends
}

// few returns numbers of few values, with NaNs if there are any of type T.
func few[T Number](n int) []T {
	x := random[T](n, 20)
	if T(1)/2 != 0 {
		for range n / 200 {
			x[rand.IntN(n)] = T(math.NaN())
		}
	}
	return x
}

func testExtremesOfLines[T Number](t *testing.T, d *gpu.Device, order Less[T], compare func(a, b T) int, lines [][]T,
	argMin, argMax func(dst *gpu.Buffer[int]) error) {
	t.Helper()
	least, greatest := make([]int, len(lines)), make([]int, len(lines))
	for i, line := range lines {
		least[i], greatest[i] = -1, -1
		if len(line) > 0 {
			least[i], greatest[i] = extremesOfSlice(line, compare)
		}
	}
	out := gputest.Alloc[int](t, d, len(lines))
	if err := argMin(out); err != nil {
		t.Fatal(err)
	}
	gputest.Equal(t, gputest.Download(t, d, out), least, gputest.Name("ArgMin"))
	if err := argMax(out); err != nil {
		t.Fatal(err)
	}
	gputest.Equal(t, gputest.Download(t, d, out), greatest, gputest.Name("ArgMax"))
}

func testExtremesOfShapes[T Number](t *testing.T, d *gpu.Device, order Less[T], compare func(a, b T) int) {
	t.Helper()
	s := d.DefaultStream()
	for _, a := range lineShapes {
		x := few[T](a.size())
		in := gputest.Upload(t, d, x)
		testExtremesOfLines(t, d, order, compare, linesOfSlice(x, a),
			func(dst *gpu.Buffer[int]) error { return ArgMinAxis(s, order, a, dst, in) },
			func(dst *gpu.Buffer[int]) error { return ArgMaxAxis(s, order, a, dst, in) })
		if t.Failed() {
			t.Fatalf("%T, %v", x, a)
		}
	}
	for _, longest := range []int{1, 5, 40, 1000} {
		ends := randomEnds(50, longest)
		x := few[T](int(ends[len(ends)-1]) + 3)
		in, at := gputest.Upload(t, d, x), gputest.Upload(t, d, ends)
		testExtremesOfLines(t, d, order, compare, segmentsOfSlice(x, ends),
			func(dst *gpu.Buffer[int]) error { return ArgMinSegments(s, order, dst, in, at) },
			func(dst *gpu.Buffer[int]) error { return ArgMaxSegments(s, order, dst, in, at) })
		if t.Failed() {
			t.Fatalf("%T, segments of up to %d", x, longest)
		}
	}
}

func TestExtremesOfLines(t *testing.T) {
	gputest.Each(t, func(t *testing.T, d *gpu.Device) {
		testExtremesOfShapes(t, d, Ascending[float32](), ascending)
		if d.Backend() == gpu.Sim && testing.Short() {
			return
		}
		testExtremesOfShapes(t, d, Descending[float64](), descendingOrder)
		testExtremesOfShapes(t, d, Ascending[uint32](), ascending)
		testExtremesOfShapes(t, d, Descending[int64](), descendingOrder)
	})
}

func TestCountsOfLines(t *testing.T) {
	gputest.Each(t, func(t *testing.T, d *gpu.Device) {
		s := d.DefaultStream()
		counts := func(lines [][]int32) []int {
			n := make([]int, len(lines))
			for i, line := range lines {
				for _, v := range line {
					if v != 0 {
						n[i]++
					}
				}
			}
			return n
		}
		for _, a := range append(slices.Clone(lineShapes), Axis{2, 0, 3}) {
			x := random[int32](a.size(), 3)
			out := gputest.Upload(t, d, slices.Repeat([]int{-7}, a.lines()))
			if err := CountAxis(s, NonZero[int32](), a, out, gputest.Upload(t, d, x)); err != nil {
				t.Fatal(err)
			}
			if !gputest.Equal(t, gputest.Download(t, d, out), counts(linesOfSlice(x, a))) {
				t.Fatal(a)
			}
		}
		ends := randomEnds(60, 90)
		x := random[int32](int(ends[len(ends)-1])+3, 3)
		out := gputest.Alloc[int](t, d, len(ends)-1)
		if err := CountSegments(s, NonZero[int32](), out, gputest.Upload(t, d, x), gputest.Upload(t, d, ends)); err != nil {
			t.Fatal(err)
		}
		gputest.Equal(t, gputest.Download(t, d, out), counts(segmentsOfSlice(x, ends)))
	})
}

// checkMoments compares moments with those that two passes over each line find.
func checkMoments(t *testing.T, got []Moments, lines [][]float64) {
	t.Helper()
	for i, line := range lines {
		mean, m2 := 0.0, 0.0
		for _, v := range line {
			mean += (v - 1e6) / float64(len(line))
		}
		for _, v := range line {
			m2 += (v - 1e6 - mean) * (v - 1e6 - mean)
		}
		if len(line) == 0 {
			if got[i] != (Moments{}) {
				t.Errorf("line %d is empty: %v", i, got[i])
			}
		} else if got[i].Count != int64(len(line)) || math.Abs(got[i].Mean-1e6-mean) > 1e-8 || math.Abs(got[i].M2-m2) > 1e-8*(m2+1) {
			t.Errorf("line %d: %v, want %d, %v and %v", i, got[i], len(line), mean+1e6, m2)
		}
	}
}

func TestMomentsOfLines(t *testing.T) {
	gputest.Each(t, func(t *testing.T, d *gpu.Device) {
		s := d.DefaultStream()
		normal := func(n int) []float64 {
			x := make([]float64, n)
			for i := range x {
				x[i] = 1e6 + rand.NormFloat64()
			}
			return x
		}
		for _, a := range append(slices.Clone(lineShapes), Axis{2, 0, 3}) {
			x := normal(a.size())
			out := gputest.Alloc[Moments](t, d, a.lines())
			if err := MomentsAxis(s, a, out, gputest.Upload(t, d, x)); err != nil {
				t.Fatal(err)
			}
			if checkMoments(t, gputest.Download(t, d, out), linesOfSlice(x, a)); t.Failed() {
				t.Fatal(a)
			}
		}
		ends := randomEnds(60, 90)
		x := normal(int(ends[len(ends)-1]) + 3)
		out := gputest.Alloc[Moments](t, d, len(ends)-1)
		if err := MomentsSegments(s, out, gputest.Upload(t, d, x), gputest.Upload(t, d, ends)); err != nil {
			t.Fatal(err)
		}
		checkMoments(t, gputest.Download(t, d, out), segmentsOfSlice(x, ends))
	})
}

func TestScanSegments(t *testing.T) {
	gputest.Each(t, func(t *testing.T, d *gpu.Device) {
		s := d.DefaultStream()
		for _, longest := range []int{0, 1, 30, 5000} {
			ends := randomEnds(20, longest)
			x := random[int64](int(ends[len(ends)-1])+9, 1<<40)
			all := append(append([]int32{0}, ends...), int32(len(x)))
			want, before := make([]int64, 0, len(x)), make([]int64, 0, len(x))
			for _, segment := range segmentsOfSlice(x, all) {
				sum := int64(0)
				for _, v := range segment {
					before = append(before, sum+3)
					sum += v
					want = append(want, sum)
				}
			}
			in, at, out := gputest.Upload(t, d, x), gputest.Upload(t, d, ends), gputest.Alloc[int64](t, d, len(x))
			if err := ScanSegments(s, Sum[int64](), out, in, at); err != nil {
				t.Fatal(err)
			}
			gputest.Equal(t, gputest.Download(t, d, out), want)
			if err := ScanExclusiveSegments(s, Sum[int64](), 3, out, in, at); err != nil {
				t.Fatal(err)
			}
			gputest.Equal(t, gputest.Download(t, d, out), before)
		}
	})
}

func testTopKAxis[K int8 | int16 | int32 | int64 | uint8 | uint16 | uint32 | uint64 | float32 | float64](t *testing.T, d *gpu.Device, a Axis, k int, r Radix) {
	t.Helper()
	s := d.DefaultStream()
	x := make([]K, a.size())
	for i := range x {
		x[i] = from[K](float64(rand.IntN(100)))
	}
	b := Axis{a.Outer, k, a.Inner}
	want, wantAt := make([]K, b.size()), make([]uint32, b.size())
	for i, line := range linesOfSlice(x, a) {
		at := make([]int, len(line))
		for j := range at {
			at[j] = j
		}
		slices.SortStableFunc(at, func(i, j int) int {
			if r.Descending {
				return less(line[j], line[i])
			}
			return less(line[i], line[j])
		})
		for j := range k {
			to := (i/a.Inner*k+j)*a.Inner + i%a.Inner
			want[to], wantAt[to] = line[at[j]], uint32(at[j])
		}
	}
	in, out, index := gputest.Upload(t, d, x), gputest.Alloc[K](t, d, b.size()), gputest.Alloc[uint32](t, d, b.size())
	if err := TopKIndicesAxis(s, r, a, out, index, in); err != nil {
		t.Fatal(err)
	}
	ok := gputest.Equal(t, gputest.Download(t, d, out), want)
	ok = gputest.Equal(t, gputest.Download(t, d, index), wantAt) && ok
	ok = gputest.Equal(t, gputest.Download(t, d, in), x) && ok
	clear(want[:min(1, len(want))])
	if err := TopKAxis(s, r, a, out, in); err != nil {
		t.Fatal(err)
	}
	if got := gputest.Download(t, d, out); len(got) > 0 {
		got[0] = 0
		ok = gputest.Equal(t, got, want) && ok
	}
	if !ok {
		t.Fatalf("%T, %v, k=%d, %+v", x, a, k, r)
	}
}

func TestTopKAxis(t *testing.T) {
	gputest.Each(t, func(t *testing.T, d *gpu.Device) {
		for i, a := range fewerShapes(d, append(slices.Clone(lineShapes), Axis{1, mostInLine + 3, 2})) {
			r := Radix{Descending: i%2 == 0}
			testTopKAxis[float32](t, d, a, min(a.N, 3), r)
			if d.Backend() != gpu.Sim {
				testTopKAxis[int64](t, d, a, a.N, r)
				testTopKAxis[uint16](t, d, a, a.N/2, r)
			}
		}
	})
}

// fewerShapes leaves out most shapes on a device that is slow.
func fewerShapes(d *gpu.Device, shapes []Axis) []Axis {
	if d.Backend() != gpu.Sim {
		return shapes
	}
	return append(shapes[1:3:3], shapes[6], shapes[len(shapes)-1])
}
