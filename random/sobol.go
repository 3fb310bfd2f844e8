package random

import (
	_ "embed"
	"fmt"
	"math/bits"
	"strings"
	"sync"

	"quern.dev/gpu"
	"quern.dev/kernel"
)

// MaxSobolDimensions is the largest number of dimensions of a [Sobol] sequence.
const MaxSobolDimensions = 1024

const sobolBits = 32

//go:embed sobol.txt
var sobolText string

// sobolDimension is a line of sobol.txt: a primitive polynomial, and the direction
// numbers that begin the recurrence.
type sobolDimension struct {
	degree       int
	coefficients uint32
	start        []uint32
}

var sobolDimensions = sync.OnceValue(func() []sobolDimension {
	all := make([]sobolDimension, 0, MaxSobolDimensions-1)
	for line := range strings.Lines(sobolText) {
		if strings.HasPrefix(line, "#") {
			continue
		}
		var d sobolDimension
		r := strings.NewReader(line)
		fmt.Fscan(r, &d.degree, &d.coefficients)
		d.start = make([]uint32, d.degree)
		for k := range d.start {
			fmt.Fscan(r, &d.start[k])
		}
		all = append(all, d)
	}
	return all
})

// directions returns the direction numbers of a dimension, counted from 0, as
// fractions of 2^32.
func directions(dimension int) (v [sobolBits]uint32) {
	if dimension == 0 {
		for k := range v {
			v[k] = 1 << (sobolBits - 1 - k)
		}
		return v
	}
	d := sobolDimensions()[dimension-1]
	for k := range v {
		if k < d.degree {
			v[k] = d.start[k] << (sobolBits - 1 - k)
			continue
		}
		v[k] = v[k-d.degree] ^ v[k-d.degree]>>d.degree
		for j := 1; j < d.degree; j++ {
			if d.coefficients>>(d.degree-1-j)&1 != 0 {
				v[k] ^= v[k-j]
			}
		}
	}
	return v
}

// scrambled multiplies direction numbers by a random lower triangular matrix, whose
// rows are the given words (Matoušek, "On the L2-discrepancy for anchored boxes",
// 1998).
func scrambled(v [sobolBits]uint32, rows func(k int) uint32) [sobolBits]uint32 {
	var out [sobolBits]uint32
	for k := range sobolBits {
		bit := uint32(1) << (sobolBits - 1 - k)
		row := rows(k)&^(bit<<1-1) | bit // the bits above, and the diagonal
		if k == 0 {
			row = bit
		}
		for j := range v {
			if bits.OnesCount32(v[j]&row)&1 != 0 {
				out[j] |= bit
			}
		}
	}
	return out
}

// Sobol is a Sobol sequence: points of the unit cube that cover it more evenly than
// random ones (Sobol, 1967), with the direction numbers of Joe and Kuo (2008). It is
// safe for concurrent use.
type Sobol struct {
	dimensions int
	table      *gpu.Buffer[uint32] // sobolBits+1 rows: the shifts, then the directions
}

// NewSobol returns the Sobol sequence with the given number of dimensions, at most
// [MaxSobolDimensions]. Its first point is the origin. The stream orders the copy of
// its table to the device. The caller closes the sequence.
func NewSobol(s *gpu.Stream, dimensions int) (*Sobol, error) {
	return newSobol("NewSobol", s, dimensions, nil)
}

// NewScrambledSobol returns a randomized Sobol sequence (a linear matrix scramble
// with a digital shift). Each point is uniformly distributed over the cube, and the
// points together cover it as evenly as those of the plain sequence. The results
// with several sources estimate the error of an integral.
func NewScrambledSobol(s *gpu.Stream, dimensions int, src Source) (*Sobol, error) {
	return newSobol("NewScrambledSobol", s, dimensions, &src)
}

