package fakeculib

import (
	"math"

	"quern.dev/kernel"
)

func init() {
	register(map[string]function{
		"cublasLtCreate":                       {1, func(s *Set, a []uintptr) int { return s.add(a[0], ltHandle{}) }},
		"cublasLtDestroy":                      {1, destroy[ltHandle](1)},
		"cublasLtMatmulDescCreate":             {3, createDesc},
		"cublasLtMatmulDescDestroy":            {1, destroy[*desc](blasInvalid)},
		"cublasLtMatmulDescSetAttribute":       {4, setDesc},
		"cublasLtMatrixLayoutCreate":           {5, createLayout},
		"cublasLtMatrixLayoutDestroy":          {1, destroy[*layout](blasInvalid)},
		"cublasLtMatrixLayoutSetAttribute":     {4, setLayout},
		"cublasLtMatmulPreferenceCreate":       {1, func(s *Set, a []uintptr) int { return s.add(a[0], &preference{}) }},
		"cublasLtMatmulPreferenceDestroy":      {1, destroy[*preference](blasInvalid)},
		"cublasLtMatmulPreferenceSetAttribute": {4, setPreference},
		"cublasLtMatmulAlgoGetHeuristic":       {10, heuristic},
		"cublasLtMatmul":                       {16, matmul},
	})
}

type (
	ltHandle struct{}
	desc     struct {
		compute, scale, transA, transB, epilogue int32
		bias                                     uintptr
	}
	layout struct {
		element    int32
		rows, cols uint64
		stride     int64
		count      int32
		step       int64
	}
	preference struct {
		memory uint64
		align  [4]uint32
	}
)

func createDesc(s *Set, a []uintptr) int {
	return s.add(a[0], &desc{compute: int32(a[1]), scale: int32(a[2]), epilogue: 1})
}

func setDesc(s *Set, a []uintptr) int {
	d, ok := s.objects[a[0]].(*desc)
	if !ok {
		return blasInvalid
	}
	switch {
	case a[1] == 3 && a[3] == 4:
		d.transA = *at[int32](a[2])
	case a[1] == 4 && a[3] == 4:
		d.transB = *at[int32](a[2])
	case a[1] == 7 && a[3] == 4:
		d.epilogue = *at[int32](a[2])
	case a[1] == 8 && a[3] == 8:
		d.bias = *at[uintptr](a[2])
	default:
		return blasInvalid
	}
	return 0
}

func createLayout(s *Set, a []uintptr) int {
	l := &layout{element: int32(a[1]), rows: uint64(a[2]), cols: uint64(a[3]), stride: int64(a[4]), count: 1}
	if l.stride < int64(l.rows) {
		return blasInvalid
	}
	return s.add(a[0], l)
}

func setLayout(s *Set, a []uintptr) int {
	l, ok := s.objects[a[0]].(*layout)
	switch {
	case ok && a[1] == 5 && a[3] == 4:
		l.count = *at[int32](a[2])
	case ok && a[1] == 6 && a[3] == 8:
		l.step = *at[int64](a[2])
	default:
		return blasInvalid
	}
	return 0
}

func setPreference(s *Set, a []uintptr) int {
	p, ok := s.objects[a[0]].(*preference)
	switch {
	case ok && a[1] == 1 && a[3] == 8:
		p.memory = *at[uint64](a[2])
	case ok && a[1] >= 5 && a[1] <= 8 && a[3] == 4:
		p.align[a[1]-5] = *at[uint32](a[2])
	default:
		return blasInvalid
	}
	return 0
}

// result is cublasLtMatmulHeuristicResult_t.
type result struct {
	algorithm [8]uint64
	memory    uint64
	_         int32   // state
	_         float32 // waves
	_         [4]int32
}

// algorithmMark is the last word of an algorithm of this library.
const algorithmMark = 0x717565726e

// problem is the descriptors of a product.
type problem struct {
	d          *desc
	a, b, c, o *layout
	m, n, k    int
}

// problemOf returns nil if the descriptors do not fit together.
func (s *Set) problemOf(handle, d, a, b, c, o uintptr) *problem {
	p := new(problem)
	oks := [6]bool{}
	_, oks[0] = s.objects[handle].(ltHandle)
	p.d, oks[1] = s.objects[d].(*desc)
	p.a, oks[2] = s.objects[a].(*layout)
	p.b, oks[3] = s.objects[b].(*layout)
	p.c, oks[4] = s.objects[c].(*layout)
	p.o, oks[5] = s.objects[o].(*layout)
	if oks != [6]bool{true, true, true, true, true, true} {
		return nil
	}
	shape := func(l *layout, trans int32) (int, int) {
		if trans != 0 {
			return int(l.cols), int(l.rows)
		}
		return int(l.rows), int(l.cols)
	}
	m, k := shape(p.a, p.d.transA)
	k2, n := shape(p.b, p.d.transB)
	same := func(l *layout) bool { return int(l.rows) == m && int(l.cols) == n && l.count == p.a.count }
	if k != k2 || !same(p.c) || !same(p.o) || p.b.count != p.a.count || p.a.element != p.b.element || p.c.element != p.o.element {
		return nil
	}
	p.m, p.n, p.k = m, n, k
	return p
}

