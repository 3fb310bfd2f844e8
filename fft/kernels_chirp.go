package fft

import "quern.dev/kernel"

// A transform of n points, where n has a large prime factor, is a circular convolution of m
// points with a chirp, m being at least 2n-1 (Bluestein, 1970). The convolution is in
// temporary memory, where see lines.

// chirps describes the temporary memory and the tables.
type chirps struct {
	Lines  lines // of m points
	Chirp  int   // place of the table with the chirp, exp(-pi*i*k*k/n) for k < n
	Kernel int   // place of the table with the transform of the conjugate chirp, divided by m
}

// chirpRead multiplies the input by the chirp, and appends zeros.
//
//quern:kernel unchecked instantiate=float32,float64
func chirpRead[T kernel.Float](t kernel.Thread, p pass, c chirps, tables, in, out []kernel.Vec2[T]) {
	i := t.Global()
	if i >= c.Lines.Total {
		return
	}
	point, _, at, _ := c.Lines.locate(p, 0, i)
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
	if i := t.Global(); i < c.Lines.Total {
		x[i] = multiply(x[i], tables[c.Kernel+i/c.Lines.Columns%c.Lines.Points])
	}
}

// chirpWrite multiplies the convolutions by the chirp.
//
//quern:kernel unchecked instantiate=float32,float64
func chirpWrite[T kernel.Float](t kernel.Thread, p pass, c chirps, tables, in, out []kernel.Vec2[T]) {
	i := t.Global()
	if i >= c.Lines.Total {
		return
	}
	point, _, _, at := c.Lines.locate(p, 0, i)
	if point < int(p.N) {
		v := multiply(in[i], tables[c.Chirp+point])
		out[at+point*p.Out] = kernel.Vec2[T]{X: v.X * T(p.ScaleX), Y: v.Y * T(p.ScaleY)}
	}
}
