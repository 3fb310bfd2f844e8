package fft

import "quern.dev/kernel"

// The kernels of this file are for the CPU. A block is one thread, which computes one tile
// after the other. Its part of scratch holds two copies of a tile.
//
// A step has one loop over a slice, so the Go compiler sees that most indices are in range,
// and generated code calls its function as it is written here.
//
// An inverse transform has conjugate roots, and each of its butterflies is a forward one
// whose results are in reverse order, so that the points need not be conjugated.

// host computes complex transforms. An inverse one has Sign -1.
//
//quern:kernel only=cpu instantiate=float32,float64
func host[T kernel.Float](t kernel.Thread, p pass, tiles int, tables, scratch, in, out []kernel.Vec2[T]) {
	own := hostScratch(t, p, int(p.N), scratch)
	for i := t.BlockIdx.X; i < tiles; i += t.GridDim.X {
		hostTile(p, i, tables, own, in, out)
	}
}

// hostForward computes forward transforms of real numbers; see realRead and realSplit.
//
//quern:kernel only=cpu instantiate=float32,float64
func hostForward[T kernel.Float](t kernel.Thread, p pass, tiles int, pairs bool, roots int, tables, scratch []kernel.Vec2[T], in []T, out []kernel.Vec2[T]) {
	own := hostScratch(t, p, int(p.N), scratch)
	for i := t.BlockIdx.X; i < tiles; i += t.GridDim.X {
		hostForwardTile(p, i, pairs, tables[roots:], tables, own, in, out)
	}
}

// hostInverse computes inverse transforms to real numbers; see realMerge and realWrite.
//
//quern:kernel only=cpu instantiate=float32,float64
func hostInverse[T kernel.Float](t kernel.Thread, p pass, tiles int, pairs bool, roots int, tables, scratch, in []kernel.Vec2[T], out []T) {
	own := hostScratch(t, p, int(p.N), scratch)
	for i := t.BlockIdx.X; i < tiles; i += t.GridDim.X {
		hostInverseTile(p, i, pairs, tables[roots:], tables, own, in, out)
	}
}

// hostSplit makes the results of forward transforms of pairs, in the place of their spectra; see
// realSplit.
//
//quern:kernel only=cpu instantiate=float32,float64
func hostSplit[T kernel.Float](t kernel.Thread, p pass, tiles, roots int, tables, out []kernel.Vec2[T]) {
	n := int(p.N)
	for i := t.BlockIdx.X; i < tiles; i += t.GridDim.X {
		first, _, at, _ := place(p, i)
		for range min(p.Levels[0].Count-first, int(p.Tile)) {
			hostSplitLine(n, p.Out, p.Out, T(p.ScaleX), tables[roots:], out[at:], out[at:])
			at += p.Levels[0].Out
		}
	}
}

// hostMerge makes the input of inverse transforms of pairs; see realMerge.
//
//quern:kernel only=cpu instantiate=float32,float64
func hostMerge[T kernel.Float](t kernel.Thread, p pass, tiles, roots int, tables, in, out []kernel.Vec2[T]) {
	n := int(p.N)
	for i := t.BlockIdx.X; i < tiles; i += t.GridDim.X {
		first, at, to, _ := place(p, i)
		for range min(p.Levels[0].Count-first, int(p.Tile)) {
			hostMergeLine(n, p.In, tables[roots:], in[at:], out[to:])
			at += p.Levels[0].In
			to += p.Levels[0].Out
		}
	}
}

// hostChirp computes transforms as convolutions with a chirp; see chirpRead. forward and
// backward are the steps of the convolution's transforms.
//
//quern:kernel only=cpu instantiate=float32,float64
func hostChirp[T kernel.Float](t kernel.Thread, p pass, tiles int, c chirps, forward, backward pass, tables, scratch, in, out []kernel.Vec2[T]) {
	own := hostScratch(t, p, c.Lines.Points, scratch)
	for i := t.BlockIdx.X; i < tiles; i += t.GridDim.X {
		hostChirpTile(p, i, c, forward, backward, tables, own, in, out)
	}
}

