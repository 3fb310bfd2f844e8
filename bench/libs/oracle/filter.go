package main

import (
	"fmt"

	"quern.dev/filter"
	"quern.dev/gpu"
)

// modes are the boundaries by their names in SciPy.
var modes = []struct {
	name string
	mode filter.Mode
}{{"reflect", filter.Reflect}, {"nearest", filter.Nearest}, {"mirror", filter.Mirror}, {"wrap", filter.Wrap}, {"constant", filter.Constant}}

func filterCases(q *suite) {
	for _, m := range modes {
		boundaryCases(q, m.name, filter.Boundary{Mode: m.mode})
	}
	s, w, h := q.s, q.size(300), q.size(300)
	t := q.test("filter.Label", "ndimage.label(x)[0]", "0")
	x, labels := input(t, "x", between[uint8](q, w*h, 0, 2), h, w), output[int32](t, "got", h, w)
	t.run(func() error { return filter.Label(s, labels, nil, picture(w, h, x), filter.Connect4) })

	t = q.test("filter.Histogram", "xp.bincount(x.ravel(), minlength=256)", "0")
	x = input(t, "x", between[uint8](q, w*h, 0, 256), h, w)
	counts := output[uint32](t, "got", 256)
	t.run(func() error { return filter.Histogram(s, counts, picture(w, h, x)) })
}

func picture[T filter.Pixel](w, h int, data *gpu.Buffer[T]) filter.Image[T] {
	return filter.Image[T]{Width: w, Height: h, Channels: 1, Data: data}
}

// boundaryCases are the filters of scipy.ndimage that have a mode.
func boundaryCases(q *suite, mode string, b filter.Boundary) {
	s, w, h := q.s, 1+q.size(200), 1+q.size(200)
	floats := func(name, want, bound string, f func(dst, src filter.Image[float32], t *test) error) {
		t := q.test(name+", float32, "+mode, want, bound)
		x, y := input(t, "x", between[float32](q, w*h, 0, 1), h, w), output[float32](t, "got", h, w)
		t.run(func() error { return f(picture(w, h, y), picture(w, h, x), t) })
	}
	bytes := func(name, want string, f func(dst, src filter.Image[uint8]) error) {
		t := q.test(name+", uint8, "+mode, want, "0")
		x, y := input(t, "x", between[uint8](q, w*h, 0, 256), h, w), output[uint8](t, "got", h, w)
		t.run(func() error { return f(picture(w, h, y), picture(w, h, x)) })
	}
	kw, kh := 1+2*q.rng.IntN(4), 1+2*q.rng.IntN(4)
	weights := between[float32](q, kw*kh, -1, 1)
	floats("filter.Correlate", "ndimage.correlate(x.astype('d'), weights.astype('d'), mode='"+mode+"')", "(weights.size + 2) * u32 * xp.abs(weights).sum()",
		func(dst, src filter.Image[float32], t *test) error {
			array(t, "weights", weights, kh, kw)
			return filter.Correlate(s, dst, src, filter.Stencil{Width: kw, Height: kh, Weights: weights}, b)
		})
	sigma := 0.5 + 3*q.rng.Float64()
	floats("filter.Gaussian", fmt.Sprintf("ndimage.gaussian_filter(x.astype('d'), %v, mode='%s')", sigma, mode), "100 * u32",
		func(dst, src filter.Image[float32], _ *test) error { return filter.Gaussian(s, dst, src, sigma, 0, b) })
	floats("filter.Sobel", "ndimage.sobel(x.astype('d'), 1, mode='"+mode+"')", "64 * u32",
		func(dst, src filter.Image[float32], _ *test) error {
			return filter.Sobel(s, dst, src, filter.AlongX, b)
		})
	floats("filter.Box", fmt.Sprintf("ndimage.uniform_filter(x.astype('d'), (%d, %d), mode='%s')", kh, kw, mode), "100 * u32",
		func(dst, src filter.Image[float32], _ *test) error { return filter.Box(s, dst, src, kw, kh, b) })
	size := fmt.Sprintf("(%d, %d), mode='%s'", kh, kw, mode)
	bytes("filter.Median", "ndimage.median_filter(x, "+size+")", func(dst, src filter.Image[uint8]) error { return filter.Median(s, dst, src, kw, kh, b) })
	bytes("filter.Erode", "ndimage.grey_erosion(x, "+size+")", func(dst, src filter.Image[uint8]) error {
		return filter.Erode(s, dst, src, filter.Element{Width: kw, Height: kh}, b)
	})
	bytes("filter.Dilate", "ndimage.grey_dilation(x, "+size+")", func(dst, src filter.Image[uint8]) error {
		return filter.Dilate(s, dst, src, filter.Element{Width: kw, Height: kh}, b)
	})
	// SciPy's modes for positions between pixels.
	between := map[string]string{"constant": "grid-constant", "wrap": "grid-wrap"}[mode]
	if between == "" {
		between = mode
	}
	angle := 360 * q.rng.Float64()
	floats("filter.Rotate, linear", fmt.Sprintf("ndimage.rotate(x.astype('d'), %v, reshape=False, order=1, mode='%s')", angle, between), "64 * u32",
		func(dst, src filter.Image[float32], _ *test) error {
			return filter.Rotate(s, dst, src, angle, filter.Linear, b)
		})
}
