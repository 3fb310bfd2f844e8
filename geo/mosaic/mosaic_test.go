package mosaic

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"runtime/debug"
	"runtime/metrics"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"quern.dev/geo/tiff"
	"quern.dev/geo/warp"
	"quern.dev/gpu"
	"quern.dev/gputest"
)

const originX, originY = 500000.0, 5300000.0

func cpu(t testing.TB) *gpu.Device {
	t.Helper()
	dev, err := gpu.Open(gpu.Config{Device: "cpu"})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { dev.Close() })
	return dev
}

// scene is a smooth texture with details, between 40 and 200.
func scene(x, y float64, band int) float64 {
	return 120 + 50*math.Sin(x/23+float64(band))*math.Cos(y/19) + 20*math.Sin((x+2*y)/5) + 8*math.Cos(x/1.7)
}

// source writes an image whose first pixel is at column x and row y of the scene, with pixels of 1 m.
func source[T tiff.Sample](t testing.TB, x, y, width, height, bands int, o tiff.Options, noData string, value func(x, y, band int) T) Source {
	t.Helper()
	h := tiff.Header{Width: width, Height: height, Bands: bands, Type: tiff.TypeOf[T](), Photometric: tiff.MinIsBlack, NoData: noData}
	if bands == 3 {
		h.Photometric = tiff.RGB
	}
	h.Geo.Keys.Set(tiff.GeoValue{Key: tiff.GTModelType, Code: tiff.ModelProjected})
	h.Geo.Keys.Set(tiff.GeoValue{Key: tiff.GTRasterType, Code: tiff.RasterPixelIsArea})
	h.Geo.Keys.Set(tiff.GeoValue{Key: tiff.ProjectedCRS, Code: 32633})
	h.Geo.SetAffine(tiff.Affine{originX + float64(x), 1, 0, originY - float64(y), 0, -1})
	pixels := make([]T, 0, width*height*bands)
	for j := range height {
		for i := range width {
			for b := range bands {
				pixels = append(pixels, value(x+i, y+j, b))
			}
		}
	}
	name := filepath.Join(t.TempDir(), "source.tif")
	w, err := tiff.Create(name, h, o)
	if err != nil {
		t.Fatal(err)
	}
	if err := w.WriteRows(t.Context(), tiff.Rows{Pixels: tiff.Bytes(pixels)}); err != nil {
		t.Fatal(err)
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	return Source{Image: open(t, name)}
}

func open(t testing.TB, name string) *tiff.Image {
	t.Helper()
	f, err := tiff.Open(name)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { f.Close() })
	return f.Image()
}

func plain(x, y, band int) uint8 { return uint8(math.Round(scene(float64(x), float64(y), band))) }

// run makes a mosaic and returns it.
func run(t testing.TB, dev *gpu.Device, sources []Source, o Options) *tiff.Image {
	t.Helper()
	name := filepath.Join(t.TempDir(), "mosaic.tif")
	if err := File(t.Context(), dev, name, sources, o); err != nil {
		t.Fatal(err)
	}
	if _, err := os.Stat(name + ".work"); err == nil {
		t.Error("the work file is left")
	}
	return open(t, name)
}

func read[T tiff.Sample](t testing.TB, im *tiff.Image) []T {
	t.Helper()
	pixels, err := tiff.Read[T](t.Context(), im, im.All())
	if err != nil {
		t.Fatal(err)
	}
	return pixels
}

// grid returns images of a scene that overlap by a third.
func grid(t testing.TB, columns, rows int, value func(image, x, y, band int) uint8) []Source {
	return bands(t, 3, columns, rows, value)
}

func bands(t testing.TB, bands, columns, rows int, value func(image, x, y, band int) uint8) []Source {
	var all []Source
	for r := range rows {
		for c := range columns {
			n := len(all)
			all = append(all, source(t, c*80, r*80, 120, 120, bands, tiff.Options{BlockWidth: 64, BlockHeight: 64}, "", func(x, y, band int) uint8 { return value(n, x, y, band) }))
		}
	}
	return all
}

