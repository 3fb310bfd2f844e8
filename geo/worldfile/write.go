package worldfile

import (
	"bufio"
	"bytes"
	"context"
	"encoding/binary"
	"errors"
	"hash/crc32"
	"image"
	"image/jpeg"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/klauspost/compress/zlib"

	"quern.dev/geo/tiff"
	"quern.dev/internal/wholefile"
)

// Options says how [Create] stores an image.
type Options struct {
	// Format is "PNG" or "JPEG".
	Format string
	// Level is the effort of PNG from 1 to 9 (6 by default), or the quality of JPEG from 1 to 100 (75).
	Level int
	// WorldFile writes the place to a world file, whose name ends in .wld as those of GDAL.
	WorldFile bool
	// Auxiliary writes coordinate system, place, NoData and metadata to an .aux.xml.
	Auxiliary bool
}

// Writer writes an image. It is not safe for concurrent use.
type Writer struct {
	name   string
	header tiff.Header
	opt    Options
	file   *os.File
	out    *bufio.Writer
	next   encoder
	rows   int
	done   bool
}

// encoder encodes rows of pixels.
type encoder interface {
	row(pixels []byte) error
	end() error
}

// Create begins an image. PNG has one to four bands of uint8 or uint16 (gray, gray and alpha, RGB, RGB and alpha), or a palette; JPEG
// one or three of uint8. The header's type, bands, palette and NoData count; its Photometric only says whether there is a palette.
func Create(name string, h tiff.Header, o Options) (*Writer, error) {
	w := &Writer{name: name, header: h, opt: o}
	if h.Width <= 0 || h.Height <= 0 {
		return nil, failf(ErrArgument, "create: %s: %d x %d pixels are not possible", name, h.Width, h.Height)
	}
	start := map[string]func() error{"PNG": w.startPNG, "JPEG": w.startJPEG}[o.Format]
	if start == nil {
		return nil, failf(ErrArgument, "create: %s: the format %q; PNG and JPEG are possible", name, o.Format)
	}
	if _, ok := h.Geo.Affine(); o.WorldFile && !ok {
		return nil, failf(ErrArgument, "create: %s: a world file needs an image with a place", name)
	}
	f, err := os.CreateTemp(filepath.Dir(name), filepath.Base(name)+".*.partial")
	if err != nil {
		return nil, err
	}
	w.file, w.out = f, bufio.NewWriterSize(f, 256<<10)
	if err := start(); err != nil {
		w.Abort()
		return nil, err
	}
	return w, nil
}

// WriteRows writes the next rows: whole rows of pixels in the machine's byte order, with the bands of a pixel side by side.
func (w *Writer) WriteRows(ctx context.Context, pixels []byte) error {
	if w.done {
		return failf(ErrClosed, "%s is closed", w.name)
	}
	n := w.header.Width * w.header.Bands * w.header.Type.Size()
	if len(pixels)%n != 0 || len(pixels)/n > w.header.Height-w.rows {
		return failf(ErrArgument, "write: %s: %d bytes for rows of %d bytes; %d rows are missing", w.name, len(pixels), n, w.header.Height-w.rows)
	}
	for row := range slices.Chunk(pixels, n) {
		if w.rows%64 == 0 && ctx.Err() != nil {
			return context.Cause(ctx)
		}
		if err := w.next.row(row); err != nil {
			return err
		}
		w.rows++
	}
	return nil
}

// Close completes the image and the files beside it, and gives them their names. After an error there is no file.
func (w *Writer) Close() error {
	if w.done {
		return failf(ErrClosed, "%s is closed", w.name)
	}
	if w.rows != w.header.Height {
		w.Abort()
		return failf(ErrArgument, "close: %s: %d of %d rows were written", w.name, w.rows, w.header.Height)
	}
	if err := errors.Join(w.next.end(), w.out.Flush(), w.file.Chmod(0o644)); err != nil {
		w.Abort()
		return err
	}
	w.done = true
	err := errors.Join(w.file.Close(), w.beside())
	if err == nil {
		err = os.Rename(w.file.Name(), w.name)
	}
	if err != nil {
		return errors.Join(err, os.Remove(w.file.Name()))
	}
	return nil
}

// Abort removes what was written. After Close it does nothing.
func (w *Writer) Abort() {
	if w.done {
		return
	}
	w.done = true
	_ = w.file.Close() // the file is removed
	_ = os.Remove(w.file.Name())
}

