package main

import (
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"quern.dev/kernel"
)

// randomPicture returns a smooth picture with some noise, partly transparent.
func randomPicture(w, h int, seed uint64) picture {
	r := rand.New(rand.NewPCG(seed, 2))
	p := picture{w, h, make([]uint32, w*h)}
	fx, fy := 0.02+0.1*r.Float64(), 0.02+0.1*r.Float64()
	for i := range p.pixels {
		x, y := float64(i%w), float64(i/w)
		base := 110 + 100*math.Sin(fx*x)*math.Cos(fy*y)
		v := func() uint32 { return uint32(min(max(base+40*r.NormFloat64(), 0), 255)) }
		alpha := uint32(255)
		if r.IntN(4) == 0 {
			alpha = uint32(r.IntN(256))
		}
		p.pixels[i] = v() | v()<<8 | v()<<16 | alpha<<24
	}
	return p
}

func constantPicture(w, h int, pixel uint32) picture {
	return picture{w, h, slices.Repeat([]uint32{pixel}, w*h)}
}

func testOptions() options {
	return options{angle: 23.5, sigma: 1.7, amount: 0.8, strength: 0.6, bicubic: true, background: rgb{0.2, 0.5, 0.1}}
}

// jobs lists the inputs with which every engine is tested.
var jobs = []struct {
	name string
	src  picture
	opt  func(*options)
}{
	{"a picture larger than the tiles, bicubic", randomPicture(301, 97, 1), func(o *options) {}},
	{"a picture smaller than the tiles, bilinear", randomPicture(29, 31, 2), func(o *options) { o.bicubic = false }},
	{"the largest blur", randomPicture(80, 70, 3), func(o *options) { o.sigma = maxSigma }},
	{"a blur that reaches beyond the picture", randomPicture(5, 3, 4), func(o *options) { o.sigma = 6 }},
	{"a blur of almost nothing", randomPicture(17, 9, 5), func(o *options) { o.sigma = 1e-9 }},
	{"one pixel", randomPicture(1, 1, 6), func(o *options) {}},
	{"one row, a quarter turn", randomPicture(300, 1, 7), func(o *options) { o.angle = 90 }},
	{"one column, turned by more than a circle", randomPicture(1, 200, 8), func(o *options) { o.angle = -777 }},
	{"a black picture", constantPicture(40, 20, 0xff000000), func(o *options) {}},
	{"a transparent picture", constantPicture(40, 20, 0x00ffffff), func(o *options) {}},
}

func TestStagesAgreeWithTheirDefinitions(t *testing.T) {
	for _, e := range engines() {
		for _, job := range jobs {
			t.Run(e.name+"/"+job.name, func(t *testing.T) {
				opt := testOptions()
				job.opt(&opt)
				checkStages(t, opt, job.src, e.run(t, opt, job.src))
			})
		}
	}
}

// checkStages compares the result of each stage with its definition, applied to
// the result of the previous stage.
func checkStages(t *testing.T, opt options, src picture, got outputs) {
	t.Helper()
	w, h := src.w, src.h
	_, outW, outH := newRotation(w, h, opt.angle)
	reach, weight := 1, triangle
	if opt.bicubic {
		reach, weight = 2, cubic
	}
	linear, equalized := got.planes["sRGB to linear"], got.planes["equalize"]
	rows, blurred, sharp := got.planes["blur rows"], got.planes["blur columns"], got.planes["unsharp mask"]

	closeTo(t, "sRGB to linear", linear, refToLinear(src.pixels, opt.background), 1e-6)
	closeTo(t, "blur rows", rows, refBlur(linear, w, h, 1, 0, opt.sigma), 2e-6)
	closeTo(t, "blur columns", blurred, refBlur(rows, w, h, 0, 1, opt.sigma), 2e-6)
	closeTo(t, "unsharp mask", sharp, refSharpen(linear, blurred, opt.amount), 2e-6)
	// A tone on the border between two bins may be counted in either.
	closeTo(t, "histogram", got.words["histogram"], refHistogram(sharp), 1)
	closeTo(t, "tone curve", got.planes["tone curve"], refToneCurve(got.words["histogram"], opt.strength), 1e-6)
	closeTo(t, "equalize", equalized, refEqualize(got.planes["tone curve"], sharp), 1e-4)
	closeTo(t, "rotate", got.planes["rotate"], refRotate(equalized, w, h, opt.angle, opt.background, outW, outH, reach, weight), 1e-3)

	pixels := got.words["linear to sRGB"]
	bytes := make([]float32, 0, 4*len(pixels))
	for _, p := range pixels {
		bytes = append(bytes, float32(p&0xff), float32(p>>8&0xff), float32(p>>16&0xff), float32(p>>24))
	}
	closeTo(t, "linear to sRGB", bytes, refToSRGB(got.planes["rotate"]), 0.501)
}

