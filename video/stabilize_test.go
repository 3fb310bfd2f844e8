package video

import (
	"errors"
	"math"
	"math/rand/v2"
	"path/filepath"
	"testing"

	"quern.dev/gpu"
	"quern.dev/gputest"
)

// texture is a picture of smooth noise, seen through a window of w x h pixels at a position.
type texture struct {
	size  int
	noise []float64
}

func newTexture(size int) texture {
	r := rand.New(rand.NewPCG(5, uint64(size)))
	t := texture{size, make([]float64, size*size)}
	for i := range t.noise {
		t.noise[i] = r.Float64()
	}
	return t
}

// at interpolates noise of several sizes.
func (t texture) at(x, y float64) float64 {
	sum := 0.0
	for _, scale := range []float64{3, 7, 19} {
		u, v := x/scale, y/scale
		i, j := math.Floor(u), math.Floor(v)
		u, v = u-i, v-j
		n := func(i, j float64) float64 {
			return t.noise[((int(j)%t.size+t.size)%t.size)*t.size+(int(i)%t.size+t.size)%t.size]
		}
		sum += (n(i, j)*(1-u)+n(i+1, j)*u)*(1-v) + (n(i, j+1)*(1-u)+n(i+1, j+1)*u)*v
	}
	return sum / 3
}

func (t texture) frame(w, h int, x, y float64) []uint8 {
	rgba := make([]uint8, 4*w*h)
	for i := range w * h {
		v := uint8(255 * t.at(x+float64(i%w), y+float64(i/w)))
		copy(rgba[4*i:], []uint8{v, v, 255 - v, 255})
	}
	return rgba
}

func TestMotionIsFoundToAPartOfAPixel(t *testing.T) {
	const w, h = 150, 132
	tex := newTexture(64)
	positions := [][2]float64{{0, 0}, {3, -2}, {3.5, 4.25}, {-9, 4}, {-9, 4}, {5, 15}}
	gputest.Each(t, func(t *testing.T, dev *gpu.Device) {
		s := dev.DefaultStream()
		c, err := newCorrelator(dev, s, w, h)
		if err != nil {
			t.Fatal(err)
		}
		defer func() {
			if err := c.close(); err != nil {
				t.Error(err)
			}
		}()
		for i, p := range positions {
			if dev.Backend() == gpu.Sim && i > 1 {
				break // the simulator takes its time
			}
			frame := gputest.Upload(t, dev, tex.frame(w, h, p[0], p[1]))
			m, err := c.next(t.Context(), s, frame)
			if err != nil {
				t.Fatal(err)
			}
			if i == 0 {
				continue
			}
			// The picture moves to the left when the window moves to the right.
			x, y := positions[i-1][0]-p[0], positions[i-1][1]-p[1]
			if math.Hypot(m.X-x, m.Y-y) > 0.35 {
				t.Errorf("frame %d: the motion is %.2f, %.2f, not %g, %g", i, m.X, m.Y, x, y)
			}
		}
		// After a cut there is no motion.
		frame := gputest.Upload(t, dev, newTexture(31).frame(w, h, 1000, 1000))
		if m, err := c.next(t.Context(), s, frame); err != nil || m != (Motion{}) {
			t.Errorf("after a cut the motion is %v, %v", m, err)
		}
	})
}

func TestASteadyMotionIsKept(t *testing.T) {
	motions := make([]Motion, 60)
	for i := 1; i < len(motions); i++ {
		motions[i] = Motion{2, -0.5}
	}
	for i, s := range steady(motions, 8) {
		if math.Hypot(s.X, s.Y) > 1e-9 {
			t.Errorf("frame %d is shifted by %v", i, s)
		}
	}
}

func TestShakenVideosBecomeSteady(t *testing.T) {
	t.Parallel() // it waits for processes
	needFFmpeg(t)
	dev := gputest.Open(t, gpu.Config{Device: "cpu"})
	folder := t.TempDir()
	shaken, still := filepath.Join(folder, "shaken.mp4"), filepath.Join(folder, "still.mp4")
	o := Options{Width: 128, Height: 128, Rate: FPS(25), Preset: "ultrafast", CRF: 10}
	e, err := Create(t.Context(), dev, shaken, o)
	if err != nil {
		t.Fatal(err)
	}
	defer e.Abort()
	tex, r := newTexture(64), rand.New(rand.NewPCG(7, 8))
	frame := gputest.Alloc[uint8](t, dev, 4*128*128)
	for i := range 24 {
		x, y := float64(i)+float64(r.IntN(9)-4), float64(r.IntN(9)-4)
		err := errors.Join(gpu.CopyIn(dev.DefaultStream(), frame, tex.frame(128, 128, x, y)), e.WriteFrame(dev.DefaultStream(), frame))
		if err != nil {
			t.Fatal(err)
		}
	}
	if err := e.Close(); err != nil {
		t.Fatal(err)
	}
	if err := Stabilize(t.Context(), dev, still, shaken, o, Steadying{}); err != nil {
		t.Fatal(err)
	}
	var shake [2]float64
	for k, name := range []string{shaken, still} {
		motions, info, err := Motions(t.Context(), dev, name, Tools{})
		if err != nil || len(motions) != 24 || info.Width != 128 {
			t.Fatalf("%d frames, %+v, %v", len(motions), info, err)
		}
		for _, m := range motions[1:] {
			shake[k] += math.Hypot(m.X+1, m.Y) // the camera moves by one pixel per frame
		}
	}
	if shake[1] > shake[0]/4 {
		t.Errorf("the picture still shakes: %.1f pixels, before %.1f", shake[1], shake[0])
	}
}
