package worldfile_test

import (
	"bytes"
	"compress/zlib"
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"hash/crc32"
	"image"
	"image/jpeg"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"quern.dev/geo/crs"
	"quern.dev/geo/tiff"
	"quern.dev/geo/worldfile"
)

// pngFile makes a file of a header and rows with their filters.
func pngFile(head, rows []byte) []byte {
	out := []byte("\x89PNG\r\n\x1a\n")
	chunk := func(kind string, data []byte) {
		out = binary.BigEndian.AppendUint32(out, uint32(len(data)))
		at := len(out)
		out = append(append(out, kind...), data...)
		out = binary.BigEndian.AppendUint32(out, crc32.ChecksumIEEE(out[at:]))
	}
	chunk("IHDR", head)
	var z bytes.Buffer
	w := zlib.NewWriter(&z)
	_, _ = w.Write(rows)
	_ = w.Close()
	for b := z.Bytes(); len(b) > 0; {
		n := min(len(b), 1000)
		chunk("IDAT", b[:n])
		b = b[n:]
	}
	chunk("IEND", nil)
	return out
}

func TestWorldFiles(t *testing.T) {
	a, err := worldfile.Read(strings.NewReader("0.1\n0\n0\n-0.2\n10.05\n19.9\n"))
	if err != nil || a[1] != 0.1 || a[5] != -0.2 || a[2] != 0 || a[4] != 0 || !near(a[0], 10) || !near(a[3], 20) {
		t.Errorf("%v, %v", a, err)
	}
	if a, err := worldfile.Read(strings.NewReader("\r\n 1,5\r\n2\r\n3\r\n-4\r\n100\r\n200\r\n")); err != nil || a != (tiff.Affine{97.75, 1.5, 3, 201, 2, -4}) {
		t.Errorf("decimal commas: %v, %v", a, err)
	}
	want := tiff.Affine{500000.123456789, 0.1, -0.05, 5300000.75, 0.025, -0.3}
	var b strings.Builder
	if err := worldfile.Write(&b, want); err != nil {
		t.Fatal(err)
	}
	got, err := worldfile.Read(strings.NewReader(b.String()))
	if err != nil {
		t.Fatal(err)
	}
	for i := range want {
		if !near(got[i], want[i]) {
			t.Errorf("%v, want %v", got, want)
		}
	}
	for _, text := range []string{"", "1 2 3 4 5", "1 0 0 x 5 6", "0 0 0 -1 5 6", "nan 0 0 1 5 6", "1 0 0 inf 5 6"} {
		if _, err := worldfile.Read(strings.NewReader(text)); !errors.Is(err, worldfile.ErrFormat) {
			t.Errorf("%q: %v", text, err)
		}
	}
}

func near(a, b float64) bool { return a-b < 1e-9 && b-a < 1e-9 }

