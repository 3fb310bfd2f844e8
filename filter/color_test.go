package filter

import (
	"fmt"
	"image/color"
	"math"
	"testing"

	"quern.dev/gpu"
	"quern.dev/gputest"
)

// rgbCases returns all colors with components that are multiples of step, and those beside.
func rgbCases(step int) picture[uint8] {
	var at []uint8
	for r := 0; r < 256+step-1; r += step {
		for g := 0; g < 256+step-1; g += step {
			for b := 0; b < 256+step-1; b += step {
				at = append(at, uint8(min(r, 255)), uint8(min(g, 255)), uint8(min(b, 255)))
			}
		}
	}
	for i := range 256 { // grays and dark colors
		at = append(at, uint8(i), uint8(i), uint8(i), uint8(i%7), uint8(i/7%7), uint8(i/49))
	}
	n := len(at) / 3
	w := 100
	at = append(at, make([]uint8, (w-n%w)*3)...)
	return picture[uint8]{w, len(at) / 3 / w, 1, 3, at}
}

type triple [3]float64

func hsv(c triple) triple {
	v, low := max(c[0], c[1], c[2]), min(c[0], c[1], c[2])
	d := v - low
	if d == 0 {
		return triple{0, 0, v}
	}
	var h float64
	switch v {
	case c[0]:
		h = math.Mod((c[1]-c[2])/d+6, 6)
	case c[1]:
		h = (c[2]-c[0])/d + 2
	default:
		h = (c[0]-c[1])/d + 4
	}
	return triple{h / 6, d / v, v}
}

func rgbOfHSV(c triple) triple {
	f := func(n float64) float64 {
		k := math.Mod(n+c[0]*6, 6)
		return c[2] - c[2]*c[1]*max(0, min(k, 4-k, 1))
	}
	return triple{f(5), f(3), f(1)}
}

var xyz = [3]triple{{0.412453, 0.357580, 0.180423}, {0.212671, 0.715160, 0.072169}, {0.019334, 0.119193, 0.950227}}

func lab(c triple) triple {
	var f triple
	for i := range c {
		if c[i] <= 0.04045 {
			c[i] /= 12.92
		} else {
			c[i] = math.Pow((c[i]+0.055)/1.055, 2.4)
		}
	}
	for i, row := range xyz {
		t := (row[0]*c[0] + row[1]*c[1] + row[2]*c[2]) / (row[0] + row[1] + row[2])
		if t > 216./24389 {
			f[i] = math.Cbrt(t)
		} else {
			f[i] = t*841/108 + 16./116
		}
	}
	return triple{116*f[1] - 16, 500 * (f[0] - f[1]), 200 * (f[1] - f[2])}
}

// rgbOfLab solves for the intensities by Cramer's rule.
func rgbOfLab(c triple) (out triple) {
	y := (c[0] + 16) / 116
	f := triple{y + c[1]/500, y, y - c[2]/200}
	var m [3]triple
	for i, row := range xyz {
		sum := row[0] + row[1] + row[2]
		m[i] = triple{row[0] / sum, row[1] / sum, row[2] / sum}
		if f[i] > 6./29 {
			f[i] = f[i] * f[i] * f[i]
		} else {
			f[i] = (f[i] - 16./116) * 108 / 841
		}
	}
	det := func(m [3]triple) float64 {
		return m[0][0]*(m[1][1]*m[2][2]-m[1][2]*m[2][1]) - m[0][1]*(m[1][0]*m[2][2]-m[1][2]*m[2][0]) + m[0][2]*(m[1][0]*m[2][1]-m[1][1]*m[2][0])
	}
	for k := range out {
		n := m
		for i := range n {
			n[i][k] = f[i]
		}
		v := min(max(det(n)/det(m), 0), 1)
		if v <= 0.0031308 {
			out[k] = v * 12.92
		} else {
			out[k] = 1.055*math.Pow(v, 1/2.4) - 0.055
		}
	}
	return out
}