// closeTo fails unless each element of got is within a tolerance of want. The
// tolerance is relative where want is above 1.
func closeTo[T float32 | uint32](t *testing.T, stage string, got []T, want []float64, tolerance float64) {
	t.Helper()
	if len(got) != len(want) {
		t.Errorf("%s: %d values, want %d", stage, len(got), len(want))
		return
	}
	for i, w := range want {
		if e := math.Abs(float64(got[i]) - w); !(e <= tolerance*max(1, math.Abs(w))) {
			t.Errorf("%s: value %d of %d is %v, want %v", stage, i, len(want), got[i], w)
			return
		}
	}
}

func TestRotationByFullTurnsIsTheIdentity(t *testing.T) {
	for _, e := range engines() {
		for _, angle := range []float64{0, 360, -720} {
			for _, bicubic := range []bool{false, true} {
				t.Run(fmt.Sprintf("%s/by %v, bicubic %v", e.name, angle, bicubic), func(t *testing.T) {
					opt := testOptions()
					opt.angle, opt.bicubic = angle, bicubic
					got := e.run(t, opt, randomPicture(50, 33, 11))
					if !slices.Equal(got.planes["rotate"], got.planes["equalize"]) {
						t.Error("the rotated picture is not the picture")
					}
				})
			}
		}
	}
}

func TestFourQuarterTurnsAreTheIdentity(t *testing.T) {
	const w, h = 31, 20
	src := randomPicture(w, h, 12)
	planes := runPlain(t, testOptions(), src).planes["equalize"]
	turned, tw, th := planes, w, h
	for range 4 {
		r, outW, outH := newRotation(tw, th, 90)
		out := make([]float32, 3*outW*outH)
		plane(outW, outH, func(t kernel.Thread) { rotateBicubic(t, r, rgb{}, tw, th, turned, outW, outH, out) })
		turned, tw, th = out, outW, outH
	}
	if tw != w || th != h || !slices.Equal(turned, planes) {
		t.Error("the picture has changed")
	}
}

func TestRotationIsCounterclockwise(t *testing.T) {
	// A bright pixel at the right end of a row moves to the top of a column.
	planes := slices.Repeat([]float32{0, 0, 1}, 3)
	r, outW, outH := newRotation(3, 1, 90)
	out := make([]float32, 9)
	plane(outW, outH, func(t kernel.Thread) { rotateBilinear(t, r, rgb{}, 3, 1, planes, outW, outH, out) })
	if want := slices.Repeat([]float32{1, 0, 0}, 3); outW != 1 || outH != 3 || !slices.Equal(out, want) {
		t.Errorf("%dx%d: %v, want 1x3: %v", outW, outH, out, want)
	}
}

func TestBlurOfAConstantIsTheConstant(t *testing.T) {
	for _, e := range engines() {
		for _, sigma := range []float64{0.3, 2, maxSigma} {
			t.Run(fmt.Sprintf("%s/sigma %.3g", e.name, sigma), func(t *testing.T) {
				opt := testOptions()
				opt.sigma = sigma
				got := e.run(t, opt, constantPicture(70, 40, 0xff4080c0))
				want := make([]float64, 3*70*40)
				for i, v := range got.planes["sRGB to linear"] {
					want[i] = float64(v)
				}
				closeTo(t, "blur columns", got.planes["blur columns"], want, 1e-6)
			})
		}
	}
}

