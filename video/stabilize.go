package video

import (
	"context"
	"errors"
	"io"
	"math"

	"quern.dev/fft"
	"quern.dev/filter"
	"quern.dev/gpu"
	"quern.dev/video/internal/kernels"
)

// Steadying says how Stabilize works. The zero value is usable.
type Steadying struct {
	// Smoothness is how slowly the camera may still move: the standard deviation, in frames, of the Gaussian curve that
	// smooths its path. 0 means 15.
	Smoothness float64
	// Limit is how far a frame is shifted at most, as a part of its width and height. 0 means 0.1.
	Limit float64
	// Border says what is where a shifted frame has no pixels: the mirror image by default.
	Border filter.Boundary
}

// Motion is how far the picture moved from one frame to the next, in pixels to the right and down.
type Motion struct{ X, Y float64 }

// Stabilize reads a video twice, and writes it with a steady picture. The motion of the whole picture between two frames is
// found by phase correlation, the path that it adds up to is smoothed, and each frame is shifted to the smooth path.
// Rotation and zoom are not corrected. Width, Height and Rate of the options are those of the input.
func Stabilize(ctx context.Context, dev *gpu.Device, output, input string, o Options, how Steadying) error {
	if how.Smoothness == 0 {
		how.Smoothness = 15
	}
	if how.Limit == 0 {
		how.Limit = 0.1
	}
	if !(how.Smoothness > 0) || !(how.Limit > 0 && how.Limit <= 1) {
		return fail(ErrArgument, "stabilize", "options", "smoothness %g, limit %g: want positive numbers, and a limit of at most 1", how.Smoothness, how.Limit)
	}
	motions, info, err := Motions(ctx, dev, input, o.Tools)
	if err != nil {
		return err
	}
	shifts := steady(motions, how.Smoothness)
	size := 4 * info.Width * info.Height
	copied, err := gpu.Alloc[uint8](dev, size)
	if err != nil {
		return err
	}
	limitX, limitY := how.Limit*float64(info.Width), how.Limit*float64(info.Height)
	err = Transcode(ctx, dev, output, input, o, func(s *gpu.Stream, i int, frame *gpu.Buffer[uint8]) error {
		if i >= len(shifts) {
			return fail(ErrFormat, "stabilize", input, "it had %d frames when it was read first, and now has more", len(shifts))
		}
		if err := gpu.Copy(s, copied, frame); err != nil {
			return err
		}
		from := filter.Image[uint8]{Width: info.Width, Height: info.Height, Channels: 4, Data: copied}
		to := from
		to.Data = frame
		x, y := min(max(shifts[i].X, -limitX), limitX), min(max(shifts[i].Y, -limitY), limitY)
		return filter.Affine(s, to, from, [2][3]float64{{1, 0, -x}, {0, 1, -y}}, filter.Linear, how.Border)
	})
	return errors.Join(err, copied.Close())
}

// steady returns the shift of each frame to the smoothed path. motions[0] is ignored.
func steady(motions []Motion, sigma float64) []Motion {
	path := make([]Motion, len(motions))
	for i := 1; i < len(motions); i++ {
		path[i] = Motion{path[i-1].X + motions[i].X, path[i-1].Y + motions[i].Y}
	}
	reach := int(math.Ceil(3 * sigma))
	shifts := make([]Motion, len(path))
	for i := range path {
		var sum Motion
		total := 0.0
		for k := -reach; k <= reach; k++ {
			// Beyond its ends the path continues as its own mirror image at the end point, so that a steady motion stays one.
			p := beyond(path, i+k)
			w := math.Exp(-float64(k*k) / (2 * sigma * sigma))
			sum.X, sum.Y, total = sum.X+w*p.X, sum.Y+w*p.Y, total+w
		}
		shifts[i] = Motion{sum.X/total - path[i].X, sum.Y/total - path[i].Y}
	}
	return shifts
}

func beyond(path []Motion, i int) Motion {
	last := len(path) - 1
	edge, inner := 0, -i
	if i >= 0 && i <= last {
		return path[i]
	}
	if i > last {
		edge, inner = last, 2*last-i
	}
	e, p := path[edge], path[min(max(inner, 0), last)]
	return Motion{2*e.X - p.X, 2*e.Y - p.Y}
}

// Motions returns the motion of the picture to each frame from the one before; 0 for the first frame, and where nothing
// of the picture remains, as at a cut.
func Motions(ctx context.Context, dev *gpu.Device, input string, t Tools) (motions []Motion, info Info, err error) {
	d, err := Open(ctx, dev, input, t)
	if err != nil {
		return nil, info, err
	}
	defer func() { err = errors.Join(err, d.Close()) }()
	info = d.Info()
	s, err := dev.NewStream(ctx)
	if err != nil {
		return nil, info, err
	}
	defer func() { err = errors.Join(err, s.Close()) }()
	frame, err := gpu.Alloc[uint8](dev, 4*d.w*d.h)
	if err != nil {
		return nil, info, err
	}
	defer func() { err = errors.Join(err, frame.Close()) }()
	c, err := newCorrelator(dev, s, d.w, d.h)
	if err != nil {
		return nil, info, err
	}
	defer func() { err = errors.Join(err, c.close()) }()
	for {
		if err := d.Read(s, frame); err == io.EOF {
			return motions, info, nil
		} else if err != nil {
			return nil, info, err
		}
		m, err := c.next(ctx, s, frame)
		if err != nil {
			return nil, info, err
		}
		motions = append(motions, m)
	}
}

