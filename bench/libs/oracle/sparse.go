package main

import (
	"quern.dev/gpu"
	"quern.dev/sparse"
)

// matrix is the random matrix of a case as an expression: its entries are v at (i, j).
const matrix = "sparse.coo_matrix((v, (i, j)), shape=tuple(shape.tolist())).tocsr()"

// entries returns a random matrix, and adds it to the case.
func (q *suite) entries(t *test, rows, cols, n int) *sparse.Entries[float64] {
	e := &sparse.Entries[float64]{Rows: rows, Cols: cols}
	for range n {
		// Some rows are much longer than others.
		i := q.rng.IntN(1 + q.rng.IntN(rows))
		e.Add(i, q.rng.IntN(cols), 2*q.rng.Float64()-1)
	}
	q.describe(t, e)
	return e
}

func (q *suite) describe(t *test, e *sparse.Entries[float64]) {
	array(t, "i", e.Row)
	array(t, "j", e.Col)
	array(t, "v", e.Value)
	array(t, "shape", []int64{int64(e.Rows), int64(e.Cols)})
}

// upload returns the matrix on the device.
func (q *suite) upload(e *sparse.Entries[float64]) sparse.CSR[float64] {
	if q.err != nil {
		return sparse.CSR[float64]{}
	}
	a, err := sparse.UploadCSR(q.s, e)
	q.err = err
	q.close = append(q.close, a.Close)
	return a
}

func sparseCases(q *suite) {
	s := q.s
	rows, cols, n := q.size(2000), q.size(2000), q.size(q.most)
	for _, transpose := range []bool{false, true} {
		a, from, to := "("+matrix+")", cols, rows
		if transpose {
			a, from, to = "("+matrix+").T", rows, cols
		}
		t := q.test("sparse.MulVec, "+map[bool]string{false: "a", true: "transposed"}[transpose], a+" @ x", "(v.size + 2) * 2 * u64 * (abs("+a+") @ xp.abs(x)) + 1e-15 * xp.abs(v).sum()")
		m := q.upload(q.entries(t, rows, cols, n))
		x, y := input(t, "x", between[float64](q, from, -1, 1)), output[float64](t, "got", to)
		t.run(func() error { return sparse.MulVec(s, transpose, 1, m, x, 0, y) })
	}

	width := q.size(40)
	t := q.test("sparse.MulMat", "("+matrix+") @ x", "(v.size + 2) * 2 * u64 * (abs("+matrix+") @ xp.abs(x)) + 1e-15 * xp.abs(v).sum()")
	m := q.upload(q.entries(t, rows, cols, n))
	x, y := input(t, "x", between[float64](q, cols*width, -1, 1), cols, width), output[float64](t, "got", rows, width)
	dense := func(rows int, b *gpu.Buffer[float64]) sparse.Dense[float64] {
		return sparse.Dense[float64]{Rows: rows, Cols: width, Stride: width, Data: b}
	}
	t.run(func() error { return sparse.MulMat(s, false, 1, m, dense(cols, x), 0, dense(rows, y)) })

	// Lists of entries in any order, and in the order of rows.
	for _, sorted := range []bool{false, true} {
		for _, transpose := range []bool{false, true} {
			a, from, to := "("+matrix+")", cols, rows
			if transpose {
				a, from, to = "("+matrix+").T", rows, cols
			}
			name := map[bool]string{false: "", true: ", sorted"}[sorted] + map[bool]string{false: "", true: ", transposed"}[transpose]
			bound := "(v.size + 2) * 2 * u64 * (abs(" + a + ") @ xp.abs(x)) + 1e-15 * xp.abs(v).sum()"
			e := &sparse.Entries[float64]{Rows: rows, Cols: cols}
			for k := range n {
				i := q.rng.IntN(1 + q.rng.IntN(rows))
				if sorted {
					i = k * rows / n
				}
				e.Add(i, q.rng.IntN(cols), 2*q.rng.Float64()-1)
			}
			list := func() (sparse.COO[float64], error) {
				coo, err := sparse.UploadCOO(s, e)
				if err == nil {
					q.close = append(q.close, coo.Close)
				}
				return coo, err
			}
			t := q.test("sparse.MulVecCOO"+name, a+" @ x", bound)
			q.describe(t, e)
			x, y := input(t, "x", between[float64](q, from, -1, 1)), output[float64](t, "got", to)
			t.run(func() error {
				coo, err := list()
				if err != nil {
					return err
				}
				return sparse.MulVecCOO(s, transpose, 1, coo, x, 0, y)
			})
			t = q.test("sparse.MulMatCOO"+name, a+" @ x", bound)
			q.describe(t, e)
			b, c := input(t, "x", between[float64](q, from*width, -1, 1), from, width), output[float64](t, "got", to, width)
			t.run(func() error {
				coo, err := list()
				if err != nil {
					return err
				}
				return sparse.MulMatCOO(s, transpose, 1, coo, dense(from, b), 0, dense(to, c))
			})
		}
	}
	q.formatCases(dense, width)

	t = q.test("sparse.COOToCSR", "("+matrix+").toarray()", "1e-15 * xp.abs(v).sum()")
	t.of("sparse.csr_matrix((value, index, start), shape=tuple(shape.tolist())).toarray()")
	e := q.entries(t, min(rows, 300), min(cols, 300), n)
	start, index, value := output[int32](t, "start", e.Rows+1), output[int32](t, "index", n), output[float64](t, "value", n)
	t.run(func() error {
		coo, err := sparse.UploadCOO(s, e)
		if err != nil {
			return err
		}
		q.close = append(q.close, coo.Close)
		return sparse.COOToCSR(s, sparse.CSR[float64]{Rows: e.Rows, Cols: e.Cols, Start: start, Index: index, Value: value}, coo)
	})

	// The residual of a system whose diagonal is large.
	t = q.test("sparse.SolveTriangular", "x", "1e-13 * xp.abs(x).max() * (1 + v.size / x.size)").of("sparse.tril(" + matrix + ") @ got")
	e = &sparse.Entries[float64]{Rows: rows, Cols: rows}
	for i := range rows {
		e.Add(i, i, 4)
		for range 3 {
			e.Add(i, q.rng.IntN(i+1), 0.5)
		}
	}
	q.describe(t, e)
	m = q.upload(e)
	x, y = input(t, "x", between[float64](q, rows, -1, 1)), output[float64](t, "got", rows)
	t.run(func() error { return sparse.SolveTriangular(s, sparse.Triangle{}, m, x, y) })

	// A symmetric matrix with a dominant diagonal is positive definite.
	t = q.test("sparse.CG", "0.", "1e-9").of("xp.linalg.norm(" + matrix + " @ got - x) / xp.linalg.norm(x)")
	e = &sparse.Entries[float64]{Rows: rows, Cols: rows}
	for i := range rows {
		e.Add(i, i, 30)
		if j := q.rng.IntN(rows); j != i {
			e.Add(i, j, 1)
			e.Add(j, i, 1)
		}
	}
	q.describe(t, e)
	m = q.upload(e)
	x, y = input(t, "x", between[float64](q, rows, -1, 1)), output[float64](t, "got", rows)
	t.run(func() error {
		_, err := sparse.CG(q.ctx, s, m, x, y, nil)
		return err
	})
}

