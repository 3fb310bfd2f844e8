package ortho

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"math"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"quern.dev/geo/mosaic"
	"quern.dev/geo/tiff"
	"quern.dev/geo/warp"
)

// flight returns photographs that overlap, and their sensors.
func flight(t testing.TB, n int) (photos []*tiff.Image, sensors []*Sensor) {
	t.Helper()
	c, _, _ := brown(t)
	for k := range n {
		pose := OmegaPhiKappa(epsg(t, 32633), originX+85+25*float64(k), originY+120+8*float64(k%2), 450, 3, float64(-2*k), float64(20*k))
		s, err := Frame(c, pose)
		if err != nil {
			t.Fatal(err)
		}
		pixels := make([]uint8, 3*c.Width*c.Height)
		for i := range pixels {
			x, y := float64(i/3%c.Width), float64(i/3/c.Width)
			pixels[i] = uint8(110 + 10*float64(k) + 40*math.Sin(x/9+float64(i%3))*math.Cos(y/13) + float64(i*40503>>8&15))
		}
		h := tiff.Header{Width: c.Width, Height: c.Height, Bands: 3, Photometric: tiff.RGB}
		photos = append(photos, write(t, filepath.Join(t.TempDir(), "photo.tif"), h, pixels, tiff.Options{BlockWidth: 128, BlockHeight: 128}))
		sensors = append(sensors, s)
	}
	return photos, sensors
}

