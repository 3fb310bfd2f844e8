package kernels

import "quern.dev/kernel"

// NormParts is the number of threads that share a row of a matrix on GPUs.
const NormParts = 32

// absLines reduces the magnitudes of lines of n elements, which begin lineStride elements after
// each other and have steps of step: to their sum, or to the largest one if largest is not 0. A NaN
// is larger than every number. Each line has parts threads, which take elements in turn. With byPart
// 0, the parts of a line are neighboring threads; otherwise neighboring threads have neighboring
// lines. to has an element per thread.
//
//quern:kernel instantiate=float32,float64
func absLines[T Float](t kernel.Thread, lines, n, parts, lineStride, step, byPart, largest int, a, to []T) {
	i := t.Global()
	if i >= lines*parts || i >= len(to) {
		return
	}
	line, part := i/parts, i%parts
	if byPart != 0 {
		line, part = i%lines, i/lines
	}
	at := line*lineStride + part*step
	var v T
	for k := part; k < n; k += parts {
		x := kernel.Abs(a[at])
		switch {
		case largest == 0:
			v += x
		case x > v || x != x:
			v = x
		}
		at += parts * step
	}
	to[i] = v
}
