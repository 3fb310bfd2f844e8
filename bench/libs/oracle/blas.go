package main

import (
	"quern.dev/blas"
	"quern.dev/gpu"
)

func blasCases(q *suite) {
	level1(q)
	productCases[float32](q, "float32", "u32")
	productCases[float64](q, "float64", "u64")
	m, n, k := q.size(200), q.size(200), q.size(200)
	s := q.s
	t := q.test("blas.GemmInteger, int8", "x.astype('i4') @ y.astype('i4')", "0")
	x, y, z := input(t, "x", between[int8](q, m*k, -128, 127), m, k), input(t, "y", between[int8](q, k*n, -128, 127), k, n), output[int32](t, "got", m, n)
	t.run(func() error {
		return blas.GemmInteger(s, blas.NoTrans, blas.NoTrans, 1, general(m, k, x).Batch(), general(k, n, y).Batch(), 0, general(m, n, z).Batch())
	})

	t = q.test("blas.TransposeTo", "x.T", "0")
	a, b := input(t, "x", between[int32](q, m*n, -1e9, 1e9), m, n), output[int32](t, "got", n, m)
	t.run(func() error { return blas.TransposeTo(s, general(n, m, b), general(m, n, a)) })

	for _, c := range []struct {
		norm blas.MatrixNorm
		name string
	}{{blas.MaxAbs, "xp.abs(x).max()"}, {blas.MaxColumnSum, "xp.linalg.norm(x, 1)"}, {blas.MaxRowSum, "xp.linalg.norm(x, xp.inf)"}, {blas.Frobenius, "xp.linalg.norm(x)"}} {
		t := q.test("blas.Lange, "+c.norm.String(), "xp.asarray("+c.name+").reshape(1)", "(sum(x.shape) + 64) * 2 * u64 * "+c.name)
		x, out := input(t, "x", between[float64](q, m*n, -1, 1), m, n), output[float64](t, "got", 1)
		t.run(func() error { return blas.Lange(s, c.norm, general(m, n, x), out) })
	}

	shape, size := make([]int, 1+q.rng.IntN(5)), 1
	for i := range shape {
		shape[i] = q.size(max(1, min(70, q.most/size)))
		size *= shape[i]
	}
	axes := q.rng.Perm(len(shape))
	t = q.test("blas.TransposeAxes", "xp.transpose(x, axes.tolist()).ravel()", "0")
	order := make([]int32, len(axes))
	for i, axis := range axes {
		order[i] = int32(axis)
	}
	input(t, "axes", order)
	from, to := input(t, "x", between[int16](q, size, -1e4, 1e4), shape...), output[int16](t, "got", size)
	t.run(func() error { return blas.TransposeAxes(s, to, from, shape, axes...) })
}

func general[T any](rows, cols int, data *gpu.Buffer[T]) blas.General[T] {
	return blas.General[T]{Rows: rows, Cols: cols, Stride: cols, Data: data}
}

func level1(q *suite) {
	s, n := q.s, q.size(q.most)
	vector := func(b *gpu.Buffer[float32]) blas.Vector[float32] { return blas.Vector[float32]{N: n, Inc: 1, Data: b} }
	pair := func(t *test) (x, y *gpu.Buffer[float32]) {
		return input(t, "x", between[float32](q, n, -1, 1)), input(t, "y", between[float32](q, n, -1, 1))
	}
	const dot = "x.astype('d') * y.astype('d')"
	t := q.test("blas.Dot, float32", "("+dot+").sum(keepdims=True)", "(x.size / 128 + 64) * u32 * xp.abs("+dot+").sum()")
	x, y := pair(t)
	out := output[float32](t, "got", 1)
	t.run(func() error { return blas.Dot(s, vector(x), vector(y), out) })

	t = q.test("blas.Nrm2, float32", "xp.sqrt((x.astype('d')**2).sum(keepdims=True))", "2 * 2 * u32 * xp.sqrt((x.astype('d')**2).sum())")
	x, _ = pair(t)
	out = output[float32](t, "got", 1)
	t.run(func() error { return blas.Nrm2(s, vector(x), out) })

	t = q.test("blas.Asum, float32", "xp.abs(x.astype('d')).sum(keepdims=True)", "(x.size / 128 + 64) * u32 * xp.abs(x.astype('d')).sum()")
	x, _ = pair(t)
	out = output[float32](t, "got", 1)
	t.run(func() error { return blas.Asum(s, vector(x), out) })

	t = q.test("blas.Iamax, float32", "xp.abs(x).argmax().reshape(1)", "0")
	x, _ = pair(t)
	at := output[int](t, "got", 1)
	t.run(func() error { return blas.Iamax(s, vector(x), at) })

	t = q.test("blas.Axpy, float32", "2.5 * x.astype('d') + y", "2 * u32 * (xp.abs(2.5 * x) + xp.abs(y))")
	x, y = pair(t)
	save(t, "got", y)
	t.run(func() error { return blas.Axpy(s, 2.5, vector(x), vector(y)) })
}

