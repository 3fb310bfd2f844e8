package byhand

import (
	"crypto/sha256"
	"encoding/binary"
	"math"
	"math/cmplx"
	"math/rand/v2"
	"slices"
	"testing"

	"quern.dev/bench/parity/kernels"
	"quern.dev/kernel"
)

// The kernels are tested against this package, and this package against independent
// results.

func TestSHA256MatchesStandardLibrary(t *testing.T) {
	message := make([]byte, 64)
	for i := range message {
		message[i] = byte(7 * i)
	}
	words := make([]uint32, kernels.MessageWords)
	for i := range words {
		words[i] = binary.BigEndian.Uint32(message[4*i:])
	}
	digest := make([]uint32, kernels.DigestWords)
	SHA256(words, digest)
	want := sha256.Sum256(message)
	for i, w := range digest {
		if w != binary.BigEndian.Uint32(want[4*i:]) {
			t.Fatalf("word %d is %08x, want %x", i, w, want[4*i:4*i+4])
		}
	}
}

func TestChaCha20MatchesRFC8439(t *testing.T) {
	// Section 2.3.2 starts counting at 1, so its block is the second one here.
	var key [8]uint32
	for i := range key {
		key[i] = 0x03020100 + uint32(i)*0x04040404
	}
	out := make([]uint32, 2*kernels.ChaChaWords)
	ChaCha20(key, [3]uint32{0x09000000, 0x4a000000, 0}, make([]uint32, len(out)), out)
	want := []uint32{0xe4e7f110, 0x15593bd1, 0x1fdd0f50, 0xc47120a3}
	if got := out[kernels.ChaChaWords:][:4]; !slices.Equal(got, want) {
		t.Errorf("the key stream begins with %08x, want %08x", got, want)
	}
}

func TestFFTIsTheDiscreteFourierTransform(t *testing.T) {
	const n = kernels.FFTSize
	twiddles, in, out := make([]kernels.Complex, n), make([]kernels.Complex, n), make([]kernels.Complex, n)
	for k := range n {
		sin, cos := math.Sincos(-2 * math.Pi * float64(k) / n)
		twiddles[k] = kernels.Complex{Re: float32(cos), Im: float32(sin)}
		in[k] = kernels.Complex{Re: rand.Float32(), Im: rand.Float32()}
	}
	FFT(twiddles, in, out)
	for _, k := range []int{0, 1, 7, 8, 65, 300, 511} {
		var want complex128
		for i, v := range in {
			want += complex(float64(v.Re), float64(v.Im)) * cmplx.Exp(complex(0, -2*math.Pi*float64(k*i%n)/n))
		}
		if got := complex(float64(out[k].Re), float64(out[k].Im)); cmplx.Abs(got-want) > 1e-3 {
			t.Errorf("frequency %d is %v, want %v", k, got, want)
		}
	}
}

func TestBitonicSortSorts(t *testing.T) {
	keys := make([]uint32, 2*kernels.SortTile)
	for i := range keys {
		keys[i] = rand.Uint32()
	}
	want := slices.Clone(keys)
	slices.Sort(want[:kernels.SortTile])
	slices.Sort(want[kernels.SortTile:])
	BitonicSort(keys)
	if !slices.Equal(keys, want) {
		t.Error("the tiles are not sorted")
	}
}

func TestAlignScoresTheBestLocalAlignment(t *testing.T) {
	query := make([]uint8, kernels.QueryLength)
	for i := range query {
		query[i] = 'A'
	}
	copy(query[50:], "GATTACA")
	scores := make([]int32, 1)
	Align(10, query, []uint8("CCGATTCACC"), scores)
	// GATT, a gap, CA.
	if want := int32(6*kernels.ScoreMatch + kernels.ScoreGap); scores[0] != want {
		t.Errorf("the score is %d, want %d", scores[0], want)
	}
}

func TestInv8InvertsMatrices(t *testing.T) {
	const size, n = kernels.InverseSize, 19
	in, out := make([]float32, size*size*n), make([]float32, size*size*n)
	for e := range size * size {
		for i := range n {
			in[e*n+i] = rand.Float32()
			if e%(size+1) == 0 {
				in[e*n+i] += 10
			}
		}
	}
	Inv8(n, in, out)
	for i := range n {
		for r := range size {
			for c := range size {
				var sum, want float64
				for k := range size {
					sum += float64(in[(r*size+k)*n+i]) * float64(out[(k*size+c)*n+i])
				}
				if r == c {
					want = 1
				}
				if math.Abs(sum-want) > 1e-5 {
					t.Fatalf("element (%d, %d) of matrix %d times its inverse is %v, want %v", r, c, i, sum, want)
				}
			}
		}
	}
}

