package algo

import (
	"errors"
	"testing"

	"quern.dev/gpu"
	"quern.dev/gputest"
)

// More than 2^31 elements, whose positions need more than 31 bits.
func TestMoreThan2To31Elements(t *testing.T) {
	gputest.Each(t, func(t *testing.T, d *gpu.Device) {
		const n = 1<<31 + 1
		if d.Backend() != gpu.CUDA {
			t.Skip("2^31+1 elements take too long without a GPU")
		}
		s := d.DefaultStream()
		large := func() *gpu.Buffer[int32] {
			b, err := gpu.Alloc[int32](d, n)
			if err != nil {
				t.Skipf("three arrays of 8 GiB are needed: %v", err)
			}
			t.Cleanup(func() { b.Close() })
			return b
		}
		x, y := large(), large()
		one, at, two := gputest.Alloc[int32](t, d, 1), gputest.Alloc[int](t, d, 1), gputest.Alloc[int32](t, d, 2)
		flag := gputest.Alloc[uint32](t, d, 1)
		check := func(errs ...error) {
			t.Helper()
			if err := errors.Join(errs...); err != nil {
				t.Fatal(err)
			}
		}
		const total = n - 1 + 5
		check(gpu.Fill(s, x, 1), gpu.CopyIn(s, x.Slice(n-1, n), []int32{5}))
		const wrapped = total - 1<<32

		check(Reduce(s, Sum[int32](), one, x))
		gputest.Equal(t, gputest.Download(t, d, one), []int32{wrapped}, gputest.Name("Reduce"))
		check(ArgMax(s, Ascending[int32](), at, x))
		gputest.Equal(t, gputest.Download(t, d, at), []int{n - 1}, gputest.Name("ArgMax"))
		check(MinMax(s, Ascending[int32](), two, x))
		gputest.Equal(t, gputest.Download(t, d, two), []int32{1, 5}, gputest.Name("MinMax"))
		check(Count(s, NonZero[int32](), at, x))
		gputest.Equal(t, gputest.Download(t, d, at), []int{n}, gputest.Name("Count"))

		check(Scan(s, Sum[int32](), y, x))
		gputest.Equal(t, gputest.Download(t, d, y.Slice(n-3, n)), []int32{1<<31 - 1, -1 << 31, wrapped}, gputest.Name("Scan"))
		check(Select(s, NonZero[int32](), y, at, x))
		gputest.Equal(t, gputest.Download(t, d, at), []int{n}, gputest.Name("Select"))
		gputest.Equal(t, gputest.Download(t, d, y.Slice(n-2, n)), []int32{1, 5}, gputest.Name("Select"))
		check(Unique(s, Same[int32](), y, at, x))
		gputest.Equal(t, gputest.Download(t, d, at), []int{2}, gputest.Name("Unique"))
		gputest.Equal(t, gputest.Download(t, d, y.Slice(0, 2)), []int32{1, 5}, gputest.Name("Unique"))

		check(y.Close(), gpu.CopyIn(s, x.Slice(n-1, n), []int32{-5}), Sort(s, x), IsSorted(s, Ascending[int32](), flag, x))
		gputest.Equal(t, gputest.Download(t, d, flag), []uint32{1}, gputest.Name("IsSorted"))
		gputest.Equal(t, gputest.Download(t, d, x.Slice(0, 2)), []int32{-5, 1}, gputest.Name("Sort"))
	})
}
