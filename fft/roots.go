package fft

import (
	"math"
	"math/bits"
)

// tableKey identifies a table of a plan.
type tableKey struct {
	kind    tableKind
	n       int
	radices uint64
	inverse bool
}

type tableKind int

const (
	stepRoots tableKind = iota
	longRoots           // and the fine ones
	fineRoots
	chirpTable
	allRoots
	chirpSpectrum
)

// table returns the place of a table, which fill appends to b.tables if it is new.
func (b *builder) table(key tableKey, fill func()) int32 {
	at, ok := b.places[key]
	if !ok {
		at = int32(len(b.tables))
		b.places[key] = at
		fill()
	}
	return at
}

// radices sets the steps of a pass and its table of roots. The roots of a step that makes
// transforms of length done*r from those of length done are done*(r-1) numbers: for each m
// from 1 to r-1, the roots m*k/(done*r) for k < done. So they begin at done-1.
func (b *builder) radices(p *pass, radices []int, inverse bool) {
	p.Steps = int32(len(radices))
	for i, r := range radices {
		p.Radices |= uint64(r&15) << (4 * i)
	}
	n := int(p.N)
	p.Roots = b.table(tableKey{stepRoots, n, p.Radices, inverse}, func() {
		done := 1
		add := func(r int) {
			for m := 1; m < r; m++ {
				for k := range done {
					w := rootOfUnity(m*k, done*r)
					if inverse {
						w = complex(real(w), -imag(w))
					}
					b.tables = append(b.tables, w)
				}
			}
			done *= r
		}
		for _, r := range radices {
			add(r)
		}
		if done < n { // the last step of kernel registers
			add(n / done)
		}
	})
}

// longRoots returns the tables of the roots of n points; see pass.
func (b *builder) longRoots(n int) (coarse, fine, shift int32) {
	s := (bits.Len(uint(n-1)) + 1) / 2
	coarse = b.table(tableKey{kind: longRoots, n: n}, func() {
		for m := 0; m < n; m += 1 << s {
			b.tables = append(b.tables, rootOfUnity(m, n))
		}
	})
	fine = b.table(tableKey{kind: fineRoots, n: n}, func() {
		for m := range 1 << s {
			b.tables = append(b.tables, rootOfUnity(m, n))
		}
	})
	return coarse, fine, int32(s)
}

// roots returns the table of the first count roots of n points.
func (b *builder) roots(n, count int) int {
	return int(b.table(tableKey{kind: allRoots, n: n}, func() {
		for m := range count {
			b.tables = append(b.tables, rootOfUnity(m, n))
		}
	}))
}

// rootOfUnity returns exp(-2*pi*i*m/n), rounded correctly but for the last bit: the angle
// is reduced to an eighth of the circle while it is an integer.
func rootOfUnity(m, n int) complex128 {
	m %= n
	eighth := 8 * m / n
	var c, s float64
	angle := func(m int) { s, c = math.Sincos(2 * math.Pi / float64(n) * float64(m) / 8) }
	switch m *= 8; eighth { // in units of an eighth of 1/n
	case 0:
		angle(m)
	case 1:
		angle(2*n - m)
		c, s = s, c
	case 2:
		angle(m - 2*n)
		c, s = -s, c
	case 3:
		angle(4*n - m)
		c = -c
	case 4:
		angle(m - 4*n)
		c, s = -c, -s
	case 5:
		angle(6*n - m)
		c, s = -s, -c
	case 6:
		angle(m - 6*n)
		c, s = s, -c
	default:
		angle(8*n - m)
		s = -s
	}
	return complex(c, -s)
}