func TestBlurPreservesTheMean(t *testing.T) {
	// No bright pixel is close enough to the border to be counted twice.
	const w, h = 120, 100
	src := constantPicture(w, h, 0xff000000)
	noise := randomPicture(w, h, 13)
	for y := 40; y < h-40; y++ {
		copy(src.pixels[y*w+40:y*w+w-40], noise.pixels[y*w+40:])
	}
	for _, e := range engines() {
		t.Run(e.name, func(t *testing.T) {
			opt := testOptions()
			opt.sigma, opt.background = maxSigma, rgb{}
			got := e.run(t, opt, src)
			before, after := mean(got.planes["sRGB to linear"]), mean(got.planes["blur columns"])
			if math.Abs(before-after) > 1e-6*before {
				t.Errorf("the mean was %v and is %v", before, after)
			}
		})
	}
}

func TestHistogramSumsToThePixelCount(t *testing.T) {
	for _, e := range engines() {
		for _, size := range [][2]int{{1, 1}, {16, 256}, {4097, 1}, {123, 77}} {
			t.Run(fmt.Sprintf("%s/%dx%d", e.name, size[0], size[1]), func(t *testing.T) {
				opt := testOptions()
				opt.angle = 0
				got := e.run(t, opt, randomPicture(size[0], size[1], 14))
				var sum int
				for _, c := range got.words["histogram"] {
					sum += int(c)
				}
				if sum != size[0]*size[1] {
					t.Errorf("%d counts for %d pixels", sum, size[0]*size[1])
				}
			})
		}
	}
}

func TestToneCurveRises(t *testing.T) {
	for _, e := range engines() {
		t.Run(e.name, func(t *testing.T) {
			curve := e.run(t, testOptions(), randomPicture(90, 60, 15)).planes["tone curve"]
			if curve[0] != 0 || math.Abs(float64(curve[bins])-1) > 1e-6 || !slices.IsSorted(curve) {
				t.Errorf("the curve does not rise from 0 to 1: %v", curve)
			}
		})
	}
}

func TestSceneIsTheSameEverywhere(t *testing.T) {
	src := picture{w: 64, h: 36}
	opt := testOptions()
	want := runPlain(t, opt, src).words["render scene"]
	var dark, bright int
	for _, p := range want {
		switch green := p >> 8 & 0xff; {
		case p>>24 != 0xff:
			t.Fatalf("a pixel is not opaque: %#x", p)
		case green < 70:
			dark++
		case green > 150:
			bright++
		}
	}
	if dark < len(want)/50 || bright < len(want)/50 {
		t.Errorf("the scene is dull: %d dark and %d bright of %d pixels", dark, bright, len(want))
	}
	for _, e := range engines() {
		t.Run(e.name, func(t *testing.T) {
			got := e.run(t, opt, src).words["render scene"]
			for i := range want {
				if bytesApart(got[i], want[i]) > 2 {
					t.Fatalf("pixel (%d, %d) is %#x, want %#x", i%src.w, i/src.w, got[i], want[i])
				}
			}
		})
	}
}

func TestGaussianSumsToOne(t *testing.T) {
	for _, sigma := range []float64{1e-320, 1e-9, 0.1, 0.5, 1, 3, maxSigma} {
		weights := gaussian(sigma)
		sum := float64(weights[0])
		for _, v := range weights[1:] {
			sum += 2 * float64(v)
		}
		if math.Abs(sum-1) > 1e-6 || len(weights) > maxRadius+1 || !slices.IsSortedFunc(weights, descending) {
			t.Errorf("sigma %v: %d weights with sum %v: %v", sigma, len(weights), sum, weights)
		}
	}
}

func TestSRGBIsInvertible(t *testing.T) {
	for i, v := range srgbTable() {
		if got := quantise(v); got != uint32(i) {
			t.Errorf("level %d becomes %d", i, got)
		}
		if e := math.Abs(float64(decodeSRGB(float32(i)/255) - v)); e > 1e-6 {
			t.Errorf("level %d is decoded with an error of %v", i, e)
		}
	}
}

func descending(a, b float32) int {
	switch {
	case a > b:
		return -1
	case a < b:
		return 1
	}
	return 0
}

func mean(v []float32) float64 {
	var sum float64
	for _, x := range v {
		sum += float64(x)
	}
	return sum / float64(len(v))
}
