package conformance

import "quern.dev/kernel"

// Pixel has padding in the middle and at the end.
type Pixel struct {
	R, G, B float32
	A       uint8
	Tag     int64
	On      bool
}

func (p Pixel) luma() float32 { return 0.25*p.R + 0.5*p.G + 0.25*p.B }

func (p *Pixel) scale(f float32) {
	p.R *= f
	p.G *= f
	p.B *= f
}

// Grid2 is a value type with methods on value and pointer receivers.
type Grid2 struct {
	W, H int32
}

func (g Grid2) index(x, y int32) int32 { return y*g.W + x }

// box nests structs and arrays.
type box struct {
	Corner [2][3]float32
	Label  struct{ A, B int16 }
	Pix    Pixel
}

//quern:kernel
func structs(t kernel.Thread, gain float32, in []Pixel, out []Pixel) {
	i := t.Global()
	if i >= len(in) {
		return
	}
	p := in[i]
	p.scale(gain)
	p.Tag += int64(i)
	p.On = !p.On && p.A > 100
	if p.luma() > 0.5 {
		p.A = 255 - p.A
	}
	q := &out[i]
	*q = p
	q.G = p.luma()
	if *q == p {
		q.Tag = -1
	}
}

//quern:kernel
func nested(t kernel.Thread, in []float32, out []float32) {
	i := t.Global()
	if i*6+5 >= len(in) {
		return
	}
	var b box
	for r := range 2 {
		for c := range 3 {
			b.Corner[r][c] = in[i*6+r*3+c]
		}
	}
	b.Label.A = int16(i)
	c := b
	c.Corner[1] = b.Corner[0]
	c.Pix = Pixel{R: 1, Tag: 3}
	swapped := [2]box{c, b}
	sum := float32(0)
	for _, x := range swapped {
		for _, row := range x.Corner {
			for _, v := range row {
				sum = sum*2 + v
			}
		}
		sum += float32(x.Label.A) + x.Pix.R + float32(x.Pix.Tag)
	}
	out[i] = sum
}

//quern:kernel
func structArgument(t kernel.Thread, g Grid2, offset [3]int32, in []int32, out []int32) {
	i := int32(t.Global())
	if i >= g.W*g.H {
		return
	}
	x, y := i%g.W, i/g.W
	out[g.index(x, y)] = in[g.index(g.W-1-x, g.H-1-y)] + offset[0] + offset[i%3]
}

//quern:kernel
func localArrays(t kernel.Thread, in []int32, out []int32) {
	i := t.Global()
	if i >= len(in) {
		return
	}
	// Indexed by constants after unrolling, so in registers.
	var acc [4][4]int32
	for r := range 4 {
		for c := range 4 {
			acc[r][c] = in[i]*int32(r+1) + int32(c)
		}
	}
	for k := range 4 {
		for r := range 4 {
			acc[r][k] += acc[k][r]
		}
	}
	// Indexed by data, so in memory.
	var counts [16]uint8
	for k := range 20 {
		counts[(uint32(in[i])>>k)&15]++
	}
	sum := int32(0)
	for k, c := range counts {
		sum += int32(c) * int32(k+1)
	}
	for r := range acc {
		for _, v := range acc[r] {
			sum = sum*31 + v
		}
	}
	out[i] = sum
}

//quern:kernel
func slices(t kernel.Thread, lo, hi int, in []int32, out []int32) {
	i := t.Global()
	if i >= len(in) {
		return
	}
	part := in[lo:hi]
	rest := in[hi:]
	both := part
	if i&1 == 0 {
		both = rest
	}
	r := int32(len(part)*1000 + len(rest)*10 + cap(both[:1]))
	for k, v := range both {
		if k > 5 {
			break
		}
		r += v
	}
	var tmp [8]int32
	view := tmp[2:6]
	for k := range view {
		view[k] = int32(k) + r
	}
	p := &tmp[3]
	*p += 5
	out[i] = tmp[1] + tmp[3] + view[3] + int32(len(view)) + pick(view, i)
}

func pick(s []int32, i int) int32 { return s[i%len(s)] }

// weights is never written by kernels.
var weights = [5]float32{1, 4, 6, 4, 1}

var curve = [2]struct {
	Gain  float32
	Steps [3]int16
}{{0.5, [3]int16{1, 2, 3}}, {Gain: 2, Steps: [3]int16{-4, 5}}}

//quern:kernel
func tables(t kernel.Thread, in []float32, out []float32) {
	i := t.Global()
	if i >= len(in) {
		return
	}
	sum := float32(0)
	for k := range weights {
		sum += weights[k] * in[(i+k)%len(in)]
	}
	c := curve[i&1]
	out[i] = sum*c.Gain + float32(c.Steps[i%3]) + weights[i%5]
}

// pointers uses conditional pointers that cannot be resolved at compile time.
//
//quern:kernel
func pointers(t kernel.Thread, in []int32, out []int32) {
	i := t.Global()
	if i >= len(in) {
		return
	}
	a, b := in[i], in[len(in)-1-i]
	p := &a
	if b&1 == 0 {
		p = &b
	}
	*p += 10
	bump(p, 3)
	bump(&out[i], a)
	out[i] += a*7 + b
}

func bump(p *int32, by int32) { *p += by }

type pair[T int32 | float32] struct{ first, second T }

func (p *pair[T]) swap() { p.first, p.second = p.second, p.first }

func clampTo[T int32 | int64 | float32](x, lo, hi T) T { return max(lo, min(x, hi)) }

//quern:kernel
func generics(t kernel.Thread, in []int32, out []int32) {
	i := t.Global()
	if i >= len(in) {
		return
	}
	p := pair[int32]{in[i], 7}
	p.swap()
	q := pair[float32]{first: float32(in[i]) / 3}
	q.swap()
	out[i] = p.first - clampTo(p.second, -50, 50) + int32(clampTo(q.second, -1.5, 1.5)*4) + int32(clampTo(int64(in[i]), -3, 3))
}
