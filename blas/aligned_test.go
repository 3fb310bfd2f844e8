package blas

import (
	"math"
	"math/rand/v2"
	"testing"

	"quern.dev/gpu"
	"quern.dev/gputest"
)

// guarded is a batch in a larger buffer. The other elements of the buffer are poison.
type guarded[T Float] struct {
	Batch[T]
	host []T // with what is before and behind the batch
	skip int
	all  *gpu.Buffer[T]
}

// newGuarded returns count matrices that start skip elements into their buffer, with gap elements
// after each row and rows after each matrix.
func newGuarded[T Float](t testing.TB, d *gpu.Device, rng *rand.Rand, rows, cols, skip, gap, between, count int) guarded[T] {
	g := guarded[T]{skip: skip}
	stride := cols + gap
	g.Batch = Batch[T]{General[T]{rows, cols, stride, nil}, rows*stride + between, count}
	g.host = poisoned[T](skip + g.Step*count + 64)
	for i := range count {
		for r := range rows {
			for c := range cols {
				g.host[g.index(i, r, c)] = T(rng.NormFloat64())
			}
		}
	}
	g.all = gputest.Upload(t, d, g.host)
	g.Data = g.all.Slice(skip, len(g.host))
	return g
}

func (g *guarded[T]) index(i, r, c int) int { return g.skip + i*g.Step + r*g.Stride + c }

func (g *guarded[T]) at(tr Transpose, i, r, c int) float64 {
	if tr != NoTrans {
		r, c = c, r
	}
	return float64(g.host[g.index(i, r, c)])
}

// TestProductsOfWholeTilesKeepWithinTheirMatrices multiplies matrices that the kernel without checks
// takes, in every layout, with poison around all three.
func TestProductsOfWholeTilesKeepWithinTheirMatrices(t *testing.T) {
	gputest.Each(t, func(t *testing.T, d *gpu.Device) {
		kernel := aligned128
		if d.Backend() == gpu.CPU {
			kernel = onCPU
		}
		const m, n, k = 128, 256, 16
		for layout := range 16 {
			rng := rand.New(rand.NewPCG(7, uint64(layout)))
			tA, tB := NoTrans, NoTrans
			if layout&1 != 0 {
				tA = Trans
			}
			if layout&2 != 0 {
				tB = Trans
			}
			count := 1 + layout/4%2
			stored := func(tr Transpose, rows, cols int) guarded[float32] {
				if tr != NoTrans {
					rows, cols = cols, rows
				}
				return newGuarded[float32](t, d, rng, rows, cols, rng.IntN(9), 4*rng.IntN(3), 4*rng.IntN(3), count)
			}
			a, b, c := stored(tA, m, k), stored(tB, k, n), stored(NoTrans, m, n)
			beta := float32(layout % 3 / 2)
			x := gemmArguments[float32]{
				m: m, n: n, k: k, batch: count, flags: flagsOf(tA, tB, a.quads(), b.quads(), c.quads()),
				lda: a.Stride, ldb: b.Stride, ldc: c.Stride, stepA: a.Step, stepB: b.Step, stepC: c.Step,
				alpha: 0.5, beta: beta, a: a.Data, b: b.Data, c: c.Data,
			}
			if err := x.run(d.DefaultStream(), force[float32](kernel, 0, 1), nil); err != nil {
				t.Fatal(err)
			}
			got := gputest.Download(t, d, c.all)
			for i := range count {
				for r := range m {
					for q := range n {
						var sum exact
						for p := range k {
							sum.add(a.at(tA, i, r, p), b.at(tB, i, p, q))
						}
						sum = sum.scale(0.5)
						if beta != 0 {
							sum.add(float64(beta), c.at(NoTrans, i, r, q))
						}
						at := c.index(i, r, q)
						if v := float64(got[at]); !(math.Abs(v-sum.value()) <= gemmBound[float32](k, sum.magnitude)) {
							t.Fatalf("layout %d skips %d %d %d: element (%d, %d) of matrix %d is %g, want %g", layout, a.skip, b.skip, c.skip, r, q, i, v, sum.value())
						}
						got[at] = float32(math.Float32frombits(poison))
					}
				}
			}
			for at, v := range got {
				if math.Float32bits(v) != poison {
					t.Fatalf("layout %d: element %d, outside of C, was set to %g", layout, at, v)
				}
			}
		}
	})
}
