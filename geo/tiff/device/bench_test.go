package device_test

import (
	"context"
	"math/rand/v2"
	"path/filepath"
	"testing"

	"quern.dev/geo/tiff"
	"quern.dev/geo/tiff/device"
	"quern.dev/gpu"
)

// picture returns an RGB image of n x n pixels that compresses about as a satellite image does.
func picture(n int) (tiff.Header, []uint8) {
	h := tiff.Header{Width: n, Height: n, Bands: 3, Type: tiff.Uint8, Photometric: tiff.RGB}
	r := rand.New(rand.NewPCG(1, 2))
	pixels := make([]uint8, n*n*3)
	for y := range n {
		for x := range n {
			i := (y*n + x) * 3
			v := x/9 + y/7
			bits := r.Uint32()
			pixels[i], pixels[i+1], pixels[i+2] = uint8(v)+uint8(bits&7), uint8(v/2)+uint8(bits>>8&7), uint8(v/3)+uint8(bits>>16&7)
		}
	}
	return h, pixels
}

func open(b *testing.B) (*gpu.Device, *gpu.Stream) {
	dev, err := gpu.Open(gpu.Config{})
	if err != nil {
		b.Fatal(err)
	}
	b.Cleanup(func() { dev.Close() })
	b.Logf("device %s", dev.Name())
	return dev, dev.DefaultStream()
}

const benchSize = 8192

func check(b *testing.B, err error) {
	if err != nil {
		b.Fatal(err)
	}
}

func BenchmarkRead(b *testing.B) {
	ctx := context.Background()
	h, pixels := picture(benchSize)
	name := filepath.Join(b.TempDir(), "image.tif")
	w, err := tiff.Create(name, h, tiff.Options{})
	check(b, err)
	check(b, w.WriteRows(ctx, tiff.Rows{Pixels: pixels}))
	check(b, w.Close())
	f, err := tiff.Open(name)
	check(b, err)
	defer f.Close()
	_, s := open(b)
	b.Run("device", func(b *testing.B) {
		b.SetBytes(int64(len(pixels)))
		for b.Loop() {
			buf, err := device.Read[uint8](ctx, s, f.Image(), f.Image().All())
			check(b, err)
			check(b, s.Synchronize(ctx))
			check(b, buf.Close())
		}
	})
	b.Run("host and copy", func(b *testing.B) {
		b.SetBytes(int64(len(pixels)))
		for b.Loop() {
			host, err := tiff.Read[uint8](ctx, f.Image(), f.Image().All())
			check(b, err)
			buf, err := gpu.Upload(s, host)
			check(b, err)
			check(b, s.Synchronize(ctx))
			check(b, buf.Close())
		}
	})
}

func BenchmarkWriteCOG(b *testing.B) {
	ctx := context.Background()
	h, pixels := picture(benchSize)
	name := filepath.Join(b.TempDir(), "image.tif")
	_, s := open(b)
	buf, err := gpu.Upload(s, pixels)
	check(b, err)
	defer buf.Close()
	for _, level := range []int{1, 6} {
		opt := tiff.Options{COG: true, Level: level}
		suffix := map[int]string{1: " level 1", 6: " level 6"}[level]
		b.Run("device"+suffix, func(b *testing.B) {
			b.SetBytes(int64(len(pixels)))
			for b.Loop() {
				w, err := tiff.Create(name, h, opt)
				check(b, err)
				check(b, device.Write(ctx, s, w, buf))
				check(b, w.Close())
			}
		})
		b.Run("copy and host"+suffix, func(b *testing.B) {
			b.SetBytes(int64(len(pixels)))
			for b.Loop() {
				host := make([]uint8, len(pixels))
				check(b, gpu.Download(ctx, s, host, buf))
				w, err := tiff.Create(name, h, opt)
				check(b, err)
				check(b, w.WriteRows(ctx, tiff.Rows{Pixels: host}))
				check(b, w.Close())
			}
		})
	}
}