// productCases are products and solutions with matrices of random sizes. unit is the unit of
// rounding.
func productCases[T float32 | float64](q *suite, name, unit string) {
	s, m, n, k := q.s, q.size(200), q.size(200), q.size(400)
	for _, tA := range []blas.Transpose{blas.NoTrans, blas.Trans} {
		for _, tB := range []blas.Transpose{blas.NoTrans, blas.Trans} {
			a, b, ra, ca, rb, cb := "x", "y", m, k, k, n
			if tA == blas.Trans {
				a, ra, ca = "x.T", k, m
			}
			if tB == blas.Trans {
				b, rb, cb = "y.T", n, k
			}
			pairs := []string{"A", a, "B", b, "U", unit}
			t := q.test("blas.Gemm, "+name+", "+a+", "+b, replace("1.5 * A.astype('d') @ B.astype('d') + 0.5 * z", pairs...),
				replace("(A.shape[1] + 4) * 2 * U * (1.5 * xp.abs(A).astype('d') @ xp.abs(B).astype('d') + xp.abs(z))", pairs...))
			x, y := input(t, "x", between[T](q, m*k, -1, 1), ra, ca), input(t, "y", between[T](q, k*n, -1, 1), rb, cb)
			z := input(t, "z", between[T](q, m*n, -1, 1), m, n)
			save(t, "got", z, m, n)
			t.run(func() error {
				return blas.Gemm(s, tA, tB, 1.5, general(ra, ca, x), general(rb, cb, y), 0.5, general(m, n, z))
			})
		}
	}
	for _, tA := range []blas.Transpose{blas.NoTrans, blas.Trans} {
		a, rows, cols := "x", m, n
		if tA == blas.Trans {
			a, rows, cols = "x.T", n, m
		}
		t := q.test("blas.Gemv, "+name+", "+a, a+".astype('d') @ y", "("+a+".shape[1] + 4) * 2 * "+unit+" * (xp.abs("+a+").astype('d') @ xp.abs(y))")
		x, y, z := input(t, "x", between[T](q, m*n, -1, 1), rows, cols), input(t, "y", between[T](q, n, -1, 1)), output[T](t, "got", m)
		t.run(func() error {
			return blas.Gemv(s, tA, 1, general(rows, cols, x), blas.Vector[T]{N: n, Inc: 1, Data: y}, 0, blas.Vector[T]{N: m, Inc: 1, Data: z})
		})
	}
	t := q.test("blas.Syrk, "+name, "xp.triu(x.astype('d') @ x.T)", "(x.shape[1] + 4) * 2 * "+unit+" * (xp.abs(x).astype('d') @ xp.abs(x.T))").of("xp.triu(got)")
	x, z := input(t, "x", between[T](q, m*k, -1, 1), m, k), output[T](t, "got", m, m)
	t.run(func() error {
		return blas.Syrk(s, blas.NoTrans, 1, general(m, k, x), 0, blas.Symmetric[T]{N: m, Stride: m, Data: z, Uplo: blas.Upper})
	})

	// The residual, relative to the matrix and the solution.
	t = q.test("blas.Trsm, "+name, "y", "(4 * x.shape[0] + 16) * "+unit+" * (xp.abs(xp.triu(x)) @ xp.abs(got) + xp.abs(y))").of("xp.triu(x).astype('d') @ got")
	a := between[T](q, m*m, -1, 1)
	for i := range m {
		a[i*m+i] += T(m)
	}
	x = input(t, "x", a, m, m)
	b := between[T](q, m*n, -1, 1)
	array(t, "y", b, m, n)
	z = input(t, "before", b, m, n)
	save(t, "got", z, m, n)
	t.run(func() error {
		return blas.Trsm(s, blas.Left, blas.NoTrans, 1, blas.Triangular[T]{N: m, Stride: m, Data: x, Uplo: blas.Upper, Diag: blas.NonUnit}, general(m, n, z))
	})
}
