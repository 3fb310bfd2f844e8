package memory

import (
	"math/rand/v2"
	"testing"

	"quern.dev/gpu"
	"quern.dev/gputest"
	"quern.dev/kernel"
)

// copyJobs returns n jobs with random lengths and overlaps, including empty ones.
func copyJobs(n int) []job {
	rng := rand.New(rand.NewPCG(1, 2))
	jobs := make([]job, n)
	for i := range jobs {
		from, to := rng.IntN(part), rng.IntN(part)
		if i%4 == 0 {
			to = max(0, min(part-1, from+rng.IntN(5)-2))
		}
		room := part - max(from, to)
		jobs[i] = job{int32(from), int32(to), int32(rng.IntN(room + 1)), int32(rng.IntN(room + 1))}
	}
	return jobs
}

func checkCopies[T kernel.Number](t *testing.T, d *gpu.Device, launch func(s *gpu.Stream, g gpu.Grid, jobs *gpu.Buffer[job], x, other *gpu.Buffer[T], counts *gpu.Buffer[int32]) error) {
	t.Helper()
	const n = 96
	jobs := copyJobs(n)
	start, beside := make([]T, n*part), make([]T, n*part)
	for i := range start {
		start[i], beside[i] = T(i%29), T(i%31)
	}
	x, y, counts := append([]T{}, start...), append([]T{}, beside...), make([]int32, 8*n)
	each(n/8, 8, func(th kernel.Thread) { copies(th, jobs, x, y, counts) })
	bx, by, bc := gputest.Upload(t, d, start), gputest.Upload(t, d, beside), gputest.Upload(t, d, make([]int32, 8*n))
	launched(t, launch(d.DefaultStream(), line(n/8, 8), gputest.Upload(t, d, jobs), bx, by, bc))
	gputest.Equal(t, gputest.Download(t, d, bc), counts, gputest.Name("counts"))
	gputest.Equal(t, gputest.Download(t, d, bx), x, gputest.Name("x"))
	gputest.Equal(t, gputest.Download(t, d, by), y, gputest.Name("other"))
}

func TestCopiesBetweenMemories(t *testing.T) {
	gputest.Each(t, func(t *testing.T, d *gpu.Device) {
		checkCopies(t, d, LaunchCopies[uint8])
		checkCopies(t, d, LaunchCopies[int32])
		checkCopies(t, d, LaunchCopies[float64])
	})
}

func TestCopiesOfStructsAndInCalledFunctions(t *testing.T) {
	const n = 50
	jobs := copyJobs(n)
	pixels, ints := make([]pixel, n*part), make([]int32, n*part)
	for i := range pixels {
		pixels[i] = pixel{uint8(i), uint8(i * 3), uint8(i * 7), float32(i)}
		ints[i] = int32(i * i)
	}
	wantPixels, wantInts, wantCount := append([]pixel{}, pixels...), append([]int32{}, ints...), make([]int32, n)
	each(2, 32, func(th kernel.Thread) { copyPixels(th, jobs, wantPixels, wantCount) })
	each(1, 32, func(th kernel.Thread) { copyInCalls(th, jobs, wantInts) })
	gputest.Each(t, func(t *testing.T, d *gpu.Device) {
		s := d.DefaultStream()
		j, x, count := gputest.Upload(t, d, jobs), gputest.Upload(t, d, pixels), gputest.Upload(t, d, make([]int32, n))
		launched(t, LaunchCopyPixels(s, line(2, 32), j, x, count))
		gputest.Equal(t, gputest.Download(t, d, x), wantPixels)
		gputest.Equal(t, gputest.Download(t, d, count), wantCount)
		y := gputest.Upload(t, d, ints)
		launched(t, LaunchCopyInCalls(s, line(1, 32), j, y))
		gputest.Equal(t, gputest.Download(t, d, y), wantInts)
	})
}

// TestCopiesBetweenAliasedParameters passes one buffer for both parameters.
func TestCopiesBetweenAliasedParameters(t *testing.T) {
	gputest.Each(t, func(t *testing.T, d *gpu.Device) {
		for _, shift := range []int{-3, 0, 3} {
			want := numbers[int32](64)
			lo, hi := max(shift, 0), max(-shift, 0)
			copy(want[lo:], want[hi:])
			x := gputest.Upload(t, d, numbers[int32](64))
			launched(t, LaunchCopyShifted(d.DefaultStream(), line(1, 1), lo, hi, x, x))
			gputest.Equal(t, gputest.Download(t, d, x), want)
		}
	})
}

func TestCopiedCountIsUniformForUniformLengths(t *testing.T) {
	x, want := numbers[int32](64), make([]int32, 32)
	each(1, 32, func(th kernel.Thread) { copyTogether(th, x, want) })
	gputest.Each(t, func(t *testing.T, d *gpu.Device) {
		out := gputest.Upload(t, d, make([]int32, 32))
		launched(t, LaunchCopyTogether(d.DefaultStream(), line(1, 32), gputest.Upload(t, d, x), out))
		gputest.Equal(t, gputest.Download(t, d, out), want)
	})
}