func yuv(kr, kb float64) func(triple) triple {
	return func(c triple) triple {
		y := kr*c[0] + (1-kr-kb)*c[1] + kb*c[2]
		return triple{y, (c[2]-y)/(1-kb)/2 + 0.5, (c[0]-y)/(1-kr)/2 + 0.5}
	}
}

// The scale and offset of 8-bit values.
var scales = map[Space][2]triple{
	HSV: {{180, 255, 255}}, Lab: {{2.55, 1, 1}, {0, 128, 128}},
	YUV601: {{255, 255, 255}, {0, 0.5, 0.5}}, YUV709: {{255, 255, 255}, {0, 0.5, 0.5}},
}

var references = map[Space]func(triple) triple{HSV: hsv, Lab: lab, YUV601: yuv(0.299, 0.114), YUV709: yuv(0.2126, 0.0722)}

func TestColors8(t *testing.T) {
	gputest.Each(t, func(t *testing.T, dev *gpu.Device) {
		step := 9
		if dev.Backend() == gpu.Sim {
			step = 85
		}
		if *all && dev.Backend() == gpu.Sim {
			step = 17
		} else if *all {
			step = 3
		}
		p := rgbCases(step)
		s := dev.DefaultStream()
		src := upImage(t, dev, p, 1)
		for space, reference := range references {
			dst := poisoned[uint8](t, dev, p.w, p.h, 1, 4, 2)
			if err := ConvertColor(s, dst.image(), src, space, RGB); err != nil {
				t.Fatal(err)
			}
			got := down(t, dev, dst)
			back := poisoned[uint8](t, dev, p.w, p.h, 1, 3, 0)
			if err := ConvertColor(s, back.image(), dst.image(), RGB, space); err != nil {
				t.Fatal(err)
			}
			rgb := down(t, dev, back)
			worst := 0
			for i := range p.w * p.h {
				var in triple
				for k := range in {
					in[k] = float64(p.at[3*i+k]) / 255
				}
				want := reference(in)
				for k := range want {
					want[k] = want[k]*scales[space][0][k] + scales[space][1][k]
					if space == HSV && k == 0 && want[k] >= 179.5 {
						want[k] -= 180
					}
					// Integers, with the rounding errors of the constants' 16 bits for YUV.
					slack := map[Space]float64{HSV: 1e-9, Lab: 0.03, YUV601: 0.51, YUV709: 0.51}[space]
					if v := float64(got.at[4*i+k]); math.Abs(v-min(max(want[k], 0), 255)) > 0.5+slack {
						t.Fatalf("%v of %v: channel %d is %v, want %v", space, p.at[3*i:3*i+3], k, v, want[k])
					}
					worst = max(worst, int(rgb.at[3*i+k])-int(p.at[3*i+k]), int(p.at[3*i+k])-int(rgb.at[3*i+k]))
				}
				if got.at[4*i+3] != 255 {
					t.Fatal("alpha is not opaque")
				}
				if space == Lab {
					q := got.at[4*i:]
					want := rgbOfLab(triple{float64(q[0]) / 2.55, float64(q[1]) - 128, float64(q[2]) - 128})
					for k, v := range rgb.at[3*i:][:3] {
						if math.Abs(float64(v)-255*want[k]) > 0.52 {
							t.Fatalf("RGB of Lab %v: channel %d is %v, want %v", q[:3], k, v, 255*want[k])
						}
					}
				}
				if space == YUV601 {
					y, u, v := color.RGBToYCbCr(p.at[3*i], p.at[3*i+1], p.at[3*i+2])
					if want := [3]uint8{y, u, v}; [3]uint8(got.at[4*i:]) != want {
						t.Fatalf("YUV601 of %v: %v, want %v", p.at[3*i:3*i+3], got.at[4*i:4*i+3], want)
					}
					r, g, b := color.YCbCrToRGB(y, u, v)
					if want := [3]uint8{r, g, b}; [3]uint8(rgb.at[3*i:]) != want {
						t.Fatalf("RGB of %v: %v, want %v", got.at[4*i:4*i+3], rgb.at[3*i:3*i+3], want)
					}
				}
			}
			// How far RGB is from itself after two conversions, which the coarse hues limit; that of
			// Lab is compared with the exact one.
			if limit := map[Space]int{HSV: 5, Lab: 255, YUV601: 2, YUV709: 2}[space]; worst > limit {
				t.Errorf("%v: the way back differs by %d", space, worst)
			}
		}
		gray := poisoned[uint8](t, dev, p.w, p.h, 1, 1, 2)
		if err := ConvertColor(s, gray.image(), src, Gray, RGB); err != nil {
			t.Fatal(err)
		}
		for i, v := range down(t, dev, gray).at {
			y := 0.299*float64(p.at[3*i]) + 0.587*float64(p.at[3*i+1]) + 0.114*float64(p.at[3*i+2])
			if math.Abs(float64(v)-y) > 0.501 {
				t.Fatalf("gray of %v is %d, want %v", p.at[3*i:3*i+3], v, y)
			}
		}
	})
}

