package fft

import "quern.dev/kernel"

// A transform of n points, where n has a large prime factor, is a circular convolution of m
// points with a chirp, m being at least 2n-1 (Bluestein, 1970). The convolution is in
// temporary memory, where point i of transform b is element b*m+i, or, if the transforms are
// columns, element i of a column. An index of an element is decomposed by chirpPlace.

// chirps describes the temporary memory.
type chirps struct {
	Points  int // m
	Columns int // transforms side by side
	Total   int // elements
	Chirp   int // place of the table with the chirp, exp(-pi*i*k*k/n) for k < n
	Kernel  int // place of the table with the transform of the conjugate chirp, divided by m
}

// chirpPlace returns the point of temporary element i, and where transforms are in the input
// and the output.
func chirpPlace(p pass, c chirps, i int) (point, in, out int) {
	column := i % c.Columns
	i /= c.Columns
	point, i = i%c.Points, i/c.Points
	in, out = column*p.Levels[0].In, column*p.Levels[0].Out
	//quern:unroll
	for k := range levels {
		l := p.Levels[k]
		if k > 0 || c.Columns == 1 {
			in, out = in+i%l.Count*l.In, out+i%l.Count*l.Out
			i /= l.Count
		}
	}
	return point, in, out
}

// chirpRead multiplies the input by the chirp, and appends zeros.
//
//quern:kernel unchecked instantiate=float32,float64
func chirpRead[T kernel.Float](t kernel.Thread, p pass, c chirps, tables, in, out []kernel.Vec2[T]) {
	i := t.Global()
	if i >= c.Total {
		return
	}
	point, at, _ := chirpPlace(p, c, i)
	var v kernel.Vec2[T]
	if point < int(p.N) {
		v = in[at+point*p.In]
		v.Y *= T(p.Sign)
		v = multiply(v, tables[c.Chirp+point])
	}
	out[i] = v
}

// chirpMultiply multiplies the spectra by the spectrum of the conjugate chirp.
//
//quern:kernel unchecked instantiate=float32,float64
func chirpMultiply[T kernel.Float](t kernel.Thread, c chirps, tables, x []kernel.Vec2[T]) {
	if i := t.Global(); i < c.Total {
		x[i] = multiply(x[i], tables[c.Kernel+i/c.Columns%c.Points])
	}
}

// chirpWrite multiplies the convolutions by the chirp.
//
//quern:kernel unchecked instantiate=float32,float64
func chirpWrite[T kernel.Float](t kernel.Thread, p pass, c chirps, tables, in, out []kernel.Vec2[T]) {
	i := t.Global()
	if i >= c.Total {
		return
	}
	point, _, at := chirpPlace(p, c, i)
	if point < int(p.N) {
		v := multiply(in[i], tables[c.Chirp+point])
		out[at+point*p.Out] = kernel.Vec2[T]{X: v.X * T(p.ScaleX), Y: v.Y * T(p.ScaleY)}
	}
}
