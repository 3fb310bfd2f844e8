package kernels

import "quern.dev/kernel"

const (
	// TrsmBlock is the number of equations that trsm solves.
	TrsmBlock   = 32
	TrsmThreads = 128
)

// trsm solves n equations, at most TrsmBlock, M*X = alpha*B with a lower triangular matrix M
// and lines right-hand sides, one per thread, in place. Element (i, j) of M is
// a[offA+i*rowA+j*columnA], element i of right-hand side r is b[offB+i*rowB+r*columnB]; the
// distances may be negative. With unit the diagonal of M is 1 and not read.
//
//quern:kernel block=TrsmThreads maxregs=128 instantiate=float32,float64
func trsm[T Float](t kernel.Thread, n, lines, unit, offA, rowA, columnA, offB, rowB, columnB int, alpha T, a, b []T) {
	m := kernel.Shared[[TrsmBlock][TrsmBlock]T](t)
	for e := t.ThreadIdx.X; e < TrsmBlock*TrsmBlock; e += TrsmThreads {
		i, j := e/TrsmBlock, e%TrsmBlock
		var v T
		switch {
		case i == j && (unit != 0 || i >= n):
			v = 1
		case i < n && j <= i:
			v = a[offA+i*rowA+j*columnA]
		}
		m[i][j] = v
	}
	t.Sync()
	r := t.Global()
	if r >= lines {
		return
	}
	var x [TrsmBlock]T
	//quern:unroll
	for i := range TrsmBlock {
		if i < n {
			x[i] = alpha * b[offB+i*rowB+r*columnB]
		}
	}
	//quern:unroll
	for i := range TrsmBlock {
		//quern:unroll
		for j := range i {
			x[i] -= m[i][j] * x[j]
		}
		x[i] /= m[i][i]
	}
	//quern:unroll
	for i := range TrsmBlock {
		if i < n {
			b[offB+i*rowB+r*columnB] = x[i]
		}
	}
}
