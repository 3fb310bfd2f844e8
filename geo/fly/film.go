package fly

import (
	"context"
	"errors"
	"math"
	"time"

	"quern.dev/gpu"
	"quern.dev/video"
)

// FilmOptions say how a flight is filmed. View and Video.Rate are required; Video.Width and Video.Height are those of View.
type FilmOptions struct {
	View  View
	Video video.Options
	// Segments is how many encoders work at the same time; 0 and 1 mean one.
	Segments int
	// Progress is called with the number of frames that were passed to the encoder. It may be nil.
	Progress func(done, total int)
}

// Stats are what a film took.
type Stats struct {
	Frames int
	Codec  video.Codec // the encoder; empty for frames that are only drawn
	// Render is the time on the device in which frames were drawn.
	Render time.Duration
	// Wall is the time from the first frame until the file was complete.
	Wall time.Duration
	// Wait is how long the encoder kept the renderer waiting.
	Wait time.Duration
}

// RenderRate returns the frames per second that the device draws.
func (s Stats) RenderRate() float64 { return rate(s.Frames, s.Render) }

// Rate returns the frames per second of the whole.
func (s Stats) Rate() float64 { return rate(s.Frames, s.Wall) }

func rate(n int, d time.Duration) float64 {
	if d <= 0 {
		return 0
	}
	return float64(n) / d.Seconds()
}

// EncoderIsTheLimit reports whether most of the time was spent on waiting for the encoder.
func (s Stats) EncoderIsTheLimit() bool { return s.Codec != "" && s.Render < s.Wall/2 }

func (s *Stats) add(o Stats) {
	s.Frames, s.Render, s.Wait = s.Frames+o.Frames, s.Render+o.Render, s.Wait+o.Wait
	s.Codec = o.Codec
}

// Frames returns how many frames a flight has at a rate.
func (f *Flight) Frames(r video.Rate) int { return max(int(math.Round(f.seconds*r.Float())), 1) }

// frameCamera returns the camera of a frame.
func (f *Flight) frameCamera(i, frames int) Camera {
	n := frames
	if !f.closed {
		n = max(frames-1, 1) // the last frame is the end of the path; in a closed one it is followed by the first
	}
	return f.At(f.seconds * float64(i) / float64(n))
}

// Film writes a video of a flight. While a frame is drawn, those before are converted, copied and encoded.
func Film(ctx context.Context, f *Flight, name string, o FilmOptions) (Stats, error) {
	if o.Video.Rate.Num <= 0 || o.Video.Rate.Den <= 0 {
		return Stats{}, fail(ErrArgument, "film", "rate", "%d/%d frames per second", o.Video.Rate.Num, o.Video.Rate.Den)
	}
	if _, err := f.scene.NewRenderer(o.View); err != nil {
		return Stats{}, err
	}
	o.Video.Width, o.Video.Height = o.View.Width, o.View.Height
	total := f.Frames(o.Video.Rate)
	if o.Progress != nil {
		o.Video.Progress = func(n int) { o.Progress(n, total) }
	}
	dev := f.scene.dev
	start := time.Now()
	var stats Stats
	if o.Segments > 1 {
		parts := make(chan Stats, o.Segments)
		err := video.Segments(ctx, dev, name, o.Video, total, o.Segments, func(ctx context.Context, e *video.Encoder, first, count int) error {
			s, err := f.draw(ctx, e, o.View, first, count, total)
			parts <- s
			return err
		})
		close(parts)
		for s := range parts {
			stats.add(s)
		}
		stats.Wall = time.Since(start)
		return stats, err
	}
	e, err := video.Create(ctx, dev, name, o.Video)
	if err != nil {
		return stats, err
	}
	defer e.Abort() // does nothing after Close
	stats, err = f.draw(ctx, e, o.View, 0, total, total)
	if err == nil {
		err = e.Close()
	}
	stats.Wall = time.Since(start)
	return stats, err
}