func TestFilesBesideAnImage(t *testing.T) {
	const (
		esri = `PROJCS["WGS_1984_UTM_Zone_33N",GEOGCS["GCS_WGS_1984",DATUM["D_WGS_1984",SPHEROID["WGS_1984",6378137.0,298.257223563]],PRIMEM["Greenwich",0.0],UNIT["Degree",0.0174532925199433]],PROJECTION["Transverse_Mercator"],PARAMETER["False_Easting",500000.0],PARAMETER["False_Northing",0.0],PARAMETER["Central_Meridian",15.0],PARAMETER["Scale_Factor",0.9996],PARAMETER["Latitude_Of_Origin",0.0],UNIT["Meter",1.0]]`
		own  = `PROJCS["local",GEOGCS["GCS_WGS_1984",DATUM["D_WGS_1984",SPHEROID["WGS_1984",6378137.0,298.257223563]],PRIMEM["Greenwich",0.0],UNIT["Degree",0.0174532925199433]],PROJECTION["Transverse_Mercator"],PARAMETER["False_Easting",7.0],PARAMETER["False_Northing",0.0],PARAMETER["Central_Meridian",15.5],PARAMETER["Scale_Factor",1],PARAMETER["Latitude_Of_Origin",0.0],UNIT["Meter",1.0]]`
		// (100.5, 199.5) is the center of the first pixel.
		world = "1\n0\n0\n-1\n100.5\n199.5\n"
	)
	picture := pngFile(append(binary.BigEndian.AppendUint32(binary.BigEndian.AppendUint32(nil, 2), 1), 8, 0, 0, 0, 0), []byte{0, 1, 2})
	var photo bytes.Buffer
	if err := jpeg.Encode(&photo, image.NewGray(image.Rect(0, 0, 4, 4)), nil); err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		name   string
		files  map[string]string
		x      float64 // of the corner; 0 for no place
		code   int
		failed error
	}{
		{"a.png", nil, 0, 0, nil},
		{"a.png", map[string]string{"a.pgw": world}, 100, 0, nil},
		{"a.png", map[string]string{"a.pngw": world, "a.prj": esri}, 100, 32633, nil},
		{"a.png", map[string]string{"a.wld": world, "a.PRJ": "EPSG:3857"}, 100, 3857, nil},
		{"A.PNG", map[string]string{"A.PGW": world}, 100, 0, nil},
		{"a.b.png", map[string]string{"a.b.pgw": world, "a.b.prj": own}, 100, tiff.UserDefined, nil},
		{"a.jpg", map[string]string{"a.jgw": world}, 100, 0, nil},
		{"a.jpeg", map[string]string{"a.jgw": world}, 100, 0, nil},
		{"a.jpg", map[string]string{"a.pgw": world}, 0, 0, nil},
		{"a.png", map[string]string{"a.pgw": world, "a.prj": "EPSG:3857", "a.png.aux.xml": `<PAMDataset><SRS dataAxisToSRSAxisMapping="1,2">` + esri + `</SRS><GeoTransform> 7, 1, 0, 9, 0, -1</GeoTransform></PAMDataset>`}, 7, 32633, nil},
		{"a.png", map[string]string{"a.pgw": "1 2"}, 0, 0, worldfile.ErrFormat},
		{"a.png", map[string]string{"a.prj": "hello"}, 0, 0, crs.ErrFormat},
		{"a.png", map[string]string{"a.png.aux.xml": "<PAM"}, 0, 0, worldfile.ErrFormat},
	} {
		folder := t.TempDir()
		name := filepath.Join(folder, c.name)
		data := picture
		if strings.Contains(c.name, "jp") {
			data = photo.Bytes()
		}
		if err := os.WriteFile(name, data, 0o600); err != nil {
			t.Fatal(err)
		}
		for other, text := range c.files {
			if err := os.WriteFile(filepath.Join(folder, other), []byte(text), 0o600); err != nil {
				t.Fatal(err)
			}
		}
		f, err := worldfile.Open(name)
		if !errors.Is(err, c.failed) || err != nil && c.failed == nil {
			t.Errorf("%s and %v: %v", c.name, c.files, err)
		}
		if err != nil {
			continue
		}
		im := f.Image()
		a, placed := im.Geo.Affine()
		if placed != (c.x != 0) || a[0] != c.x {
			t.Errorf("%s and %v: place %v", c.name, c.files, a)
		}
		if code, _ := im.Geo.Keys.EPSG(); code != c.code {
			t.Errorf("%s and %v: EPSG:%d", c.name, c.files, code)
		}
		if err := f.Close(); err != nil {
			t.Error(err)
		}
		if _, err := tiff.Read[uint8](t.Context(), im, im.All()); !errors.Is(err, worldfile.ErrClosed) {
			t.Errorf("reading a closed image: %v", err)
		}
	}
}

