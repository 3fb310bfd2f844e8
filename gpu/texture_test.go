package gpu

import (
	"context"
	"errors"
	"strings"
	"testing"
)

const mixSource = `package p

import "quern.dev/kernel"

//quern:kernel
func mix(t kernel.Thread, image kernel.Texture2D[float32], out []float32) {
	if i := t.Global(); i < len(out) {
		out[i] = image.Sample(float32(i), 0.5)
	}
}
`

func TestTexturesAreReadByKernelsCompiledAtRunTime(t *testing.T) {
	everyDevice(t, func(t *testing.T, d *Device) {
		s := d.DefaultStream()
		k, err := d.Compile(t.Context(), mixSource, "mix")
		if err != nil {
			t.Fatal(err)
		}
		image, err := NewTexture2D[float32](s, 4, 1, []float32{1, 3, 5, 9}, TextureOptions{Filter: FilterLinear})
		if err != nil {
			t.Fatal(err)
		}
		out, err := Alloc[float32](d, 5)
		if err != nil {
			t.Fatal(err)
		}
		defer out.Close()
		got := make([]float32, 5)
		if err := k.Launch(s, Linear(5), image, out); err != nil {
			t.Fatal(err)
		}
		if err := Download(context.Background(), s, got, out); err != nil {
			t.Fatal(err)
		}
		if want := [5]float32{1, 2, 4, 7, 9}; [5]float32(got) != want {
			t.Errorf("have %v, want %v", got, want)
		}
		if err := image.Close(); err != nil {
			t.Error(err)
		}
		if err := image.Close(); err != nil {
			t.Errorf("closing again: %v", err)
		}
		if err := k.Launch(s, Linear(5), image, out); !errors.Is(err, ErrClosed) {
			t.Errorf("launch with a closed texture: %v, want ErrClosed", err)
		}
		if err := k.Launch(s, Linear(5), out, out); !errors.Is(err, ErrInvalid) {
			t.Errorf("launch with a buffer for a texture: %v, want ErrInvalid", err)
		}
	})
}

func TestTexturesThatCannotBeSayWhy(t *testing.T) {
	everyDevice(t, func(t *testing.T, d *Device) {
		s := d.DefaultStream()
		for name, c := range map[string]struct {
			w, h, texels int
			o            TextureOptions
			want         string
		}{
			"no elements":            {0, 4, 0, TextureOptions{}, "a texture of 0 x 4 elements"},
			"a negative extent":      {4, -1, 0, TextureOptions{}, "a texture of 4 x -1 elements"},
			"too wide":               {1 << 20, 1, 1 << 20, TextureOptions{}, "at most 131072 x 65536"},
			"too few numbers":        {4, 4, 15, TextureOptions{}, "slice of 15 numbers for a texture of 4 x 4 elements of 1 number"},
			"wrapping pixels":        {4, 4, 16, TextureOptions{AddressX: AddressWrap}, "set Normalized"},
			"an unknown filter":      {4, 4, 16, TextureOptions{Filter: 7}, "unknown filter 7"},
			"an unknown border mode": {4, 4, 16, TextureOptions{AddressY: 9}, "unknown address mode 9 along Y"},
		} {
			_, err := NewTexture2D[float32](s, c.w, c.h, make([]uint8, c.texels), c.o)
			if !errors.Is(err, ErrInvalid) {
				t.Errorf("%s: %v, want ErrInvalid", name, err)
				continue
			}
			checkText(t, name, err, c.want)
		}
		image, err := NewTexture2D[float32](s, 2, 1, []uint8{1, 2}, TextureOptions{})
		if err != nil {
			t.Fatal(err)
		}
		defer image.Close()
		checkText(t, "other numbers", Store(s, image, []uint16{1, 2}), "slice of 2 numbers of 2 bytes each for a texture of 2 numbers of 1 bytes each")
		checkText(t, "too many numbers", Store(s, image, []uint8{1, 2, 3}), "slice of 3 numbers of 1 bytes each for a texture of 2 numbers of 1 bytes each")
		checkText(t, "no texture", Store(s, (*Texture2D[float32])(nil), []uint8{1}), "texture is nil")
		if image.Width() != 2 || image.Height() != 1 {
			t.Errorf("the texture has %d x %d elements", image.Width(), image.Height())
		}
	})
}

func checkText(t *testing.T, what string, err error, want string) {
	t.Helper()
	if err == nil || !strings.Contains(err.Error(), want) {
		t.Errorf("%s: %v, want %q", what, err, want)
	}
}