// Draw draws all frames of a flight and keeps none: the speed of rendering.
func Draw(ctx context.Context, f *Flight, v View, r video.Rate) (Stats, error) {
	start := time.Now()
	total := f.Frames(r)
	stats, err := f.draw(ctx, nil, v, 0, total, total)
	stats.Wall = time.Since(start)
	return stats, err
}

// clock measures the time on the device between pairs of events.
type clock struct {
	starts, ends []*gpu.Event
	used         int // pairs that were recorded and not read
	next         int
	sum          time.Duration
}

// timed is how many frames may be under way. It is more than an encoder holds.
const timed = 4

func newClock(dev *gpu.Device) (*clock, error) {
	c := new(clock)
	for range timed {
		start, err := dev.NewEvent()
		if err == nil {
			c.starts = append(c.starts, start)
			var end *gpu.Event
			if end, err = dev.NewEvent(); err == nil {
				c.ends = append(c.ends, end)
			}
		}
		if err != nil {
			return nil, errors.Join(err, c.close())
		}
	}
	return c, nil
}

func (c *clock) close() error {
	var errs []error
	for _, e := range append(c.starts, c.ends...) {
		errs = append(errs, e.Close())
	}
	return errors.Join(errs...)
}

// around records events around the work that f queues. It waits for the oldest work if too much is under way.
func (c *clock) around(ctx context.Context, s *gpu.Stream, f func() error) error {
	if c.used == timed {
		if err := c.read(ctx); err != nil {
			return err
		}
	}
	if err := s.Record(c.starts[c.next]); err != nil {
		return err
	}
	if err := f(); err != nil {
		return err
	}
	if err := s.Record(c.ends[c.next]); err != nil {
		return err
	}
	c.next = (c.next + 1) % timed
	c.used++
	return nil
}

// read adds the time of the oldest work.
func (c *clock) read(ctx context.Context) error {
	i := (c.next - c.used + timed) % timed
	if err := c.ends[i].Synchronize(ctx); err != nil {
		return err
	}
	d, err := gpu.Elapsed(c.starts[i], c.ends[i])
	if err != nil {
		return err
	}
	c.sum += d
	c.used--
	return nil
}

// draw draws some frames and passes them to an encoder, or to none.
func (f *Flight) draw(ctx context.Context, e *video.Encoder, v View, first, count, total int) (stats Stats, err error) {
	r, err := f.scene.NewRenderer(v)
	if err != nil {
		return stats, err
	}
	dev := f.scene.dev
	s, err := dev.NewStream(ctx)
	if err != nil {
		return stats, err
	}
	defer func() { err = errors.Join(err, s.Close()) }()
	frame, err := gpu.Alloc[uint8](dev, 4*v.Width*v.Height)
	if err != nil {
		return stats, err
	}
	defer func() { err = errors.Join(err, frame.Close()) }()
	times, err := newClock(dev)
	if err != nil {
		return stats, err
	}
	defer func() { err = errors.Join(err, times.close()) }()
	for i := first; i < first+count; i++ {
		if err := ctx.Err(); err != nil {
			return stats, context.Cause(ctx)
		}
		c := f.frameCamera(i, total)
		if err := times.around(ctx, s, func() error { return r.Render(s, frame, c) }); err != nil {
			if ctx.Err() != nil { // the CPU gives a frame up
				return stats, context.Cause(ctx)
			}
			return stats, err
		}
		if e != nil {
			if err := e.WriteFrame(s, frame); err != nil {
				return stats, err
			}
		}
		stats.Frames++
	}
	for times.used > 0 {
		if err := times.read(ctx); err != nil {
			return stats, err
		}
	}
	stats.Render = times.sum
	if e != nil {
		stats.Wait, stats.Codec = e.Stats().Wait, e.Codec()
	}
	return stats, s.Synchronize(ctx)
}
