package fft

import (
	"unsafe"

	"quern.dev/gpu"
)

// Power enqueues the computation of the power spectrum out of a spectrum: scale times the
// squared magnitude of each element. R is the real type of C.
func Power[R Float, C Complex](s *gpu.Stream, out *gpu.Buffer[R], in *gpu.Buffer[C], scale R) error {
	const op = "Power"
	if err := checkReal[R, C](op, "out", out.Len(), in.Len()); err != nil || in.Len() == 0 {
		return err
	}
	if _, overlap := overlaps(out, in.Len(), in, in.Len()); overlap {
		return invalid(op, "out", "overlaps in")
	}
	return failed(op, LaunchPower(s, gpu.Linear(in.Len()), scale, vectors[R](in), out))
}

// Polar enqueues the computation of the magnitude and the phase of each element of a
// spectrum. Phases are from -pi to pi. R is the real type of C.
func Polar[R Float, C Complex](s *gpu.Stream, magnitude, phase *gpu.Buffer[R], in *gpu.Buffer[C]) error {
	const op = "Polar"
	if err := checkReal[R, C](op, "magnitude", magnitude.Len(), in.Len()); err != nil {
		return err
	}
	if err := checkReal[R, C](op, "phase", phase.Len(), in.Len()); err != nil || in.Len() == 0 {
		return err
	}
	_, a := overlaps(magnitude, in.Len(), in, in.Len())
	_, b := overlaps(phase, in.Len(), in, in.Len())
	_, c := overlaps(magnitude, in.Len(), phase, in.Len())
	if a || b || c {
		return invalid(op, "phase", "magnitude, phase and in overlap")
	}
	return failed(op, LaunchPolar(s, gpu.Linear(in.Len()), vectors[R](in), magnitude, phase))
}

// checkReal returns an error if C does not consist of numbers of type R, or the result is
// too short.
func checkReal[R Float, C Complex](op, arg string, got, want int) error {
	var c C
	switch {
	case unsafe.Sizeof(c) != 2*unsafe.Sizeof(R(0)):
		return invalid(op, arg, "numbers of type %T for complex numbers of type %T; use float32 with complex64, float64 with complex128", R(0), c)
	case got < want:
		return invalid(op, arg, "%d elements for %d results", got, want)
	default:
		return nil
	}
}

// Shift enqueues a copy of arrays in which each dimension is rotated by half its length, so
// that frequency 0 is in the middle, at index n/2. in has whole arrays of the shape, which
// has one to three dimensions. out must not overlap in.
func Shift[E Element](s *gpu.Stream, out, in *gpu.Buffer[E], shape ...int) error {
	return shift("Shift", s, out, in, shape, 1)
}

// Unshift undoes [Shift].
func Unshift[E Element](s *gpu.Stream, out, in *gpu.Buffer[E], shape ...int) error {
	return shift("Unshift", s, out, in, shape, 0)
}

func shift[E Element](op string, s *gpu.Stream, out, in *gpu.Buffer[E], shape []int, round int) error {
	if len(shape) < 1 || len(shape) > 3 {
		return invalid(op, "shape", "%d dimensions; arrays have 1 to 3", len(shape))
	}
	r := rotation{Shape: [3]int{1, 1, 1}}
	points := 1
	for i, n := range shape {
		if n < 1 || points > maxElements/n {
			return invalid(op, "shape", "length %d of dimension %d is not from 1 to 2^40 elements in all", n, i)
		}
		points *= n
		r.Shape[3-len(shape)+i], r.By[3-len(shape)+i] = n, (n+round)/2%n
	}
	total := in.Len()
	_, overlap := overlaps(out, total, in, total)
	switch {
	case total%points != 0:
		return invalid(op, "in", "%d elements are not a multiple of the %d of an array", total, points)
	case out.Len() < total:
		return invalid(op, "out", "%d elements for %d results", out.Len(), total)
	case overlap:
		return invalid(op, "out", "overlaps in")
	case total == 0:
		return nil
	}
	var e E
	switch unsafe.Sizeof(e) {
	case 4:
		return failed(op, LaunchRotate(s, gpu.Linear(total), r, total, words[uint32](in), words[uint32](out)))
	case 8:
		return failed(op, LaunchRotate(s, gpu.Linear(total), r, total, words[uint64](in), words[uint64](out)))
	default:
		return failed(op, LaunchRotate(s, gpu.Linear(total), r, total, words[[2]uint64](in), words[[2]uint64](out)))
	}
}

// words returns b as a buffer of other elements of the same size; see vectors.
func words[W, E any](b *gpu.Buffer[E]) *gpu.Buffer[W] {
	return (*gpu.Buffer[W])(unsafe.Pointer(b))
}

// Frequencies returns the frequencies of the elements of a spectrum of n points: 0, the
// positive ones, then the negative ones. spacing is the distance between points of the
// signal; the frequencies are in cycles per unit of it.
func Frequencies(n int, spacing float64) []float64 {
	f := make([]float64, max(0, n))
	for i := range f {
		k := i
		if i >= (n+1)/2 {
			k = i - n
		}
		f[i] = float64(k) / (float64(n) * spacing)
	}
	return f
}

// RealFrequencies returns the frequencies of the n/2+1 elements of the spectrum of n real
// points.
func RealFrequencies(n int, spacing float64) []float64 {
	if n < 1 {
		return nil
	}
	f := make([]float64, n/2+1)
	for i := range f {
		f[i] = float64(i) / (float64(n) * spacing)
	}
	return f
}