func TestTheOrderChoosesImages(t *testing.T) {
	dev := cpu(t)
	sources := grid(t, 2, 1, func(image, x, y, band int) uint8 { return uint8(image + 1) })
	for order, want := range map[Order]string{
		First:   "1 for 120, 2 for 80",
		Last:    "1 for 80, 2 for 120",
		Nearest: "1 for 100, 2 for 100",
	} {
		im := run(t, dev, sources, Options{Order: order})
		pixels := read[uint8](t, im)
		var count [3]int
		for x := range im.Width {
			count[pixels[(50*im.Width+x)*4]]++
			if pixels[(50*im.Width+x)*4+3] != 255 {
				t.Fatalf("%v: pixel %d has no data", order, x)
			}
		}
		if got := fmt.Sprintf("1 for %d, 2 for %d", count[1], count[2]); got != want {
			t.Errorf("%v: %s; want %s", order, got, want)
		}
	}
	// A center can be given.
	sources[0].Center = &[2]float64{originX - 40, originY - 60}
	im := run(t, dev, sources, Options{Order: Nearest})
	if pixels := read[uint8](t, im); pixels[(50*im.Width+49)*4] != 1 || pixels[(50*im.Width+81)*4] != 2 {
		t.Error("the center has no effect")
	}
}

// Images never fit to the pixel. Making all of them dark would make them differ less.
func TestImagesThatDifferStayAsBrightAsTheyAre(t *testing.T) {
	r := rand.New(rand.NewPCG(7, 7))
	var sources []Source
	for n := range 12 {
		sources = append(sources, source(t, n%4*40, n/4*40, 100, 100, 1, tiff.Options{}, "", func(x, y, band int) uint16 {
			return uint16(2000 + r.IntN(2000))
		}))
	}
	for _, b := range []Balance{Gain, GainOffset} {
		o, err := (&Options{Balance: b, Order: Nearest}).withDefaults()
		if err != nil {
			t.Fatal(err)
		}
		m := &mosaic{dev: cpu(t), opt: o, sources: sources, progress: func() {}}
		if err := m.prepare(); err != nil {
			t.Fatal(err)
		}
		if err := m.plan(t.Context()); err != nil {
			t.Fatal(err)
		}
		for n := range sources {
			c := m.corrections[n][0]
			if mean := (c.gain*3000 + c.offset) / 3000; math.Abs(mean-1) > 0.02 || math.Abs(c.gain-1) > 0.1 {
				t.Errorf("%v: image %d has gain %.4f and offset %.1f, which makes its mean %.4f times as large", b, n, c.gain, c.offset, mean)
			}
		}
		m.thumbs.w.Close()
		m.w.Close()
	}
}

func TestBalancingFindsGains(t *testing.T) {
	dev := cpu(t)
	gains := []float64{1, 0.8, 1.15, 0.9}
	offsets := []float64{0, 600, -300, 200}
	for _, b := range []Balance{Gain, GainOffset} {
		var sources []Source
		for n := range 4 {
			sources = append(sources, source(t, n%2*80, n/2*80, 120, 120, 1, tiff.Options{}, "", func(x, y, band int) uint16 {
				v := 40 * scene(float64(x), float64(y), band) * gains[n]
				if b == GainOffset {
					v += offsets[n]
				}
				return uint16(math.Round(v))
			}))
		}
		o, err := (&Options{Balance: b, Order: Nearest}).withDefaults()
		if err != nil {
			t.Fatal(err)
		}
		m := &mosaic{dev: dev, opt: o, sources: sources, progress: func() {}}
		if err := m.prepare(); err != nil {
			t.Fatal(err)
		}
		if err := m.plan(t.Context()); err != nil {
			t.Fatal(err)
		}
		// What is found makes all images equal, so products are the same.
		first := m.corrections[0][0]
		for n := range sources {
			c := m.corrections[n][0]
			ratio := c.gain * gains[n] / first.gain
			shift := c.offset - first.offset
			if b == GainOffset {
				shift += c.gain * offsets[n]
			}
			if math.Abs(ratio-1) > 0.003 || math.Abs(shift) > 15 {
				t.Errorf("%v: image %d has gain %.4f and offset %.1f; its gain times the true one is %.4f of the first image's, and its offset differs by %.1f of 4800", b, n, c.gain, c.offset, ratio, shift)
			}
		}
		m.thumbs.w.Close()
		m.w.Close()
	}
}

