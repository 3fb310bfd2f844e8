package tiff

import (
	"bytes"
	"context"
	"encoding/binary"
	"errors"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// plainFile returns a small classic file of 40 x 40 pixels.
func plainFile(t testing.TB, opt Options) []byte {
	t.Helper()
	name := filepath.Join(t.TempDir(), "plain.tif")
	h := Header{Width: 40, Height: 40, Bands: 1, Type: Uint8, Photometric: MinIsBlack, Geo: utm(false), NoData: "12345"}
	write(t, name, h, opt, Rows{Pixels: noise(rand.New(rand.NewPCG(1, 1)), h)})
	b, err := os.ReadFile(name)
	if err != nil {
		t.Fatal(err)
	}
	return b
}

// entryOf returns the 12 bytes of an entry of the first directory of a classic little-endian file.
func entryOf(t testing.TB, b []byte, tag Tag) []byte {
	t.Helper()
	at := int(binary.LittleEndian.Uint32(b[4:]))
	for i := range int(binary.LittleEndian.Uint16(b[at:])) {
		if e := b[at+2+12*i:][:12]; Tag(binary.LittleEndian.Uint16(e)) == tag {
			return e
		}
	}
	t.Fatalf("no tag %s", tag)
	return nil
}

// set replaces the values of tags by single longs.
func set(values map[Tag]uint32) func(t *testing.T, b []byte) []byte {
	return func(t *testing.T, b []byte) []byte {
		for tag, value := range values {
			e := entryOf(t, b, tag)
			binary.LittleEndian.PutUint16(e[2:], uint16(typeLong))
			binary.LittleEndian.PutUint32(e[4:], 1)
			binary.LittleEndian.PutUint32(e[8:], value)
		}
		return b
	}
}

// setCount replaces the number of values of a tag.
func setCount(tag Tag, count uint32) func(t *testing.T, b []byte) []byte {
	return func(t *testing.T, b []byte) []byte {
		binary.LittleEndian.PutUint32(entryOf(t, b, tag)[4:], count)
		return b
	}
}

// first replaces the offset of the first directory.
func first(offset uint32) func(t *testing.T, b []byte) []byte {
	return func(t *testing.T, b []byte) []byte {
		binary.LittleEndian.PutUint32(b[4:], offset)
		return b
	}
}

func loop(t *testing.T, b []byte) []byte {
	at := binary.LittleEndian.Uint32(b[4:])
	n := uint32(binary.LittleEndian.Uint16(b[at:]))
	binary.LittleEndian.PutUint32(b[at+2+12*n:], at)
	return b
}

// change inverts a byte where the value of a tag points.
func change(tag Tag, at uint32) func(t *testing.T, b []byte) []byte {
	return func(t *testing.T, b []byte) []byte {
		b[binary.LittleEndian.Uint32(entryOf(t, b, tag)[8:])+at] ^= 255
		return b
	}
}

func replace(text string) func(t *testing.T, b []byte) []byte {
	return func(*testing.T, []byte) []byte { return []byte(text) }
}

func TestDamageIsATypedErrorThatNamesThePlace(t *testing.T) {
	tiles := Options{Compression: None, BlockWidth: 16, BlockHeight: 16}
	one := Options{Compression: Deflate, BlockWidth: 48, BlockHeight: 48}
	tests := []struct {
		name   string
		opt    Options
		change func(t *testing.T, b []byte) []byte
		kind   error
		text   string // part of the message
	}{
		{"a file that is not TIFF", tiles, replace("GIF89a.............."), ErrFormat, "not TIFF"},
		{"an empty file", tiles, replace(""), ErrFormat, "0 bytes"},
		{"a directory beyond the end", tiles, first(1 << 30), ErrFormat, "at byte 1073741824"},
		{"no directory", tiles, first(0), ErrFormat, "no directory"},
		{"directories in a loop", tiles, loop, ErrFormat, "loop"},
		{"a width of zero", tiles, set(map[Tag]uint32{ImageWidth: 0}), ErrFormat, "256 (ImageWidth)"},
		{"an absurd width", tiles, set(map[Tag]uint32{ImageWidth: 1<<31 - 1}), ErrFormat, "324 (TileOffsets)"},
		{"an absurd size", tiles, set(map[Tag]uint32{ImageWidth: 1<<31 - 1, ImageLength: 1<<31 - 1}), ErrLimit, "324 (TileOffsets)"},
		{"a tile without width", tiles, set(map[Tag]uint32{TileWidth: 0}), ErrFormat, "322 (TileWidth)"},
		{"a tile of 4 GiB", one, set(map[Tag]uint32{TileWidth: 1 << 16, TileLength: 1 << 16}), ErrLimit, "Limits.BlockBytes"},
		{"smaller tiles than there are", tiles, set(map[Tag]uint32{TileWidth: 8}), ErrFormat, "offsets of 9 blocks, but the image has 15"},
		{"an unknown compression", tiles, set(map[Tag]uint32{CompressionTag: 34925}), ErrUnsupported, "34925"},
		{"floats of 3 bytes", tiles, set(map[Tag]uint32{BitsPerSample: 24, SampleFormat: formatFloat}), ErrUnsupported, "258 (BitsPerSample)"},
		{"an unknown planar configuration", tiles, set(map[Tag]uint32{SamplesPerPixel: 2, PlanarConfiguration: 7}), ErrFormat, "284 (PlanarConfiguration)"},
		{"a tag with more values than the file has", tiles, setCount(GeoKeyDirectory, 1<<20), ErrFormat, "34735 (GeoKeyDirectory)"},
		{"a tag of 4 GiB", tiles, setCount(GDALNoData, 1<<32-1), ErrLimit, "Limits.TagBytes"},
		{"GeoKeys of another version", tiles, change(GeoKeyDirectory, 0), ErrFormat, "version 1"},
		{"a block beyond the end", one, set(map[Tag]uint32{TileOffsets: 1 << 31}), ErrFormat, "at byte 2147483648"},
		{"a block with a huge size", one, set(map[Tag]uint32{TileByteCounts: 1 << 31}), ErrFormat, "324 (TileOffsets)"},
		{"a block that is cut off", one, set(map[Tag]uint32{TileByteCounts: 20}), ErrFormat, "DEFLATE data of the block is damaged"},
		{"a block whose data was changed", one, change(TileOffsets, 40), ErrFormat, "block 0"},
		{"a larger tile than its data", one, set(map[Tag]uint32{TileLength: 480}), ErrFormat, "of 23040 bytes"},
		{"an uncompressed block that is too short", tiles, set(map[Tag]uint32{TileWidth: 48, TileLength: 48, TileByteCounts: 100}), ErrFormat, "325 (TileByteCounts)"},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			err := decodeAll(test.change(t, plainFile(t, test.opt)))
			if !errors.Is(err, test.kind) || !strings.Contains(err.Error(), test.text) {
				t.Fatalf("error %v; want %v with %q", err, test.kind, test.text)
			}
		})
	}
}