// beside writes the world file and the .aux.xml. What belonged to an image of the same name before is removed.
func (w *Writer) beside() error {
	world := strings.TrimSuffix(w.name, filepath.Ext(w.name)) + ".wld"
	if a, _ := w.header.Geo.Affine(); w.opt.WorldFile {
		if err := wholefile.Write(world, func(f io.Writer) error { return Write(f, a) }); err != nil {
			return err
		}
	}
	aux := w.name + ".aux.xml"
	if !w.opt.Auxiliary {
		return remove(aux)
	}
	text, err := formatAuxiliary(&w.header)
	if err != nil || text == nil {
		return errors.Join(err, remove(aux))
	}
	return wholefile.Write(aux, func(f io.Writer) error {
		_, err := f.Write(text)
		return err
	})
}

func remove(name string) error {
	if err := os.Remove(name); err != nil && !os.IsNotExist(err) {
		return err
	}
	return nil
}

// pngWriter encodes PNG.
type pngWriter struct {
	bits, bands int
	data        *chunked
	zip         *zlib.Writer
	row8        []byte // packed, in the order of the file
	above       []byte
	filtered    [5][]byte
}

func (w *Writer) startPNG() error {
	h := &w.header
	color, ok := map[int]byte{1: pngGray, 2: pngGrayAlpha, 3: pngRGB, 4: pngRGBA}[h.Bands]
	p := &pngWriter{bits: 8 * h.Type.Size(), bands: h.Bands}
	palette := h.Photometric == tiff.Palette && h.Bands == 1 && h.Type == tiff.Uint8
	if palette {
		color = pngPalette
	}
	if !ok || h.Type != tiff.Uint8 && h.Type != tiff.Uint16 || palette && (len(h.Palette) == 0 || len(h.Palette) > 256) {
		return failf(ErrArgument, "create: %s: PNG with %d bands of %s; one to four bands of uint8 or uint16 are possible: choose bands, or another type", w.name, h.Bands, h.Type)
	}
	if h.Bands == 1 && (h.Bits == 1 || h.Bits == 2 || h.Bits == 4) {
		p.bits = h.Bits
	}
	if palette && len(h.Palette) > 1<<p.bits {
		return failf(ErrArgument, "create: %s: a palette of %d colors for samples of %d bits", w.name, len(h.Palette), p.bits)
	}
	if w.opt.Level < 0 || w.opt.Level > 9 {
		return failf(ErrArgument, "create: %s: level %d; 1 to 9 are possible", w.name, w.opt.Level)
	}
	level := w.opt.Level
	if level == 0 {
		level = 6
	}
	if _, err := w.out.WriteString(formats[0].signature); err != nil {
		return err
	}
	b := binary.BigEndian.AppendUint32(nil, uint32(h.Width))
	b = binary.BigEndian.AppendUint32(b, uint32(h.Height))
	if err := writeChunk(w.out, "IHDR", append(b, byte(p.bits), color, 0, 0, 0)); err != nil {
		return err
	}
	if err := w.writeColors(palette); err != nil {
		return err
	}
	p.data = &chunked{w: w.out}
	var err error
	p.zip, err = zlib.NewWriterLevel(p.data, level)
	n := (h.Width*h.Bands*p.bits + 7) / 8
	p.row8, p.above = make([]byte, n), make([]byte, n)
	for i := range p.filtered {
		p.filtered[i] = make([]byte, 1+n)
		p.filtered[i][0] = byte(i)
	}
	w.next = p
	return err
}

// writeColors writes the palette, and NoData as a transparent color.
func (w *Writer) writeColors(palette bool) error {
	h := &w.header
	v, hasNoData := h.NoDataValue()
	if palette {
		var b []byte
		for _, c := range h.Palette {
			b = append(b, byte(c.R>>8), byte(c.G>>8), byte(c.B>>8))
		}
		if err := writeChunk(w.out, "PLTE", b); err != nil {
			return err
		}
		if !hasNoData || int(v) >= len(h.Palette) {
			return nil
		}
		return writeChunk(w.out, "tRNS", append(bytes.Repeat([]byte{255}, int(v)), 0))
	}
	if hasNoData && h.Bands == 1 {
		return writeChunk(w.out, "tRNS", binary.BigEndian.AppendUint16(nil, uint16(v)))
	}
	return nil
}

func writeChunk(w io.Writer, kind string, data []byte) error {
	b := binary.BigEndian.AppendUint32(nil, uint32(len(data)))
	b = append(append(b, kind...), data...)
	b = binary.BigEndian.AppendUint32(b, crc32.ChecksumIEEE(b[4:]))
	_, err := w.Write(b)
	return err
}

