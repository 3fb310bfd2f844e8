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
	c := chirps{Lines: linesOf(&p, b.chirpLength(2*n-1))}
	m, columns := c.Lines.Points, c.Lines.Columns
	c.Chirp, c.Kernel = b.chirpTables(n, m)
	if b.host && m <= b.limit(m, false) {
		l := launch{kernel: hostChirpKernel, chirps: c, from: from.area, to: to.area}
		l.forward, l.backward = pass{N: int32(m), Sign: 1}, pass{N: int32(m), Sign: -1}
		b.radices(&l.forward, hostRadices(m), false)
		b.radices(&l.backward, hostRadices(m), true)
		p.Tile = hostRows(&p, m)
		b.hostLaunch(l, p, m)
		return
	}
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

// chirpLength returns a length of at least n for the convolution. On GPUs it is a power of
// two, whose transforms are faster by more than what a shorter length saves.
func (b *builder) chirpLength(n int) int {
	m := 1 << bits.Len(uint(n-1))
	if b.host {
		for _, f := range []int{9, 10, 12} { // sixteenths
			if m >= 16 && m/16*f >= n {
				return m / 16 * f
			}
		}
	}
	return m
}

// spectrumOf returns the Fourier transform of x, whose length has small prime factors.
func spectrumOf(x []complex128) []complex128 {
	n := len(x)
	roots := make([]complex128, n)
	for k := range roots {
		roots[k] = rootOfUnity(k, n)
	}
	y := make([]complex128, n)
	done := 1
	for _, r := range hostRadices(n) {
		q := n / r
		for j := range q {
			k := j % done
			for t := range r {
				// Root s*(k+t*done) of done*r points.
				step := (k + t*done) * (n / (done * r))
				sum, m := complex128(0), 0
				for s := range r {
					sum += x[j+s*q] * roots[m]
					if m += step; m >= n {
						m -= n
					}
				}
				y[(j-k)*r+k+t*done] = sum
			}
		}
		x, y = y, x
		done *= r
	}
	return x
}
