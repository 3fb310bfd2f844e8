package filter

import (
	"errors"
	"image"
	"image/color"
	"math"
	"math/rand/v2"
	"testing"

	"quern.dev/gpu"
	"quern.dev/gputest"
)

func randomBytes(p []uint8) {
	for i := range p {
		p[i] = uint8(rand.Uint32())
	}
}

// pictures returns random images of each type, which are parts of larger ones.
func pictures() []image.Image {
	whole, part := image.Rect(-3, 2, 30, 21), image.Rect(1, 3, 20, 20)
	gray, gray16, rgba, nrgba := image.NewGray(whole), image.NewGray16(whole), image.NewRGBA(whole), image.NewNRGBA(whole)
	randomBytes(gray.Pix)
	randomBytes(gray16.Pix)
	randomBytes(rgba.Pix)
	randomBytes(nrgba.Pix)
	list := []image.Image{gray.SubImage(part), gray16.SubImage(part), rgba.SubImage(part), nrgba.SubImage(part), gray, rgba}
	for _, ratio := range []image.YCbCrSubsampleRatio{image.YCbCrSubsampleRatio444, image.YCbCrSubsampleRatio422, image.YCbCrSubsampleRatio420, image.YCbCrSubsampleRatio440, image.YCbCrSubsampleRatio411, image.YCbCrSubsampleRatio410} {
		m := image.NewYCbCr(image.Rect(0, 0, 33, 19), ratio)
		randomBytes(m.Y)
		randomBytes(m.Cb)
		randomBytes(m.Cr)
		list = append(list, m, m.SubImage(image.Rect(4, 4, 17, 14)))
	}
	return list
}

// empty returns an image of the same type and size.
func empty(m image.Image) image.Image {
	switch m := m.(type) {
	case *image.Gray:
		return image.NewGray(m.Rect)
	case *image.Gray16:
		return image.NewGray16(m.Rect)
	case *image.RGBA:
		return image.NewRGBA(m.Rect)
	case *image.NRGBA:
		return image.NewNRGBA(m.Rect)
	}
	return image.NewYCbCr(m.Bounds(), m.(*image.YCbCr).SubsampleRatio)
}

func there[T uint8 | uint16](t *testing.T, dev *gpu.Device, m image.Image, c int) (image.Image, picture[T]) {
	s := dev.DefaultStream()
	b := m.Bounds()
	v := poisoned[T](t, dev, b.Dx(), b.Dy(), 1, c, 5)
	if err := Upload(s, v.image(), m); err != nil {
		t.Fatal(err)
	}
	back := empty(m)
	if err := Download(t.Context(), s, back, v.image()); err != nil {
		t.Fatal(err)
	}
	return back, down(t, dev, v)
}

func TestExchange(t *testing.T) {
	gputest.Each(t, func(t *testing.T, dev *gpu.Device) {
		for _, m := range pictures() {
			var back image.Image
			var value func(i, c int) uint32
			if _, ok := m.(*image.Gray16); ok {
				b, p := there[uint16](t, dev, m, 1)
				back, value = b, func(i, c int) uint32 { return uint32(p.at[i]) }
			} else {
				channels := map[bool]int{true: 1, false: 4}[m.ColorModel() == color.GrayModel]
				if m.ColorModel() == color.YCbCrModel {
					channels = 3
				}
				b, p := there[uint8](t, dev, m, channels)
				back, value = b, func(i, c int) uint32 { return uint32(p.at[i*channels+c]) }
			}
			r := m.Bounds()
			for i := range r.Dx() * r.Dy() {
				x, y := r.Min.X+i%r.Dx(), r.Min.Y+i/r.Dx()
				if back.At(x, y) != m.At(x, y) {
					t.Fatalf("%T: (%d,%d) is %v, want %v", m, x, y, back.At(x, y), m.At(x, y))
				}
				ok := true
				switch c := m.At(x, y).(type) {
				case color.Gray:
					ok = value(i, 0) == uint32(c.Y)
				case color.Gray16:
					ok = value(i, 0) == uint32(c.Y)
				case color.RGBA:
					ok = value(i, 0) == uint32(c.R) && value(i, 1) == uint32(c.G) && value(i, 2) == uint32(c.B) && value(i, 3) == uint32(c.A)
				case color.NRGBA:
					ok = value(i, 0) == uint32(c.R) && value(i, 1) == uint32(c.G) && value(i, 2) == uint32(c.B) && value(i, 3) == uint32(c.A)
				case color.YCbCr:
					ok = value(i, 0) == uint32(c.Y) && value(i, 1) == uint32(c.Cb) && value(i, 2) == uint32(c.Cr)
				}
				if !ok {
					t.Fatalf("%T: (%d,%d) is not %v", m, x, y, m.At(x, y))
				}
			}
		}
	})
}