// TestHSVToRGB8 checks every color in HSV against the exact conversion.
func TestHSVToRGB8(t *testing.T) {
	gputest.Each(t, func(t *testing.T, dev *gpu.Device) {
		p := blank[uint8](256, 180, 1, 3)
		for i := range 256 * 180 {
			p.at[3*i], p.at[3*i+1], p.at[3*i+2] = uint8(i/256), uint8(i), uint8(i*37>>3)
		}
		if dev.Backend() == gpu.Sim {
			p.h, p.at = 12, p.at[:256*12*3]
		}
		dst := poisoned[uint8](t, dev, p.w, p.h, 1, 3, 0)
		if err := ConvertColor(dev.DefaultStream(), dst.image(), upImage(t, dev, p, 0), RGB, HSV); err != nil {
			t.Fatal(err)
		}
		for i, v := range down(t, dev, dst).at {
			c := p.at[i/3*3:]
			want := rgbOfHSV(triple{float64(c[0]) / 180, float64(c[1]) / 255, float64(c[2]) / 255})[i%3] * 255
			if math.Abs(float64(v)-want) > 0.5+1e-9 {
				t.Fatalf("RGB of HSV %v: channel %d is %d, want %v", c[:3], i%3, v, want)
			}
		}
	})
}

func TestColorsFloat(t *testing.T) {
	gputest.Each(t, func(t *testing.T, dev *gpu.Device) {
		s := dev.DefaultStream()
		bytes := rgbCases(51)
		p := blank[float32](bytes.w, bytes.h, 1, 4)
		for i := range p.w * p.h {
			for k := range 3 {
				p.at[4*i+k] = float32(bytes.at[3*i+k]) / 255
			}
			p.at[4*i+3] = float32(i)
		}
		src := upImage(t, dev, p, 1)
		for space, reference := range references {
			dst, back := poisoned[float32](t, dev, p.w, p.h, 1, 3, 2), poisoned[float32](t, dev, p.w, p.h, 1, 3, 0)
			if err := ConvertColor(s, dst.image(), src, space, RGB); err != nil {
				t.Fatal(err)
			}
			if err := ConvertColor(s, back.image(), dst.image(), RGB, space); err != nil {
				t.Fatal(err)
			}
			var want []float64
			for i := range p.w * p.h {
				c := reference(triple{float64(p.at[4*i]), float64(p.at[4*i+1]), float64(p.at[4*i+2])})
				want = append(want, c[:]...)
			}
			matches(t, fmt.Sprint("RGB to ", space), down(t, dev, dst), want, 2e-4)
			var rgb []float64
			for i := range p.w * p.h {
				rgb = append(rgb, float64(p.at[4*i]), float64(p.at[4*i+1]), float64(p.at[4*i+2]))
			}
			matches(t, fmt.Sprint("RGB from ", space), down(t, dev, back), rgb, 2e-5)
		}
	})
}