// decodeAll opens a file with the default limits and reads its pixels.
func decodeAll(b []byte) error {
	f, err := NewFile(bytes.NewReader(b), int64(len(b)), Limits{})
	if err != nil {
		return err
	}
	im := f.Image()
	return im.ReadRegion(context.Background(), make([]byte, im.Width*im.Height*im.pixelBytes()), im.All())
}

func TestABombFillsNoMoreThanItsBlock(t *testing.T) {
	dst := make([]byte, 1000)
	for _, c := range []Compression{Deflate, ZSTD, LZW, PackBits} {
		bomb, err := codecs[c].encode(nil, make([]byte, 8<<20), block{rows: 1})
		if err != nil {
			t.Fatal(err)
		}
		allocated := testing.AllocsPerRun(1, func() {
			if err := codecs[c].decode(dst, bomb, block{}); err != nil {
				t.Fatalf("%s: %v", c, err)
			}
		})
		if allocated > 100 {
			t.Errorf("%s: %v allocations", c, allocated)
		}
	}
}

func TestNothingIsLeftAfterAFailure(t *testing.T) {
	h := Header{Width: 600, Height: 600, Bands: 3, Type: Uint8, Photometric: RGB}
	pixels := make([]byte, 600*600*3)
	ctx := context.Background()
	cancelled, cancel := context.WithCancel(ctx)
	cancel()
	pyramid := Options{COG: true, BlockWidth: 64, BlockHeight: 64}
	tests := []struct {
		name string
		opt  Options
		fail func(t *testing.T, w *Writer) error
	}{
		{"the disk is full while blocks are written", Options{}, func(t *testing.T, w *Writer) error {
			breakFile(t, w.out)
			_ = w.WriteRows(ctx, Rows{Pixels: pixels}) // Close reports the error too
			return w.Close()
		}},
		{"the disk is full while an overview is written", pyramid, func(t *testing.T, w *Writer) error {
			breakFile(t, w.levels[2].store)
			_ = w.WriteRows(ctx, Rows{Pixels: pixels})
			return w.Close()
		}},
		{"the disk is full while a COG is put together", pyramid, func(t *testing.T, w *Writer) error {
			breakFile(t, w.out)
			must(t, w.WriteRows(ctx, Rows{Pixels: pixels}))
			return w.Close()
		}},
		{"rows are missing", Options{}, func(t *testing.T, w *Writer) error {
			must(t, w.WriteRows(ctx, Rows{Pixels: pixels[:600*3*100]}))
			return w.Close()
		}},
		{"blocks are missing", Options{}, func(t *testing.T, w *Writer) error {
			must(t, w.WriteBlock(ctx, 0, 1, make([]byte, 512*512*3)))
			return w.Close()
		}},
		{"the context is cancelled", Options{}, func(t *testing.T, w *Writer) error {
			if err := w.WriteRows(cancelled, Rows{Pixels: pixels}); !errors.Is(err, context.Canceled) {
				t.Errorf("WriteRows: %v", err)
			}
			return w.Close()
		}},
		{"the file is aborted", pyramid, func(t *testing.T, w *Writer) error {
			must(t, w.WriteRows(ctx, Rows{Pixels: pixels}))
			must(t, w.Abort())
			return w.WriteRows(ctx, Rows{Pixels: pixels})
		}},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			folder := t.TempDir()
			name := filepath.Join(folder, "image.tif")
			must(t, os.WriteFile(name, []byte("before"), 0o666))
			w, err := Create(name, h, test.opt)
			must(t, err)
			if err := test.fail(t, w); err == nil {
				t.Error("no error")
			}
			if b, err := os.ReadFile(name); err != nil || string(b) != "before" {
				t.Errorf("the file of that name has changed: %q, %v", b, err)
			}
			files, err := os.ReadDir(folder)
			if err != nil || len(files) != 1 {
				t.Errorf("left in the folder: %v, %v", files, err)
			}
		})
	}
}

