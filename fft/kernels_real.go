package fft

import "quern.dev/kernel"

// A real transform of an even number of points n is a complex one of n/2 points, whose real
// parts are the even points and whose imaginary parts are the odd ones. Its spectrum splits
// into those of both, which make the n/2+1 results. An odd n is a complex transform of n
// points with imaginary parts of zero.

// lines describes complex numbers in temporary memory: point k of transform b is element
// b*Points+k, or, if the transforms are columns, element k of a column.
type lines struct {
	Points  int // per transform
	Columns int // transforms side by side
	Total   int // elements
}

// locate returns the point of element i, the place of the first point of its transform
// among lines of the given length, and where the transform is in the input and the output.
func (l lines) locate(p pass, length, i int) (point, line, in, out int) {
	column := i % l.Columns
	i /= l.Columns
	point, i = i%l.Points, i/l.Points
	line = i*length*l.Columns + column
	in, out = column*p.Levels[0].In, column*p.Levels[0].Out
	//quern:unroll
	for k := range levels {
		x := p.Levels[k]
		if k > 0 || l.Columns == 1 {
			in, out = in+i%x.Count*x.In, out+i%x.Count*x.Out
			i /= x.Count
		}
	}
	return point, line, in, out
}

// realRead makes complex numbers of real ones, or of pairs of them.
//
//quern:kernel unchecked instantiate=float32,float64
func realRead[T kernel.Float](t kernel.Thread, p pass, l lines, pairs bool, r reading, in []T, out []kernel.Vec2[T]) {
	i := t.Global()
	if i >= l.Total {
		return
	}
	point, _, at, _ := l.locate(p, 0, i)
	var v kernel.Vec2[T]
	if pairs {
		point *= 2
		if j, ok := r.index(point + 1); ok {
			v.Y = in[at+j*p.In]
		}
	}
	if j, ok := r.index(point); ok {
		v.X = in[at+j*p.In]
	}
	out[i] = v
}

// realSplit makes the results of a forward transform. roots is the place of the roots of
// unity of all points.
//
//quern:kernel unchecked instantiate=float32,float64
func realSplit[T kernel.Float](t kernel.Thread, p pass, l lines, pairs bool, roots int, tables, in, out []kernel.Vec2[T]) {
	i := t.Global()
	if i >= l.Total {
		return
	}
	n := int(p.N)
	k, line, _, at := l.locate(p, n, i)
	v := in[line+k%n*l.Columns]
	if pairs {
		v = split(v, in[line+(n-k)%n*l.Columns], tables[roots+k])
	}
	out[at+k*p.Out] = v.Scale(T(p.ScaleX))
}

// split returns element k of the spectrum of 2n real points, from elements k and n-k of the
// transform of n pairs and root number k of 2n.
func split[T kernel.Float](a, b, w kernel.Vec2[T]) kernel.Vec2[T] {
	b.Y = -b.Y
	return a.Add(b).Add(turn(multiply(a.Sub(b), w))).Scale(0.5)
}

// realMerge is the inverse of realSplit: it makes the input of an inverse complex
// transform, times two.
//
//quern:kernel unchecked instantiate=float32,float64
func realMerge[T kernel.Float](t kernel.Thread, p pass, l lines, pairs bool, roots int, tables, in, out []kernel.Vec2[T]) {
	i := t.Global()
	if i >= l.Total {
		return
	}
	n := int(p.N)
	k, _, at, _ := l.locate(p, 0, i)
	other := n - k
	if !pairs && other < k {
		v := in[at+other*p.In]
		out[i] = kernel.Vec2[T]{X: v.X, Y: -v.Y}
		return
	}
	v := in[at+k*p.In]
	if k == 0 {
		v.Y = 0
	}
	if pairs {
		u := in[at+other*p.In]
		if k == 0 {
			u.Y = 0
		}
		v = merge(v, u, tables[roots+k])
	}
	out[i] = v
}

// merge returns twice element k of the transform of n pairs, from elements k and n-k of the
// spectrum of 2n real points and root number k of 2n.
func merge[T kernel.Float](a, b, w kernel.Vec2[T]) kernel.Vec2[T] {
	b.Y, w.Y = -b.Y, -w.Y
	return a.Add(b).Sub(turn(multiply(a.Sub(b), w)))
}

// realWrite writes the first length real numbers that an inverse transform has computed.
//
//quern:kernel unchecked instantiate=float32,float64
func realWrite[T kernel.Float](t kernel.Thread, p pass, l lines, pairs bool, length int, in []kernel.Vec2[T], out []T) {
	i := t.Global()
	if i >= l.Total {
		return
	}
	point, _, _, at := l.locate(p, 0, i)
	v := in[i].Scale(T(p.ScaleX))
	if pairs {
		point *= 2
		if point+1 < length {
			out[at+(point+1)*p.Out] = v.Y
		}
	}
	if point < length {
		out[at+point*p.Out] = v.X
	}
}
