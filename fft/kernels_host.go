package fft

import "quern.dev/kernel"

// host computes transforms on a CPU. A block is one thread, which computes one tile after
// the other. Its part of scratch holds two copies of a tile. An inverse transform has
// conjugate roots (Sign is -1), and each of its butterflies is a forward one whose results
// are in reverse order, so that the points need not be conjugated.
//
//quern:kernel instantiate=float32,float64
func host[T kernel.Float](t kernel.Thread, p pass, tiles int, tables, scratch, in, out []kernel.Vec2[T]) {
	size := 2 * int(p.Tile) * hostPitch(int(p.N))
	own := scratch[t.BlockIdx.X*size:][:size]
	for i := t.BlockIdx.X; i < tiles; i += t.GridDim.X {
		hostTile(p, i, tables, own, in, out)
	}
}

// hostPitch returns the distance between transforms in scratch memory. It is not a power
// of two, so that columns of a tile are in different cache sets.
func hostPitch(n int) int { return n + 8 }

func hostTile[T kernel.Float](p pass, index int, tables, scratch, in, out []kernel.Vec2[T]) {
	first, readAt, writeAt, twist := place(p, index)
	n, pitch := int(p.N), hostPitch(int(p.N))
	count := min(p.Levels[0].Count-first, int(p.Tile))
	a, b := scratch[:count*pitch], scratch[len(scratch)/2:][:count*pitch]
	gather, scatter := p.In != 1 || p.Steps == 0, p.Out != 1 || p.Steps == 0 || p.Twist > 0
	switch {
	case gather && p.Levels[0].In == 1:
		for i := range n {
			for c, v := range in[readAt+i*p.In:][:count] {
				a[c*pitch+i] = v
			}
		}
	case gather:
		for c := range count {
			at := readAt + c*p.Levels[0].In
			for i := range a[c*pitch:][:n] {
				a[c*pitch+i] = in[at]
				at += p.In
			}
		}
	}
	scale := T(p.ScaleX)
	for c := range count {
		row, other := a[c*pitch:][:n], b[c*pitch:][:n]
		from := row
		if !gather {
			from, other, row = in[readAt+c*p.Levels[0].In:][:n], row, other
		}
		done := 1
		radices := p.Radices
		for s := range p.Steps {
			to := other
			if s == p.Steps-1 && !scatter {
				to = out[writeAt+c*p.Levels[0].Out:][:n]
			}
			radix := int(radices & 15)
			hostStep(radix, done, p.Sign < 0, tables[int(p.Roots)+done-1:], from, to)
			done *= radix
			radices >>= 4
			from, other, row = to, row, to
		}
		if !scatter && scale != 1 {
			for i := range from {
				from[i] = from[i].Scale(scale)
			}
		}
	}
	if !scatter {
		return
	}
	// Each step has moved the rows to the other half; a row that was not gathered first.
	swaps := int(p.Steps)
	if !gather {
		swaps--
	}
	if swaps%2 == 1 {
		a, b = b, a
	}
	if p.Twist > 0 {
		for c := range count {
			j := twist
			if p.Twist == 1 {
				j = first + c
			}
			hostTwist(p, tables, j, a[c*pitch:][:n])
		}
	}
	if p.Levels[0].Out == 1 {
		for i := range n {
			row := out[writeAt+i*p.Out:][:count]
			for c := range row {
				row[c] = a[c*pitch+i].Scale(scale)
			}
		}
		return
	}
	for c := range count {
		at := writeAt + c*p.Levels[0].Out
		for _, v := range a[c*pitch:][:n] {
			out[at] = v.Scale(scale)
			at += p.Out
		}
	}
}

// hostTwist multiplies the points of transform j of a pass of a long transform by the
// roots between the passes.
func hostTwist[T kernel.Float](p pass, tables []kernel.Vec2[T], j int, row []kernel.Vec2[T]) {
	coarse, fine := tables[p.Coarse:], tables[p.Fine:][:1<<uint32(p.Shift)]
	sign := T(p.Sign)
	m := 0
	for i := range row {
		u, v := coarse[m>>uint32(p.Shift)], fine[m&(len(fine)-1)]
		w := multiply(u, v)
		w.Y *= sign
		row[i] = multiply(row[i], w)
		m += j
	}
}

// hostStep computes a step of one transform. done is the length of the transforms before
// the step.
func hostStep[T kernel.Float](radix, done int, inverse bool, roots, from, to []kernel.Vec2[T]) {
	switch radix {
	case 2:
		host2(done, inverse, roots, from, to)
	case 3:
		host3(done, inverse, roots, from, to)
	case 4:
		if done == 1 {
			first4(inverse, from, to)
		} else {
			host4(done, inverse, roots, from, to)
		}
	case 5:
		host5(done, inverse, roots, from, to)
	case 7:
		host7(done, inverse, roots, from, to)
	case 8:
		if done == 1 {
			first8(inverse, from, to)
		} else {
			host8(done, inverse, roots, from, to)
		}
	case 11:
		host11(done, inverse, roots, from, to)
	case 13:
		host13(done, inverse, roots, from, to)
	}
}

