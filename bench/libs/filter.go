package main

import (
	"context"
	"fmt"
	"unsafe"

	"quern.dev/filter"
	"quern.dev/gpu"
)

func init() { register("filter", measureFilter) }

// filterWidth and filterHeight are the size of an 8K picture; peers_filter.py has them too.
const filterWidth, filterHeight = 7680, 4320

// filterCase is a filter of one picture. peers_filter.py has the same ones, by name.
type filterCase struct {
	name string
	goal float64 // least speed, relative to the peer
	run  func(s *gpu.Stream) error
	size int // bytes that have to be read and written at least
}

// measureFilter prints time, bandwidth and speed relative to cupyx.scipy.ndimage.
func measureFilter(ctx context.Context, dev *gpu.Device) error {
	s := dev.DefaultStream()
	var closers []func() error
	defer func() {
		for _, c := range closers {
			c()
		}
	}()
	gray, grayOut, err := filterImages[uint8](s, 1, &closers)
	if err != nil {
		return err
	}
	color, colorOut, err := filterImages[uint8](s, 3, &closers)
	if err != nil {
		return err
	}
	float, floatOut, err := filterImages[float32](s, 1, &closers)
	if err != nil {
		return err
	}
	labels, err := gpu.Alloc[int32](dev, filterWidth*filterHeight)
	if err != nil {
		return err
	}
	closers = append(closers, labels.Close)
	half := filter.Image[float32]{Width: filterWidth / 2, Height: filterHeight / 2, Channels: 1, Data: floatOut.Data}

	const n = filterWidth * filterHeight
	b := filter.Boundary{}
	weights := make([]float32, 9*9)
	for i := range weights {
		weights[i] = float32(i%7) / 16
	}
	stencil := filter.Stencil{Width: 9, Height: 9, Weights: weights}
	element := filter.Element{Width: 15, Height: 15}
	cases := []filterCase{
		{"correlate 9x9, float32", 1, func(s *gpu.Stream) error { return filter.Correlate(s, floatOut, float, stencil, b) }, 8 * n},
		{"gaussian sigma 2, float32", 1, func(s *gpu.Stream) error { return filter.Gaussian(s, floatOut, float, 2, 0, b) }, 8 * n},
		{"gaussian sigma 10, float32", 1, func(s *gpu.Stream) error { return filter.Gaussian(s, floatOut, float, 10, 0, b) }, 8 * n},
		{"gaussian sigma 2, uint8 x 3", 0, func(s *gpu.Stream) error { return filter.Gaussian(s, colorOut, color, 2, 0, b) }, 6 * n},
		{"box 31x31, float32", 1, func(s *gpu.Stream) error { return filter.Box(s, floatOut, float, 31, 31, b) }, 8 * n},
		{"median 3x3, uint8", 1, func(s *gpu.Stream) error { return filter.Median(s, grayOut, gray, 3, 3, b) }, 2 * n},
		{"median 5x5, uint8", 1, func(s *gpu.Stream) error { return filter.Median(s, grayOut, gray, 5, 5, b) }, 2 * n},
		{"median 5x5, float32", 1, func(s *gpu.Stream) error { return filter.Median(s, floatOut, float, 5, 5, b) }, 8 * n},
		{"median 11x11, uint8", 1, func(s *gpu.Stream) error { return filter.Median(s, grayOut, gray, 11, 11, b) }, 2 * n},
		{"erode 15x15, uint8", 1, func(s *gpu.Stream) error { return filter.Erode(s, grayOut, gray, element, b) }, 2 * n},
		{"bilateral radius 4, uint8 x 3", 0, func(s *gpu.Stream) error { return filter.Bilateral(s, colorOut, color, 4, 2, 30, b) }, 6 * n},
		{"resize to half, linear, float32", 1, func(s *gpu.Stream) error { return filter.Resize(s, half, float, filter.Linear) }, 5 * n},
		{"resize to half, area, float32", 0, func(s *gpu.Stream) error { return filter.Resize(s, half, float, filter.Area) }, 5 * n},
		{"rotate 10 degrees, linear, float32", 1, func(s *gpu.Stream) error {
			return filter.Rotate(s, floatOut, float, 10, filter.Linear, filter.Boundary{Mode: filter.Constant})
		}, 8 * n},
		{"rotate 10 degrees, cubic, float32", 0, func(s *gpu.Stream) error {
			return filter.Rotate(s, floatOut, float, 10, filter.Cubic, filter.Boundary{Mode: filter.Constant})
		}, 8 * n},
		{"RGB to Lab, uint8", 0, func(s *gpu.Stream) error { return filter.ConvertColor(s, colorOut, color, filter.Lab, filter.RGB) }, 6 * n},
		{"sobel, float32", 1, func(s *gpu.Stream) error { return filter.Sobel(s, floatOut, float, filter.AlongX, b) }, 8 * n},
		{"canny, uint8", 0, func(s *gpu.Stream) error { return filter.Canny(s, grayOut, gray, 100, 200) }, 2 * n},
		{"CLAHE 8x8, uint8", 0, func(s *gpu.Stream) error { return filter.CLAHE(s, grayOut, gray, 8, 8, 3) }, 2 * n},
		{"label, uint8", 1, func(s *gpu.Stream) error { return filter.Label(s, labels, nil, gray, filter.Connect4) }, 5 * n},
	}
	peers, err := peer(ctx, "peers_filter.py")
	if err != nil {
		fmt.Printf("no peers: %v\n", err)
	}
	fmt.Printf("%-36s %10s %8s %10s %8s\n", "8K picture", "us", "GB/s", "CuPy us", "relative")
	for _, c := range cases {
		seconds, err := measure(ctx, s, func() error { return c.run(s) })
		if err != nil {
			return fmt.Errorf("%s: %w", c.name, err)
		}
		fmt.Printf("%-36s %10.1f %8.0f", c.name, seconds*1e6, float64(c.size)/seconds/1e9)
		if theirs, ok := peers[c.name]; ok {
			fmt.Printf(" %10.1f %8.2f", theirs*1e6, theirs/seconds)
			if c.goal > 0 && theirs/seconds < c.goal {
				fmt.Printf(" MISSED (goal %g)", c.goal)
			}
		}
		fmt.Println()
	}
	return nil
}

// filterImages returns a picture of smooth shapes with noise, and one for results.
func filterImages[T filter.Pixel](s *gpu.Stream, channels int, closers *[]func() error) (src, dst filter.Image[T], err error) {
	pixels := make([]T, filterWidth*filterHeight*channels)
	state := uint32(1)
	for i := range pixels {
		state = state*1664525 + 1013904223
		x, y := i/channels%filterWidth, i/channels/filterWidth
		v := (x/64+y/48)%2*150 + int(state>>26)
		if unsafe.Sizeof(pixels[0]) == 1 && (x/64+y/48)%2 == 0 {
			v = int(state>>31) * 40 // some background for labels
		}
		pixels[i] = T(v)
	}
	src = filter.Image[T]{Width: filterWidth, Height: filterHeight, Channels: channels}
	if src.Data, err = gpu.Upload(s, pixels); err != nil {
		return src, dst, err
	}
	*closers = append(*closers, src.Data.Close)
	if dst, err = filter.NewImage[T](s.Device(), filterWidth, filterHeight, channels); err != nil {
		return src, dst, err
	}
	*closers = append(*closers, dst.Data.Close)
	return src, dst, nil
}
