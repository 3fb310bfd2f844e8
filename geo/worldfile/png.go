package worldfile

import (
	"bufio"
	"bytes"
	"context"
	"encoding/binary"
	"fmt"
	"hash/crc32"
	"io"
	"math"
	"os"
	"strconv"
	"strings"

	"github.com/klauspost/compress/zlib"

	"quern.dev/geo/tiff"
)

// Color types of PNG.
const (
	pngGray      = 0
	pngRGB       = 2
	pngPalette   = 3
	pngGrayAlpha = 4
	pngRGBA      = 6
)

// picture is a PNG image.
type picture struct {
	width, height, bands int
	bits, color          int
	interlaced           bool
}

// chunk is a chunk before its data is read.
type chunk struct {
	kind string
	size int64
}

// chunks reads the chunks of a file.
type chunks struct {
	r    io.Reader
	left int64 // bytes of the file
	crc  uint32
}

func (c *chunks) next() (chunk, error) {
	var b [8]byte
	if err := c.fill(b[:]); err != nil {
		return chunk{}, err
	}
	k := chunk{string(b[4:]), int64(binary.BigEndian.Uint32(b[:]))}
	if k.size > c.left-4 {
		return k, failf(ErrFormat, "PNG: the chunk %q has %d bytes, but the file ends after %d", k.kind, k.size, max(c.left, 0))
	}
	c.crc = crc32.ChecksumIEEE(b[4:])
	return k, nil
}

func (c *chunks) fill(p []byte) error {
	if _, err := io.ReadFull(c.r, p); err != nil {
		return failf(ErrFormat, "PNG: the file is truncated: %v", err)
	}
	c.left -= int64(len(p))
	return nil
}

// read reads a part of the data of a chunk.
func (c *chunks) read(p []byte) error {
	err := c.fill(p)
	c.crc = crc32.Update(c.crc, crc32.IEEETable, p)
	return err
}

// end checks the sum after the data.
func (c *chunks) end(k chunk) error {
	var b [4]byte
	if err := c.fill(b[:]); err != nil {
		return err
	}
	if binary.BigEndian.Uint32(b[:]) != c.crc {
		return failf(ErrFormat, "PNG: the checksum of the chunk %q is wrong", k.kind)
	}
	return nil
}

// data reads the data of a small chunk.
func (c *chunks) data(k chunk) ([]byte, error) {
	if k.size > 1<<20 {
		return nil, failf(ErrFormat, "PNG: the chunk %q has %d bytes, which is not possible", k.kind, k.size)
	}
	b := make([]byte, k.size)
	if err := c.read(b); err != nil {
		return nil, err
	}
	return b, c.end(k)
}

// skip passes over the data of a chunk.
func (c *chunks) skip(k chunk) error {
	n, err := io.CopyN(io.Discard, c.r, k.size+4)
	c.left -= n
	if err != nil {
		return failf(ErrFormat, "PNG: the file is truncated: %v", err)
	}
	return nil
}

func startPNG(f *os.File, size int64) (*chunks, error) {
	if _, err := f.Seek(8, io.SeekStart); err != nil {
		return nil, err
	}
	return &chunks{r: f, left: size - 8}, nil
}

// readPNG reads the chunks before the pixels.
func readPNG(f *os.File, size int64, h *tiff.Header) (decoder, error) {
	c, err := startPNG(f, size)
	if err != nil {
		return nil, err
	}
	k, err := c.next()
	if err != nil {
		return nil, err
	}
	if k.kind != "IHDR" || k.size != 13 {
		return nil, failf(ErrFormat, "PNG: the first chunk is %q of %d bytes, not the header", k.kind, k.size)
	}
	b, err := c.data(k)
	if err != nil {
		return nil, err
	}
	p := new(picture)
	if err := p.header(b, size, h); err != nil {
		return nil, err
	}
	for {
		if k, err = c.next(); err != nil {
			return nil, err
		}
		switch k.kind {
		case "PLTE", "tRNS", "tEXt":
			if b, err = c.data(k); err == nil {
				err = p.ancillary(k.kind, b, h)
			}
		case "IDAT", "IEND":
			if p.color == pngPalette && h.Palette == nil {
				return nil, failf(ErrFormat, "PNG: the palette is missing")
			}
			return p, nil
		default:
			err = c.skip(k)
		}
		if err != nil {
			return nil, err
		}
	}
}