func TestLU4SolvesTheEquations(t *testing.T) {
	a, b, x := make([][16]float64, 20), make([][4]float64, 20), make([][4]float64, 20)
	for i := range a {
		for e := range a[i] {
			a[i][e] = rand.Float64()
		}
		for r := range 4 {
			a[i][4*r+(r+i)%4] += 4 // the largest elements are off the diagonal in most
			b[i][r] = rand.Float64()
		}
	}
	LU4(a, b, x)
	for i := range a {
		for r := range 4 {
			sum := 0.0
			for c := range 4 {
				sum += a[i][4*r+c] * x[i][c]
			}
			if math.Abs(sum-b[i][r]) > 1e-12 {
				t.Errorf("equation %d of system %d yields %v, want %v", r, i, sum, b[i][r])
			}
		}
	}
}

func TestFFT256IsTheDiscreteFourierTransform(t *testing.T) {
	const n = kernels.RowSize
	twiddles, in, out := make([]kernel.Vec2[float32], n), make([]kernel.Vec2[float32], 2*n), make([]kernel.Vec2[float32], 2*n)
	for k := range twiddles {
		sin, cos := math.Sincos(-2 * math.Pi * float64(k) / n)
		twiddles[k] = kernel.V2(float32(cos), float32(sin))
	}
	for i := range in {
		in[i] = kernel.V2(rand.Float32(), rand.Float32())
	}
	FFT256(twiddles, in, out)
	for _, k := range []int{0, 1, 3, 4, 65, 100, 255} {
		var want complex128
		for i, v := range in[n:] {
			want += complex(float64(v.X), float64(v.Y)) * cmplx.Exp(complex(0, -2*math.Pi*float64(k*i%n)/n))
		}
		if got := complex(float64(out[n+k].X), float64(out[n+k].Y)); cmplx.Abs(got-want) > 1e-3 {
			t.Errorf("frequency %d is %v, want %v", k, got, want)
		}
	}
}

func TestNeedleScoresAGlobalAlignment(t *testing.T) {
	const n, penalty = kernels.NeedleTile, 2
	a, b := make([]uint8, n), make([]uint8, n)
	for i := range a {
		a[i] = "ACGT"[i%4]
	}
	copy(b, a[1:]) // one gap on both sides
	b[n-1] = '-'
	scores := make([]int32, (n+1)*(n+1))
	for i := range n + 1 {
		scores[i], scores[i*(n+1)] = int32(-penalty*i), int32(-penalty*i)
	}
	Needle(n, 0, penalty, a, b, scores)
	if got, want := scores[len(scores)-1], int32((n-1)*kernels.NeedleMatch-2*penalty); got != want {
		t.Errorf("the score is %d, want %d", got, want)
	}
}

func TestPathfinderFindsTheCheapestPath(t *testing.T) {
	const cols, rows = 3, 3
	wall := []int32{
		0, 0, 0,
		1, 5, 9,
		9, 5, 1,
	}
	costs := make([]int32, cols)
	Pathfinder(cols, 1, rows-1, wall, wall[:cols], costs)
	if want := []int32{10, 6, 6}; !slices.Equal(costs, want) {
		t.Errorf("the costs are %d, want %d", costs, want)
	}
}

func TestLorenzConservesFixedPoints(t *testing.T) {
	const sigma, rho, beta = 10, 28, 8. / 3
	at := math.Sqrt(beta * (rho - 1))
	states := []kernel.Vec3[float64]{kernel.V3(0., 0, 0), kernel.V3(at, at, rho-1), kernel.V3(1., 0, 0)}
	Lorenz(100, 0.001, sigma, rho, beta, states)
	for i, want := range []kernel.Vec3[float64]{{}, {X: at, Y: at, Z: rho - 1}} {
		if d := states[i].Sub(want); d.Dot(d) > 1e-20 {
			t.Errorf("fixed point %d is %v, want %v", i, states[i], want)
		}
	}
	if states[2].Y == 0 {
		t.Error("another point does not move")
	}
}

func TestBFSVisitsNeighborsOnce(t *testing.T) {
	// A ring of 40 vertices with edges in both directions.
	const n = 40
	starts, edges := make([]int32, n+1), make([]int32, 0, 2*n)
	for v := range n {
		edges = append(edges, int32((v+1)%n), int32((v+n-1)%n))
		starts[v+1] = int32(len(edges))
	}
	frontier, visited, next := []uint32{1 << 1, 1 << 1}, []uint32{1<<0 | 1<<1, 1 << 1}, make([]uint32, 2)
	BFS(starts, edges, frontier, visited, next)
	if want := []uint32{1 << 2, 1<<0 | 1<<2}; !slices.Equal(next, want) {
		t.Errorf("the next vertices are %b, want %b", next, want)
	}
}