// first4 is a first step, which has no roots.
func first4[T kernel.Float](inverse bool, from, to []kernel.Vec2[T]) {
	q := len(from) / 4
	s0, s1, s2, s3 := from[:q], from[q:][:q], from[2*q:][:q], from[3*q:][:q]
	for i := range s0 {
		d := to[4*i:][:4]
		p, q := s0[i].Add(s2[i]), s0[i].Sub(s2[i])
		r, s := s1[i].Add(s3[i]), turn(s1[i].Sub(s3[i]))
		if inverse {
			s = s.Neg()
		}
		d[0], d[1], d[2], d[3] = p.Add(r), q.Add(s), p.Sub(r), q.Sub(s)
	}
}

func host4[T kernel.Float](done int, inverse bool, roots, from, to []kernel.Vec2[T]) {
	q := len(from) / 4
	w1, w2, w3 := roots[:done], roots[done:][:done], roots[2*done:][:done]
	for at := 0; at < q; at += done {
		s0, s1, s2, s3 := from[at:][:done], from[q+at:][:done], from[2*q+at:][:done], from[3*q+at:][:done]
		d := to[4*at:][:4*done]
		d0, d1, d2, d3 := d[:done], d[done:][:done], d[2*done:][:done], d[3*done:][:done]
		if inverse {
			d1, d3 = d3, d1
		}
		for k := range s0 {
			a, b, c, d := s0[k], multiply(s1[k], w1[k]), multiply(s2[k], w2[k]), multiply(s3[k], w3[k])
			p, q, r, s := a.Add(c), a.Sub(c), b.Add(d), turn(b.Sub(d))
			d0[k], d1[k], d2[k], d3[k] = p.Add(r), q.Add(s), p.Sub(r), q.Sub(s)
		}
	}
}

// first8 is a first step, which has no roots.
func first8[T kernel.Float](inverse bool, from, to []kernel.Vec2[T]) {
	q := len(from) / 8
	s0, s1, s2, s3 := from[:q], from[q:][:q], from[2*q:][:q], from[3*q:][:q]
	s4, s5, s6, s7 := from[4*q:][:q], from[5*q:][:q], from[6*q:][:q], from[7*q:][:q]
	for i := range s0 {
		d := to[8*i:][:8]
		p, q, r, s := s0[i].Add(s4[i]), s0[i].Sub(s4[i]), s2[i].Add(s6[i]), turn(s2[i].Sub(s6[i]))
		a0, a1, a2, a3 := p.Add(r), q.Add(s), p.Sub(r), q.Sub(s)
		p, q, r, s = s1[i].Add(s5[i]), s1[i].Sub(s5[i]), s3[i].Add(s7[i]), turn(s3[i].Sub(s7[i]))
		b0, b1, b2, b3 := p.Add(r), q.Add(s), p.Sub(r), q.Sub(s)
		b1 = kernel.Vec2[T]{X: half8 * (b1.X + b1.Y), Y: half8 * (b1.Y - b1.X)}
		b2 = turn(b2)
		b3 = kernel.Vec2[T]{X: half8 * (b3.Y - b3.X), Y: -half8 * (b3.X + b3.Y)}
		d[0], d[4] = a0.Add(b0), a0.Sub(b0)
		if inverse {
			a1, a3, b1, b2, b3 = a3, a1, b3.Neg(), b2.Neg(), b1.Neg()
		}
		d[2], d[6] = a2.Add(b2), a2.Sub(b2)
		d[1], d[5] = a1.Add(b1), a1.Sub(b1)
		d[3], d[7] = a3.Add(b3), a3.Sub(b3)
	}
}

func host8[T kernel.Float](done int, inverse bool, roots, from, to []kernel.Vec2[T]) {
	q := len(from) / 8
	w1, w2, w3, w4 := roots[:done], roots[done:][:done], roots[2*done:][:done], roots[3*done:][:done]
	w5, w6, w7 := roots[4*done:][:done], roots[5*done:][:done], roots[6*done:][:done]
	for at := 0; at < q; at += done {
		s0, s1, s2, s3 := from[at:][:done], from[q+at:][:done], from[2*q+at:][:done], from[3*q+at:][:done]
		s4, s5, s6, s7 := from[4*q+at:][:done], from[5*q+at:][:done], from[6*q+at:][:done], from[7*q+at:][:done]
		d := to[8*at:][:8*done]
		d0, d1, d2, d3 := d[:done], d[done:][:done], d[2*done:][:done], d[3*done:][:done]
		d4, d5, d6, d7 := d[4*done:][:done], d[5*done:][:done], d[6*done:][:done], d[7*done:][:done]
		if inverse {
			d1, d2, d3, d5, d6, d7 = d7, d6, d5, d3, d2, d1
		}
		for k := range s0 {
			x, y := multiply(s2[k], w2[k]), multiply(s6[k], w6[k])
			r, s := x.Add(y), turn(x.Sub(y))
			x, y = s0[k], multiply(s4[k], w4[k])
			p, q := x.Add(y), x.Sub(y)
			a0, a1, a2, a3 := p.Add(r), q.Add(s), p.Sub(r), q.Sub(s)
			x, y = multiply(s3[k], w3[k]), multiply(s7[k], w7[k])
			r, s = x.Add(y), turn(x.Sub(y))
			x, y = multiply(s1[k], w1[k]), multiply(s5[k], w5[k])
			p, q = x.Add(y), x.Sub(y)
			b0, b1, b2, b3 := p.Add(r), q.Add(s), p.Sub(r), q.Sub(s)
			b1 = kernel.Vec2[T]{X: half8 * (b1.X + b1.Y), Y: half8 * (b1.Y - b1.X)}
			b2 = turn(b2)
			b3 = kernel.Vec2[T]{X: half8 * (b3.Y - b3.X), Y: -half8 * (b3.X + b3.Y)}
			d0[k], d4[k] = a0.Add(b0), a0.Sub(b0)
			d1[k], d5[k] = a1.Add(b1), a1.Sub(b1)
			d2[k], d6[k] = a2.Add(b2), a2.Sub(b2)
			d3[k], d7[k] = a3.Add(b3), a3.Sub(b3)
		}
	}
}

