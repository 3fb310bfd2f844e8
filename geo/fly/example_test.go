package fly_test

import (
	"context"
	"fmt"
	"log"
	"math"
	"strings"

	"quern.dev/geo/fly"
	"quern.dev/geo/tiff"
	"quern.dev/gpu"
	"quern.dev/video"
)

// valley is a green terrain of 1000 x 1000 meters with its origin in the lower left corner.
func valley() (*fly.Mosaic, *fly.Terrain) {
	const n = 101
	m := &fly.Mosaic{Width: n, Height: n, Pixels: make([]uint32, n*n), Affine: tiff.Affine{0, 10, 0, 1010, 0, -10}}
	t := &fly.Terrain{Width: n, Height: n, Heights: make([]float32, n*n), Affine: m.Affine}
	for i := range m.Pixels {
		m.Pixels[i] = 0xff208020
		t.Heights[i] = float32(math.Abs(float64(i%n)-50) * 2)
	}
	return m, t
}

func Example() {
	ctx := context.Background()
	dev, err := gpu.Open(gpu.Config{Device: "cpu"})
	if err != nil {
		log.Fatal(err)
	}
	defer dev.Close()
	mosaic, terrain := valley()
	scene, err := fly.NewScene(ctx, dev, mosaic, terrain, nil, fly.Options{})
	if err != nil {
		log.Fatal(err)
	}
	defer scene.Close()

	path, err := fly.ReadJSON(strings.NewReader(`{"speed": 25, "waypoints": [
		{"x": 505, "y": 100, "height": 60},
		{"x": 505, "y": 600, "height": 60, "look_at": {"x": 505, "y": 900}}]}`))
	if err != nil {
		log.Fatal(err)
	}
	flight, err := scene.Plan(path)
	if err != nil {
		log.Fatal(err)
	}
	// fly.Film writes a video; Draw only draws.
	stats, err := fly.Draw(ctx, flight, fly.View{Width: 64, Height: 36}, video.Rate{Num: 1, Den: 2})
	if err != nil {
		log.Fatal(err)
	}
	fmt.Printf("%.0f m in %.0f s, %d frames\n", flight.Length(), flight.Seconds(), stats.Frames)
	// Output: 500 m in 20 s, 10 frames
}

func ExampleRenderer_Render() {
	ctx := context.Background()
	dev, err := gpu.Open(gpu.Config{Device: "cpu"})
	if err != nil {
		log.Fatal(err)
	}
	defer dev.Close()
	mosaic, terrain := valley()
	scene, err := fly.NewScene(ctx, dev, mosaic, terrain, nil, fly.Options{})
	if err != nil {
		log.Fatal(err)
	}
	defer scene.Close()

	r, err := scene.NewRenderer(fly.View{Width: 32, Height: 18})
	if err != nil {
		log.Fatal(err)
	}
	frame, err := gpu.Alloc[uint8](dev, 4*32*18)
	if err != nil {
		log.Fatal(err)
	}
	defer frame.Close()
	s := dev.DefaultStream()
	if err := r.Render(s, frame, fly.Camera{X: 505, Y: 500, Altitude: 300, Pitch: -90, FieldOfView: 40}); err != nil {
		log.Fatal(err)
	}
	pixels := make([]byte, frame.Len())
	if err := gpu.Download(ctx, s, pixels, frame); err != nil {
		log.Fatal(err)
	}
	fmt.Println(pixels[:4])
	// Output: [32 128 32 255]
}
