package byhand

import (
	"math"
	"slices"
	"testing"

	"quern.dev/bench/parity/kernels"
	"quern.dev/kernel"
)

func TestLennardJonesAcrossTheBoundary(t *testing.T) {
	const cells, edge = 3, 2.5
	// Two particles at distance 1 in the first and the last cell of a row.
	starts := make([]int32, cells*cells*cells+1)
	for i := range starts {
		switch {
		case i >= cells:
			starts[i] = 2
		case i >= 1:
			starts[i] = 1
		}
	}
	positions := []kernel.Vec4[float32]{kernel.V4[float32](0.25, 1, 1, 0), kernel.V4[float32](cells*edge-0.75, 1, 1, 0)}
	forces := make([]kernel.Vec4[float32], 2)
	LennardJones(cells, edge, edge, starts, positions, forces)
	// At distance 1 the potential is 0, and its derivative is -24.
	for i, want := range []float32{24, -24} {
		if f := forces[i]; math.Abs(float64(f.X-want)) > 1e-3 || f.Y != 0 || f.Z != 0 || math.Abs(float64(f.W)) > 1e-4 {
			t.Errorf("the force on particle %d is %v, want %v along x", i, f, want)
		}
	}
}

func TestIsingFlipsOneColor(t *testing.T) {
	const w, h = 16, 6
	spins := make([]int8, w*h)
	for i := range spins {
		spins[i] = 1
	}
	before := slices.Clone(spins)
	Ising(w, h, 1, 1, 1, [5]float32{4: 1}, spins)
	for i, s := range spins {
		if flips := (i%w+i/w)%2 == 1; (s != before[i]) != flips {
			t.Fatalf("spin %d is %d", i, s)
		}
	}
}

// A wave that moves by less than a point per step is reproduced by an accurate scheme.
func TestWaveMovesASine(t *testing.T) {
	const nx, ny, nz, length, courant = 40, 9, 9, 20, 0.1
	weights := kernels.WaveWeights{-205. / 72, 8. / 5, -1. / 5, 8. / 315, -1. / 560}
	for i := range weights {
		weights[i] *= courant * courant
	}
	at := func(step float64) []float32 {
		field := make([]float32, nx*ny*nz)
		for i := range field {
			field[i] = float32(math.Sin(2 * math.Pi * (float64(i%nx) - courant*step) / length))
		}
		return field
	}
	next := make([]float32, nx*ny*nz)
	Wave(weights, nx, ny, nz, at(-1), at(0), next)
	want := at(1)
	for x := kernels.WaveRadius; x < nx-kernels.WaveRadius; x++ {
		i := (4*ny+4)*nx + x
		if math.Abs(float64(next[i]-want[i])) > 2e-5 {
			t.Errorf("point %d is %v, want %v", x, next[i], want[i])
		}
	}
}