func TestDamagedImagesAreErrors(t *testing.T) {
	rng := rand.New(rand.NewPCG(3, 4))
	h := header(60, 40, 3, tiff.Uint8)
	name := filepath.Join(t.TempDir(), "whole.png")
	write(t, name, h, worldfile.Options{Format: "PNG"}, random(h, 1))
	picture, err := os.ReadFile(name)
	if err != nil {
		t.Fatal(err)
	}
	photo := image.NewRGBA(image.Rect(0, 0, 60, 40))
	for i := range photo.Pix {
		photo.Pix[i] = byte(i * i >> 4)
	}
	var b bytes.Buffer
	if err := jpeg.Encode(&b, photo, nil); err != nil {
		t.Fatal(err)
	}
	open := func(data []byte) error {
		if err := os.WriteFile(name, data, 0o600); err != nil {
			t.Fatal(err)
		}
		f, err := worldfile.Open(name)
		if err != nil {
			return err
		}
		im := f.Image()
		dst := make([]byte, im.Bands*im.Type.Size())
		err = im.ReadRegion(t.Context(), dst, tiff.Region{Width: 1, Height: 1})
		return errors.Join(err, f.Close())
	}
	for _, whole := range [][]byte{picture, b.Bytes()} {
		if err := open(whole); err != nil {
			t.Fatal(err)
		}
		for i := range 300 {
			damaged := bytes.Clone(whole)
			if i%3 == 0 {
				damaged = damaged[:rng.IntN(len(damaged))]
			}
			for range i % 4 {
				if len(damaged) > 0 {
					damaged[rng.IntN(len(damaged))] ^= byte(1 << rng.IntN(8))
				}
			}
			if err := open(damaged); err != nil && !errors.Is(err, worldfile.ErrFormat) && !errors.Is(err, worldfile.ErrUnsupported) {
				t.Errorf("damage %d: %v", i, err)
			}
		}
	}
	head := func(width, height uint32, rest ...byte) []byte {
		return append(binary.BigEndian.AppendUint32(binary.BigEndian.AppendUint32(nil, width), height), rest...)
	}
	for what, data := range map[string][]byte{
		"a bomb":               pngFile(head(1<<30, 1<<30, 8, 6, 0, 0, 0), []byte{0}),
		"no pixels":            pngFile(head(0, 1, 8, 0, 0, 0, 0), nil),
		"3 bits":               pngFile(head(1, 1, 3, 0, 0, 0, 0), []byte{0, 0}),
		"no palette":           pngFile(head(1, 1, 8, 3, 0, 0, 0), []byte{0, 0}),
		"filter 9":             pngFile(head(1, 1, 8, 0, 0, 0, 0), []byte{9, 0}),
		"too few rows":         pngFile(head(1, 3, 8, 0, 0, 0, 0), []byte{0, 0}),
		"an unknown interlace": pngFile(head(1, 1, 8, 0, 0, 0, 2), []byte{0, 0}),
	} {
		if err := open(data); !errors.Is(err, worldfile.ErrFormat) {
			t.Errorf("%s: %v", what, err)
		}
	}
	if err := open([]byte("GIF89a")); !errors.Is(err, worldfile.ErrUnsupported) {
		t.Errorf("another format: %v", err)
	}
	if _, err := worldfile.Open(filepath.Join(t.TempDir(), "missing.png")); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("a missing file: %v", err)
	}
}

func TestAnImageIsDecodedOnce(t *testing.T) {
	h := header(700, 600, 1, tiff.Uint16)
	name := filepath.Join(t.TempDir(), "a.png")
	want := random(h, 9)
	write(t, name, h, worldfile.Options{Format: "PNG", Level: 1}, want)
	f, err := worldfile.Open(name)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := tiff.Read[uint16](ctx, f.Image(), f.Image().All()); !errors.Is(err, context.Canceled) {
		t.Errorf("a context that has ended: %v", err)
	}
	var wg sync.WaitGroup
	for range 6 {
		wg.Go(func() {
			got := make([]byte, len(want))
			if err := f.Image().ReadRegion(t.Context(), got, f.Image().All()); err != nil || !bytes.Equal(got, want) {
				t.Errorf("other pixels: %v", err)
			}
		})
	}
	wg.Wait()
	if err := os.Remove(name); err != nil {
		t.Fatal(err)
	}
	if _, err := tiff.Read[uint16](t.Context(), f.Image(), f.Image().All()); err != nil {
		t.Errorf("the decoded image: %v", err)
	}
}

