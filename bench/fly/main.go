// Fly measures how fast quern.dev/geo/fly draws frames, and how fast it films where ffmpeg is installed.
//
//	go run ./bench/fly -device cuda
//	go run ./bench/fly -mosaic 16384 -dem 8192 -seconds 4 -film flight.mp4
//
// The scene is computed: fractal hills, and a mosaic of fine detail. Each line has the milliseconds per frame on the
// device, the frames per second of drawing alone, and the frames per second of the whole loop on the host.
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"math"
	"os"
	"runtime"
	"sync"
	"time"

	"quern.dev/geo/fly"
	"quern.dev/geo/tiff"
	"quern.dev/gpu"
	"quern.dev/video"
)

func main() {
	device := flag.String("device", "", "cuda, cpu or sim")
	mosaic := flag.Int("mosaic", 8192, "width and height of the mosaic in texels of 0.25 m")
	dem := flag.Int("dem", 4096, "width and height of the terrain in samples")
	width := flag.Int("width", 1920, "width of a frame")
	height := flag.Int("height", 1080, "height of a frame")
	seconds := flag.Float64("seconds", 4, "length of the flight, at 30 frames per second")
	film := flag.String("film", "", "write a video there too")
	codec := flag.String("codec", "auto", "encoder: x264, av1, h264-nvenc, hevc-nvenc or auto")
	preset := flag.String("preset", "", "the encoder's name of its speed")
	segments := flag.Int("segments", 1, "encoders that work at the same time")
	flag.Parse()
	c, ok := video.ParseCodec(*codec)
	if !ok {
		fmt.Fprintln(os.Stderr, "fly: unknown codec", *codec)
		os.Exit(2)
	}
	b := bench{device: *device, mosaic: *mosaic, dem: *dem, size: [2]int{*width, *height}, seconds: *seconds, film: *film, codec: c, preset: *preset, segments: *segments}
	if err := b.run(context.Background()); err != nil {
		fmt.Fprintln(os.Stderr, "fly:", err)
		os.Exit(1)
	}
}

type bench struct {
	device      string
	mosaic, dem int
	size        [2]int
	seconds     float64
	film        string
	codec       video.Codec
	preset      string
	segments    int
}

func (b *bench) run(ctx context.Context) (err error) {
	dev, err := gpu.Open(gpu.Config{Device: b.device})
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, dev.Close()) }()
	m, t := b.scene()
	start := time.Now()
	s, err := fly.NewScene(ctx, dev, m, t, nil, fly.Options{Preview: true, Sun: &fly.Sun{Azimuth: 130, Elevation: 30, Ambient: 0.4, Shadows: true}})
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, s.Close()) }()
	fmt.Printf("%s, frames of %d x %d, mosaic of %d and terrain of %d squared; upload, pyramids and shadows %.2f s\n", dev.Name(), b.size[0], b.size[1], b.mosaic, b.dem, time.Since(start).Seconds())
	side := float64(b.mosaic) * 0.25
	path, err := fly.Orbit(s, fly.Map(side/2, side/2, 0), 0.35*side, 0.12*side)
	if err != nil {
		return err
	}
	path.Seconds = b.seconds
	flight, err := s.Plan(path)
	if err != nil {
		return err
	}
	for _, c := range []struct {
		name string
		view fly.View
	}{
		{"float32", fly.View{}},
		{"float32, 2 x 2 rays", fly.View{Samples: 2}},
		{"float64", fly.View{Sampling: fly.Float64}},
		{"texture", fly.View{Sampling: fly.Texture}},
	} {
		v := c.view
		v.Width, v.Height, v.Visibility = b.size[0], b.size[1], 4*side
		if _, err := fly.Draw(ctx, flight.WithSeconds(0.1), v, video.FPS(30)); err != nil { // loads the kernels
			return err
		}
		stats, err := fly.Draw(ctx, flight, v, video.FPS(30))
		if err != nil {
			return err
		}
		fmt.Printf("%-20s %8.3f ms/frame %8.1f frames/s drawn %8.1f frames/s in all\n", c.name, 1e3/stats.RenderRate(), stats.RenderRate(), stats.Rate())
	}
	if b.film == "" {
		return nil
	}
	o := fly.FilmOptions{View: fly.View{Width: b.size[0], Height: b.size[1], Visibility: 4 * side},
		Video: video.Options{Rate: video.FPS(30), Codec: b.codec, Preset: b.preset, FastStart: true}, Segments: b.segments}
	stats, err := fly.Film(ctx, flight, b.film, o)
	if errors.Is(err, video.ErrNotFound) {
		fmt.Println("film: ffmpeg is not installed")
		return nil
	} else if err != nil {
		return err
	}
	limit := "the renderer"
	if stats.EncoderIsTheLimit() {
		limit = "the encoder"
	}
	fmt.Printf("film, %s: %.1f frames/s drawn, %.1f frames/s in all; %s is the limit\n", stats.Codec, stats.RenderRate(), stats.Rate(), limit)
	return nil
}

// scene computes hills of several sizes, and a mosaic of fields and noise.
func (b *bench) scene() (*fly.Mosaic, *fly.Terrain) {
	side := float64(b.mosaic) * 0.25
	m := &fly.Mosaic{Width: b.mosaic, Height: b.mosaic, Pixels: make([]uint32, b.mosaic*b.mosaic), Affine: tiff.Affine{0, 0.25, 0, side, 0, -0.25}}
	step := side / float64(b.dem)
	t := &fly.Terrain{Width: b.dem, Height: b.dem, Heights: make([]float32, b.dem*b.dem), Affine: tiff.Affine{0, step, 0, side, 0, -step}}
	rows(b.dem, func(j int) {
		for i := range b.dem {
			h, size := 0.0, side/2
			for range 9 {
				x, y := float64(i)*step/size, float64(j)*step/size
				h += 0.08 * size * smooth(x, y)
				size /= 2
			}
			t.Heights[j*b.dem+i] = float32(h)
		}
	})
	rows(b.mosaic, func(j int) {
		for i := range b.mosaic {
			field := hash(uint32(i/97), uint32(j/61))
			grain := hash(uint32(i), uint32(j)) & 31
			m.Pixels[j*b.mosaic+i] = 60 + field&63 + grain | (90+field>>8&63+grain)<<8 | (40+field>>16&31+grain)<<16 | 255<<24
		}
	})
	return m, t
}

func rows(n int, f func(j int)) {
	var wg sync.WaitGroup
	workers := runtime.GOMAXPROCS(0)
	for w := range workers {
		wg.Go(func() {
			for j := w; j < n; j += workers {
				f(j)
			}
		})
	}
	wg.Wait()
}

func hash(x, y uint32) uint32 {
	h := x*2654435761 ^ y*2246822519
	h ^= h >> 15
	h *= 2654435769
	return h ^ h>>13
}

// smooth is noise between 0 and 1 that is interpolated between the points of a grid.
func smooth(x, y float64) float64 {
	i, j := math.Floor(x), math.Floor(y)
	at := func(i, j float64) float64 { return float64(hash(uint32(i), uint32(j))>>8) / (1 << 24) }
	ease := func(v float64) float64 { return v * v * (3 - 2*v) }
	u, v := ease(x-i), ease(y-j)
	return (at(i, j)*(1-u)+at(i+1, j)*u)*(1-v) + (at(i, j+1)*(1-u)+at(i+1, j+1)*u)*v
}
