package blas

import (
	"fmt"
	"math"
	"math/rand/v2"
	"testing"

	"quern.dev/gpu"
	"quern.dev/gputest"
)

// gemmCase is a product to test.
type gemmCase struct {
	tA, tB      Transpose
	m, n, k     int
	gap, skip   int // elements after each row, and before the matrix
	alpha, beta float64
}

func (c gemmCase) String() string {
	return fmt.Sprintf("%v %v %dx%dx%d gap %d skip %d alpha %g beta %g", c.tA, c.tB, c.m, c.n, c.k, c.gap, c.skip, c.alpha, c.beta)
}

// gemmCases returns shapes around the edges of the tiles with all transpositions, and
// factors with special meanings.
func gemmCases(d *gpu.Device) (cases []gemmCase) {
	small := [][3]int{{1, 1, 1}, {3, 5, 7}, {16, 16, 16}, {64, 64, 64}, {65, 63, 17}, {4, 4, 0}, {1, 129, 33}, {130, 1, 15}}
	if d.Backend() != gpu.Sim {
		small = append(small, [][3]int{{95, 97, 96}, {96, 96, 97}, {127, 129, 128}, {128, 128, 4}, {200, 190, 300}, {1, 1, 1000}, {2, 300, 31}, {33, 64, 500}}...)
	}
	for i, s := range small {
		for j, t := range [][2]Transpose{{NoTrans, NoTrans}, {NoTrans, Trans}, {Trans, NoTrans}, {ConjTrans, Trans}} {
			c := gemmCase{t[0], t[1], s[0], s[1], s[2], (i + j) % 3 * 2, (i * j) % 2, 1, 0}
			switch (i + j) % 4 {
			case 1:
				c.alpha, c.beta = -0.5, 1
			case 2:
				c.alpha, c.beta = 2, 0.75
			}
			cases = append(cases, c)
		}
	}
	return append(cases, gemmCase{NoTrans, NoTrans, 5, 6, 7, 1, 0, 0, 2}, gemmCase{NoTrans, NoTrans, 5, 6, 7, 1, 0, 0, 0}, gemmCase{NoTrans, NoTrans, 5, 6, 7, 0, 0, 0, 1},
		gemmCase{NoTrans, NoTrans, 0, 6, 7, 0, 0, 1, 1}, gemmCase{NoTrans, NoTrans, 6, 0, 7, 0, 0, 1, 1}, gemmCase{NoTrans, NoTrans, 6, 5, 0, 0, 0, math.Inf(1), 0})
}

// gemmBound is the error bound that the package states: the sum of k products has at most
// k+2 roundings, beta*C and the last sum two more.
func gemmBound[T Float](k int, magnitude float64) float64 {
	return float64(k+4) * unit[T]() * magnitude
}

func testGemm[T Float](t *testing.T, d *gpu.Device) {
	for _, x := range gemmCases(d) {
		rng := rand.New(rand.NewPCG(1, uint64(x.m*x.n+x.k)))
		rows := func(tr Transpose, r, c int) matrix[T] {
			if tr != NoTrans {
				r, c = c, r
			}
			return newMatrix[T](rng, r, c, x.gap)
		}
		a, b, c := rows(x.tA, x.m, x.k), rows(x.tB, x.k, x.n), newMatrix[T](rng, x.m, x.n, x.gap)
		if x.beta == 0 {
			c.data = poisoned[T](len(c.data))
		}
		if x.alpha == 0 && len(a.data) > 0 {
			a.data[0] = T(math.NaN())
		}
		dc := c.upload(t, d, x.skip)
		if err := Gemm(d.DefaultStream(), x.tA, x.tB, T(x.alpha), a.upload(t, d, x.skip), b.upload(t, d, x.skip), T(x.beta), dc); err != nil {
			t.Fatalf("%v: %v", x, err)
		}
		if dc.Data == nil {
			continue
		}
		checkMatrix(t, x.String(), gputest.Download(t, d, dc.Data), c, func(i, j int) (float64, float64) {
			var sum exact
			if x.alpha != 0 {
				for p := range x.k {
					sum.add(float64(a.at(x.tA, i, p)), float64(b.at(x.tB, p, j)))
				}
				if x.k > 0 {
					sum = sum.scale(x.alpha)
				}
			}
			if x.beta != 0 {
				sum.add(x.beta, float64(c.at(NoTrans, i, j)))
			}
			return sum.value(), gemmBound[T](x.k, sum.magnitude)
		})
	}
}

func TestGemmFloat32(t *testing.T) { gputest.Each(t, testGemm[float32]) }
func TestGemmFloat64(t *testing.T) { gputest.Each(t, testGemm[float64]) }