// formatCases are products of ELL and BSR, and the way back from these forms, whose matrix is that of
// the entries.
func (q *suite) formatCases(dense func(rows int, b *gpu.Buffer[float64]) sparse.Dense[float64], width int) {
	s, rows, cols, n := q.s, q.size(300), q.size(300), q.size(min(q.most, 3000))
	block := 1 + q.rng.IntN(7)
	bound := "(v.size + 2) * 2 * u64 * (abs(" + matrix + ") @ xp.abs(x)) + 1e-15 * xp.abs(v).sum()"
	for _, form := range []string{"ELL", "BSR"} {
		t := q.test("sparse.MulMat"+form, "("+matrix+") @ x", bound)
		m := q.upload(q.entries(t, rows, cols, n))
		x, y := input(t, "x", between[float64](q, cols*width, -1, 1), cols, width), output[float64](t, "got", rows, width)
		t.run(func() error {
			if form == "ELL" {
				ell, err := q.ell(m)
				if err != nil {
					return err
				}
				return sparse.MulMatELL(s, 1, ell, dense(cols, x), 0, dense(rows, y))
			}
			bsr, err := q.bsr(m, block)
			if err != nil {
				return err
			}
			return sparse.MulMatBSR(s, 1, bsr, dense(cols, x), 0, dense(rows, y))
		})

		t = q.test("sparse."+form+"ToCSR", "("+matrix+").toarray()", "1e-15 * xp.abs(v).sum()")
		t.of("sparse.csr_matrix((value, index, start), shape=tuple(shape.tolist())).toarray()")
		e := q.entries(t, rows, cols, n)
		m = q.upload(e)
		var ell sparse.ELL[float64]
		var bsr sparse.BSR[float64]
		entries := 0
		if q.err == nil && form == "ELL" {
			ell, q.err = q.ell(m)
			if q.err == nil {
				entries, q.err = sparse.CountELL(q.ctx, s, ell)
			}
		} else if q.err == nil {
			bsr, q.err = q.bsr(m, block)
			if q.err == nil {
				entries, q.err = sparse.CountBSR(q.ctx, s, bsr)
			}
		}
		start, index, value := output[int32](t, "start", rows+1), output[int32](t, "index", entries), output[float64](t, "value", entries)
		t.run(func() error {
			csr := sparse.CSR[float64]{Rows: rows, Cols: cols, Start: start, Index: index, Value: value}
			if form == "ELL" {
				return sparse.ELLToCSR(s, csr, ell)
			}
			return sparse.BSRToCSR(s, csr, bsr)
		})
	}
}

// ell returns a matrix as ELL.
func (q *suite) ell(m sparse.CSR[float64]) (sparse.ELL[float64], error) {
	a, err := sparse.AllocELL[float64](q.s.Device(), m.Rows, m.Cols, m.Longest)
	if err != nil {
		return a, err
	}
	q.close = append(q.close, a.Close)
	return a, sparse.CSRToELL(q.s, a, m)
}

// bsr returns a matrix as BSR.
func (q *suite) bsr(m sparse.CSR[float64], block int) (sparse.BSR[float64], error) {
	n, err := sparse.CountBlocks(q.ctx, q.s, m, block)
	if err != nil {
		return sparse.BSR[float64]{}, err
	}
	a, err := sparse.AllocBSR[float64](q.s.Device(), m.Rows, m.Cols, block, n)
	if err != nil {
		return a, err
	}
	q.close = append(q.close, a.Close)
	return a, sparse.CSRToBSR(q.s, a, m)
}
