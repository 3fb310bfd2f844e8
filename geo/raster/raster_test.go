package raster_test

import (
	"context"
	"errors"
	"fmt"
	"image"
	"image/jpeg"
	"image/png"
	"io/fs"
	"os"
	"path/filepath"
	"testing"

	"quern.dev/geo/gdal"
	"quern.dev/geo/raster"
	"quern.dev/geo/tiff"
	"quern.dev/geo/worldfile"
)

// write writes an image of 3 x 2 pixels in three formats.
func write(t testing.TB, folder string) {
	t.Helper()
	gray := image.NewGray(image.Rect(0, 0, 3, 2))
	copy(gray.Pix, []byte{1, 2, 3, 4, 5, 6})
	for _, name := range []string{"a.png", "a.jpg"} {
		f, err := os.Create(filepath.Join(folder, name))
		if err != nil {
			t.Fatal(err)
		}
		if name == "a.png" {
			err = png.Encode(f, gray)
		} else {
			err = jpeg.Encode(f, gray, nil)
		}
		if err := errors.Join(err, f.Close()); err != nil {
			t.Fatal(err)
		}
	}
	w, err := tiff.Create(filepath.Join(folder, "a.tif"), tiff.Header{Width: 3, Height: 2, Bands: 1, Type: tiff.Uint8, Photometric: tiff.MinIsBlack}, tiff.Options{})
	if err != nil {
		t.Fatal(err)
	}
	if err := errors.Join(w.WriteRows(context.Background(), tiff.Rows{Pixels: gray.Pix}), w.Close()); err != nil {
		t.Fatal(err)
	}
}

func TestFormatsAreFoundByTheirContents(t *testing.T) {
	folder := t.TempDir()
	write(t, folder)
	for name, format := range map[string]string{"a.tif": "GTiff", "a.png": "PNG", "a.jpg": "JPEG"} {
		// The extension does not matter.
		other := filepath.Join(folder, name+".data")
		if err := os.Rename(filepath.Join(folder, name), other); err != nil {
			t.Fatal(err)
		}
		f, err := raster.Open(other)
		if err != nil {
			t.Fatal(err)
		}
		if im := f.Image(); f.Format != format || f.TIFF() != (format == "GTiff") || f.Title != "" || im.Width != 3 || im.Height != 2 {
			t.Errorf("%s: %s, %v", name, f.Format, im)
		}
		if err := f.Close(); err != nil {
			t.Error(err)
		}
	}
}

func TestFilesThatCannotBeOpened(t *testing.T) {
	folder := t.TempDir()
	file := func(name, text string) string {
		name = filepath.Join(folder, name)
		if err := os.WriteFile(name, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		return name
	}
	_, missing := gdal.Version()
	through := gdal.ErrFormat
	if missing != nil {
		through = gdal.ErrMissing
	}
	for name, want := range map[string]error{
		filepath.Join(folder, "missing"):         fs.ErrNotExist,
		file("a.tif", "II*\x00\xff\xff\xff\x7f"): tiff.ErrFormat,
		file("a.png", "\x89PNG\r\n\x1a\n"):       worldfile.ErrFormat,
		file("a.txt", "hello"):                   through,
		file("empty", ""):                        through,
		folder:                                   through,
		"NETCDF:\"none.nc\":v":                   through,
	} {
		f, err := raster.Open(name)
		if f != nil || !errors.Is(err, want) {
			t.Errorf("%s: %v, want %v", name, err, want)
		}
	}
}

func TestFilesOfFolders(t *testing.T) {
	folder := t.TempDir()
	write(t, folder)
	if err := os.WriteFile(filepath.Join(folder, "a.pgw"), []byte("1 0 0 -1 0 0"), 0o600); err != nil {
		t.Fatal(err)
	}
	_, missing := gdal.Version()
	for name, want := range map[string]bool{"a.tif": true, "b.TIFF": true, "a.png": true, "a.jpg": false, "a.txt": false, "a.pgw": false, "a.jp2": missing == nil} {
		if got := raster.IsImage(filepath.Join(folder, name)); got != want {
			t.Errorf("%s: %v", name, got)
		}
	}
	if got := raster.IsImage("NETCDF:\"x.nc\":v"); got != (missing == nil) {
		t.Errorf("a name of GDAL: %v", got)
	}
}

func ExampleOpen() {
	folder, err := os.MkdirTemp("", "raster")
	if err != nil {
		fmt.Println(err)
		return
	}
	defer os.RemoveAll(folder)
	name := filepath.Join(folder, "scene.png")
	w, err := worldfile.Create(name, tiff.Header{Width: 2, Height: 1, Bands: 1, Type: tiff.Uint16}, worldfile.Options{Format: "PNG"})
	if err != nil {
		fmt.Println(err)
		return
	}
	if err := errors.Join(w.WriteRows(context.Background(), tiff.Bytes([]uint16{1000, 2000})), w.Close()); err != nil {
		fmt.Println(err)
		return
	}
	f, err := raster.Open(name)
	if err != nil {
		fmt.Println(err)
		return
	}
	defer f.Close()
	pixels, err := tiff.Read[uint16](context.Background(), f.Image(), f.Image().All())
	fmt.Println(f.Format, pixels, err)
	// Output: PNG [1000 2000] <nil>
}
