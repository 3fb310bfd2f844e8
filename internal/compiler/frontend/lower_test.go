package frontend

import (
	"testing"

	"quern.dev/internal/compiler/ir"
)

// lowerText lowers source text, with the package clause and import added.
func lowerText(t *testing.T, src string) (*ir.Program, error) {
	t.Helper()
	p, err := Text("test.go", src)
	if err != nil {
		t.Fatal(err)
	}
	return p.Lower()
}

func TestDebug(t *testing.T) {
	prog, err := lowerText(t, `package p
import ("math"; "quern.dev/kernel")

type Pixel struct { R, G, B float32; A uint8 }

func (p *Pixel) scale(f float32) { p.R *= f; p.G *= f }
func (p Pixel) sum() float32 { return p.R + p.G + p.B }

func clampIdx[T ~int | ~int32](x, lo, hi T) T { if x < lo { return lo }; if x > hi { return hi }; return x }

//quern:kernel block=256
func saxpy(t kernel.Thread, a float32, x, y []float32) {
	if i := t.Global(); i < len(y) {
		y[i] += a * x[i]
	}
}
//quern:kernel
func k2(t kernel.Thread, w, h int, in, out []float32, px []Pixel, hist []int32) {
	tile := kernel.Shared[[32][33]float32](t)
	x, y := t.BlockIdx.X*32+t.ThreadIdx.X, t.BlockIdx.Y*32+t.ThreadIdx.Y
	if x < w && y < h {
		tile[t.ThreadIdx.Y][t.ThreadIdx.X] = in[y*w+x]
	}
	t.Sync()
	px[x].scale(2)
	out[x] = px[y].sum() + float32(math.Exp(float64(in[x])))
	kernel.AtomicAdd(&hist[x & 255], 1)
	old := kernel.AtomicMax(&hist[3], int32(x))
	switch old { case 1, 2: out[0] = 1; fallthrough
	case 3: out[1] = 2
	default: out[2] = kernel.Exp(in[2]) }
	var acc [8][8]float32
	for i := range 8 { for j := range acc[i] { acc[i][j] += in[i*8+j] } }
	for i, v := range in { if v < 0 { continue }; out[clampIdx(i, 0, w)] = v + acc[1][2] }
	out[5] = float32(math.Sin(float64(in[0])))
	p := &px[3]
	p.A <<= uint(x)
	s := out[1:w]
	s[0] = float32(kernel.Pow(float64(in[1]), 2))
}
`)
	if err != nil {
		t.Fatal(err)
	}
	for _, k := range prog.Kernels {
		t.Log(k)
		if err := ir.Verify(k, ir.StageFront); err != nil {
			t.Error(err)
		}
	}
}
