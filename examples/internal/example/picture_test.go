package example

import (
	"image"
	"image/color"
	"image/png"
	"math"
	"os"
	"path/filepath"
	"testing"
)

func TestRampInterpolatesAndClamps(t *testing.T) {
	r := Ramp{{0, 0, 0, 255}, {100, 0, 0, 255}, {100, 200, 0, 255}}
	for _, test := range []struct {
		v    float64
		want color.RGBA
	}{
		{-1, r[0]}, {0, r[0]}, {0.25, color.RGBA{50, 0, 0, 255}}, {0.5, r[1]},
		{0.75, color.RGBA{100, 100, 0, 255}}, {1, r[2]}, {7, r[2]}, {math.NaN(), r[2]},
	} {
		if got := r.At(test.v); got != test.want {
			t.Errorf("At(%v) = %v, want %v", test.v, got, test.want)
		}
	}
}

func TestWritePNG(t *testing.T) {
	path := filepath.Join(t.TempDir(), "a.png")
	if err := WritePNG(path, image.NewGray(image.Rect(0, 0, 3, 2))); err != nil {
		t.Fatal(err)
	}
	f, err := os.Open(path)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	if m, err := png.Decode(f); err != nil || m.Bounds() != image.Rect(0, 0, 3, 2) {
		t.Errorf("%v, %v", m, err)
	}
}