func TestWritersRefuseWhatFormatsLack(t *testing.T) {
	folder := t.TempDir()
	name := filepath.Join(folder, "a.png")
	palette := header(5, 5, 1, tiff.Uint8)
	palette.Photometric, palette.Palette = tiff.Palette, make([]tiff.Color, 4)
	nowhere := header(5, 5, 1, tiff.Uint8)
	nowhere.Geo = tiff.Georeference{}
	for what, c := range map[string]struct {
		h tiff.Header
		o worldfile.Options
	}{
		"five bands":        {header(5, 5, 5, tiff.Uint8), worldfile.Options{Format: "PNG"}},
		"floats":            {header(5, 5, 1, tiff.Float32), worldfile.Options{Format: "PNG"}},
		"no format":         {header(5, 5, 1, tiff.Uint8), worldfile.Options{}},
		"level 10":          {header(5, 5, 1, tiff.Uint8), worldfile.Options{Format: "PNG", Level: 10}},
		"JPEG with alpha":   {header(5, 5, 4, tiff.Uint8), worldfile.Options{Format: "JPEG"}},
		"JPEG of 16 bits":   {header(5, 5, 1, tiff.Uint16), worldfile.Options{Format: "JPEG"}},
		"JPEG of a palette": {palette, worldfile.Options{Format: "JPEG"}},
		"a wide JPEG":       {header(70000, 1, 1, tiff.Uint8), worldfile.Options{Format: "JPEG"}},
		"quality 101":       {header(5, 5, 1, tiff.Uint8), worldfile.Options{Format: "JPEG", Level: 101}},
		"no size":           {header(0, 5, 1, tiff.Uint8), worldfile.Options{Format: "PNG"}},
		"no place":          {nowhere, worldfile.Options{Format: "PNG", WorldFile: true}},
	} {
		if _, err := worldfile.Create(name, c.h, c.o); !errors.Is(err, worldfile.ErrArgument) {
			t.Errorf("%s: %v", what, err)
		}
	}
	w, err := worldfile.Create(name, header(5, 5, 1, tiff.Uint8), worldfile.Options{Format: "PNG"})
	if err != nil {
		t.Fatal(err)
	}
	if err := w.WriteRows(t.Context(), make([]byte, 30)); !errors.Is(err, worldfile.ErrArgument) {
		t.Errorf("too many rows: %v", err)
	}
	if err := w.WriteRows(t.Context(), make([]byte, 20)); err != nil {
		t.Error(err)
	}
	if err := w.Close(); !errors.Is(err, worldfile.ErrArgument) {
		t.Errorf("a missing row: %v", err)
	}
	if err := w.WriteRows(t.Context(), nil); !errors.Is(err, worldfile.ErrClosed) {
		t.Errorf("after the end: %v", err)
	}
	if left, _ := os.ReadDir(folder); len(left) != 0 {
		t.Errorf("%v is left", left)
	}
}

func FuzzPNG(f *testing.F) {
	head := append(binary.BigEndian.AppendUint32(binary.BigEndian.AppendUint32(nil, 3), 2), 8, 0, 0, 0, 0)
	f.Add(pngFile(head, []byte{0, 1, 2, 3, 4, 1, 2, 3}))
	head[12] = 1
	f.Add(pngFile(head, []byte{0, 1, 0, 2, 0, 3, 4, 1, 2, 3}))
	f.Fuzz(func(t *testing.T, data []byte) {
		name := filepath.Join(t.TempDir(), "a.png")
		if err := os.WriteFile(name, data, 0o600); err != nil {
			t.Fatal(err)
		}
		file, err := worldfile.Open(name)
		if err != nil {
			return
		}
		defer file.Close()
		im := file.Image()
		if im.Width*im.Height > 1<<20 {
			return
		}
		_ = im.ReadRegion(t.Context(), make([]byte, im.Width*im.Height*im.Bands*im.Type.Size()), im.All())
	})
}

func Example() {
	folder, err := os.MkdirTemp("", "worldfile")
	if err != nil {
		fmt.Println(err)
		return
	}
	defer os.RemoveAll(folder)
	name := filepath.Join(folder, "scene.png")

	ctx := context.Background()
	h := tiff.Header{Width: 4, Height: 2, Bands: 1, Type: tiff.Uint8}
	h.Geo.SetAffine(tiff.Affine{1000, 10, 0, 2000, 0, -10})
	w, err := worldfile.Create(name, h, worldfile.Options{Format: "PNG", WorldFile: true})
	if err != nil {
		fmt.Println(err)
		return
	}
	defer w.Abort()
	if err := errors.Join(w.WriteRows(ctx, []byte{1, 2, 3, 4, 5, 6, 7, 8}), w.Close()); err != nil {
		fmt.Println(err)
		return
	}

	f, err := worldfile.Open(name)
	if err != nil {
		fmt.Println(err)
		return
	}
	defer f.Close()
	place, _ := f.Image().Geo.Affine()
	pixels, err := tiff.Read[uint8](ctx, f.Image(), tiff.Region{X: 2, Y: 0, Width: 2, Height: 2})
	fmt.Println(place, pixels, err)
	// Output: [1000 10 0 2000 0 -10] [3 4 7 8] <nil>
}
