package fft

import "quern.dev/kernel"

// reading says which points of its input a line of temporary memory has.
type reading struct {
	Length int // of the input; zeros follow
	Flip   int // if not 0, point i is Flip-1-i, modulo Length
}

// index returns the point of the input that is point i of the line, and whether there is
// one.
func (r reading) index(i int) (j int, ok bool) {
	if i >= r.Length {
		return 0, false
	}
	if r.Flip == 0 {
		return i, true
	}
	j = r.Flip - 1 - i
	if j >= r.Length {
		j -= r.Length
	}
	return j, true
}

// padRead copies complex numbers to lines. sign is -1 for their conjugates.
//
//quern:kernel unchecked instantiate=float32,float64
func padRead[T kernel.Float](t kernel.Thread, l lines, r reading, sign float64, in, out []kernel.Vec2[T]) {
	i := t.Global()
	if i >= l.Total {
		return
	}
	var v kernel.Vec2[T]
	if j, ok := r.index(i % l.Points); ok {
		v = in[i/l.Points*r.Length+j]
		v.Y *= T(sign)
	}
	out[i] = v
}

// padWrite copies the first length points of each line.
//
//quern:kernel unchecked instantiate=float32,float64
func padWrite[T kernel.Float](t kernel.Thread, l lines, length, total int, in, out []kernel.Vec2[T]) {
	if i := t.Global(); i < total {
		out[i] = in[i/length*l.Points+i%length]
	}
}

// multiplySpectra multiplies the lines x by the lines y, which are repeated.
//
//quern:kernel unchecked instantiate=float32,float64
func multiplySpectra[T kernel.Float](t kernel.Thread, l lines, repeat int, x, y []kernel.Vec2[T]) {
	if i := t.Global(); i < l.Total {
		x[i] = multiply(x[i], y[i%repeat])
	}
}

// multiplyPairs multiplies the spectra of real numbers. x and y have the transforms of n
// pairs per line; x becomes the input of an inverse transform, times two. A thread
// computes elements k and n-k.
//
//quern:kernel unchecked instantiate=float32,float64
func multiplyPairs[T kernel.Float](t kernel.Thread, l lines, repeat, roots int, tables, x, y []kernel.Vec2[T]) {
	n := l.Points
	half := n/2 + 1
	i := t.Global()
	k, line := i%half, i/half*n
	if line >= l.Total {
		return
	}
	other := n - k
	w, v := tables[roots+k], tables[roots+other]
	a, b := x[line+k], x[line+other%n]
	c, d := y[(line+k)%repeat], y[(line+other%n)%repeat]
	p := multiply(split(a, b, w), split(c, d, w))
	q := multiply(split(b, a, v), split(d, c, v))
	x[line+k] = merge(p, q, w)
	if k > 0 {
		x[line+other] = merge(q, p, v)
	}
}