// hostScratch returns the part of scratch that belongs to the block.
func hostScratch[T kernel.Float](t kernel.Thread, p pass, n int, scratch []kernel.Vec2[T]) []kernel.Vec2[T] {
	size := 2 * int(p.Tile) * hostPitch(n)
	return scratch[t.BlockIdx.X*size:][:size]
}

// hostPitch returns the distance between transforms in scratch memory. It is not a power
// of two, so that columns of a tile are in different cache sets.
func hostPitch(n int) int { return n + 8 }

func hostTile[T kernel.Float](p pass, index int, tables, scratch, in, out []kernel.Vec2[T]) {
	first, readAt, writeAt, twist := place(p, index)
	n, pitch := int(p.N), hostPitch(int(p.N))
	columns := p.Levels[0]
	count := min(columns.Count-first, int(p.Tile))
	a, b := scratch[:len(scratch)/2], scratch[len(scratch)/2:]
	gather, scatter := p.In != 1 || p.Steps == 0, p.Out != 1 || p.Steps == 0 || p.Twist > 0
	switch {
	case gather && columns.In == 1:
		for i := range a[:n] {
			for c, v := range in[readAt+i*p.In:][:count] {
				a[c*pitch+i] = v
			}
		}
	case gather:
		for c := range a[:count] {
			at := readAt + c*columns.In
			row := a[c*pitch:][:n]
			for i := range row {
				row[i] = in[at]
				at += p.In
			}
		}
	}
	roots := tables[p.Roots:]
	scale := T(p.ScaleX)
	for c := range a[:count] {
		row, other := a[c*pitch:][:n], b[c*pitch:][:n]
		from, to := row, row
		if !gather {
			from = in[readAt+c*columns.In:][:n]
		}
		if !scatter {
			to = out[writeAt+c*columns.Out:][:n]
		}
		hostLine(p, roots, from, row, other, to, !scatter)
		if !scatter && scale != 1 {
			for i, v := range to {
				to[i] = v.Scale(scale)
			}
		}
		if p.Twist > 0 {
			j := twist
			if p.Twist == 1 {
				j = first + c
			}
			hostTwist(p, tables, j, row)
		}
	}
	switch {
	case scatter && columns.Out == 1:
		for i := range a[:n] {
			row := out[writeAt+i*p.Out:][:count]
			for c := range row {
				row[c] = a[c*pitch+i].Scale(scale)
			}
		}
	case scatter:
		for c := range a[:count] {
			at := writeAt + c*columns.Out
			for _, v := range a[c*pitch:][:n] {
				out[at] = v.Scale(scale)
				at += p.Out
			}
		}
	}
}

// hostLine transforms the points of one line. a and b are memory for as many points; from
// may be a, and so may to, which apart denies.
func hostLine[T kernel.Float](p pass, roots, from, a, b, to []kernel.Vec2[T], apart bool) {
	if p.Steps == 0 {
		copy(to, from)
		return
	}
	done := 1
	radices := p.Radices
	last := int(p.Steps) - 1
	// Steps write b and a alternately, because the first one may read a. Only a step that is
	// the whole transform can overwrite what it reads.
	direct := apart || last%2 == 1 || last == 0
	for s := range from[:p.Steps] {
		next := b
		if s%2 == 1 {
			next = a
		}
		if s == last && direct {
			next = to
		}
		radix := int(radices & 15)
		hostStep(radix, done, p.Sign < 0, roots[done-1:], from, next)
		done *= radix
		radices >>= 4
		from = next
	}
	if !direct {
		copy(to, from)
	}
}