func newSobol(op string, s *gpu.Stream, dimensions int, scramble *Source) (*Sobol, error) {
	if s == nil {
		return nil, invalid(op, "s", "is nil")
	}
	if dimensions < 1 || dimensions > MaxSobolDimensions {
		return nil, invalid(op, "dimensions", "is %d; it must be at least 1 and at most %d", dimensions, MaxSobolDimensions)
	}
	table := make([]uint32, (sobolBits+1)*dimensions)
	for d := range dimensions {
		v := directions(d)
		if scramble != nil {
			first := uint64(d) * (sobolBits + 1)
			table[d] = scramble.Uint32(first)
			v = scrambled(v, func(k int) uint32 { return scramble.Uint32(first + 1 + uint64(k)) })
		}
		for k := range v {
			table[(k+1)*dimensions+d] = v[k]
		}
	}
	b, err := gpu.Upload(s, table)
	if err != nil {
		return nil, failed(op, err)
	}
	return &Sobol{dimensions, b}, nil
}

// Dimensions returns the number of coordinates of a point, or 0 if q is nil.
func (q *Sobol) Dimensions() int {
	if q == nil {
		return 0
	}
	return q.dimensions
}

// Close frees the table once the work that uses it is done.
func (q *Sobol) Close() error {
	if q == nil {
		return nil
	}
	return q.table.Close()
}

// fillSobol computes coordinates of points. A thread computes one coordinate of the
// points with a distance of 2^logStride, so neighboring threads write neighboring
// elements. Point p is the exclusive or of the directions whose bits are set in the
// Gray code p ^ p>>1. From p to p+2^m, at most two bits of the Gray code change: bit
// m-1, and the one after the trailing ones of p>>m.
//
//quern:kernel instantiate=float32,float64
func fillSobol[T Float](t kernel.Thread, dimensions, logStride int, first uint64, drop uint32, scale T, table []uint32, dst []T) {
	d, q := t.Global()%dimensions, t.Global()/dimensions
	stride := 1 << logStride
	if q >= stride {
		return
	}
	p := first + uint64(q)
	x := table[d]
	at := d
	for g := p ^ p>>1; g != 0; g >>= 1 {
		at += dimensions
		if g&1 != 0 {
			x ^= table[at]
		}
	}
	always := uint32(0)
	if logStride > 0 {
		always = table[logStride*dimensions+d]
	}
	for i := q*dimensions + d; i < len(dst); i += stride * dimensions {
		dst[i] = T(x>>drop) * scale
		changed := logStride + bits.TrailingZeros64(^(p >> logStride))
		p += uint64(stride)
		x ^= always ^ table[min(changed+1, sobolBits)*dimensions+d]
	}
}

// Points fills dst with points of q, from point first on: coordinate d of point
// first+i is element i*q.Dimensions() + d. Coordinates are multiples of 2^-32 in
// [0, 1), and for float32 of 2^-24. A sequence has 2^32 points.
func Points[T Float](s *gpu.Stream, q *Sobol, first uint64, dst *gpu.Buffer[T]) error {
	const op = "Points"
	if err := check(op, s, Source{}, dst); err != nil {
		return err
	}
	if q == nil || q.table == nil {
		return invalid(op, "q", "was not made by NewSobol or NewScrambledSobol")
	}
	if dst.Len()%q.dimensions != 0 {
		return invalid(op, "dst", "has %d elements, which is not a multiple of the %d dimensions", dst.Len(), q.dimensions)
	}
	n := dst.Len() / q.dimensions
	if first > 1<<sobolBits || uint64(n) > 1<<sobolBits-first {
		return invalid(op, "first", "is %d, which with the %d points of dst exceeds 2^32; use a scrambled sequence of another source", first, n)
	}
	if n == 0 {
		return nil
	}
	const pointsPerThread = 16
	logStride := max(bits.Len(uint((n-1)/pointsPerThread)), min(bits.Len(uint(n-1)), 5))
	var drop uint32
	scale := T(1.0 / (1 << 32))
	if _, ok := any(dst).(*gpu.Buffer[float32]); ok {
		drop, scale = 8, T(1.0/(1<<24))
	}
	return failed(op, LaunchFillSobol(s, gpu.Linear(q.dimensions<<logStride), q.dimensions, logStride, first, drop, scale, q.table, dst))
}
