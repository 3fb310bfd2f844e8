package device_test

import (
	"bytes"
	"context"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"testing"

	"quern.dev/geo/tiff"
	"quern.dev/geo/tiff/device"
	"quern.dev/gpu"
	"quern.dev/gputest"
)

// samples returns smooth samples with noise.
func samples[T tiff.Sample](h tiff.Header) []T {
	r := rand.New(rand.NewPCG(1, 2))
	out := make([]T, h.Width*h.Height*h.Bands)
	b := tiff.Bytes(out)
	for i := range b {
		b[i] = byte(i/7) + byte(r.IntN(3))
	}
	switch s := any(out).(type) { // the bits above would make NaNs, which do not equal themselves
	case []float32:
		for i := range s {
			s[i] = float32(i/7) / 3
		}
	case []float64:
		for i := range s {
			s[i] = float64(i/7) / 3
		}
	case []complex64:
		for i := range s {
			s[i] = complex(float32(i/7)/3, float32(i))
		}
	case []complex128:
		for i := range s {
			s[i] = complex(float64(i/7)/3, float64(i))
		}
	}
	return out
}

// storages are the ways in which images are stored. Predictor 3 is replaced for integers.
func storages() []tiff.Options {
	var all []tiff.Options
	for i := range 12 {
		o := tiff.Options{Compression: tiff.Deflate, Level: 1, Predictor: tiff.Predictor(1 + i%3), Layout: tiff.Layout(i / 3 % 2), BigEndian: i >= 6,
			BlockWidth: 32, BlockHeight: 16}
		if i%4 == 1 {
			o.Strips, o.BlockWidth, o.BlockHeight = true, 0, 10
		}
		all = append(all, o)
	}
	return append(all,
		tiff.Options{COG: true, BlockWidth: 16, BlockHeight: 16},
		tiff.Options{COG: true, BlockWidth: 16, BlockHeight: 16, Resampling: tiff.Nearest},
		tiff.Options{Sparse: true, BlockWidth: 16, BlockHeight: 16})
}

func file(t *testing.T, name string, h tiff.Header, o tiff.Options, write func(w *tiff.Writer) error) {
	t.Helper()
	w, err := tiff.Create(name, h, o)
	if err != nil {
		t.Fatal(err)
	}
	defer w.Abort()
	if err := write(w); err != nil {
		t.Fatal(err)
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
}

func checkType[T tiff.Sample](t *testing.T, s *gpu.Stream, noData string) {
	ctx := context.Background()
	h := tiff.Header{Width: 61, Height: 45, Bands: 3, Type: tiff.TypeOf[T](), Photometric: tiff.MinIsBlack, NoData: noData}
	pixels := samples[T](h)
	folder := t.TempDir()
	for i, o := range storages() {
		if o.Predictor == tiff.FloatingPoint && !h.Type.Float() {
			o.Predictor = tiff.NoPredictor
		}
		if o.Predictor == tiff.Horizontal && h.Type.Size() > 8 {
			continue
		}
		what := fmt.Sprintf("%s %+v", h.Type, o)
		host, dev := filepath.Join(folder, fmt.Sprintf("host%d.tif", i)), filepath.Join(folder, fmt.Sprintf("dev%d.tif", i))
		if o.Sparse {
			clear(pixels[:len(pixels)/2])
		}
		file(t, host, h, o, func(w *tiff.Writer) error { return w.WriteRows(ctx, tiff.Rows{Pixels: tiff.Bytes(pixels)}) })
		b, err := gpu.Upload(s, pixels)
		if err != nil {
			t.Fatal(err)
		}
		file(t, dev, h, o, func(w *tiff.Writer) error { return device.Write(ctx, s, w, b) })
		if err := b.Close(); err != nil {
			t.Fatal(err)
		}
		checkSame(t, what, host, dev)
		checkRegions[T](t, s, what, host)
	}
}

// checkSame compares files and all their pixels.
func checkSame(t *testing.T, what, a, b string) {
	t.Helper()
	x, err := os.ReadFile(a)
	if err != nil {
		t.Fatal(err)
	}
	y, err := os.ReadFile(b)
	if err != nil {
		t.Fatal(err)
	}
	if !bytes.Equal(x, y) {
		t.Errorf("%s: the file differs from that of the host", what)
	}
}

// checkRegions compares regions with those that the host reads.
func checkRegions[T tiff.Sample](t *testing.T, s *gpu.Stream, what, name string) {
	t.Helper()
	ctx := context.Background()
	f, err := tiff.Open(name)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	for _, r := range []tiff.Region{f.Image().All(), {X: 5, Y: 7, Width: 40, Height: 30, Bands: []int{2, 0}, Layout: tiff.ByBand},
		{X: 60, Y: 44, Width: 1, Height: 1, Bands: []int{1, 1}}} {
		want, err := tiff.Read[T](ctx, f.Image(), r)
		if err != nil {
			t.Fatal(err)
		}
		b, err := device.Read[T](ctx, s, f.Image(), r)
		if err != nil {
			t.Fatalf("%s: %v", what, err)
		}
		got := make([]T, len(want))
		if err := gpu.Download(ctx, s, got, b); err != nil {
			t.Fatalf("%s: %v", what, err)
		}
		if err := b.Close(); err != nil {
			t.Fatal(err)
		}
		if !bytes.Equal(tiff.Bytes(got), tiff.Bytes(want)) {
			t.Errorf("%s: region %+v differs", what, r)
		}
	}
}

func TestTheDeviceReadsAndWritesWhatTheHostDoes(t *testing.T) {
	gputest.Each(t, func(t *testing.T, dev *gpu.Device) {
		s := dev.DefaultStream()
		checkType[uint16](t, s, "7")
		checkType[float32](t, s, "nan")
		if dev.Backend() == gpu.Sim {
			return // the other types take the same kernels
		}
		checkType[uint8](t, s, "")
		checkType[int16](t, s, "")
		checkType[complex64](t, s, "")
		checkType[uint32](t, s, "0")
		checkType[uint64](t, s, "")
		checkType[int8](t, s, "-1")
		checkType[int32](t, s, "")
		checkType[int64](t, s, "3")
		checkType[float64](t, s, "2")
		checkType[tiff.ComplexInt16](t, s, "")
		checkType[tiff.ComplexInt32](t, s, "")
		checkType[complex128](t, s, "")
	})
}

func TestStraightAlphaWeighsColorsAsOnTheHost(t *testing.T) {
	gputest.Each(t, func(t *testing.T, dev *gpu.Device) {
		ctx, s, folder := context.Background(), dev.DefaultStream(), t.TempDir()
		h := tiff.Header{Width: 61, Height: 45, Bands: 4, Type: tiff.Uint8, Photometric: tiff.RGB, Extra: []tiff.ExtraSample{tiff.StraightAlpha}}
		o := tiff.Options{COG: true, BlockWidth: 16, BlockHeight: 16}
		pixels := samples[uint8](h)
		host, onDevice := filepath.Join(folder, "host.tif"), filepath.Join(folder, "device.tif")
		file(t, host, h, o, func(w *tiff.Writer) error { return w.WriteRows(ctx, tiff.Rows{Pixels: pixels}) })
		b, err := gpu.Upload(s, pixels)
		if err != nil {
			t.Fatal(err)
		}
		defer b.Close()
		file(t, onDevice, h, o, func(w *tiff.Writer) error { return device.Write(ctx, s, w, b) })
		checkSame(t, "alpha", host, onDevice)
	})
}