// TestSubsampling: chroma values are means.
func TestSubsampling(t *testing.T) {
	m := image.NewYCbCr(image.Rect(0, 0, 3, 3), image.YCbCrSubsampleRatio420)
	var pix []uint8
	for i := range 9 {
		pix = append(pix, uint8(i), uint8(10*i), uint8(100+i))
	}
	subsample(m, pix)
	gputest.Equal(t, m.Y, []uint8{0, 1, 2, 3, 4, 5, 6, 7, 8}, gputest.Name("Y"))
	gputest.Equal(t, m.Cb, []uint8{20, 35, 65, 80}, gputest.Name("Cb"))
	gputest.Equal(t, m.Cr, []uint8{102, 104, 107, 108}, gputest.Name("Cr"))
}

// Images that are nil, or whose slices are too short, are refused.
func TestImpossibleImages(t *testing.T) {
	dev := gputest.Open(t, gpu.Config{Device: "cpu"})
	s := dev.DefaultStream()
	r := image.Rect(2, 2, 8, 6)
	planes := func(y, cb, cr, stride int) image.Image {
		return &image.YCbCr{Y: make([]uint8, y), Cb: make([]uint8, cb), Cr: make([]uint8, cr), YStride: 6, CStride: stride, Rect: r}
	}
	for channels, list := range map[int][]image.Image{
		1: {
			(*image.Gray)(nil), &image.Gray{Rect: r, Stride: 6}, &image.Gray{Pix: make([]uint8, 23), Stride: 6, Rect: r},
			&image.Gray{Pix: make([]uint8, 24), Stride: 5, Rect: r}, &image.Gray{Pix: make([]uint8, 24), Stride: -6, Rect: r},
			&image.Gray{Pix: make([]uint8, 24), Stride: math.MaxInt, Rect: r}, &image.Gray{Rect: image.Rect(math.MinInt, 0, math.MaxInt, 4)},
		},
		3: {(*image.YCbCr)(nil), planes(23, 24, 24, 6), planes(24, 23, 24, 6), planes(24, 24, 23, 6), planes(24, 24, 24, 0), planes(24, 24, 24, 7), planes(24, 24, 24, math.MinInt)},
		4: {(*image.NRGBA)(nil), (*image.RGBA)(nil), &image.NRGBA{Pix: make([]uint8, 95), Stride: 24, Rect: r}, &image.RGBA{Pix: make([]uint8, 96), Stride: 23, Rect: r}},
	} {
		m, err := NewImage[uint8](dev, 6, 4, channels)
		if err != nil {
			t.Fatal(err)
		}
		defer m.Data.Close()
		for _, img := range list {
			checkImpossible(t, Upload(s, m, img), Download(t.Context(), s, img, m))
		}
	}
	wide, err := NewImage[uint16](dev, 6, 4, 1)
	if err != nil {
		t.Fatal(err)
	}
	defer wide.Data.Close()
	for _, img := range []image.Image{(*image.Gray16)(nil), &image.Gray16{Pix: make([]uint8, 47), Stride: 12, Rect: r}} {
		checkImpossible(t, Upload(s, wide, img), Download(t.Context(), s, img, wide))
	}
}

func checkImpossible(t *testing.T, up, down error) {
	t.Helper()
	for _, err := range []error{up, down} {
		var e *Error
		if !errors.As(err, &e) || e.Arg != "image" {
			t.Errorf("error %v", err)
		}
	}
}
