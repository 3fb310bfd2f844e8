package filter_test

import (
	"context"
	"fmt"
	"image"
	"image/color"
	"log"

	"quern.dev/filter"
	"quern.dev/gpu"
)

// grid prints an image of one channel.
func grid[T filter.Pixel](s *gpu.Stream, m filter.Image[T]) {
	pixels := make([]T, m.Width*m.Height)
	if err := gpu.Download(context.Background(), s, pixels, m.Data); err != nil {
		log.Fatal(err)
	}
	for y := range m.Height {
		fmt.Println(pixels[y*m.Width:][:m.Width])
	}
}

func Example() {
	dev, err := gpu.Open(gpu.Config{Device: "cpu"})
	if err != nil {
		log.Fatal(err)
	}
	defer dev.Close()
	s := dev.DefaultStream()

	picture := image.NewGray(image.Rect(0, 0, 5, 3))
	picture.SetGray(2, 1, color.Gray{Y: 160})
	src, err := filter.NewImage[uint8](dev, 5, 3, 1)
	if err != nil {
		log.Fatal(err)
	}
	defer src.Data.Close()
	dst, err := filter.NewImage[uint8](dev, 5, 3, 1)
	if err != nil {
		log.Fatal(err)
	}
	defer dst.Data.Close()

	if err := filter.Upload(s, src, picture); err != nil {
		log.Fatal(err)
	}
	if err := filter.Gaussian(s, dst, src, 0.8, 0, filter.Boundary{}); err != nil {
		log.Fatal(err)
	}
	grid(s, dst)
	// Output:
	// [1 9 20 9 1]
	// [2 18 40 18 2]
	// [1 9 20 9 1]
}

func ExampleSeparable() {
	dev, err := gpu.Open(gpu.Config{Device: "cpu"})
	if err != nil {
		log.Fatal(err)
	}
	defer dev.Close()
	s := dev.DefaultStream()

	// A line of samples is an image of one row.
	samples, err := gpu.Upload(s, []float32{1, 4, 9, 16, 25, 36})
	if err != nil {
		log.Fatal(err)
	}
	defer samples.Close()
	result, err := gpu.Alloc[float32](dev, 6)
	if err != nil {
		log.Fatal(err)
	}
	defer result.Close()
	line := filter.Image[float32]{Width: 6, Height: 1, Data: samples}
	slope := filter.Image[float32]{Width: 6, Height: 1, Data: result}
	err = filter.Separable(s, slope, line, []float32{-0.5, 0, 0.5}, nil, filter.Boundary{Mode: filter.Nearest})
	if err != nil {
		log.Fatal(err)
	}
	grid(s, slope)
	// Output:
	// [1.5 4 6 8 10 5.5]
}

func ExampleLabel() {
	dev, err := gpu.Open(gpu.Config{Device: "cpu"})
	if err != nil {
		log.Fatal(err)
	}
	defer dev.Close()
	s := dev.DefaultStream()

	pixels, err := gpu.Upload(s, []uint8{
		1, 1, 0, 0, 1,
		0, 1, 0, 1, 0,
		0, 0, 0, 0, 1,
	})
	if err != nil {
		log.Fatal(err)
	}
	defer pixels.Close()
	labels, err := gpu.Alloc[int32](dev, 15)
	if err != nil {
		log.Fatal(err)
	}
	defer labels.Close()
	count, err := gpu.Alloc[int32](dev, 1)
	if err != nil {
		log.Fatal(err)
	}
	defer count.Close()
	src := filter.Image[uint8]{Width: 5, Height: 3, Data: pixels}
	if err := filter.Label(s, labels, count, src, filter.Connect8); err != nil {
		log.Fatal(err)
	}
	n, numbers := make([]int32, 1), make([]int32, 15)
	if err := gpu.Download(context.Background(), s, n, count); err != nil {
		log.Fatal(err)
	}
	if err := gpu.Download(context.Background(), s, numbers, labels); err != nil {
		log.Fatal(err)
	}
	fmt.Println(n[0], "components")
	fmt.Println(numbers[:5])
	fmt.Println(numbers[5:10])
	fmt.Println(numbers[10:])
	// Output:
	// 2 components
	// [1 1 0 0 2]
	// [0 1 0 2 0]
	// [0 0 0 0 2]
}