// header reads the chunk IHDR.
func (p *picture) header(b []byte, size int64, h *tiff.Header) error {
	width, height := binary.BigEndian.Uint32(b), binary.BigEndian.Uint32(b[4:])
	p.bits, p.color, p.interlaced = int(b[8]), int(b[9]), b[12] == 1
	depths := map[int]string{pngGray: "1 2 4 8 16", pngRGB: "8 16", pngPalette: "1 2 4 8", pngGrayAlpha: "8 16", pngRGBA: "8 16"}[p.color]
	if b[10] != 0 || b[11] != 0 || b[12] > 1 || !strings.Contains(" "+depths+" ", " "+strconv.Itoa(p.bits)+" ") || depths == "" {
		return failf(ErrFormat, "PNG: the header has %d bits, color type %d, compression %d, filter %d and interlace %d, which is not possible", p.bits, p.color, b[10], b[11], b[12])
	}
	if width == 0 || height == 0 || width > math.MaxInt32 || height > math.MaxInt32 {
		return failf(ErrFormat, "PNG: %d x %d pixels are not possible", width, height)
	}
	p.width, p.height = int(width), int(height)
	p.bands = map[int]int{pngGray: 1, pngRGB: 3, pngPalette: 1, pngGrayAlpha: 2, pngRGBA: 4}[p.color]
	// Deflate makes data at most 1032 times as small.
	if stored := float64(p.rowBytes(p.width)) * float64(p.height); stored > 1040*float64(size) {
		return failf(ErrFormat, "PNG: %d x %d pixels cannot be in a file of %d bytes", width, height, size)
	}
	h.Width, h.Height, h.Bands, h.Type = p.width, p.height, p.bands, tiff.Uint8
	if p.interlaced && p.bytes() > 4<<30 {
		return failf(ErrUnsupported, "PNG: interlaced images of more than 4 GiB are not supported")
	}
	if p.bits == 16 {
		h.Type = tiff.Uint16
	} else if p.bits < 8 {
		h.Bits = p.bits
	}
	h.Photometric = map[int]tiff.Photometric{pngGray: tiff.MinIsBlack, pngRGB: tiff.RGB, pngPalette: tiff.Palette, pngGrayAlpha: tiff.MinIsBlack, pngRGBA: tiff.RGB}[p.color]
	if p.color >= pngGrayAlpha {
		h.Extra = []tiff.ExtraSample{tiff.StraightAlpha}
	}
	return nil
}

// ancillary reads the palette, what is transparent, or a text.
func (p *picture) ancillary(kind string, b []byte, h *tiff.Header) error {
	switch {
	case kind == "PLTE" && p.color == pngPalette:
		if len(b)%3 != 0 || len(b) == 0 || len(b)/3 > 1<<p.bits {
			return failf(ErrFormat, "PNG: a palette cannot have %d bytes", len(b))
		}
		for ; len(b) > 0; b = b[3:] {
			h.Palette = append(h.Palette, tiff.Color{R: uint16(b[0]) * 257, G: uint16(b[1]) * 257, B: uint16(b[2]) * 257})
		}
	case kind == "tRNS" && p.color == pngGray && len(b) == 2:
		h.NoData = strconv.Itoa(int(binary.BigEndian.Uint16(b)))
	case kind == "tRNS" && p.color == pngRGB && len(b) == 6:
		h.Metadata = append(h.Metadata, tiff.Item{Band: -1, Name: "NODATA_VALUES",
			Value: fmt.Sprint(binary.BigEndian.Uint16(b), binary.BigEndian.Uint16(b[2:]), binary.BigEndian.Uint16(b[4:]))})
	case kind == "tRNS" && p.color == pngPalette:
		// One color that is transparent, and no other that is not opaque, is NoData.
		if i := bytes.IndexByte(b, 0); i >= 0 && bytes.Count(b, []byte{255}) == len(b)-1 {
			h.NoData = strconv.Itoa(i)
		}
	case kind == "tEXt":
		if key, value, ok := bytes.Cut(b, []byte{0}); ok {
			h.Metadata = append(h.Metadata, tiff.Item{Band: -1, Name: strings.ReplaceAll(latin1(key), " ", "_"), Value: latin1(value)})
		}
	}
	return nil
}

// latin1 decodes text of ISO 8859-1.
func latin1(b []byte) string {
	var s strings.Builder
	for _, c := range b {
		s.WriteRune(rune(c))
	}
	return s.String()
}

// rowBytes is the size of a stored row of pixels.
func (p *picture) rowBytes(width int) int { return (width*p.bands*p.bits + 7) / 8 }

// pixelBytes is the size of a pixel in memory.
func (p *picture) pixelBytes() int { return p.bands * max(p.bits/8, 1) }

func (p *picture) bytes() int64 { return int64(p.width) * int64(p.height) * int64(p.pixelBytes()) }

// stream is the data of all chunks IDAT.
type stream struct {
	*chunks
	now     chunk
	rest    int64 // of the chunk
	started bool
}