func must(t testing.TB, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

// breakFile makes writing to a file fail, as a full disk does.
func breakFile(t *testing.T, s *store) {
	t.Helper()
	r, err := os.Open(s.name)
	must(t, err)
	must(t, s.file.Close())
	s.file = r
}

func TestAFolderThatIsNotThereIsAnError(t *testing.T) {
	_, err := Create(filepath.Join(t.TempDir(), "no", "image.tif"), Header{Width: 1, Height: 1, Bands: 1, Type: Uint8, Photometric: MinIsBlack}, Options{})
	if !errors.Is(err, os.ErrNotExist) {
		t.Fatal(err)
	}
}

func TestArgumentsAreChecked(t *testing.T) {
	good := Header{Width: 100, Height: 100, Bands: 3, Type: Uint8, Photometric: RGB}
	tests := []struct {
		name string
		h    Header
		opt  Options
		text string
	}{
		{"no size", Header{Bands: 1, Type: Uint8}, Options{}, "0 x 0 pixels"},
		{"no bands", Header{Width: 1, Height: 1, Type: Uint8}, Options{}, "0 bands"},
		{"no type", Header{Width: 1, Height: 1, Bands: 1}, Options{}, "Type(0)"},
		{"two bands of RGB", with(good, func(h *Header) { h.Bands = 2 }), Options{}, "3 for the colors"},
		{"a tile of 100 pixels", good, Options{BlockWidth: 100, BlockHeight: 100}, "multiples of 16"},
		{"predictor 3 of integers", good, Options{Predictor: FloatingPoint}, "floating-point"},
		{"a predictor without compression", good, Options{Compression: None, Predictor: Horizontal}, "predictor 2 with NONE"},
		{"a level that does not exist", good, Options{Level: 12}, "level 12 of DEFLATE"},
		{"a COG in strips", good, Options{COG: true, Strips: true}, "a COG with strips"},
		{"overviews of strips", good, Options{Overviews: 1, Strips: true}, "overviews of strips"},
		{"JPEG of 16 bits", with(good, func(h *Header) { h.Type = Uint16 }), Options{Compression: JPEG}, "JPEG with 3 bands of uint16"},
		{"samples of 9 bits in a byte", with(good, func(h *Header) { h.Bits = 9 }), Options{}, "9 bits for uint8"},
		{"keys out of order", with(good, func(h *Header) { h.Geo.Keys = GeoKeys{{Key: 2}, {Key: 1}} }), Options{}, "GeoKey 1 after 2"},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			_, err := Create(filepath.Join(t.TempDir(), "image.tif"), test.h, test.opt)
			if !errors.Is(err, ErrArgument) || !strings.Contains(err.Error(), test.text) {
				t.Fatalf("error %v; want %q", err, test.text)
			}
		})
	}
}

func TestRegionsAreChecked(t *testing.T) {
	b := plainFile(t, Options{})
	f, err := NewFile(bytes.NewReader(b), int64(len(b)), Limits{})
	must(t, err)
	im := f.Image()
	ctx := context.Background()
	for _, r := range []Region{{}, {X: -1, Width: 1, Height: 1}, {X: 40, Width: 1, Height: 1}, {Width: 41, Height: 1}, {Width: 1, Height: 1, Bands: []int{1}},
		{Width: 1, Height: 1, Bands: []int{}}, {Width: 1, Height: 1, Layout: 5}, {X: 1 << 62, Width: 1 << 62, Height: 1}} {
		if err := im.ReadRegion(ctx, make([]byte, 10), r); !errors.Is(err, ErrArgument) {
			t.Errorf("region %+v: %v", r, err)
		}
	}
	if err := im.ReadRegion(ctx, make([]byte, 10), im.All()); !errors.Is(err, ErrArgument) {
		t.Errorf("a short destination: %v", err)
	}
	if _, err := Read[int16](ctx, im, im.All()); !errors.Is(err, ErrArgument) {
		t.Errorf("another type: %v", err)
	}
	if err := im.ReadBlock(ctx, nil, 100); !errors.Is(err, ErrArgument) {
		t.Errorf("a block that is not there: %v", err)
	}
}
