package algo

import (
	"fmt"
	"math/rand/v2"
	"testing"

	"quern.dev/gpu"
	"quern.dev/gputest"
)

// runsOf returns the run-length encoding of x.
func runsOf[T comparable](x []T) (values []T, lengths []int) {
	for i, v := range x {
		if i == 0 || v != x[i-1] {
			values, lengths = append(values, v), append(lengths, 0)
		}
		lengths[len(lengths)-1]++
	}
	return values, lengths
}

// runInputs are sequences with runs of different lengths, by name.
func runInputs[T Number](n int) map[string][]T {
	all := inputs[T](n)
	for _, longest := range []int{3, 40, 3000} {
		x := make([]T, n)
		for i, v := 0, 0; i < n; v++ {
			for range 1 + rand.IntN(longest) {
				if i < n {
					x[i] = T(v)
					i++
				}
			}
		}
		all[fmt.Sprintf("runs up to %d", longest)] = x
	}
	return all
}

const untouched = 77

// written returns a slice of n elements that begins with x and ends with elements that are
// untouched.
func written[T Number | int](x []T, n int) []T {
	y := filled[T](n)
	copy(y, x)
	return y
}

func filled[T Number | int](n int) []T {
	y := make([]T, n)
	for i := range y {
		y[i] = untouched
	}
	return y
}

func runLengths(d *gpu.Device) []int {
	if d.Backend() == gpu.CPU {
		return []int{0, 1, 2, 4095, 4096, 4097, 8192, 50000}
	}
	return []int{0, 1, 2, 3, 4, 5, 127, 129, 4096, 4097, 8200}
}

func TestRunLengths(t *testing.T) {
	each(t, func(t *testing.T, d *gpu.Device, s *gpu.Stream) {
		for _, n := range runLengths(d) {
			runLengthsOf(t, d, s, fewer(d, n, runInputs[float32](n)))
		}
		runLengthsOf(t, d, s, runInputs[uint64](1000))
		runLengthsOf(t, d, s, runInputs[float64](1000))
	})
}

func runLengthsOf[T Number](t *testing.T, d *gpu.Device, s *gpu.Stream, all map[string][]T) {
	t.Helper()
	for name, x := range all {
		values, lengths := runsOf(x)
		n := len(x)
		title := fmt.Sprintf("%T %d %s ", x, n, name)
		in := gputest.Upload(t, d, x)
		dst, sizes, count := gputest.Upload(t, d, filled[T](n)), gputest.Upload(t, d, filled[int](n)), gputest.Upload(t, d, []int{-1})
		if err := RunLengths(s, Same[T](), dst, sizes, count, in); err != nil {
			t.Fatal(err)
		}
		ok := gputest.Equal(t, gputest.Download(t, d, count), []int{len(values)}, gputest.Name(title+"count"))
		ok = ok && gputest.Equal(t, gputest.Download(t, d, dst), written(values, n), gputest.Bits, gputest.Name(title+"values"))
		ok = ok && gputest.Equal(t, gputest.Download(t, d, sizes), written(lengths, n), gputest.Name(title+"lengths"))
		dst, count = gputest.Upload(t, d, filled[T](n)), gputest.Upload(t, d, []int{-1})
		if err := Unique(s, Same[T](), dst, count, in); err != nil {
			t.Fatal(err)
		}
		ok = ok && gputest.Equal(t, gputest.Download(t, d, count), []int{len(values)}, gputest.Name(title+"unique count"))
		ok = ok && gputest.Equal(t, gputest.Download(t, d, dst), written(values, n), gputest.Bits, gputest.Name(title+"unique"))
		if !ok {
			return
		}
	}
}

func TestByKey(t *testing.T) {
	each(t, func(t *testing.T, d *gpu.Device, s *gpu.Stream) {
		for _, n := range runLengths(d) {
			byKeyOf(t, d, s, fewer(d, n, runInputs[int32](n)))
		}
	})
}

func byKeyOf[K Number](t *testing.T, d *gpu.Device, s *gpu.Stream, all map[string][]K) {
	t.Helper()
	for name, keys := range all {
		n := len(keys)
		x := random[int32](n, 1<<30)
		first := int32(5)
		values, _ := runsOf(keys)
		sums, scanned, before := []int32{}, make([]int32, n), make([]int32, n)
		for i, v := range x {
			if i == 0 || keys[i] != keys[i-1] {
				sums = append(sums, 0)
			}
			at := &sums[len(sums)-1]
			before[i] = first + *at
			*at += v
			scanned[i] = *at
		}
		title := fmt.Sprintf("%d %s ", n, name)
		by, in := gputest.Upload(t, d, keys), gputest.Upload(t, d, x)
		dstKeys, dst, count := gputest.Upload(t, d, filled[K](n)), gputest.Upload(t, d, filled[int32](n)), gputest.Upload(t, d, []int{-1})
		if err := ReduceByKey(s, Same[K](), Sum[int32](), dstKeys, dst, count, by, in); err != nil {
			t.Fatal(err)
		}
		ok := gputest.Equal(t, gputest.Download(t, d, count), []int{len(values)}, gputest.Name(title+"count"))
		ok = ok && gputest.Equal(t, gputest.Download(t, d, dstKeys), written(values, n), gputest.Name(title+"keys"))
		ok = ok && gputest.Equal(t, gputest.Download(t, d, dst), written(sums, n), gputest.Name(title+"sums"))
		if err := ScanByKey(s, Same[K](), Sum[int32](), dst, by, in); err != nil {
			t.Fatal(err)
		}
		ok = ok && gputest.Equal(t, gputest.Download(t, d, dst), scanned, gputest.Name(title+"scan"))
		if err := ScanExclusiveByKey(s, Same[K](), Sum[int32](), first, dst, by, in); err != nil {
			t.Fatal(err)
		}
		ok = ok && gputest.Equal(t, gputest.Download(t, d, dst), before, gputest.Name(title+"exclusive scan"))
		if err := ScanByKey(s, Same[K](), Sum[int32](), in, by, in); err != nil {
			t.Fatal(err)
		}
		ok = ok && gputest.Equal(t, gputest.Download(t, d, in), scanned, gputest.Name(title+"scan in place"))
		if !ok {
			return
		}
	}
}
