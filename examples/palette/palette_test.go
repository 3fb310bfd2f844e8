package main

import (
	"bytes"
	"context"
	"image"
	"image/color"
	"image/png"
	"io"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"quern.dev/examples/internal/exampletest"
	"quern.dev/gpu"
	"quern.dev/gputest"
)

func TestRunOnEveryDevice(t *testing.T) {
	gputest.Each(t, func(t *testing.T, dev *gpu.Device) {
		o := options{colors: 6, iterations: 20, verify: true, out: filepath.Join(t.TempDir(), "palette.png")}
		if dev.Backend() == gpu.Sim {
			o.colors, o.iterations = 4, 3
		}
		exampletest.Run(t, func(ctx context.Context, w io.Writer) error { return run(ctx, w, dev, o) },
			"verified", "error per channel", "wrote "+o.out)
		m := exampletest.Picture(t, o.out)
		if p, ok := m.(*image.Paletted); !ok || len(p.Palette) != o.colors {
			t.Errorf("the picture is a %T", m)
		}
	})
}

func TestPaletteIsThatOfPlainGo(t *testing.T) {
	gputest.Each(t, func(t *testing.T, dev *gpu.Device) {
		r := rand.New(rand.NewPCG(1, 2))
		for name, pixels := range map[string][]uint32{
			"random colors":                   some(300, func(int) uint32 { return r.Uint32N(1 << 24) }),
			"few colors":                      some(300, func(int) uint32 { return r.Uint32N(3) * 0x505050 }),
			"one color":                       some(40, func(int) uint32 { return 0xffffff }),
			"one pixel":                       {0x123456},
			"black and white in equal shares": some(64, func(i int) uint32 { return uint32(i%2) * 0xffffff }),
		} {
			err := dev.Pool().Scope(dev.DefaultStream(), func(scope *gpu.Scope) error {
				c, err := newClustering(t.Context(), dev.DefaultStream(), scope, pixels, 5)
				if err != nil {
					return err
				}
				got, _, err := c.run(t.Context(), 4)
				if want := reference(pixels, 5, 4); err == nil && !slices.Equal(got, want) {
					t.Errorf("%s: the palette is %v, want %v", name, got, want)
				}
				return err
			})
			if err != nil {
				t.Fatalf("%s: %v", name, err)
			}
		}
	})
}

func some(n int, f func(i int) uint32) []uint32 {
	s := make([]uint32, n)
	for i := range s {
		s[i] = f(i)
	}
	return s
}

func TestPictureOfFewColorsKeepsThem(t *testing.T) {
	dev := gputest.Open(t, gpu.Config{Device: "cpu"})
	dir := t.TempDir()
	m := image.NewNRGBA(image.Rect(0, 0, 9, 5))
	for i := range 45 {
		m.Set(i%9, i/9, []color.Color{color.NRGBA{200, 30, 10, 255}, color.NRGBA{1, 2, 3, 255}}[i%2])
	}
	var b bytes.Buffer
	if err := png.Encode(&b, m); err != nil {
		t.Fatal(err)
	}
	in := filepath.Join(dir, "in.png")
	if err := os.WriteFile(in, b.Bytes(), 0o666); err != nil {
		t.Fatal(err)
	}
	var text bytes.Buffer
	if err := run(t.Context(), &text, dev, options{in: in, colors: 2, iterations: 10, verify: true}); err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{"9 x 5 pixels of 2 colors", "#c81e0a  51.1%", "#010203  48.9%", "channel 0.0"} {
		if !strings.Contains(text.String(), want) {
			t.Errorf("the output lacks %q:\n%s", want, &text)
		}
	}
}

func TestErrors(t *testing.T) {
	dev := gputest.Open(t, gpu.Config{Device: "cpu"})
	text := filepath.Join(t.TempDir(), "text.png")
	if err := os.WriteFile(text, []byte("no picture"), 0o666); err != nil {
		t.Fatal(err)
	}
	canceled, cancel := context.WithCancel(t.Context())
	cancel()
	for _, test := range []struct {
		ctx  context.Context
		o    options
		want string
	}{
		{t.Context(), options{colors: 0, iterations: 1}, "-colors"},
		{t.Context(), options{colors: 257, iterations: 1}, "-colors"},
		{t.Context(), options{colors: 2, iterations: 0}, "-iterations"},
		{t.Context(), options{colors: 2, iterations: 1, in: text}, "text.png"},
		{t.Context(), options{colors: 2, iterations: 1, in: text + "x"}, "text.pngx"},
		{canceled, options{colors: 2, iterations: 1}, "canceled"},
	} {
		if err := run(test.ctx, new(bytes.Buffer), dev, test.o); err == nil || !strings.Contains(err.Error(), test.want) {
			t.Errorf("the error is %v, want one about %s", err, test.want)
		}
	}
}
