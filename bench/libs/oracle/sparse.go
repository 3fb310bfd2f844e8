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