// Read implements [io.Reader].
func (s *stream) Read(b []byte) (int, error) {
	for s.rest == 0 {
		if s.started && s.now.kind == "IDAT" {
			if err := s.end(s.now); err != nil {
				return 0, err
			}
		}
		var err error
		if s.now, err = s.next(); err != nil {
			return 0, err
		}
		switch {
		case s.now.kind == "IDAT":
			s.started, s.rest = true, s.now.size
		case s.started || s.now.kind == "IEND":
			return 0, io.EOF
		default:
			if err := s.skip(s.now); err != nil {
				return 0, err
			}
		}
	}
	n := min(int64(len(b)), s.rest)
	s.rest -= n
	return int(n), s.read(b[:n])
}

// passes of interlaced images: first column and row, and the steps between columns and rows.
var passes = [7][4]int{{0, 0, 8, 8}, {4, 0, 8, 8}, {0, 4, 4, 8}, {2, 0, 4, 4}, {0, 2, 2, 4}, {1, 0, 2, 2}, {0, 1, 1, 2}}

// decode implements decoder.
func (p *picture) decode(ctx context.Context, f *os.File, size int64) (*store, error) {
	c, err := startPNG(f, size)
	if err != nil {
		return nil, err
	}
	c.r = bufio.NewReaderSize(f, 256<<10)
	z, err := zlib.NewReader(&stream{chunks: c})
	if err != nil {
		return nil, failf(ErrFormat, "PNG: %v", err)
	}
	defer z.Close()
	s, err := newStore(p.bytes(), p.interlaced)
	if err != nil {
		return nil, err
	}
	pixel := p.pixelBytes()
	if !p.interlaced {
		row := make([]byte, p.width*pixel)
		return s, p.rows(ctx, z, p.width, p.height, func(_ int, stored []byte) error {
			p.unpack(row, stored)
			return s.write(row)
		})
	}
	s.memory = s.memory[:p.bytes()]
	for _, k := range passes {
		width, height := (p.width-k[0]+k[2]-1)/k[2], (p.height-k[1]+k[3]-1)/k[3]
		if width <= 0 || height <= 0 {
			continue
		}
		row := make([]byte, width*pixel)
		err := p.rows(ctx, z, width, height, func(y int, stored []byte) error {
			p.unpack(row, stored)
			out := s.memory[((y*k[3]+k[1])*p.width)*pixel:]
			for x := range width {
				copy(out[(x*k[2]+k[0])*pixel:][:pixel], row[x*pixel:])
			}
			return nil
		})
		if err != nil {
			return s, err
		}
	}
	return s, nil
}

// rows undoes the filters of rows.
func (p *picture) rows(ctx context.Context, z io.Reader, width, height int, use func(y int, stored []byte) error) error {
	n := p.rowBytes(width)
	distance := max(p.bands*p.bits/8, 1)
	row, above := make([]byte, 1+n), make([]byte, 1+n)
	for y := range height {
		if y%64 == 0 && ctx.Err() != nil {
			return context.Cause(ctx)
		}
		if _, err := io.ReadFull(z, row); err != nil {
			return failf(ErrFormat, "PNG: row %d of %d: %v", y, height, err)
		}
		if !unfilter(row[0], row[1:], above[1:], distance) {
			return failf(ErrFormat, "PNG: row %d of %d has the unknown filter %d", y, height, row[0])
		}
		if err := use(y, row[1:]); err != nil {
			return err
		}
		row, above = above, row
	}
	return nil
}

// unfilter undoes a filter: section 9 of the specification. It is false if the filter does not exist.
func unfilter(filter byte, row, above []byte, distance int) bool {
	switch filter {
	case 0:
	case 1:
		for i := distance; i < len(row); i++ {
			row[i] += row[i-distance]
		}
	case 2:
		for i, v := range above {
			row[i] += v
		}
	case 3:
		for i := range row {
			left := 0
			if i >= distance {
				left = int(row[i-distance])
			}
			row[i] += byte((left + int(above[i])) / 2)
		}
	case 4:
		for i := range row {
			var left, corner byte
			if i >= distance {
				left, corner = row[i-distance], above[i-distance]
			}
			row[i] += paeth(left, above[i], corner)
		}
	default:
		return false
	}
	return true
}

// paeth is the neighbor nearest to left + above - corner.
func paeth(left, above, corner byte) byte {
	a, b := int(above)-int(corner), int(left)-int(corner)
	c := a + b
	a, b, c = max(a, -a), max(b, -b), max(c, -c)
	switch {
	case a <= b && a <= c:
		return left
	case b <= c:
		return above
	}
	return corner
}

// unpack makes samples of a stored row.
func (p *picture) unpack(row, stored []byte) {
	switch p.bits {
	case 8:
		copy(row, stored)
	case 16:
		for i := 0; i < len(row); i += 2 {
			binary.NativeEndian.PutUint16(row[i:], binary.BigEndian.Uint16(stored[i:]))
		}
	default:
		each := 8 / p.bits
		for i := range row {
			row[i] = stored[i/each] >> (8 - p.bits*(i%each+1)) & (1<<p.bits - 1)
		}
	}
}