func hostForwardTile[T kernel.Float](p pass, index int, pairs bool, roots, tables, scratch []kernel.Vec2[T], in []T, out []kernel.Vec2[T]) {
	first, readAt, writeAt, _ := place(p, index)
	n := int(p.N)
	count := min(p.Levels[0].Count-first, int(p.Tile))
	a, b := scratch[:n], scratch[len(scratch)/2:][:n]
	scale := T(p.ScaleX)
	for range scratch[:count] {
		at := readAt
		if pairs && p.In == 1 {
			points := in[at:][:2*n]
			for i := range a {
				a[i] = kernel.Vec2[T]{X: points[2*i], Y: points[2*i+1]}
			}
		} else if pairs {
			for i := range a {
				a[i] = kernel.Vec2[T]{X: in[at], Y: in[at+p.In]}
				at += 2 * p.In
			}
		} else {
			for i := range a {
				a[i] = kernel.Vec2[T]{X: in[at]}
				at += p.In
			}
		}
		hostLine(p, tables[p.Roots:], a, a, b, a, false)
		at = writeAt
		if pairs {
			hostSplitLine(n, 1, p.Out, scale, roots, a, out[at:])
		} else {
			for _, v := range a[:n/2+1] {
				out[at] = v.Scale(scale)
				at += p.Out
			}
		}
		readAt += p.Levels[0].In
		writeAt += p.Levels[0].Out
	}
}

// hostSplitLine makes the n+1 elements of the spectrum of 2n real points from the transform of n
// pairs, whose elements are from and to elements apart. in may be out. Element n-k needs the same
// products as element k; see split.
func hostSplitLine[T kernel.Float](n, from, to int, scale T, roots, in, out []kernel.Vec2[T]) {
	first, half := in[0], scale/2
	out[0], out[n*to] = kernel.Vec2[T]{X: (first.X + first.Y) * scale}, kernel.Vec2[T]{X: (first.X - first.Y) * scale}
	k, other := from, (n-1)*from
	low, high := to, (n-1)*to
	for _, w := range roots[1 : n/2+1] {
		a, b := in[k], in[other]
		b.Y = -b.Y
		sum, turned := a.Add(b), turn(multiply(a.Sub(b), w))
		x, y := sum.Add(turned), sum.Sub(turned)
		out[low] = x.Scale(half)
		out[high] = kernel.Vec2[T]{X: y.X * half, Y: -y.Y * half}
		k += from
		other -= from
		low += to
		high -= to
	}
}

// hostMergeLine makes twice the transform of n pairs from the n+1 elements of the spectrum of 2n
// real points, which are step elements apart; see merge.
func hostMergeLine[T kernel.Float](n, step int, roots, in, out []kernel.Vec2[T]) {
	lowest, highest := in[0].X, in[n*step].X
	out[0] = kernel.Vec2[T]{X: lowest + highest, Y: lowest - highest}
	low, high := step, (n-1)*step
	for k, w := range roots[1 : n/2+1] {
		a, b := in[low], in[high]
		b.Y, w.Y = -b.Y, -w.Y
		sum, turned := a.Add(b), turn(multiply(a.Sub(b), w))
		y := sum.Add(turned)
		out[k+1] = sum.Sub(turned)
		out[n-1-k] = kernel.Vec2[T]{X: y.X, Y: -y.Y}
		low += step
		high -= step
	}
}

func hostInverseTile[T kernel.Float](p pass, index int, pairs bool, roots, tables, scratch, in []kernel.Vec2[T], out []T) {
	first, readAt, writeAt, _ := place(p, index)
	n := int(p.N)
	count := min(p.Levels[0].Count-first, int(p.Tile))
	a, b := scratch[:n], scratch[len(scratch)/2:][:n]
	scale := T(p.ScaleX)
	for range scratch[:count] {
		at := readAt
		if pairs {
			hostMergeLine(n, p.In, roots, in[at:], a)
		} else {
			a[0] = kernel.Vec2[T]{X: in[at].X}
			for k := range a[1 : n/2+1] {
				at += p.In
				v := in[at]
				a[k+1] = v
				v.Y = -v.Y
				a[n-1-k] = v
			}
		}
		hostLine(p, tables[p.Roots:], a, a, b, a, false)
		at = writeAt
		if pairs && p.Out == 1 {
			points := out[at:][:2*n]
			for i, v := range a {
				points[2*i], points[2*i+1] = v.X*scale, v.Y*scale
			}
		} else if pairs {
			for _, v := range a {
				out[at], out[at+p.Out] = v.X*scale, v.Y*scale
				at += 2 * p.Out
			}
		} else {
			for _, v := range a {
				out[at] = v.X * scale
				at += p.Out
			}
		}
		readAt += p.Levels[0].In
		writeAt += p.Levels[0].Out
	}
}