// store writes an image with its overviews block by block, and opens it.
func store(t testing.TB, im *tiff.Image) *tiff.Image {
	t.Helper()
	name := filepath.Join(t.TempDir(), "stored.tif")
	o := tiff.Options{BlockWidth: im.BlockWidth, BlockHeight: im.BlockHeight, Overviews: len(im.Overviews()), Compression: tiff.ZSTD, Level: 1}
	w, err := tiff.Create(name, im.Header, o)
	if err != nil {
		t.Fatal(err)
	}
	defer w.Abort()
	for level, from := range append([]*tiff.Image{im}, im.Overviews()...) {
		across, down, _ := from.Blocks()
		for i := range across * down {
			block := make([]byte, from.BlockBytes())
			if err := errors.Join(from.ReadBlock(t.Context(), block, i), w.WriteBlock(t.Context(), level, i, block)); err != nil {
				t.Fatal(err)
			}
		}
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	return open(t, name)
}

func TestImagesAreThoseOfFiles(t *testing.T) {
	dev, ground := cpu(t), surface(t, tower, 1)
	photos, sensors := flight(t, 4)
	o := Options{Resolution: [2]float64{0.4, 0.4}, AlignPixels: true, Resampling: warp.Bilinear, Tolerance: 0.1}
	small := o
	small.TileWidth, small.TileHeight, small.Memory = 64, 64, 4<<20 // two images at a time
	set := NewImages(dev, ground, small)
	defer set.Close()
	var direct, files []mosaic.Source
	for i, photo := range photos {
		f, err := set.Add(t.Context(), photo, sensors[i])
		if err != nil {
			t.Fatal(err)
		}
		name := filepath.Join(t.TempDir(), "ortho.tif")
		if err := File(t.Context(), dev, name, photo, sensors[i], ground, o); err != nil {
			t.Fatal(err)
		}
		im, want := f.Image(), open(t, name)
		if a, b := fmt.Sprintf("%+v", im.Header), fmt.Sprintf("%+v", want.Header); a != b {
			t.Errorf("header %s, want %s", a, b)
		}
		got, err := tiff.Read[uint8](t.Context(), im, im.All())
		if err != nil {
			t.Fatal(err)
		}
		if pixels, err := tiff.Read[uint8](t.Context(), want, want.All()); err != nil || !bytes.Equal(got, pixels) {
			t.Errorf("image %d: the pixels differ from those of the file; %v", i, err)
		}
		direct, files = append(direct, mosaic.Source{Image: im}), append(files, mosaic.Source{Image: store(t, im)})
		if set.recent.Len() > 2 {
			t.Errorf("%d images on the device", set.recent.Len())
		}
	}
	mo := mosaic.Options{Order: mosaic.Nearest, Seams: true, Balance: mosaic.Gain, Blend: mosaic.Multiband, Levels: 3, Resolution: o.Resolution, AlignPixels: true,
		File: tiff.Options{BlockWidth: 128, BlockHeight: 128}, TileSize: 256}
	var results [2][]byte
	for i, sources := range [][]mosaic.Source{direct, files} {
		name := filepath.Join(t.TempDir(), "mosaic.tif")
		if err := mosaic.File(t.Context(), dev, name, sources, mo); err != nil {
			t.Fatal(err)
		}
		im := open(t, name)
		pixels, err := tiff.Read[uint8](t.Context(), im, im.All())
		if err != nil {
			t.Fatal(err)
		}
		results[i] = pixels
	}
	if !bytes.Equal(results[0], results[1]) {
		t.Error("the mosaic differs from that of files")
	}
}

// TestAMosaicOfOtherSurfacesBeginsAgain changes what images are computed from, beyond their middle, after a mosaic was interrupted.
func TestAMosaicOfOtherSurfacesBeginsAgain(t *testing.T) {
	dev := cpu(t)
	photos, sensors := flight(t, 1)
	o := Options{Resolution: [2]float64{0.4, 0.4}, Resampling: warp.Bilinear, TileWidth: 64, TileHeight: 64}
	pit := func(x, y float64) float64 {
		if math.Abs(x-originX-45) < 8 && math.Abs(y-originY-120) < 8 {
			return hills(x, y) - 10
		}
		return hills(x, y)
	}
	mo := mosaic.Options{Order: mosaic.Nearest, Resolution: o.Resolution, AlignPixels: true, Extent: &warp.Extent{MinX: originX + 30, MinY: originY + 80, MaxX: originX + 190, MaxY: originY + 180},
		File: tiff.Options{BlockWidth: 32, BlockHeight: 32}, TileSize: 64}
	join := func(ctx context.Context, name string, ground *Surface, sensors []*Sensor, o Options, progress func(done, total int)) error {
		set := NewImages(dev, ground, o)
		defer set.Close()
		var sources []mosaic.Source
		for i, photo := range photos {
			f, err := set.Add(t.Context(), photo, sensors[i])
			if err != nil {
				t.Fatal(err)
			}
			sources = append(sources, mosaic.Source{Image: f.Image(), Center: &[2]float64{originX + 85, originY + 120}})
		}
		mo.Progress = progress
		return mosaic.File(ctx, dev, name, sources, mo)
	}
	through := o
	through.SeeThrough = true
	for _, test := range []struct {
		title         string
		before, after *Surface
		o             Options
	}{
		{"other heights", surface(t, hills, 1), surface(t, pit, 1), o},
		{"other options", surface(t, tower, 1), surface(t, tower, 1), through},
	} {
		name, fresh := filepath.Join(t.TempDir(), "mosaic.tif"), filepath.Join(t.TempDir(), "fresh.tif")
		ctx, cancel := context.WithCancel(t.Context())
		stop := func(done, total int) {
			if 4*done > total {
				cancel()
			}
		}
		if err := join(ctx, name, test.before, sensors, o, stop); !errors.Is(err, context.Canceled) {
			t.Fatal(err)
		}
		if err := errors.Join(join(t.Context(), name, test.after, sensors, test.o, nil), join(t.Context(), fresh, test.after, sensors, test.o, nil)); err != nil {
			t.Fatal(err)
		}
		a, b := open(t, name), open(t, fresh)
		got, err1 := tiff.Read[uint8](t.Context(), a, a.All())
		want, err2 := tiff.Read[uint8](t.Context(), b, b.All())
		if err := errors.Join(err1, err2); err != nil || !bytes.Equal(got, want) {
			t.Errorf("%s: the mosaic has tiles of before, %v", test.title, err)
		}
	}
}

func TestTheVersionOfAnImageIsThatOfWhatItDependsOn(t *testing.T) {
	photos, sensors := flight(t, 2)
	ground := surfaceFile(t, hills, 1)
	of := func(sensor int, offset float64, o Options) string {
		s, err := NewSurface(t.Context(), ground, SurfaceOptions{Offset: offset})
		if err != nil {
			t.Fatal(err)
		}
		set := NewImages(cpu(t), s, o)
		defer set.Close()
		f, err := set.Add(t.Context(), photos[0], sensors[sensor])
		if err != nil {
			t.Fatal(err)
		}
		return f.Image().Version()
	}
	o := Options{Resolution: [2]float64{0.4, 0.4}}
	first := of(0, 1, o)
	if other := of(0, 1, o); other != first || first == "" {
		t.Errorf("the same image has the versions %q and %q", first, other)
	}
	through, tolerant := o, o
	through.SeeThrough, tolerant.Tolerance = true, 2
	for title, other := range map[string]string{"another sensor": of(1, 1, o), "other heights": of(0, 2, o), "see through": of(0, 1, through), "a tolerance": of(0, 1, tolerant)} {
		if other == first {
			t.Errorf("%s: the version is the same", title)
		}
	}
}

// TestOverviewsShowTheSame compares overviews with means of the pixels.
func TestOverviewsShowTheSame(t *testing.T) {
	photos, sensors := flight(t, 1)
	set := NewImages(cpu(t), surface(t, hills, 1), Options{Resolution: [2]float64{0.25, 0.25}, Resampling: warp.Cubic})
	defer set.Close()
	f, err := set.Add(t.Context(), photos[0], sensors[0])
	if err != nil {
		t.Fatal(err)
	}
	im := f.Image()
	all := im.Overviews()
	if last := all[len(all)-1]; max(last.Width, last.Height) > overviewSide || max(im.Width, im.Height) <= 2*overviewSide {
		t.Fatalf("overviews of %d x %d pixels end at %d x %d", im.Width, im.Height, last.Width, last.Height)
	}
	pixels, err := tiff.Read[uint8](t.Context(), im, im.All())
	if err != nil {
		t.Fatal(err)
	}
	for level, v := range all {
		small, err := tiff.Read[uint8](t.Context(), v, v.All())
		if err != nil {
			t.Fatal(err)
		}
		const side = 16
		step := side << (level + 1)
		squares := 0
		for y := 0; y+step <= im.Height; y += step {
			for x := 0; x+step <= im.Width; x += step {
				mean := func(pixels []byte, x, y, side, width int) (sum float64, full bool) {
					for j := range side {
						for i := range side {
							p := pixels[4*((y+j)*width+x+i):]
							if p[3] == 0 {
								return 0, false
							}
							sum += float64(p[1])
						}
					}
					return sum / float64(side*side), true
				}
				a, full := mean(pixels, x, y, step, im.Width)
				b, alsoFull := mean(small, x>>(level+1), y>>(level+1), side, v.Width)
				if !full || !alsoFull {
					continue
				}
				squares++
				if math.Abs(a-b) > 3 {
					t.Errorf("overview %d at %d, %d: a mean of %.2f, want %.2f", level+1, x, y, b, a)
				}
			}
		}
		if squares < 5 {
			t.Errorf("overview %d: %d squares with data", level+1, squares)
		}
	}
}

func TestImagesAreReadConcurrently(t *testing.T) {
	photos, sensors := flight(t, 5)
	set := NewImages(cpu(t), surface(t, hills, 2), Options{Memory: 1 << 20, TileWidth: 64, TileHeight: 48})
	defer set.Close()
	var images []*tiff.Image
	var want [][]byte
	for i, photo := range photos {
		f, err := set.Add(t.Context(), photo, sensors[i])
		if err != nil {
			t.Fatal(err)
		}
		images = append(images, f.Image())
		pixels, err := tiff.Read[uint8](t.Context(), images[i], images[i].All())
		if err != nil {
			t.Fatal(err)
		}
		want = append(want, pixels)
		a, b := images[i].Geo, images[0].Geo
		p, _ := a.Affine()
		q, _ := b.Affine()
		if p[1] != q[1] || math.Abs(math.Remainder((p[0]-q[0])/p[1], 1)) > 1e-6 || math.Abs(math.Remainder((p[3]-q[3])/p[5], 1)) > 1e-6 {
			t.Errorf("the pixels of image %d are at %v, those of the first one at %v", i, p, q)
		}
	}
	var wg sync.WaitGroup
	for k := range 10 {
		wg.Go(func() {
			im := images[k%5]
			got, err := tiff.Read[uint8](t.Context(), im, im.All())
			if err != nil || !bytes.Equal(got, want[k%5]) {
				t.Errorf("image %d: the pixels differ; %v", k%5, err)
			}
		})
	}
	wg.Wait()
	if n := set.recent.Len(); n > 2 {
		t.Errorf("%d images on the device", n)
	}
}

// failing returns an image of which reading fails.
func failing(t testing.TB, h tiff.Header, err error) *tiff.Image {
	t.Helper()
	f, e := tiff.NewVirtual(tiff.Virtual{Header: h, Read: func(context.Context, tiff.VirtualBlock, []byte) error { return err }})
	if e != nil {
		t.Fatal(e)
	}
	return f.Image()
}

func TestErrorsOfImagesPassThrough(t *testing.T) {
	dev, ground := cpu(t), surface(t, hills, 2)
	photos, sensors := flight(t, 1)
	set := NewImages(dev, ground, Options{})
	defer set.Close()
	wrong := errors.New("the disk is on fire")
	for i, photo := range []*tiff.Image{failing(t, photos[0].Header, wrong), photos[0]} {
		f, err := set.Add(t.Context(), photo, sensors[0])
		if err != nil {
			t.Fatal(err)
		}
		ctx, want := t.Context(), wrong
		if i == 1 {
			var cancel context.CancelFunc
			ctx, cancel = context.WithCancel(ctx)
			cancel()
			want = context.Canceled
		}
		err = mosaic.File(ctx, dev, filepath.Join(t.TempDir(), "mosaic.tif"), []mosaic.Source{{Image: f.Image()}}, mosaic.Options{})
		if !errors.Is(err, want) {
			t.Errorf("error %v, want %v", err, want)
		}
		if i == 1 {
			if _, err := tiff.Read[uint8](t.Context(), f.Image(), tiff.Region{Width: 8, Height: 8}); err != nil {
				t.Errorf("after a canceled call: %v", err)
			}
			set.Close()
			if _, err := tiff.Read[uint8](t.Context(), f.Image(), tiff.Region{Width: 8, Height: 8}); err == nil || !strings.Contains(err.Error(), "the images are closed") {
				t.Errorf("after Close: %v", err)
			}
		}
	}
	if _, err := NewImages(dev, ground, Options{Tolerance: -1}).Add(t.Context(), photos[0], sensors[0]); !errors.Is(err, ErrArgument) {
		t.Errorf("a bad option: %v", err)
	}
	far, err := Frame(Camera{Width: 320, Height: 240, FX: 300, FY: 300, CX: 160, CY: 120}, OmegaPhiKappa(epsg(t, 32633), originX+9000, originY, 450, 0, 0, 0))
	if err != nil {
		t.Fatal(err)
	}
	if _, err := NewImages(dev, ground, Options{}).Add(t.Context(), photos[0], far); !errors.Is(err, ErrOutside) {
		t.Errorf("an image that does not show the surface: %v", err)
	}
}

func TestTheEyeOfACamera(t *testing.T) {
	c, pose, _ := brown(t)
	s, err := Frame(c, pose)
	if err != nil {
		t.Fatal(err)
	}
	if p, ok, err := s.Eye(epsg(t, 32633)); err != nil || !ok || math.Hypot(p[0]-originX-115, p[1]-originY-125) > 1e-6 || math.Abs(p[2]-450) > 1e-6 {
		t.Errorf("%v, %v, %v", p, ok, err)
	}
	rpc, _ := rational(t)
	if s, err = RPC(rpc, 100, 100); err != nil {
		t.Fatal(err)
	}
	if _, ok, err := s.Eye(epsg(t, 32633)); ok || err != nil {
		t.Errorf("RPC has an eye; %v", err)
	}
}

func TestMasksOfImages(t *testing.T) {
	c, pose, _ := brown(t)
	sensor, err := Frame(c, pose)
	if err != nil {
		t.Fatal(err)
	}
	h := tiff.Header{Width: c.Width, Height: c.Height, Bands: 1, Type: tiff.Uint8, Photometric: tiff.MinIsBlack}
	photo, err := tiff.NewVirtual(tiff.Virtual{Header: h, Mask: true, BlockWidth: c.Width, BlockHeight: c.Height, Read: func(_ context.Context, b tiff.VirtualBlock, dst []byte) error {
		for i := range dst {
			if dst[i] = byte(i * 40503 >> 8); b.Mask {
				dst[i] = byte(255 * (i / 50 % 2))
			}
		}
		return nil
	}})
	if err != nil {
		t.Fatal(err)
	}
	dev, ground := cpu(t), surface(t, hills, 2)
	o := Options{Resolution: [2]float64{0.5, 0.5}, AlignPixels: true, Opaque: true, TileWidth: 100, TileHeight: 70}
	m, err := New(t.Context(), dev, photo.Image(), sensor, ground, o)
	if err != nil {
		t.Fatal(err)
	}
	defer m.Close()
	n := m.Header().Width * m.Header().Height
	pixels, mask := make([]byte, n), make([]byte, n)
	if err := m.Read(t.Context(), tiff.Region{Width: m.Header().Width, Height: m.Header().Height}, pixels, mask); err != nil {
		t.Fatal(err)
	}
	set := NewImages(dev, ground, o)
	defer set.Close()
	f, err := set.Add(t.Context(), photo.Image(), sensor)
	if err != nil {
		t.Fatal(err)
	}
	im := f.Image()
	got, err := tiff.Read[uint8](t.Context(), im, im.All())
	if err != nil || !bytes.Equal(got, pixels) {
		t.Errorf("the pixels differ; %v", err)
	}
	got, err = tiff.Read[uint8](t.Context(), im.Mask(), im.All())
	if err != nil || !bytes.Equal(got, mask) || !bytes.Contains(mask, []byte{0, 255}) {
		t.Errorf("the mask differs; %v", err)
	}
}