// chunked writes chunks IDAT.
type chunked struct {
	w   io.Writer
	buf []byte
}

// Write implements [io.Writer].
func (c *chunked) Write(p []byte) (int, error) {
	c.buf = append(c.buf, p...)
	if len(c.buf) < 256<<10 {
		return len(p), nil
	}
	return len(p), c.flush()
}

func (c *chunked) flush() error {
	err := writeChunk(c.w, "IDAT", c.buf)
	c.buf = c.buf[:0]
	return err
}

// row implements encoder. The filter is the one whose differences have the smallest sum.
func (p *pngWriter) row(pixels []byte) error {
	switch p.bits {
	case 8:
		copy(p.row8, pixels)
	case 16:
		for i := 0; i < len(pixels); i += 2 {
			binary.BigEndian.PutUint16(p.row8[i:], binary.NativeEndian.Uint16(pixels[i:]))
		}
	default:
		clear(p.row8)
		each := 8 / p.bits
		for i, v := range pixels {
			p.row8[i/each] |= v & (1<<p.bits - 1) << (8 - p.bits*(i%each+1))
		}
	}
	best := p.filtered[0]
	copy(best[1:], p.row8)
	if p.bits >= 8 {
		best = p.filter()
	}
	copy(p.above, p.row8)
	_, err := p.zip.Write(best)
	return err
}

// filter returns the row with the best filter.
func (p *pngWriter) filter() []byte {
	distance := p.bands * p.bits / 8
	for i, v := range p.row8 {
		var left, corner byte
		if i >= distance {
			left, corner = p.row8[i-distance], p.above[i-distance]
		}
		above := p.above[i]
		p.filtered[1][i+1] = v - left
		p.filtered[2][i+1] = v - above
		p.filtered[3][i+1] = v - byte((int(left)+int(above))/2)
		p.filtered[4][i+1] = v - paeth(left, above, corner)
	}
	best, least := 0, -1
	for k, row := range p.filtered {
		sum := 0
		for _, v := range row[1:] {
			d := int(int8(v))
			sum += max(d, -d)
		}
		if least < 0 || sum < least {
			best, least = k, sum
		}
	}
	return p.filtered[best]
}

// end implements encoder.
func (p *pngWriter) end() error {
	return errors.Join(p.zip.Close(), p.data.flush(), writeChunk(p.data.w, "IEND", nil))
}

// jpegWriter collects the pixels of a JPEG image.
type jpegWriter struct {
	w       *bufio.Writer
	quality int
	gray    *image.Gray
	color   *image.RGBA
	y       int
}

func (w *Writer) startJPEG() error {
	h := &w.header
	if h.Type != tiff.Uint8 || h.Bands != 1 && h.Bands != 3 || h.Photometric == tiff.Palette || h.Width > 65535 || h.Height > 65535 {
		return failf(ErrArgument, "create: %s: JPEG of %d x %d pixels with %d bands of %s; one or three bands of uint8 without a palette are possible, and 65535 pixels a side: choose bands, or PNG",
			w.name, h.Width, h.Height, h.Bands, h.Type)
	}
	if w.opt.Level < 0 || w.opt.Level > 100 {
		return failf(ErrArgument, "create: %s: quality %d; 1 to 100 are possible", w.name, w.opt.Level)
	}
	j := &jpegWriter{w: w.out, quality: w.opt.Level}
	if j.quality == 0 {
		j.quality = 75
	}
	if h.Bands == 1 {
		j.gray = image.NewGray(image.Rect(0, 0, h.Width, h.Height))
	} else {
		j.color = image.NewRGBA(image.Rect(0, 0, h.Width, h.Height))
	}
	w.next = j
	return nil
}

// row implements encoder.
func (j *jpegWriter) row(pixels []byte) error {
	if j.gray != nil {
		copy(j.gray.Pix[j.y*j.gray.Stride:], pixels)
	} else {
		out := j.color.Pix[j.y*j.color.Stride:]
		for i, k := 0, 0; i < len(pixels); i, k = i+3, k+4 {
			out[k], out[k+1], out[k+2], out[k+3] = pixels[i], pixels[i+1], pixels[i+2], 255
		}
	}
	j.y++
	return nil
}

// end implements encoder.
func (j *jpegWriter) end() error {
	var picture image.Image = j.color
	if j.gray != nil {
		picture = j.gray
	}
	return jpeg.Encode(j.w, picture, &jpeg.Options{Quality: j.quality})
}
