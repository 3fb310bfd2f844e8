package warp

import (
	"context"
	"math"

	"quern.dev/geo/crs"
	"quern.dev/geo/tiff"
	"quern.dev/gpu"
)

// setConverter makes the converter of a source whose coordinates are computed on the host.
func (s *source) setConverter(o *Options) error {
	if s.crs == s.target || s.crs.Code() != 0 && s.crs.Code() == s.target.Code() {
		s.same, s.place.Same = true, true
		return nil
	}
	var err error
	if s.converter, err = o.Converter(s.crs, s.target); err == nil && s.converter == nil {
		err = failf(ErrArgument, "options: Converter returns nothing for %v to %v", s.crs, s.target)
	}
	return err
}

// convert converts points in place. Those without coordinates become NaN, and all if the library fails.
func (s *source) convert(p points, by func(x, y, z []float64) (int, error)) {
	if _, err := by(p.x, p.y, nil); err != nil {
		for i := range p.x {
			p.x[i], p.y[i] = math.NaN(), math.NaN()
		}
	}
}

// inward converts points of the output's grid to positions in the source, in place.
func (s *source) inward(p points) error {
	if _, err := s.converter.InverseAll(p.x, p.y, nil); err != nil {
		return err
	}
	for i := range p.x {
		p.x[i], p.y[i] = s.place.Pixel(s.spline, p.x[i], p.y[i])
	}
	return nil
}

// position returns where a point of the output is in the source, or NaN.
func (s *source) position(x, y float64) (float64, float64) {
	if s.converter == nil {
		return s.place.Position(s.grids.Subgrids, s.grids.Nodes, s.spline, x, y)
	}
	return s.back(s.place.Output.Apply(x, y))
}

// locateOnHost is locate for coordinates that the host computes.
func (l *laneOf[T]) locateOnHost(ctx context.Context, s *source, r tiff.Region, half float64) error {
	n := r.Width * r.Height
	if len(l.host.x) < n {
		l.host = points{make([]float64, n), make([]float64, n)}
	}
	p := points{l.host.x[:n], l.host.y[:n]}
	for row := range r.Height {
		for column := range r.Width {
			i := row*r.Width + column
			p.x[i], p.y[i] = s.place.Output.Apply(float64(r.X+column)+half, float64(r.Y+row)+half)
		}
	}
	if err := ctx.Err(); err != nil {
		return err
	}
	if err := s.inward(p); err != nil {
		return err
	}
	if err := gpu.CopyIn(l.s, l.xs.Slice(0, n), p.x); err != nil {
		return err
	}
	return gpu.CopyIn(l.s, l.ys.Slice(0, n), p.y)
}

// between returns a function that converts points from one system to another: by the options' converter, if there is one.
func (o *Options) between(from, to *crs.CRS, shift ...crs.Option) (func(x, y float64) (float64, float64, error), error) {
	if o.Converter == nil || from.Code() != 0 && from.Code() == to.Code() {
		t, err := crs.NewTransform(from, to, shift...)
		if err != nil {
			return nil, err
		}
		if op, _ := t.Operation(false); unchanged(&op) {
			return func(x, y float64) (float64, float64, error) { return x, y, nil }, nil
		}
		return t.Forward, nil
	}
	t, err := o.Converter(from, to)
	if err != nil {
		return nil, err
	}
	return func(x, y float64) (float64, float64, error) {
		p := points{[]float64{x}, []float64{y}}
		failed, err := t.ForwardAll(p.x, p.y, nil)
		if err == nil && failed > 0 {
			return math.NaN(), math.NaN(), failf(ErrOutside, "the point (%g, %g) of %v has no coordinates in %v", x, y, from, to)
		}
		return p.x[0], p.y[0], err
	}, nil
}
