package warp

import (
	"math"

	"quern.dev/geo/tiff"
	"quern.dev/geo/warp/internal/kernels"
)

// reduce makes an overview of a source the source.
func (s *source) reduce(overview int, g *Grid) error {
	all := s.im.Overviews()
	if overview == OverviewAuto {
		var err error
		if overview, err = s.chooseOverview(all, g); err != nil || overview == 0 {
			return err
		}
	}
	if overview > len(all) {
		return failf(ErrArgument, "options: overview %d of %s, which has %d", overview, s.name, len(all))
	}
	im := all[overview-1]
	if im.Type != s.im.Type || im.Bands != s.im.Bands {
		return failf(ErrArgument, "%s: overview %d has %d bands of %v", s.name, overview, im.Bands, im.Type)
	}
	x, y := float64(s.h.Width)/float64(im.Width), float64(s.h.Height)/float64(im.Height)
	s.im, s.reader.Image = im, im
	s.h.Width, s.h.Height = im.Width, im.Height
	if s.outward.Terms == 0 {
		a := s.affine
		s.affine = tiff.Affine{a[0], a[1] * x, a[2] * y, a[3], a[4] * x, a[5] * y}
		s.place.Source = kernels.Affine(invert(s.affine))
		return nil
	}
	s.outward.OffsetX, s.outward.OffsetY = s.outward.OffsetX/x, s.outward.OffsetY/y
	s.outward.ScaleX, s.outward.ScaleY = s.outward.ScaleX*x, s.outward.ScaleY*y
	f := &s.place.Fit
	for i := range f.X {
		f.X[i], f.Y[i] = f.X[i]/x, f.Y[i]/y
	}
	for i := range f.Points {
		weights := s.spline[i*kernels.SplineNumbers+2:]
		weights[0], weights[1] = weights[0]/x, weights[1]/y
	}
	return nil
}

// chooseOverview returns the number of the smallest overview that is not coarser than the output, or that is almost as
// coarse; 0 for none.
func (s *source) chooseOverview(all []*tiff.Image, g *Grid) (int, error) {
	own, err := s.suggest()
	if err != nil {
		return 0, err
	}
	target := math.Hypot(g.Affine[1], g.Affine[4]) / own.Affine[1]
	if !(target > 1) {
		return 0, nil
	}
	ratio := func(k int) float64 {
		if k == 0 {
			return 1
		}
		return float64(s.h.Width) / float64(all[k-1].Width)
	}
	k := 0
	for k < len(all) && !(ratio(k) < target && ratio(k+1) > target) && !(math.Abs(ratio(k)-target) < 0.1) {
		k++
	}
	return k, nil
}
