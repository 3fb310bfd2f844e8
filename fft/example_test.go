package fft_test

import (
	"context"
	"fmt"
	"log"
	"math"

	"quern.dev/fft"
	"quern.dev/gpu"
)

func open() (*gpu.Device, *gpu.Stream) {
	dev, err := gpu.Open(gpu.Config{Device: "cpu"})
	if err != nil {
		log.Fatal(err)
	}
	return dev, dev.DefaultStream()
}

func check(err error) {
	if err != nil {
		log.Fatal(err)
	}
}

func must[T any](v T, err error) T {
	check(err)
	return v
}

func ExamplePlan() {
	dev, s := open()
	defer dev.Close()
	plan := must(fft.NewPlan[complex64](dev, fft.Desc{Shape: []int{4}}))
	defer plan.Close()
	x := must(gpu.Upload(s, []complex64{1, 2, 3, 4}))
	defer x.Close()

	check(plan.Forward(s, x, x)) // in place
	spectrum := make([]complex64, 4)
	check(gpu.Download(context.Background(), s, spectrum, x))
	fmt.Println(spectrum)

	check(plan.Inverse(s, x, x))
	check(gpu.Download(context.Background(), s, spectrum, x))
	fmt.Println(spectrum)
	// Output:
	// [(10+0i) (-2+2i) (-2+0i) (-2-2i)]
	// [(1+0i) (2+0i) (3+0i) (4+0i)]
}

// The columns of a matrix of two rows and three columns.
func ExampleLayout() {
	dev, s := open()
	defer dev.Close()
	columns := fft.Layout{Stride: 3, Dist: 1}
	plan := must(fft.NewPlan[complex128](dev, fft.Desc{Shape: []int{2}, Batch: 3, Signal: columns, Spectrum: columns}))
	defer plan.Close()
	x := must(gpu.Upload(s, []complex128{
		1, 2, 3,
		4, 5, 6,
	}))
	defer x.Close()
	check(plan.Forward(s, x, x))
	out := make([]complex128, 6)
	check(gpu.Download(context.Background(), s, out, x))
	fmt.Println(out[:3])
	fmt.Println(out[3:])
	// Output:
	// [(5+0i) (7+0i) (9+0i)]
	// [(-3+0i) (-3+0i) (-3+0i)]
}

// A cosine has one peak, with half its amplitude times the number of points.
func ExampleRealPlan() {
	dev, s := open()
	defer dev.Close()
	const n, rate = 1000, 500. // two seconds
	plan := must(fft.NewRealPlan[float32, complex64](dev, fft.Desc{Shape: []int{n}}))
	defer plan.Close()
	signal := make([]float32, n)
	for i := range signal {
		signal[i] = float32(3 * math.Cos(2*math.Pi*40*float64(i)/rate+1))
	}
	x := must(gpu.Upload(s, signal))
	defer x.Close()
	spectrum := must(gpu.Alloc[complex64](dev, n/2+1))
	defer spectrum.Close()
	magnitude, phase := must(gpu.Alloc[float32](dev, n/2+1)), must(gpu.Alloc[float32](dev, n/2+1))
	defer magnitude.Close()
	defer phase.Close()

	check(plan.Forward(s, spectrum, x))
	check(fft.Polar(s, magnitude, phase, spectrum))
	m, p := make([]float32, n/2+1), make([]float32, n/2+1)
	check(gpu.Download(context.Background(), s, m, magnitude))
	check(gpu.Download(context.Background(), s, p, phase))
	frequencies := fft.RealFrequencies(n, 1/rate)
	for i, v := range m {
		if v > 1 {
			fmt.Printf("%.1f Hz: amplitude %.3f, phase %.3f\n", frequencies[i], 2*v/n, p[i])
		}
	}
	// Output: 40.0 Hz: amplitude 3.000, phase 1.000
}

func ExampleConvolution() {
	dev, s := open()
	defer dev.Close()
	c := must(fft.NewConvolution[float64](dev, fft.ConvolutionDesc{Signal: 4, Kernel: 2}))
	defer c.Close()
	a, b := must(gpu.Upload(s, []float64{1, 2, 3, 4})), must(gpu.Upload(s, []float64{1, 10}))
	defer a.Close()
	defer b.Close()
	out := must(gpu.Alloc[float64](dev, 5))
	defer out.Close()
	check(c.Run(s, out, a, b))
	result := make([]float64, 5)
	check(gpu.Download(context.Background(), s, result, out))
	fmt.Printf("%.0f\n", result)
	// Output: [1 12 23 34 40]
}

func ExampleShift() {
	dev, s := open()
	defer dev.Close()
	f := must(gpu.Upload(s, fft.Frequencies(5, 0.2)))
	defer f.Close()
	out := must(gpu.Alloc[float64](dev, 5))
	defer out.Close()
	check(fft.Shift(s, out, f, 5))
	result := make([]float64, 5)
	check(gpu.Download(context.Background(), s, result, out))
	fmt.Println(result)
	// Output: [-2 -1 0 1 2]
}
