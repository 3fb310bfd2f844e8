package tiff

import (
	"bytes"
	"context"
	"encoding/binary"
	"errors"
	"math"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"testing"
)

// smallFiles returns files of all kinds that Create writes, and those of testdata.
func smallFiles(t testing.TB) [][]byte {
	var files [][]byte
	r := rand.New(rand.NewPCG(13, 14))
	name := filepath.Join(t.TempDir(), "small.tif")
	add := func(h Header, opt Options) {
		h.Width, h.Height = 21, 18
		if opt.Strips {
			opt.BlockHeight = 5
		} else {
			opt.BlockWidth, opt.BlockHeight = 16, 16
		}
		rows := Rows{Pixels: noise(r, h)}
		if opt.Mask {
			rows.Mask = make([]byte, h.Width*h.Height)
		}
		write(t, name, h, opt, rows)
		b, err := os.ReadFile(name)
		if err != nil {
			t.Fatal(err)
		}
		files = append(files, b)
	}
	gray := Header{Bands: 1, Type: Uint8, Photometric: MinIsBlack, Geo: utm(true), NoData: "3",
		Metadata: []Item{{Band: 0, Name: "SCALE", Role: "scale", Value: "2"}}, RPC: &RPC{LineOff: 1}}
	rgb := Header{Bands: 3, Type: Uint8, Photometric: RGB}
	for _, c := range []Compression{None, LZW, Deflate, PackBits, ZSTD, JPEG} {
		add(gray, Options{Compression: c})
		add(rgb, Options{Compression: c, Strips: true, BigTIFF: BigTIFFYes})
		add(rgb, Options{Compression: c, COG: true, Mask: true})
	}
	add(Header{Bands: 2, Type: Float32, Photometric: MinIsBlack}, Options{Layout: ByBand, BigEndian: true})
	add(Header{Bands: 1, Type: Uint16, Bits: 12, Photometric: MinIsBlack}, Options{})
	add(Header{Bands: 1, Type: Uint8, Photometric: Palette, Palette: []Color{{1, 2, 3}}}, Options{Sparse: true})
	names, err := filepath.Glob("testdata/*.tif")
	if err != nil {
		t.Fatal(err)
	}
	for _, name := range names {
		b, err := os.ReadFile(name)
		if err != nil {
			t.Fatal(err)
		}
		files = append(files, b)
	}
	return files
}

// fuzzLimits keeps one input fast.
var fuzzLimits = Limits{Directories: 20, TagBytes: 1 << 16, BlockBytes: 1 << 20}

// readEverything reads all that a file has, and returns the first error, which must be typed.
func readEverything(t testing.TB, b []byte) error {
	f, err := NewFile(bytes.NewReader(b), int64(len(b)), fuzzLimits)
	if err != nil {
		return typed(t, err)
	}
	var first error
	for _, im := range f.Images() {
		for _, im := range append([]*Image{im, im.Mask()}, im.Overviews()...) {
			if im == nil {
				continue
			}
			if err := readSome(im); err != nil && first == nil {
				first = typed(t, err)
			}
		}
	}
	return first
}

// readSome reads the first and the last pixels of an image.
func readSome(im *Image) error {
	ctx := context.Background()
	w, h := min(im.Width, 64), min(im.Height, 64)
	bands := min(im.Bands, 4)
	im.Geo.Affine()
	im.Geo.ControlPoints()
	im.NoDataValue()
	for _, r := range []Region{{Width: w, Height: h}, {X: im.Width - w, Y: im.Height - h, Width: w, Height: h, Layout: ByBand}} {
		for b := range bands {
			r.Bands = append(r.Bands, b)
		}
		if err := im.ReadRegion(ctx, alignedBytes(w*h*bands*im.Type.Size()), r); err != nil {
			return err
		}
	}
	return nil
}

// typed fails unless an error has a kind and names its place.
func typed(t testing.TB, err error) error {
	var e *Error
	if !errors.As(err, &e) {
		t.Fatalf("an error without a type: %v", err)
	}
	if !errors.Is(err, ErrFormat) && !errors.Is(err, ErrUnsupported) && !errors.Is(err, ErrLimit) {
		t.Fatalf("an error of the wrong kind: %v", err)
	}
	return err
}

func FuzzDecode(f *testing.F) {
	for _, b := range smallFiles(f) {
		f.Add(b)
	}
	f.Fuzz(func(t *testing.T, b []byte) { _ = readEverything(t, b) })
}

func FuzzGeoKeys(f *testing.F) {
	words, _, text := utm(true).Keys.tags()
	var b []byte
	for _, w := range words {
		b = binary.LittleEndian.AppendUint16(b, w)
	}
	f.Add(b, []byte{0, 0, 0, 0, 0, 0, 0xf0, 0x3f}, text)
	f.Fuzz(func(t *testing.T, directory, doubles []byte, text string) {
		var words []uint64
		for c := range slices.Chunk(directory, 2) {
			words = append(words, uint64(c[0])|uint64(c[len(c)-1])<<8)
		}
		var numbers []float64
		for c := range slices.Chunk(doubles, 8) {
			if len(c) == 8 {
				numbers = append(numbers, math.Float64frombits(binary.LittleEndian.Uint64(c)))
			}
		}
		keys, problem := parseGeoKeys(words, numbers, text)
		if problem != nil {
			return
		}
		// What was read can be written and read again.
		out, outNumbers, outText := keys.tags()
		if out == nil {
			return
		}
		wide := make([]uint64, len(out))
		for i, w := range out {
			wide[i] = uint64(w)
		}
		if len(outNumbers) > math.MaxUint16 || len(outText) > math.MaxUint16 {
			return // Create refuses them
		}
		again, problem := parseGeoKeys(wide, outNumbers, outText)
		if problem != nil {
			t.Fatal(problem)
		}
		if len(again) != len(keys) {
			t.Fatalf("%d keys became %d", len(keys), len(again))
		}
		for i := range keys {
			if again[i].Key != keys[i].Key || again[i].Text != keys[i].Text || again[i].Code != keys[i].Code || len(again[i].Numbers) != len(keys[i].Numbers) {
				t.Fatalf("%+v became %+v", keys[i], again[i])
			}
		}
	})
}

func TestTruncatedFilesAreTypedErrors(t *testing.T) {
	for i, b := range smallFiles(t) {
		for n := 0; n < len(b); n += 1 + n/40 {
			_ = readEverything(t, b[:n])
		}
		if err := readEverything(t, b); err != nil {
			t.Errorf("file %d: %v", i, err)
		}
	}
}

func TestChangedFilesDoNotPanic(t *testing.T) {
	r := rand.New(rand.NewPCG(15, 16))
	files := smallFiles(t)
	for range 3000 {
		b := bytes.Clone(files[r.IntN(len(files))])
		for range 1 + r.IntN(4) {
			i := r.IntN(min(len(b), 600))
			b[i] = []byte{0, 1, 255, 128, byte(r.Uint32())}[r.IntN(5)]
		}
		_ = readEverything(t, b)
	}
}