func TestSeamsAvoidAMovingObject(t *testing.T) {
	dev := cpu(t)
	// The object is on the border that the order makes, in one image only.
	object := func(x, y int) bool { return x >= 92 && x < 110 && y >= 40 && y < 60 }
	sources := grid(t, 2, 1, func(image, x, y, band int) uint8 {
		if image == 1 && object(x, y) {
			return 255
		}
		return plain(x, y, band)
	})
	parts := func(o Options) int {
		im := run(t, dev, sources, o)
		pixels := read[uint8](t, im)
		n := 0
		for y := range im.Height {
			for x := range im.Width {
				if pixels[(y*im.Width+x)*4] == 255 {
					n++
				}
			}
		}
		return n
	}
	whole := 18 * 20
	if n := parts(Options{Order: Nearest}); n == 0 || n == whole {
		t.Fatalf("without seams, %d of %d pixels of the object are there; it should be cut", n, whole)
	}
	if n := parts(Options{Order: Nearest, Seams: true}); n != 0 && n != whole {
		t.Errorf("with seams, %d of %d pixels of the object are there", n, whole)
	}
}

func TestBlendingLeavesNoStep(t *testing.T) {
	dev := cpu(t)
	// One image is brighter by 24.
	sources := grid(t, 2, 1, func(image, x, y, band int) uint8 {
		return uint8(100 + 24*image)
	})
	steps := func(o Options) (most int) {
		im := run(t, dev, sources, o)
		pixels := read[uint8](t, im)
		for x := 1; x < im.Width; x++ {
			a, b := pixels[(60*im.Width+x-1)*4], pixels[(60*im.Width+x)*4]
			most = max(most, int(b)-int(a), int(a)-int(b))
		}
		if ends := pixels[60*im.Width*4]; ends != 100 && o.Blend != Multiband {
			t.Errorf("%v: a pixel far from the border is %d", o.Blend, ends)
		}
		return most
	}
	if n := steps(Options{Order: Nearest}); n != 24 {
		t.Errorf("without blending, the step is %d", n)
	}
	for _, o := range []Options{{Order: Nearest, Blend: Feather, Radius: 24}, {Order: Nearest, Blend: Multiband, Levels: 4}} {
		if n := steps(o); n > 2 {
			t.Errorf("%v: a step of %d", o.Blend, n)
		}
	}
}

func TestMultibandKeepsWhatAllImagesShow(t *testing.T) {
	// Equal images stay as they are, to rounding.
	sources := grid(t, 2, 2, func(image, x, y, band int) uint8 { return plain(x, y, band) })
	im := run(t, cpu(t), sources, Options{Order: Nearest, Blend: Multiband, Levels: 3})
	pixels := read[uint8](t, im)
	for y := range im.Height {
		for x := range im.Width {
			for b := range 3 {
				if got, want := int(pixels[(y*im.Width+x)*4+b]), int(plain(x, y, b)); got != want {
					t.Fatalf("pixel %d, %d: %d, want %d", x, y, got, want)
				}
			}
		}
	}
}

// mixed are images that differ in all respects.
func mixed(t testing.TB) []Source {
	return bands(t, 1, 3, 2, func(image, x, y, band int) uint8 {
		v := scene(float64(x), float64(y), band)*(0.9+0.04*float64(image)) + 3*float64(image%3)
		if (x/7+y/5+image)%31 == 0 {
			v = 250
		}
		return uint8(min(max(v, 0), 255))
	})
}

func TestPixelsAreTheSameForAllDevicesTilesAndThreads(t *testing.T) {
	sources := mixed(t)
	for name, o := range map[string]Options{
		"feather":   {Order: Nearest, Blend: Feather, Radius: 9, Seams: true},
		"multiband": {Order: Last, Blend: Multiband, Levels: 2, Balance: GainOffset, Resampling: warp.Bilinear, Resolution: [2]float64{1.3, 1.2}},
	} {
		t.Run(name, func(t *testing.T) {
			var first []uint8
			o.File = tiff.Options{BlockWidth: 32, BlockHeight: 32}
			o.Extent = &warp.Extent{MinX: originX + 64, MinY: originY - 118, MaxX: originX + 146, MaxY: originY - 62}
			check := func(t *testing.T, dev *gpu.Device, o Options) {
				t.Helper()
				got := read[uint8](t, run(t, dev, sources, o))
				if first == nil {
					first = got
				}
				if !bytes.Equal(got, first) {
					t.Errorf("tiles of %d: the pixels differ", o.TileSize)
				}
			}
			gputest.Each(t, func(t *testing.T, dev *gpu.Device) {
				o := o
				if dev.Backend() == gpu.Sim { // slow
					o.TileSize = 96
					check(t, dev, o)
					return
				}
				for _, size := range []int{32, 64, 512} {
					o.TileSize = size
					check(t, dev, o)
				}
			})
			defer runtime.GOMAXPROCS(runtime.GOMAXPROCS(1))
			check(t, cpu(t), o)
		})
	}
}

