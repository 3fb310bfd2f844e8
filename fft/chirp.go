package fft

import (
	"math/bits"

	"quern.dev/gpu"
)

// chirp adds transforms of n points, where n has a large prime factor, as convolutions.
func (b *builder) chirp(n int, from, to side, others []level, s scaling) {
	p := pass{N: int32(n), In: from.stride, Out: to.stride, Sign: s.sign, ScaleX: s.x, ScaleY: s.y}
	if b.host {
		p.ScaleY *= s.sign // the pass is not an inverse transform; its points are conjugated
	}
	b.levels(&p, others, nil)
	c := chirps{Lines: linesOf(&p, 1<<bits.Len(uint(2*n-2)))}
	m, columns := c.Lines.Points, c.Lines.Columns
	c.Chirp, c.Kernel = b.chirpTables(n, m)
	place := b.temporary(c.Lines.Total)
	add := func(k kernelName, from, to area) {
		b.program.steps = append(b.program.steps, launch{kernel: k, pass: p, chirps: c, grid: c.Lines.grid(), from: from, to: to})
	}
	line, loops := side{place, columns}, c.Lines.loops()
	add(chirpReadKernel, from.area, place)
	b.axis(m, line, line, loops, unscaled)
	add(chirpMultiplyKernel, place, place)
	b.axis(m, line, line, loops, b.direction(true, true, true, 1))
	add(chirpWriteKernel, place, to.area)
}

// linesOf returns lines of n points for the transforms of a pass.
func linesOf(p *pass, n int) lines {
	l := lines{Points: n, Columns: 1, Total: n}
	if p.In > p.Levels[0].In || p.Out > p.Levels[0].Out {
		l.Columns = p.Levels[0].Count
	}
	for _, x := range p.Levels {
		l.Total *= x.Count
	}
	return l
}

// of returns the same lines with another number of points.
func (l lines) of(n int) lines {
	l.Total = l.Total / l.Points * n
	l.Points = n
	return l
}

// grid has a thread for each element.
func (l lines) grid() gpu.Grid {
	return gpu.Blocks(gpu.Dim3{X: (l.Total + 255) / 256}, gpu.Dim3{X: 256})
}

// loops returns the loops over the transforms of the lines.
func (l lines) loops() []level {
	next := l.Points * l.Columns
	return []level{{Count: l.Columns, In: 1, Out: 1}, {Count: l.Total / next, In: next, Out: next}}
}

// chirpTables returns the places of the chirp and of its spectrum.
func (b *builder) chirpTables(n, points int) (chirp, spectrum int) {
	at := b.table(tableKey{kind: chirpTable, n: n}, func() {
		for k := range n {
			b.tables = append(b.tables, rootOfUnity(k*k%(2*n), 2*n))
		}
	})
	kernel := b.table(tableKey{kind: chirpSpectrum, n: n}, func() {
		x := make([]complex128, points)
		for k := range n {
			w := b.tables[int(at)+k]
			w = complex(real(w)/float64(points), -imag(w)/float64(points))
			x[k], x[(points-k)%points] = w, w
		}
		b.tables = append(b.tables, spectrumOf(x)...)
	})
	return int(at), int(kernel)
}

// spectrumOf returns the Fourier transform of x, whose length is a power of two.
func spectrumOf(x []complex128) []complex128 {
	n := len(x)
	roots := make([]complex128, n/2+1)
	for k := range roots {
		roots[k] = rootOfUnity(k, n)
	}
	y := make([]complex128, n)
	for done := 1; done < n; done *= 2 {
		for j := range n / 2 {
			k := j % done
			a, c := x[j], x[j+n/2]*roots[k*(n/2/done)]
			y[2*j-k], y[2*j-k+done] = a+c, a-c
		}
		x, y = y, x
	}
	return x
}
