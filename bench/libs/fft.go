package main

import (
	"context"
	"fmt"
	"math"
	"slices"
	"strings"

	"quern.dev/fft"
	"quern.dev/gpu"
)

func init() { register("fft", measureFFT) }

// fftCase is a set of complex transforms. peers_fft.py has the same ones, by name.
type fftCase struct {
	shape []int
	batch int
	wide  bool    // complex128
	goal  float64 // least speed, relative to cuFFT's
}

var fftCases = []fftCase{
	{[]int{1 << 8}, 1 << 18, false, 0},
	{[]int{1 << 10}, 1 << 16, false, 0},
	{[]int{1 << 12}, 1 << 14, false, 0.85},
	{[]int{1 << 16}, 1 << 10, false, 0},
	{[]int{1 << 20}, 64, false, 0.85},
	{[]int{1 << 24}, 4, false, 0},
	{[]int{1 << 26}, 1, false, 0},
	{[]int{4096, 4096}, 1, false, 0.85},
	{[]int{512, 512, 512}, 1, false, 0},
	{[]int{1000}, 1 << 16, false, 0},
	{[]int{2310}, 1 << 15, false, 0},
	{[]int{1009}, 1 << 14, false, 0},
	{[]int{1000000}, 64, false, 0},
	{[]int{1 << 12}, 1 << 13, true, 0},
	{[]int{1 << 20}, 32, true, 0},
}

func (c fftCase) name() string {
	name := strings.ReplaceAll(strings.Trim(fmt.Sprint(c.shape), "[]"), " ", "x")
	if c.wide {
		name += " complex128"
	}
	return fmt.Sprintf("%s, batch %d", name, c.batch)
}

// measureFFT prints time, bandwidth and speed relative to cuFFT. The bandwidth counts what
// has to be read and written at least: each element once.
func measureFFT(ctx context.Context, dev *gpu.Device) error {
	peers, err := peer(ctx, "peers_fft.py")
	if err != nil {
		fmt.Printf("no peers: %v\n", err)
	}
	fmt.Printf("%-36s %10s %8s %10s%s %10s %8s\n", "", "us", "GB/s", "error", vendorHeader(), "cuFFT us", "relative")
	for _, c := range fftCases {
		run := measureTransforms[complex64]
		if c.wide {
			run = measureTransforms[complex128]
		}
		seconds, distance, err := run(ctx, dev, c)
		if err != nil {
			return fmt.Errorf("%s: %w", c.name(), err)
		}
		size := 8.
		if c.wide {
			size = 16
		}
		for _, n := range append(slices.Clone(c.shape), c.batch) {
			size *= float64(n)
		}
		fmt.Printf("%-36s %10.1f %8.0f %10.2g%s", c.name(), seconds*1e6, 2*size/seconds/1e9, distance, vendor(dev, seconds, func() (float64, error) {
			seconds, _, err := run(ctx, dev, c)
			return seconds, err
		}))
		if theirs, ok := peers[c.name()]; ok {
			fmt.Printf(" %10.1f %8.2f", theirs*1e6, theirs/seconds)
			if c.goal > 0 && theirs/seconds < c.goal {
				fmt.Printf(" MISSED (goal %g)", c.goal)
			}
		}
		fmt.Println()
	}
	return nil
}

// measureTransforms returns the time of one call, and the relative error there and back.
func measureTransforms[C fft.Complex](ctx context.Context, dev *gpu.Device, c fftCase) (seconds, distance float64, err error) {
	p, err := fft.NewPlan[C](dev, fft.Desc{Shape: c.shape, Batch: c.batch})
	if err != nil {
		return 0, 0, err
	}
	defer p.Close()
	n := c.batch
	for _, x := range c.shape {
		n *= x
	}
	host := make([]C, n)
	state := uint32(1)
	for i := range host {
		state = state*1664525 + 1013904223
		host[i] = C(complex(float64(state>>16)/65536-0.5, float64(state&0xffff)/65536-0.5))
	}
	s := dev.DefaultStream()
	x, err := gpu.Upload(s, host)
	if err != nil {
		return 0, 0, err
	}
	defer x.Close()
	y, err := gpu.Alloc[C](dev, n)
	if err != nil {
		return 0, 0, err
	}
	defer y.Close()
	if seconds, err = measure(ctx, s, func() error { return p.Forward(s, y, x) }); err != nil {
		return 0, 0, err
	}
	if err := p.Inverse(s, y, y); err != nil {
		return 0, 0, err
	}
	back := make([]C, n)
	if err := gpu.Download(ctx, s, back, y); err != nil {
		return 0, 0, err
	}
	var d, sum float64
	for i, v := range back {
		a, b := complex128(v)-complex128(host[i]), complex128(host[i])
		d += real(a)*real(a) + imag(a)*imag(a)
		sum += real(b)*real(b) + imag(b)*imag(b)
	}
	return seconds, math.Sqrt(d / sum), nil
}