func hostChirpTile[T kernel.Float](p pass, index int, c chirps, forward, backward pass, tables, scratch, in, out []kernel.Vec2[T]) {
	first, readAt, writeAt, _ := place(p, index)
	n, m := int(p.N), c.Lines.Points
	count := min(p.Levels[0].Count-first, int(p.Tile))
	a, b := scratch[:m], scratch[len(scratch)/2:][:m]
	sign, scaleX, scaleY := T(p.Sign), T(p.ScaleX), T(p.ScaleY)
	chirp := tables[c.Chirp:][:n]
	for range scratch[:count] {
		at := readAt
		for i, w := range chirp {
			v := in[at]
			v.Y *= sign
			a[i] = multiply(v, w)
			at += p.In
		}
		clear(a[n:])
		hostLine(forward, tables[forward.Roots:], a, a, b, a, false)
		for i, w := range tables[c.Kernel:][:m] {
			a[i] = multiply(a[i], w)
		}
		hostLine(backward, tables[backward.Roots:], a, a, b, a, false)
		at = writeAt
		for i, w := range chirp {
			v := multiply(a[i], w)
			out[at] = kernel.Vec2[T]{X: v.X * scaleX, Y: v.Y * scaleY}
			at += p.Out
		}
		readAt += p.Levels[0].In
		writeAt += p.Levels[0].Out
	}
}

// hostTwist multiplies the points of transform j of a pass of a long transform by the
// roots between the passes.
func hostTwist[T kernel.Float](p pass, tables []kernel.Vec2[T], j int, row []kernel.Vec2[T]) {
	coarse, fine := tables[p.Coarse:], tables[p.Fine:][:1<<uint32(p.Shift)]
	sign := T(p.Sign)
	m := 0
	for i := range row {
		w := multiply(coarse[m>>uint32(p.Shift)], fine[m&(len(fine)-1)])
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
		host2(done, roots, from, to)
	case 3:
		host3(done, inverse, roots, from, to)
	case 4:
		host4(done, inverse, roots, from, to)
	case 5:
		host5(done, inverse, roots, from, to)
	case 7:
		host7(done, inverse, roots, from, to)
	case 8:
		host8(done, inverse, roots, from, to)
	case 11:
		host11(done, inverse, roots, from, to)
	case 13:
		host13(done, inverse, roots, from, to)
	}
}

func host2[T kernel.Float](done int, roots, from, to []kernel.Vec2[T]) {
	q := len(from) / 2
	s0, s1, w := from[:q], from[q:][:q], roots[:done]
	k, at := 0, 0
	for i := range s0 {
		if k == done {
			k, at = 0, at+done
		}
		a, b := s0[i], multiply(s1[i], w[k])
		to[at], to[at+done] = a.Add(b), a.Sub(b)
		k++
		at++
	}
}

