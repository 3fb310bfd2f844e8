package filter

import (
	"flag"
	"image"
	"image/color"
	"image/png"
	"math"
	"os"
	"testing"

	"quern.dev/gpu"
	"quern.dev/gputest"
)

var pictureFile = flag.String("picture", "", "write the picture of TestPicture to this PNG file")

// scene draws a picture with edges, gradients, fine structure and noise.
func scene(w, h int) *image.NRGBA {
	m := image.NewNRGBA(image.Rect(0, 0, w, h))
	state := uint32(1)
	for y := range h {
		for x := range w {
			u, v := float64(x)/float64(w), float64(y)/float64(h)
			c := triple{0.3 + 0.5*u, 0.4 + 0.3*v, 0.8 - 0.5*v}
			if d := math.Hypot(u-0.3, v-0.35); d < 0.2 {
				c = triple{0.95, 0.75 - d, 0.15}
			}
			if u > 0.55 && u < 0.9 && v > 0.55 && v < 0.9 {
				c = triple{0.1, 0.45, 0.2}
				if int(u*60)%2 == 0 {
					c = triple{0.9, 0.9, 0.85}
				}
			}
			if math.Abs(v-0.8-0.1*math.Sin(u*12)) < 0.012 {
				c = triple{0.05, 0.05, 0.1}
			}
			state = state*1664525 + 1013904223
			noise := (float64(state>>16)/65536 - 0.5) * 0.06
			if state>>20%200 == 0 {
				noise = 1
			}
			var p [3]uint8
			for i := range p {
				p[i] = uint8(255 * min(max(c[i]+noise, 0), 1))
			}
			m.SetNRGBA(x, y, color.NRGBA{p[0], p[1], p[2], 255})
		}
	}
	return m
}

// TestPicture runs filters on a picture, and checks what anyone would see in the results. With
// the flag -picture it writes a contact sheet.
func TestPicture(t *testing.T) {
	dev := gputest.Open(t, gpu.Config{Device: "cpu"})
	s := dev.DefaultStream()
	const w, h, columns = 192, 160, 4
	sheet := image.NewNRGBA(image.Rect(0, 0, w*columns, h*4))
	noisy := scene(w, h)
	alloc := func(c int) Image[uint8] {
		m, err := NewImage[uint8](dev, w, h, c)
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { m.Data.Close() })
		return m
	}
	must := func(err error) {
		t.Helper()
		if err != nil {
			t.Fatal(err)
		}
	}
	src, rgb, gray := alloc(4), alloc(3), alloc(1)
	must(Upload(s, src, noisy))
	must(ConvertColor(s, rgb, src, RGB, RGB))
	must(ConvertColor(s, gray, src, Gray, RGB))
	n := 0
	show := func(m Image[uint8], from Space) *image.NRGBA {
		t.Helper()
		out := alloc(4)
		if from == Gray || m.Channels == 3 {
			must(ConvertColor(s, out, m, RGB, from))
		} else {
			out = m
		}
		at := image.NewNRGBA(image.Rect(0, 0, w, h))
		must(Download(t.Context(), s, at, out))
		for y := range h {
			copy(sheet.Pix[sheet.PixOffset(n%columns*w, n/columns*h+y):], at.Pix[y*at.Stride:][:4*w])
		}
		n++
		return at
	}
	rough := func(m *image.NRGBA) (sum float64) { // mean difference of adjacent pixels
		for y := range h {
			for x := range w - 1 {
				sum += math.Abs(float64(m.NRGBAAt(x, y).G) - float64(m.NRGBAAt(x+1, y).G))
			}
		}
		return sum / (w * h)
	}
	b := Boundary{}
	before := rough(show(src, RGB))

	a, c := alloc(3), alloc(3)
	must(Gaussian(s, a, rgb, 3, 0, b))
	if after := rough(show(a, RGB)); after > before/2 {
		t.Errorf("the Gaussian leaves a roughness of %.1f of %.1f", after, before)
	}
	must(Median(s, a, rgb, 5, 5, b))
	specks := 0
	for i, m := 0, show(a, RGB); i < w*h/3; i++ {
		if p := m.NRGBAAt(i%w, i/w); p.R > 250 && p.G > 250 && p.B > 250 {
			specks++
		}
	}
	if specks > 0 {
		t.Errorf("the median leaves %d white pixels", specks)
	}
	must(Bilateral(s, c, a, 5, 2.5, 40, b))
	show(c, RGB)

	must(Erode(s, c, a, Element{Width: 5, Height: 5}, b))
	show(c, RGB)
	must(TopHat(s, c, a, Element{Width: 9, Height: 9}, b))
	show(c, RGB)
	smooth, edges := alloc(1), alloc(1)
	must(Gaussian(s, smooth, gray, 1.5, 0, b))
	must(Canny(s, edges, smooth, 40, 90))
	white := 0
	for i, m := 0, show(edges, Gray); i < w*h; i++ {
		white += int(m.NRGBAAt(i%w, i/w).R) / 255
	}
	if white < w*h/100 || white > w*h/5 {
		t.Errorf("%d of %d pixels are on edges", white, w*h)
	}
	must(CLAHE(s, edges, gray, 4, 4, 4))
	show(edges, Gray)

	must(Rotate(s, a, rgb, 20, Cubic, Boundary{Mode: Mirror}))
	show(a, RGB)
	must(Perspective(s, a, rgb, [3][3]float64{{1, 0.3, -20}, {0, 1.4, -20}, {0, 0.004, 1}}, Linear, Boundary{Mode: Constant, Value: 40}))
	show(a, RGB)
	must(Resize(s, a, rgb.Part(40, 40, 48, 40), Lanczos))
	show(a, RGB)
	small, err := NewImage[uint8](dev, w/6, h/6, 3)
	must(err)
	defer small.Data.Close()
	must(Resize(s, small, rgb, Area))
	must(Resize(s, a, small, NearestPixel))
	show(a, RGB)

	must(ConvertColor(s, a, rgb, HSV, RGB))
	hue := image.NewNRGBA(image.Rect(0, 0, w, h))
	wide := alloc(4)
	must(ConvertColor(s, wide, rgb, HSV, RGB))
	must(Download(t.Context(), s, hue, wide))
	for i := 0; i < len(hue.Pix); i += 4 {
		hue.Pix[i] = (hue.Pix[i] + 60) % 180 // a third of a turn
	}
	must(Upload(s, wide, hue))
	must(ConvertColor(s, a, wide, RGB, HSV))
	if p := show(a, RGB).NRGBAAt(w*3/10, h*35/100); p.G < p.R || p.G < p.B {
		t.Errorf("the orange disk is %v with its hue turned, want green", p)
	}
	must(ConvertColor(s, c, rgb, Lab, RGB))
	must(ConvertColor(s, a, c, RGB, Lab))
	show(a, RGB)
	must(Box(s, a, rgb, 31, 31, b))
	show(a, RGB)
	must(MorphologicalGradient(s, c, a, Element{Width: 3, Height: 3}, b))
	show(c, RGB)

	if *pictureFile != "" {
		f, err := os.Create(*pictureFile)
		must(err)
		must(png.Encode(f, sheet))
		must(f.Close())
	}
}
