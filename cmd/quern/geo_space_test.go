package main

import (
	"bytes"
	"path/filepath"
	"strings"
	"testing"

	"quern.dev/geo/tiff"
)

func TestAmountsOfBytesHaveDigits(t *testing.T) {
	for bytes, want := range map[float64]string{0: "0.0 MB", 1621796: "1.6 MB", 999e6: "999.0 MB", 80.2e9: "80.2 GB"} {
		if got := amount(bytes); got != want {
			t.Errorf("%v bytes are %s, want %s", bytes, got, want)
		}
	}
}

func TestResultsThatDoNotFitAreReported(t *testing.T) {
	name := filepath.Join(t.TempDir(), "result.tif")
	free, ok := freeSpace(filepath.Dir(name))
	if !ok {
		t.Skip("the free space is not known here")
	}
	bits := tiff.Header{Width: 1 << 20, Height: int(free >> 18), Bands: 1, Type: tiff.Uint8, Bits: 1} // half of the space, and four times with all bits of the type
	huge := tiff.Header{Width: 1 << 30, Height: 1 << 30, Bands: 1, Type: tiff.Uint8}
	small := tiff.Header{Width: 10, Height: 10, Bands: 1, Type: tiff.Uint8}
	for _, test := range []struct {
		title   string
		h       tiff.Header
		o       tiff.Options
		quiet   bool
		refused bool
		warned  bool
	}{
		{"small", small, tiff.Options{Compression: tiff.None}, false, false, false},
		{"huge and compressed", huge, tiff.Options{}, false, false, true},
		{"huge, compressed and quiet", huge, tiff.Options{}, true, false, false},
		{"huge and sparse", huge, tiff.Options{Compression: tiff.None, Sparse: true}, false, false, true},
		{"huge", huge, tiff.Options{Compression: tiff.None}, true, true, false},
		{"of one bit", bits, tiff.Options{Compression: tiff.None}, false, false, false},
	} {
		var out bytes.Buffer
		err := checkSpace(&out, name, test.h, test.o, test.quiet)
		if (err != nil) != test.refused || strings.HasPrefix(out.String(), "warning: "+name+": 1073741824 x 1073741824 pixels") != test.warned {
			t.Errorf("%s: %v, %q", test.title, err, out.String())
		}
	}
}
