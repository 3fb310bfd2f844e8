package fakeculib

func init() {
	register(map[string]function{
		"cusparseCreate":          {1, func(s *Set, a []uintptr) int { return s.add(a[0], &spHandle{}) }},
		"cusparseDestroy":         {1, destroy[*spHandle](1)},
		"cusparseSetStream":       {2, setStream},
		"cusparseCreateCsr":       {11, createCSR},
		"cusparseDestroySpMat":    {1, destroy[*csr](sparseInvalid)},
		"cusparseCreateDnVec":     {4, createVector},
		"cusparseDestroyDnVec":    {1, destroy[*vector](sparseInvalid)},
		"cusparseCreateDnMat":     {7, createDense},
		"cusparseDestroyDnMat":    {1, destroy[*dense](sparseInvalid)},
		"cusparseSpMV_bufferSize": {10, func(s *Set, a []uintptr) int { return s.spmv(a, true) }},
		"cusparseSpMV":            {10, func(s *Set, a []uintptr) int { return s.spmv(a, false) }},
		"cusparseSpMM_bufferSize": {11, func(s *Set, a []uintptr) int { return s.spmm(a, true) }},
		"cusparseSpMM":            {11, func(s *Set, a []uintptr) int { return s.spmm(a, false) }},
	})
}

type (
	spHandle struct{ stream uintptr }
	csr      struct {
		rows, cols, entries int
		start, index, value uintptr
		element             int32
	}
	vector struct {
		n       int
		data    uintptr
		element int32
	}
	dense struct {
		rows, cols, stride int
		data               uintptr
		element            int32
	}
)

func setStream(s *Set, a []uintptr) int {
	h, ok := s.objects[a[0]].(*spHandle)
	if !ok || a[1] == 0 {
		return 1
	}
	h.stream = a[1]
	return 0
}

func createCSR(s *Set, a []uintptr) int {
	m := &csr{int(a[1]), int(a[2]), int(a[3]), a[4], a[5], a[6], int32(a[10])}
	if m.start == 0 || m.index == 0 || m.value == 0 || a[7] != 2 || a[8] != 2 || a[9] != 0 {
		return sparseInvalid
	}
	return s.add(a[0], m)
}

func createVector(s *Set, a []uintptr) int {
	if a[2] == 0 {
		return sparseInvalid
	}
	return s.add(a[0], &vector{int(a[1]), a[2], int32(a[3])})
}

func createDense(s *Set, a []uintptr) int {
	m := &dense{int(a[1]), int(a[2]), int(a[3]), a[4], int32(a[5])}
	if m.data == 0 || a[6] != 2 || m.stride < m.cols {
		return sparseInvalid
	}
	return s.add(a[0], m)
}

func (s *Set) spmv(a []uintptr, size bool) int {
	h, ok := s.objects[a[0]].(*spHandle)
	m, ok2 := s.objects[a[3]].(*csr)
	x, ok3 := s.objects[a[4]].(*vector)
	y, ok4 := s.objects[a[6]].(*vector)
	if !ok || !ok2 || !ok3 || !ok4 || h.stream == 0 || a[1] != 0 || x.n != m.cols || y.n != m.rows || int32(a[7]) != m.element || x.element != m.element || y.element != m.element {
		return sparseInvalid
	}
	if size {
		*at[uint64](a[9]) = uint64(s.Memory)
		return 0
	}
	alpha, beta := load(m.element, a[2], 0), load(m.element, a[5], 0)
	s.log("cusparseSpMV %dx%d, %d entries, type %d, algorithm %d, alpha %v, beta %v", m.rows, m.cols, m.entries, m.element, a[8], alpha, beta)
	m.multiply(alpha, beta, 1, func(row, _ int) float64 { return load(m.element, x.data, row) }, y.data, func(row, _ int) int { return row })
	return 0
}

func (s *Set) spmm(a []uintptr, size bool) int {
	h, ok := s.objects[a[0]].(*spHandle)
	m, ok2 := s.objects[a[4]].(*csr)
	b, ok3 := s.objects[a[5]].(*dense)
	c, ok4 := s.objects[a[7]].(*dense)
	if !ok || !ok2 || !ok3 || !ok4 || h.stream == 0 || a[1] != 0 || a[2] != 0 || b.rows != m.cols || c.rows != m.rows || c.cols != b.cols || int32(a[8]) != m.element || b.element != m.element || c.element != m.element {
		return sparseInvalid
	}
	if size {
		*at[uint64](a[10]) = uint64(s.Memory)
		return 0
	}
	alpha, beta := load(m.element, a[3], 0), load(m.element, a[6], 0)
	s.log("cusparseSpMM %dx%dx%d, %d entries, strides %d %d, type %d, algorithm %d, alpha %v, beta %v", m.rows, c.cols, m.cols, m.entries, b.stride, c.stride, m.element, a[9], alpha, beta)
	m.multiply(alpha, beta, c.cols, func(row, col int) float64 { return load(m.element, b.data, row*b.stride+col) }, c.data, func(row, col int) int { return row*c.stride + col })
	return 0
}

func (m *csr) multiply(alpha, beta float64, cols int, b func(row, col int) float64, c uintptr, place func(row, col int) int) {
	start, index := array[int32](m.start, m.rows+1), array[int32](m.index, m.entries)
	for row := range m.rows {
		for col := range cols {
			sum := 0.0
			for k := start[row]; k < start[row+1]; k++ {
				sum += load(m.element, m.value, int(k)) * b(int(index[k]), col)
			}
			sum *= alpha
			if beta != 0 {
				sum += beta * load(m.element, c, place(row, col))
			}
			store(m.element, c, place(row, col), sum)
		}
	}
}
