package fakeculib

import (
	"math"
	"math/cmplx"
)

func init() {
	register(map[string]function{
		"cufftCreate":            {1, createPlan},
		"cufftDestroy":           {1, destroy[*plan](1)},
		"cufftSetAutoAllocation": {2, setAutoAllocation},
		"cufftMakePlanMany64":    {12, makePlan},
		"cufftSetWorkArea":       {2, func(s *Set, a []uintptr) int { return s.setPlan(a, func(p *plan) { p.work = a[1] }) }},
		"cufftSetStream":         {2, func(s *Set, a []uintptr) int { return s.setPlan(a, func(p *plan) { p.stream = a[1] }) }},
		"cufftExecC2C":           {4, func(s *Set, a []uintptr) int { return s.exec(0x29, a, complexOf[complex64], complexOf[complex64]) }},
		"cufftExecR2C":           {3, func(s *Set, a []uintptr) int { return s.exec(0x2a, a, realOf[float32], complexOf[complex64]) }},
		"cufftExecC2R":           {3, func(s *Set, a []uintptr) int { return s.exec(0x2c, a, complexOf[complex64], realOf[float32]) }},
		"cufftExecZ2Z":           {4, func(s *Set, a []uintptr) int { return s.exec(0x69, a, complexOf[complex128], complexOf[complex128]) }},
		"cufftExecD2Z":           {3, func(s *Set, a []uintptr) int { return s.exec(0x6a, a, realOf[float64], complexOf[complex128]) }},
		"cufftExecZ2D":           {3, func(s *Set, a []uintptr) int { return s.exec(0x6c, a, complexOf[complex128], realOf[float64]) }},
	})
}

type plan struct {
	manual       bool // the caller gives memory
	made         bool
	rank, batch  int
	kind         int
	n            [3]int
	in, out      planLayout
	work, stream uintptr
}

type planLayout struct {
	embed        [3]int
	stride, dist int
}

func createPlan(s *Set, a []uintptr) int {
	var handle uintptr
	s.next++
	handle = s.next
	s.objects[handle] = &plan{}
	*at[int32](a[0]) = int32(handle) // a cufftHandle has 32 bits
	return 0
}

func (s *Set) setPlan(a []uintptr, set func(*plan)) int {
	p, ok := s.objects[a[0]].(*plan)
	if !ok || !p.made {
		return 1
	}
	set(p)
	return 0
}

func setAutoAllocation(s *Set, a []uintptr) int {
	p, ok := s.objects[a[0]].(*plan)
	if !ok || p.made {
		return 1
	}
	p.manual = a[1] == 0
	return 0
}

func makePlan(s *Set, a []uintptr) int {
	p, ok := s.objects[a[0]].(*plan)
	if !ok || p.made || a[1] < 1 || a[1] > 3 {
		return fftInvalid
	}
	p.made, p.rank, p.kind, p.batch = true, int(a[1]), int(a[9]), int(a[10])
	read := func(to *[3]int, from uintptr) {
		for i, v := range array[int64](from, p.rank) {
			to[i] = int(v)
		}
	}
	read(&p.n, a[2])
	read(&p.in.embed, a[3])
	p.in.stride, p.in.dist = int(a[4]), int(a[5])
	read(&p.out.embed, a[6])
	p.out.stride, p.out.dist = int(a[7]), int(a[8])
	*at[uint64](a[11]) = uint64(s.Memory)
	return 0
}

// element reads or writes the element with a number. It returns the value.
type element func(base uintptr, i int, write *complex128) complex128

func complexOf[T complex64 | complex128](base uintptr, i int, write *complex128) complex128 {
	p := &array[T](base, i+1)[i]
	if write != nil {
		*p = T(*write)
	}
	return complex128(*p)
}

func realOf[T float32 | float64](base uintptr, i int, write *complex128) complex128 {
	p := &array[T](base, i+1)[i]
	if write != nil {
		*p = T(real(*write))
	}
	return complex(float64(*p), 0)
}

func (l *planLayout) place(batch int, at [3]int, rank int) int {
	i := at[0]
	for d := 1; d < rank; d++ {
		i = i*l.embed[d] + at[d]
	}
	return batch*l.dist + i*l.stride
}

// exec computes the transforms by their definition.
func (s *Set) exec(kind int, a []uintptr, from, to element) int {
	p, ok := s.objects[a[0]].(*plan)
	if !ok || !p.made || !p.manual || p.kind != kind || p.stream == 0 || s.Memory > 0 && p.work == 0 {
		return 1
	}
	sign := -1.0
	realOut := kind == 0x2c || kind == 0x6c
	switch {
	case realOut:
		sign = 1
	case len(a) == 4:
		sign = float64(int32(a[3]))
	}
	s.log("exec %#x rank %d of %v, batch %d, in %v, out %v, sign %v, in place %v", kind, p.rank, p.n, p.batch, p.in, p.out, sign, a[1] == a[2])
	points, last := 1, p.rank-1
	for _, n := range p.n[:p.rank] {
		points *= n
	}
	coordinates := func(i int) (at [3]int) {
		for d := last; d >= 0; d-- {
			at[d] = i % p.n[d]
			i /= p.n[d]
		}
		return at
	}
	half := p.n[last]/2 + 1
	for b := range p.batch {
		signal := make([]complex128, points)
		for i := range signal {
			at := coordinates(i)
			if realOut && at[last] >= half { // the rest of a Hermitian array
				for d := range p.rank {
					at[d] = (p.n[d] - at[d]) % p.n[d]
				}
				signal[i] = cmplx.Conj(from(a[1], p.in.place(b, at, p.rank), nil))
				continue
			}
			v := from(a[1], p.in.place(b, at, p.rank), nil)
			if realOut && p.rank == 1 && (at[last] == 0 || 2*at[last] == p.n[last]) {
				v = complex(real(v), 0)
			}
			signal[i] = v
		}
		if realOut { // as the real library does with some sizes
			for i := range signal {
				if at := coordinates(i); at[last] < half {
					nan := cmplx.NaN()
					from(a[1], p.in.place(b, at, p.rank), &nan)
				}
			}
		}
		for k := range points {
			to3 := coordinates(k)
			if (kind == 0x2a || kind == 0x6a) && to3[last] >= half {
				continue
			}
			sum := complex128(0)
			for j, v := range signal {
				at, turn := coordinates(j), 0.0
				for d := range p.rank {
					turn += float64(at[d]*to3[d]%p.n[d]) / float64(p.n[d])
				}
				sum += v * cmplx.Exp(complex(0, sign*2*math.Pi*turn))
			}
			to(a[2], p.out.place(b, to3, p.rank), &sum)
		}
	}
	return 0
}