func host3[T kernel.Float](done int, inverse bool, roots, from, to []kernel.Vec2[T]) {
	q := len(from) / 3
	s0, s1, s2 := from[:q], from[q:][:q], from[2*q:][:q]
	w1, w2 := roots[:done], roots[done:][:done]
	d1, d2 := done, 2*done
	if inverse {
		d1, d2 = d2, d1
	}
	k, at := 0, 0
	for i := range s0 {
		if k == done {
			k, at = 0, at+2*done
		}
		b, c := multiply(s1[i], w1[k]), multiply(s2[i], w2[k])
		sum, difference := b.Add(c), turn(b.Sub(c)).Scale(half3)
		middle := s0[i].AddScaled(-0.5, sum)
		to[at], to[at+d1], to[at+d2] = s0[i].Add(sum), middle.Add(difference), middle.Sub(difference)
		k++
		at++
	}
}

func host4[T kernel.Float](done int, inverse bool, roots, from, to []kernel.Vec2[T]) {
	q := len(from) / 4
	s0, s1, s2, s3 := from[:q], from[q:][:q], from[2*q:][:q], from[3*q:][:q]
	w1, w2, w3 := roots[:done], roots[done:][:done], roots[2*done:][:done]
	d1, d2, d3 := done, 2*done, 3*done
	if inverse {
		d1, d3 = d3, d1
	}
	k, at := 0, 0
	for i := range s0 {
		if k == done {
			k, at = 0, at+3*done
		}
		a, b, c, d := s0[i], multiply(s1[i], w1[k]), multiply(s2[i], w2[k]), multiply(s3[i], w3[k])
		p, q, r, s := a.Add(c), a.Sub(c), b.Add(d), turn(b.Sub(d))
		to[at], to[at+d1], to[at+d2], to[at+d3] = p.Add(r), q.Add(s), p.Sub(r), q.Sub(s)
		k++
		at++
	}
}

func host5[T kernel.Float](done int, inverse bool, roots, from, to []kernel.Vec2[T]) {
	q := len(from) / 5
	s0, s1, s2, s3, s4 := from[:q], from[q:][:q], from[2*q:][:q], from[3*q:][:q], from[4*q:][:q]
	w1, w2, w3, w4 := roots[:done], roots[done:][:done], roots[2*done:][:done], roots[3*done:][:done]
	d1, d2, d3, d4 := done, 2*done, 3*done, 4*done
	if inverse {
		d1, d2, d3, d4 = d4, d3, d2, d1
	}
	k, at := 0, 0
	for i := range s0 {
		if k == done {
			k, at = 0, at+4*done
		}
		x, y := multiply(s1[i], w1[k]), multiply(s4[i], w4[k])
		s, d := x.Add(y), turn(x.Sub(y))
		x, y = multiply(s2[i], w2[k]), multiply(s3[i], w3[k])
		u, e := x.Add(y), turn(x.Sub(y))
		first := s0[i]
		a := first.AddScaled(cos5, s).AddScaled(cos5two, u)
		b := first.AddScaled(cos5two, s).AddScaled(cos5, u)
		p := d.Scale(sin5).AddScaled(sin5two, e)
		q := d.Scale(sin5two).AddScaled(-sin5, e)
		to[at] = first.Add(s).Add(u)
		to[at+d1], to[at+d4] = a.Add(p), a.Sub(p)
		to[at+d2], to[at+d3] = b.Add(q), b.Sub(q)
		k++
		at++
	}
}

