package main

import (
	"errors"

	"quern.dev/fft"
)

func fftCases(q *suite) {
	transformCases[float32, complex64](q, "complex64", "5e-8")
	transformCases[float64, complex128](q, "complex128", "4e-16")

	n, k := q.size(q.most/4), q.size(1000)
	t := q.test("fft.Convolution", "signal.fftconvolve(x, y)", "3 * 4e-16 * 20 * xp.linalg.norm(x) * xp.linalg.norm(y)")
	x, y, z := input(t, "x", between[float64](q, n, -1, 1)), input(t, "y", between[float64](q, k, -1, 1)), output[float64](t, "got", n+k-1)
	t.run(func() error {
		c, err := fft.NewConvolution[float64](q.s.Device(), fft.ConvolutionDesc{Signal: n, Kernel: k})
		if err != nil {
			return err
		}
		return errors.Join(c.Run(q.s, z, x, y), q.s.Synchronize(q.ctx), c.Close())
	})
}

// transformCases compares the root mean square error of transforms, relative to the result, with
// the documented bound, which is unit times the logarithm of the number of points.
func transformCases[R float32 | float64, C complex64 | complex128](q *suite, name, unit string) {
	s := q.s
	shapes := [][]int{{q.size(q.most)}, {1 << q.rng.IntN(17)}, {q.size(100), q.size(100)}, {q.size(20), q.size(20), q.size(20)}, {2 * q.size(q.most/2)}}
	for _, shape := range shapes {
		batch, points := q.size(3), 1
		for _, n := range shape {
			points *= n
		}
		all := append([]int{batch}, shape...)
		axes := "axes=range(1, x.ndim)"
		bound := unit + " * max(1, float(xp.log2(x[0].size)))"
		// The distance of got and f.
		relative := func(f string) string {
			return "xp.linalg.norm((got - " + f + ").ravel()) / xp.linalg.norm(" + f + ".ravel())"
		}
		for _, inverse := range []bool{false, true} {
			f, title := "xp.fft.fftn(x.astype('D'), "+axes+")", "forward"
			if inverse {
				f, title = "xp.fft.ifftn(x.astype('D'), "+axes+")", "inverse"
			}
			t := q.test("fft.Plan, "+name+", "+title, "0.", bound).of(relative(f))
			x, y := input(t, "x", complexes[C](q, batch*points), all...), output[C](t, "got", all...)
			t.run(func() error {
				p, err := fft.NewPlan[C](s.Device(), fft.Desc{Shape: shape, Batch: batch})
				if err != nil {
					return err
				}
				run := p.Forward
				if inverse {
					run = p.Inverse
				}
				return errors.Join(run(s, y, x), s.Synchronize(q.ctx), p.Close())
			})
		}
		last := len(all) - 1
		half := append([]int{}, all...)
		half[last] = half[last]/2 + 1
		t := q.test("fft.RealPlan, "+name+", forward", "0.", bound).of(relative("xp.fft.rfftn(x.astype('d'), " + axes + ")"))
		x, y := input(t, "x", between[R](q, batch*points, -1, 1), all...), output[C](t, "got", half...)
		t.run(func() error {
			p, err := fft.NewRealPlan[R, C](s.Device(), fft.Desc{Shape: shape, Batch: batch})
			if err != nil {
				return err
			}
			return errors.Join(p.Forward(s, y, x), s.Synchronize(q.ctx), p.Close())
		})
		// The spectra that the inverse gets are those of real signals.
		t = q.test("fft.RealPlan, "+name+", there and back", "0.", "2 * "+bound).of("xp.linalg.norm((back - x).ravel()) / xp.linalg.norm(x.ravel())")
		x, y = input(t, "x", between[R](q, batch*points, -1, 1), all...), output[C](t, "spectrum", half...)
		back := output[R](t, "back", all...)
		t.run(func() error {
			p, err := fft.NewRealPlan[R, C](s.Device(), fft.Desc{Shape: shape, Batch: batch})
			if err != nil {
				return err
			}
			return errors.Join(p.Forward(s, y, x), p.Inverse(s, back, y), s.Synchronize(q.ctx), p.Close())
		})
	}
}