func TestBlocksWithoutDataAreNotWritten(t *testing.T) {
	sources := []Source{
		source(t, 0, 0, 40, 40, 1, tiff.Options{}, "7", func(x, y, band int) uint16 { return uint16(x%9 + 1) }),
		source(t, 900, 700, 60, 50, 1, tiff.Options{}, "7", func(x, y, band int) uint16 { return uint16(y) }),
	}
	for _, o := range []tiff.Options{{BlockWidth: 64, BlockHeight: 64}, {BlockWidth: 64, BlockHeight: 64, COG: true}} {
		im := run(t, cpu(t), sources, Options{File: o})
		if im.NoData != "7" || im.Bands != 1 || im.Width != 960 || im.Height != 750 {
			t.Errorf("%v", im)
		}
		pixels := read[uint16](t, im)
		if pixels[3*im.Width+5] != 6 || pixels[720*im.Width+910] != 720 || pixels[400*im.Width+400] != 7 {
			t.Errorf("%d, %d, %d", pixels[3*im.Width+5], pixels[720*im.Width+910], pixels[400*im.Width+400])
		}
	}
}

// TestOverviewsAreThoseOfWriteRows compares the overviews, which are made of blocks, with those of a file that is written by rows.
func TestOverviewsAreThoseOfWriteRows(t *testing.T) {
	sources := mixed(t)
	im := run(t, cpu(t), sources, Options{Blend: Feather, File: tiff.Options{COG: true, BlockWidth: 48, BlockHeight: 32}})
	name := filepath.Join(t.TempDir(), "rows.tif")
	w, err := tiff.Create(name, im.Header, tiff.Options{COG: true, BlockWidth: 48, BlockHeight: 32})
	if err != nil {
		t.Fatal(err)
	}
	if err := w.WriteRows(t.Context(), tiff.Rows{Pixels: read[uint8](t, im)}); err != nil {
		t.Fatal(err)
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	want := open(t, name)
	if len(im.Overviews()) == 0 || len(im.Overviews()) != len(want.Overviews()) {
		t.Fatalf("%d overviews, want %d", len(im.Overviews()), len(want.Overviews()))
	}
	for i, o := range im.Overviews() {
		if !bytes.Equal(read[uint8](t, o), read[uint8](t, want.Overviews()[i])) {
			t.Errorf("overview %d differs", i)
		}
	}
}

func TestAnInterruptedMosaicContinues(t *testing.T) {
	dev := cpu(t)
	sources := mixed(t)
	o := Options{Order: Nearest, Blend: Multiband, Levels: 2, Seams: true, TileSize: 64, File: tiff.Options{BlockWidth: 32, BlockHeight: 32}}
	folder := t.TempDir()
	whole, name := filepath.Join(folder, "whole.tif"), filepath.Join(folder, "mosaic.tif")
	if err := File(t.Context(), dev, whole, sources, o); err != nil {
		t.Fatal(err)
	}
	want, err := os.ReadFile(whole)
	if err != nil {
		t.Fatal(err)
	}
	for _, after := range []int{1, 7, 20} {
		ctx, cancel := context.WithCancel(t.Context())
		part := o
		part.Progress = func(done, total int) {
			if done >= after {
				cancel()
			}
		}
		if err := File(ctx, dev, name, sources, part); !errors.Is(err, context.Canceled) {
			t.Fatalf("after %d parts: %v", after, err)
		}
		cancel()
		names, _ := filepath.Glob(filepath.Join(folder, "*"))
		if !slices.Equal(names, []string{name + ".work", whole}) {
			t.Errorf("the folder has %v", names)
		}
		// The process may be killed while it writes a record.
		f, err := os.OpenFile(name+".work", os.O_RDWR, 0)
		if err != nil {
			t.Fatal(err)
		}
		info, _ := f.Stat()
		if after == 20 {
			f.Truncate(info.Size() - 5)
		} else {
			f.WriteAt([]byte{kindBlock, 1, 2, 3}, info.Size())
		}
		f.Close()
	}
	info, _ := os.Stat(name + ".work")
	if info.Size() < 1000 {
		t.Errorf("the work file has %d bytes", info.Size())
	}
	if err := File(t.Context(), dev, name, sources, o); err != nil {
		t.Fatal(err)
	}
	got, err := os.ReadFile(name)
	if err != nil {
		t.Fatal(err)
	}
	a, b := read[uint8](t, open(t, name)), read[uint8](t, open(t, whole))
	if !bytes.Equal(a, b) || len(got) == 0 || len(want) == 0 {
		t.Error("the pixels differ")
	}
	if _, err := os.Stat(name + ".work"); err == nil {
		t.Error("the work file is left")
	}
}

func TestAMosaicOfChangedSourcesBeginsAgain(t *testing.T) {
	dev := cpu(t)
	blocks := tiff.Options{BlockWidth: 32, BlockHeight: 32}
	of := func(corner uint8) []Source {
		return []Source{source(t, 0, 0, 128, 128, 1, blocks, "", func(x, y, band int) uint8 {
			if x < 8 && y < 8 {
				return corner
			}
			return plain(x, y, band)
		})}
	}
	o := Options{TileSize: 32, File: blocks}
	name := filepath.Join(t.TempDir(), "mosaic.tif")
	ctx, cancel := context.WithCancel(t.Context())
	part := o
	part.Progress = func(done, total int) {
		if done > 8 {
			cancel()
		}
	}
	if err := File(ctx, dev, name, of(10), part); !errors.Is(err, context.Canceled) {
		t.Fatal(err)
	}
	if info, err := os.Stat(name + ".work"); err != nil || info.Size() < 1000 {
		t.Fatalf("no tiles are kept: %v", err)
	}
	if err := File(t.Context(), dev, name, of(200), o); err != nil {
		t.Fatal(err)
	}
	if got := read[uint8](t, open(t, name)); got[0] != 200 {
		t.Errorf("the corner is that of the old source: %d", got[0])
	}
}

// killed names the file that a process makes until it kills itself; see TestAKilledProcessLeavesItsTiles.
const killed = "QUERN_TEST_KILLED_MOSAIC"

func TestAKilledProcessLeavesItsTiles(t *testing.T) {
	o := Options{Order: Nearest, Blend: Feather, TileSize: 64, File: tiff.Options{BlockWidth: 64, BlockHeight: 64}}
	if folder := os.Getenv(killed); folder != "" {
		o.Progress = func(done, total int) {
			if done == 5 {
				p, _ := os.FindProcess(os.Getpid())
				p.Kill()
				select {}
			}
		}
		a, b := Source{Image: open(t, filepath.Join(folder, "a.tif"))}, Source{Image: open(t, filepath.Join(folder, "b.tif"))}
		t.Fatal(File(t.Context(), cpu(t), filepath.Join(folder, "mosaic.tif"), []Source{a, b}, o))
	}
	folder := t.TempDir()
	var sources []Source
	for i, s := range grid(t, 2, 1, func(image, x, y, band int) uint8 { return plain(x, y, band) - uint8(9*image) }) {
		name := filepath.Join(folder, string(rune('a'+i))+".tif")
		w, err := tiff.Create(name, s.Image.Header, tiff.Options{})
		if err != nil {
			t.Fatal(err)
		}
		if err := w.WriteRows(t.Context(), tiff.Rows{Pixels: read[uint8](t, s.Image)}); err != nil {
			t.Fatal(err)
		}
		if err := w.Close(); err != nil {
			t.Fatal(err)
		}
		sources = append(sources, Source{Image: open(t, name)})
	}
	program, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	cmd := exec.Command(program, "-test.run=TestAKilledProcessLeavesItsTiles")
	cmd.Env = append(os.Environ(), killed+"="+folder)
	if out, err := cmd.CombinedOutput(); err == nil {
		t.Fatalf("the process was not killed:\n%s", out)
	}
	name := filepath.Join(folder, "mosaic.tif")
	if _, err := os.Stat(name); err == nil {
		t.Error("there is half a file")
	}
	if info, err := os.Stat(name + ".work"); err != nil || info.Size() < 1000 {
		t.Fatalf("the work file: %v %v", info, err)
	}
	if left, _ := filepath.Glob(filepath.Join(folder, "*.partial")); len(left) > 0 {
		t.Errorf("%v are left", left)
	}
	if err := File(t.Context(), cpu(t), name, sources, o); err != nil {
		t.Fatal(err)
	}
	if !bytes.Equal(read[uint8](t, open(t, name)), read[uint8](t, run(t, cpu(t), sources, o))) {
		t.Error("the pixels differ")
	}
}

// TestTwoCallsDoNotShareAWorkFile starts calls while one is under way, in this process and in another one.
func TestTwoCallsDoNotShareAWorkFile(t *testing.T) {
	o := Options{Order: Nearest, Blend: Feather, TileSize: 64, File: tiff.Options{BlockWidth: 64, BlockHeight: 64}}
	if folder := os.Getenv(second); folder != "" {
		err := File(t.Context(), cpu(t), filepath.Join(folder, "mosaic.tif"), grid(t, 2, 1, func(image, x, y, band int) uint8 { return 9 }), o)
		if !errors.Is(err, ErrBusy) || !strings.Contains(err.Error(), "mosaic.tif.work: another call or process") {
			t.Fatalf("the other process got %v", err)
		}
		return
	}
	folder := t.TempDir()
	name := filepath.Join(folder, "mosaic.tif")
	sources := grid(t, 2, 1, func(image, x, y, band int) uint8 { return plain(x, y, band) - uint8(9*image) })
	want := read[uint8](t, run(t, cpu(t), sources, o))
	dev := cpu(t)
	program, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	first := o
	first.Progress = func(done, total int) {
		if done != 3 {
			return
		}
		if err := File(t.Context(), dev, name, sources, o); !errors.Is(err, ErrBusy) {
			t.Errorf("the second call got %v", err)
		}
		cmd := exec.Command(program, "-test.run=TestTwoCallsDoNotShareAWorkFile")
		cmd.Env = append(os.Environ(), second+"="+folder)
		if out, err := cmd.CombinedOutput(); err != nil {
			t.Errorf("%v:\n%s", err, out)
		}
	}
	if err := File(t.Context(), dev, name, sources, first); err != nil {
		t.Fatal(err)
	}
	if !bytes.Equal(read[uint8](t, open(t, name)), want) {
		t.Error("the pixels differ")
	}
	// Of several calls at a time some are refused, and the result is right after each that is not.
	var wg sync.WaitGroup
	var made atomic.Int32
	for range 8 {
		wg.Go(func() {
			switch err := File(t.Context(), dev, name, sources, o); {
			case err == nil:
				made.Add(1)
			case !errors.Is(err, ErrBusy):
				t.Error(err)
			}
		})
	}
	wg.Wait()
	if made.Load() == 0 || !bytes.Equal(read[uint8](t, open(t, name)), want) {
		t.Errorf("%d calls succeeded, and the pixels are not right", made.Load())
	}
	if left, _ := filepath.Glob(filepath.Join(folder, "*")); !slices.Equal(left, []string{name}) {
		t.Errorf("%v are left", left)
	}
}

// second names the folder of the mosaic that another process tries to make.
const second = "QUERN_TEST_SECOND_MOSAIC"

// TestMemoryDoesNotGrowWithTheMosaic is a small form of bench/mosaic.
func TestMemoryDoesNotGrowWithTheMosaic(t *testing.T) {
	defer debug.SetGCPercent(debug.SetGCPercent(100)) // garbage counts below
	const size = 30000
	sources := grid(t, 2, 1, func(image, x, y, band int) uint8 { return uint8(50 + image) })
	sources = append(sources, source(t, size-100, size-90, 100, 90, 3, tiff.Options{}, "", plain))
	dev := cpu(t)
	done := make(chan struct{})
	peak := make(chan uint64)
	go func() {
		most := uint64(0)
		s := []metrics.Sample{{Name: "/memory/classes/heap/objects:bytes"}}
		for {
			select {
			case <-done:
				peak <- most
				return
			case <-time.After(5 * time.Millisecond):
				metrics.Read(s)
				most = max(most, s[0].Value.Uint64())
			}
		}
	}()
	im := run(t, dev, sources, Options{Blend: Feather, Memory: 64 << 20, TileSize: 256, File: tiff.Options{COG: true, BlockWidth: 256, BlockHeight: 256}})
	close(done)
	most := <-peak
	if im.Width != size || im.Height != size || len(im.Overviews()) != 7 {
		t.Errorf("%v with %d overviews", im, len(im.Overviews()))
	}
	t.Logf("a mosaic of %d MiB took %d MiB of memory", size*size*4>>20, most>>20)
	if most > 300<<20 {
		t.Errorf("%d MiB of memory", most>>20)
	}
}

func TestAWorkFileOfOtherOptionsIsNotUsed(t *testing.T) {
	dev := cpu(t)
	sources := grid(t, 2, 1, func(image, x, y, band int) uint8 { return uint8(image + 1) })
	name := filepath.Join(t.TempDir(), "mosaic.tif")
	ctx, cancel := context.WithCancel(t.Context())
	o := Options{Order: First, TileSize: 64, File: tiff.Options{BlockWidth: 64, BlockHeight: 64}}
	part := o
	part.Progress = func(done, total int) {
		if done == 4 {
			cancel()
		}
	}
	if err := File(ctx, dev, name, sources, part); !errors.Is(err, context.Canceled) {
		t.Fatal(err)
	}
	o.Order = Last
	if err := File(t.Context(), dev, name, sources, o); err != nil {
		t.Fatal(err)
	}
	im := open(t, name)
	if pixels := read[uint8](t, im); pixels[(50*im.Width+100)*4] != 2 {
		t.Error("a tile of the other order was used")
	}
}

func TestBadInputsAreReported(t *testing.T) {
	dev := cpu(t)
	sources := grid(t, 1, 1, func(image, x, y, band int) uint8 { return 1 })
	other := source(t, 0, 0, 10, 10, 1, tiff.Options{}, "", func(x, y, band int) uint16 { return 1 })
	bare := filepath.Join(t.TempDir(), "bare.tif")
	w, err := tiff.Create(bare, tiff.Header{Width: 2, Height: 2, Bands: 3, Type: tiff.Uint8, Photometric: tiff.RGB}, tiff.Options{})
	if err != nil {
		t.Fatal(err)
	}
	w.WriteRows(t.Context(), tiff.Rows{Pixels: make([]byte, 12)})
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	before, err := os.ReadFile(bare)
	if err != nil {
		t.Fatal(err)
	}
	noData := 300.0
	name := filepath.Join(t.TempDir(), "mosaic.tif")
	canceled, cancel := context.WithCancel(t.Context())
	cancel()
	for title, test := range map[string]struct {
		ctx     context.Context
		name    string
		sources []Source
		o       Options
		want    error
	}{
		"no source":                        {t.Context(), name, nil, Options{}, ErrArgument},
		"no image":                         {t.Context(), name, []Source{{}}, Options{}, ErrArgument},
		"another type":                     {t.Context(), name, append(slices.Clone(sources), other), Options{}, warp.ErrArgument},
		"no coordinate system":             {t.Context(), name, []Source{{Image: open(t, bare)}}, Options{}, warp.ErrNoCRS},
		"an impossible NoData":             {t.Context(), name, sources, Options{NoData: &noData}, ErrArgument},
		"levels":                           {t.Context(), name, sources, Options{Levels: 9}, ErrArgument},
		"tiles that cut blocks":            {t.Context(), name, sources, Options{TileSize: 100}, ErrArgument},
		"strips":                           {t.Context(), name, sources, Options{File: tiff.Options{Strips: true}}, ErrArgument},
		"no folder":                        {t.Context(), filepath.Join(name, "no", "folder.tif"), sources, Options{}, tiff.ErrIO},
		"no folder of the work file":       {t.Context(), name, sources, Options{Work: filepath.Join(name, "no")}, ErrWork},
		"a full disk":                      {t.Context(), name, sources, Options{Work: "/dev/full"}, ErrWork},
		"a work file that is another file": {t.Context(), name, sources, Options{Work: bare}, ErrWork},
		"a work file that is the output":   {t.Context(), name, sources, Options{Work: filepath.Dir(name) + "/./" + filepath.Base(name)}, ErrArgument},
		"canceled":                         {canceled, name, sources, Options{}, context.Canceled},
	} {
		if err := File(test.ctx, dev, test.name, test.sources, test.o); !errors.Is(err, test.want) {
			t.Errorf("%s: %v", title, err)
		}
	}
	if _, err := os.Stat(name); err == nil {
		t.Error("there is a file")
	}
	if after, err := os.ReadFile(bare); err != nil || !bytes.Equal(before, after) {
		t.Errorf("the file that is no work file has changed: %v", err)
	}
}