func host8[T kernel.Float](done int, inverse bool, roots, from, to []kernel.Vec2[T]) {
	q := len(from) / 8
	s0, s1, s2, s3 := from[:q], from[q:][:q], from[2*q:][:q], from[3*q:][:q]
	s4, s5, s6, s7 := from[4*q:][:q], from[5*q:][:q], from[6*q:][:q], from[7*q:][:q]
	w1, w2, w3, w4 := roots[:done], roots[done:][:done], roots[2*done:][:done], roots[3*done:][:done]
	w5, w6, w7 := roots[4*done:][:done], roots[5*done:][:done], roots[6*done:][:done]
	d1, d2, d3, d4, d5, d6, d7 := done, 2*done, 3*done, 4*done, 5*done, 6*done, 7*done
	if inverse {
		d1, d2, d3, d5, d6, d7 = d7, d6, d5, d3, d2, d1
	}
	k, at := 0, 0
	for i := range s0 {
		if k == done {
			k, at = 0, at+7*done
		}
		x, y := s2[i], s6[i]
		z, first := s4[i], s0[i]
		if done > 1 {
			x, y, z = multiply(x, w2[k]), multiply(y, w6[k]), multiply(z, w4[k])
		}
		r, s := x.Add(y), turn(x.Sub(y))
		p, q := first.Add(z), first.Sub(z)
		a0, a1, a2, a3 := p.Add(r), q.Add(s), p.Sub(r), q.Sub(s)
		x, y, z, first = s3[i], s7[i], s5[i], s1[i]
		if done > 1 {
			x, y, z, first = multiply(x, w3[k]), multiply(y, w7[k]), multiply(z, w5[k]), multiply(first, w1[k])
		}
		r, s = x.Add(y), turn(x.Sub(y))
		p, q = first.Add(z), first.Sub(z)
		b0, b1, b2, b3 := p.Add(r), q.Add(s), p.Sub(r), q.Sub(s)
		b1 = kernel.Vec2[T]{X: half8 * (b1.X + b1.Y), Y: half8 * (b1.Y - b1.X)}
		b2 = turn(b2)
		b3 = kernel.Vec2[T]{X: half8 * (b3.Y - b3.X), Y: -half8 * (b3.X + b3.Y)}
		to[at], to[at+d4] = a0.Add(b0), a0.Sub(b0)
		to[at+d1], to[at+d5] = a1.Add(b1), a1.Sub(b1)
		to[at+d2], to[at+d6] = a2.Add(b2), a2.Sub(b2)
		to[at+d3], to[at+d7] = a3.Add(b3), a3.Sub(b3)
		k++
		at++
	}
}

func host7[T kernel.Float](done int, inverse bool, roots, from, to []kernel.Vec2[T]) {
	q := len(from) / 7
	k, at := 0, 0
	for i := range from[:q] {
		if k == done {
			k, at = 0, at+6*done
		}
		var v [7]kernel.Vec2[T]
		v[0] = from[i]
		for j := 1; j < 7; j++ {
			v[j] = multiply(from[j*q+i], roots[(j-1)*done+k])
		}
		butterfly7(&v)
		to[at] = v[0]
		for j := 1; j < 7; j++ {
			if inverse {
				to[at+(7-j)*done] = v[j]
			} else {
				to[at+j*done] = v[j]
			}
		}
		k++
		at++
	}
}

func host11[T kernel.Float](done int, inverse bool, roots, from, to []kernel.Vec2[T]) {
	q := len(from) / 11
	k, at := 0, 0
	for i := range from[:q] {
		if k == done {
			k, at = 0, at+10*done
		}
		var v [11]kernel.Vec2[T]
		v[0] = from[i]
		for j := 1; j < 11; j++ {
			v[j] = multiply(from[j*q+i], roots[(j-1)*done+k])
		}
		butterfly11(&v)
		to[at] = v[0]
		for j := 1; j < 11; j++ {
			if inverse {
				to[at+(11-j)*done] = v[j]
			} else {
				to[at+j*done] = v[j]
			}
		}
		k++
		at++
	}
}

func host13[T kernel.Float](done int, inverse bool, roots, from, to []kernel.Vec2[T]) {
	q := len(from) / 13
	k, at := 0, 0
	for i := range from[:q] {
		if k == done {
			k, at = 0, at+12*done
		}
		var v [13]kernel.Vec2[T]
		v[0] = from[i]
		for j := 1; j < 13; j++ {
			v[j] = multiply(from[j*q+i], roots[(j-1)*done+k])
		}
		butterfly13(&v)
		to[at] = v[0]
		for j := 1; j < 13; j++ {
			if inverse {
				to[at+(13-j)*done] = v[j]
			} else {
				to[at+j*done] = v[j]
			}
		}
		k++
		at++
	}
}