// correlator measures the motion between successive frames.
type correlator struct {
	window               kernels.Window
	taper                *gpu.Buffer[float32]
	picture              *gpu.Buffer[complex64]
	before, after, cross *gpu.Buffer[complex64] // spectra
	plan                 *fft.Plan[complex64]
	host                 []complex64
	started              bool
}

const (
	mostSquares  = 256 // of the window, in each direction
	leastSquares = 16
	// certain is the least height of a peak that counts. It is 1 if one frame is the other one shifted, and below 0.1 if
	// they have nothing in common.
	certain = 0.12
)

func newCorrelator(dev *gpu.Device, s *gpu.Stream, width, height int) (*correlator, error) {
	side := min(width, height)
	size := mostSquares
	for size > side && size > leastSquares {
		size /= 2
	}
	if side < leastSquares {
		return nil, fail(ErrArgument, "stabilize", "size", "%d x %d: want at least %d pixels in each direction", width, height, leastSquares)
	}
	step := side / size
	c := &correlator{window: kernels.Window{Width: width, Height: height, X: (width - size*step) / 2, Y: (height - size*step) / 2, Size: size, Step: step}}
	taper := make([]float32, size)
	for i := range taper {
		taper[i] = float32(0.5 - 0.5*math.Cos(2*math.Pi*(float64(i)+0.5)/float64(size)))
	}
	c.host = make([]complex64, size*size)
	var err error
	if c.taper, err = gpu.Upload(s, taper); err != nil {
		return nil, err
	}
	for _, b := range []**gpu.Buffer[complex64]{&c.picture, &c.before, &c.after, &c.cross} {
		if *b, err = gpu.Alloc[complex64](dev, size*size); err != nil {
			return nil, errors.Join(err, c.close())
		}
	}
	if c.plan, err = fft.NewPlan[complex64](dev, fft.Desc{Shape: []int{size, size}}); err != nil {
		return nil, errors.Join(err, c.close())
	}
	return c, nil
}

func (c *correlator) close() error {
	var errs []error
	if c.plan != nil {
		errs = append(errs, c.plan.Close())
	}
	for _, b := range []*gpu.Buffer[complex64]{c.picture, c.before, c.after, c.cross} {
		if b != nil {
			errs = append(errs, b.Close())
		}
	}
	return errors.Join(append(errs, c.taper.Close())...)
}

// next returns the motion from the frame before.
func (c *correlator) next(ctx context.Context, s *gpu.Stream, frame *gpu.Buffer[uint8]) (Motion, error) {
	n := c.window.Size
	c.before, c.after = c.after, c.before
	if err := kernels.LaunchWindow(s, gpu.Plane(n, n), c.window, frame, c.taper, c.picture); err != nil {
		return Motion{}, err
	}
	if err := c.plan.Forward(s, c.after, c.picture); err != nil {
		return Motion{}, err
	}
	if !c.started {
		c.started = true
		return Motion{}, nil
	}
	if err := kernels.LaunchWhiten(s, gpu.Linear(n*n), c.before, c.after, c.cross); err != nil {
		return Motion{}, err
	}
	if err := c.plan.Inverse(s, c.picture, c.cross); err != nil {
		return Motion{}, err
	}
	if err := gpu.Download(ctx, s, c.host, c.picture); err != nil {
		return Motion{}, err
	}
	return c.peak(), nil
}

// peak returns the place of the highest value. Between samples, the two highest values divide the peak.
func (c *correlator) peak() Motion {
	n := c.window.Size
	best := 0
	for i, v := range c.host {
		if real(v) > real(c.host[best]) {
			best = i
		}
	}
	at := func(x, y int) float64 { return float64(real(c.host[(y+n)%n*n+(x+n)%n])) }
	x, y := best%n, best/n
	// A peak between samples is divided among them.
	if at(x, y)+max(at(x-1, y), at(x+1, y), 0)+max(at(x, y-1), at(x, y+1), 0) < certain {
		return Motion{}
	}
	part := func(low, middle, high float64) float64 {
		switch {
		case high > low && high > 0:
			return high / (high + middle)
		case low > 0:
			return -low / (low + middle)
		}
		return 0
	}
	dx, dy := part(at(x-1, y), at(x, y), at(x+1, y)), part(at(x, y-1), at(x, y), at(x, y+1))
	signed := func(v int) float64 {
		if v >= n/2 {
			v -= n
		}
		return float64(v)
	}
	step := float64(c.window.Step)
	return Motion{(signed(x) + dx) * step, (signed(y) + dy) * step}
}