func host2[T kernel.Float](done int, inverse bool, roots, from, to []kernel.Vec2[T]) {
	q := len(from) / 2
	for at := 0; at < q; at += done {
		for k := range done {
			var v [2]kernel.Vec2[T]
			v[0] = from[at+k]
			for i := 1; i < 2; i++ {
				v[i] = multiply(from[i*q+at+k], roots[(i-1)*done+k])
			}
			butterfly2(&v)
			d := to[2*at+k:]
			d[0] = v[0]
			for i := 1; i < 2; i++ {
				if inverse {
					d[(2-i)*done] = v[i]
				} else {
					d[i*done] = v[i]
				}
			}
		}
	}
}

func host3[T kernel.Float](done int, inverse bool, roots, from, to []kernel.Vec2[T]) {
	q := len(from) / 3
	for at := 0; at < q; at += done {
		for k := range done {
			var v [3]kernel.Vec2[T]
			v[0] = from[at+k]
			for i := 1; i < 3; i++ {
				v[i] = multiply(from[i*q+at+k], roots[(i-1)*done+k])
			}
			butterfly3(&v)
			d := to[3*at+k:]
			d[0] = v[0]
			for i := 1; i < 3; i++ {
				if inverse {
					d[(3-i)*done] = v[i]
				} else {
					d[i*done] = v[i]
				}
			}
		}
	}
}

func host5[T kernel.Float](done int, inverse bool, roots, from, to []kernel.Vec2[T]) {
	q := len(from) / 5
	for at := 0; at < q; at += done {
		for k := range done {
			var v [5]kernel.Vec2[T]
			v[0] = from[at+k]
			for i := 1; i < 5; i++ {
				v[i] = multiply(from[i*q+at+k], roots[(i-1)*done+k])
			}
			butterfly5(&v)
			d := to[5*at+k:]
			d[0] = v[0]
			for i := 1; i < 5; i++ {
				if inverse {
					d[(5-i)*done] = v[i]
				} else {
					d[i*done] = v[i]
				}
			}
		}
	}
}

func host7[T kernel.Float](done int, inverse bool, roots, from, to []kernel.Vec2[T]) {
	q := len(from) / 7
	for at := 0; at < q; at += done {
		for k := range done {
			var v [7]kernel.Vec2[T]
			v[0] = from[at+k]
			for i := 1; i < 7; i++ {
				v[i] = multiply(from[i*q+at+k], roots[(i-1)*done+k])
			}
			butterfly7(&v)
			d := to[7*at+k:]
			d[0] = v[0]
			for i := 1; i < 7; i++ {
				if inverse {
					d[(7-i)*done] = v[i]
				} else {
					d[i*done] = v[i]
				}
			}
		}
	}
}

func host11[T kernel.Float](done int, inverse bool, roots, from, to []kernel.Vec2[T]) {
	q := len(from) / 11
	for at := 0; at < q; at += done {
		for k := range done {
			var v [11]kernel.Vec2[T]
			v[0] = from[at+k]
			for i := 1; i < 11; i++ {
				v[i] = multiply(from[i*q+at+k], roots[(i-1)*done+k])
			}
			butterfly11(&v)
			d := to[11*at+k:]
			d[0] = v[0]
			for i := 1; i < 11; i++ {
				if inverse {
					d[(11-i)*done] = v[i]
				} else {
					d[i*done] = v[i]
				}
			}
		}
	}
}

func host13[T kernel.Float](done int, inverse bool, roots, from, to []kernel.Vec2[T]) {
	q := len(from) / 13
	for at := 0; at < q; at += done {
		for k := range done {
			var v [13]kernel.Vec2[T]
			v[0] = from[at+k]
			for i := 1; i < 13; i++ {
				v[i] = multiply(from[i*q+at+k], roots[(i-1)*done+k])
			}
			butterfly13(&v)
			d := to[13*at+k:]
			d[0] = v[0]
			for i := 1; i < 13; i++ {
				if inverse {
					d[(13-i)*done] = v[i]
				} else {
					d[i*done] = v[i]
				}
			}
		}
	}
}