func heuristic(s *Set, a []uintptr) int {
	p := s.problemOf(a[0], a[1], a[2], a[3], a[4], a[5])
	pref, ok := s.objects[a[6]].(*preference)
	if p == nil || !ok || a[7] != 1 {
		return blasInvalid
	}
	*at[int32](a[9]) = 0
	if p.d.compute == 72 && (p.d.transA != 1 || p.d.transB != 0 || p.m%4 != 0 || p.k%4 != 0 || min(pref.align[0], pref.align[1]) < 4) {
		return blasNone
	}
	memory := uint64(s.Memory)
	if memory > pref.memory {
		return blasNone
	}
	r := result{memory: memory}
	r.algorithm[0], r.algorithm[7] = uint64(pref.align[0]), algorithmMark
	*at[result](a[8]) = r
	*at[int32](a[9]) = 1
	return 0
}

// load returns an element as a float64.
func load(element int32, base uintptr, i int) float64 {
	switch element {
	case 0:
		return float64(*at[float32](base + uintptr(4*i)))
	case 1:
		return *at[float64](base + uintptr(8*i))
	case 2:
		return float64(at[kernel.Float16](base + uintptr(2*i)).Float32())
	case 14:
		return float64(at[kernel.BFloat16](base + uintptr(2*i)).Float32())
	case 3:
		return float64(*at[int8](base + uintptr(i)))
	default:
		return float64(*at[int32](base + uintptr(4*i)))
	}
}

func store(element int32, base uintptr, i int, v float64) {
	switch element {
	case 0:
		*at[float32](base + uintptr(4*i)) = float32(v)
	case 1:
		*at[float64](base + uintptr(8*i)) = v
	default:
		*at[int32](base + uintptr(4*i)) = int32(v)
	}
}

func matmul(s *Set, a []uintptr) int {
	p := s.problemOf(a[0], a[1], a[4], a[6], a[9], a[11])
	algorithm := at[[8]uint64](a[12])
	if p == nil || algorithm[7] != algorithmMark || int(a[14]) != s.Memory || (a[13] == 0) != (s.Memory == 0) || a[15] == 0 {
		return blasInvalid
	}
	d := p.d
	alpha, beta := load(d.scale, a[2], 0), load(d.scale, a[7], 0)
	s.log("cublasLtMatmul types %d*%d->%d compute %d scale %d, %dx%dx%d, trans %d %d, strides %d %d %d %d, %d batches at %d %d %d %d, epilogue %d, alpha %v, beta %v, in place %v",
		p.a.element, p.b.element, p.o.element, d.compute, d.scale, p.m, p.n, p.k, d.transA, d.transB, p.a.stride, p.b.stride, p.c.stride, p.o.stride,
		p.a.count, p.a.step, p.b.step, p.c.step, p.o.step, d.epilogue, alpha, beta, a[8] == a[10])
	for i := range int(p.a.count) {
		for row := range p.m {
			for col := range p.n {
				sum := 0.0
				for k := range p.k {
					sum += load(p.a.element, a[3], p.a.index(i, row, k, d.transA)) * load(p.b.element, a[5], p.b.index(i, k, col, d.transB))
				}
				sum *= alpha
				if beta != 0 {
					sum += beta * load(p.c.element, a[8], p.c.index(i, row, col, 0))
				}
				if d.epilogue&4 != 0 {
					sum += load(p.o.element, d.bias, row)
				}
				switch {
				case d.epilogue&2 != 0:
					sum = max(sum, 0)
				case d.epilogue&32 != 0:
					sum = sum / 2 * (1 + math.Tanh(math.Sqrt(2/math.Pi)*(sum+0.044715*sum*sum*sum)))
				}
				store(p.o.element, a[10], p.o.index(i, row, col, 0), sum)
			}
		}
	}
	return 0
}

// index returns the place of an element of op(l), in column-major order.
func (l *layout) index(batch, row, col int, trans int32) int {
	if trans != 0 {
		row, col = col, row
	}
	return batch*int(l.step) + col*int(l.stride) + row
}
