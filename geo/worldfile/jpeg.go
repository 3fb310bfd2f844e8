package worldfile

import (
	"bufio"
	"context"
	"encoding/binary"
	"errors"
	"image/color"
	"image/jpeg"
	"io"
	"os"

	"quern.dev/geo/tiff"
)

// photograph is a JPEG image.
type photograph struct {
	header      tiff.Header
	photometric tiff.Photometric // as it is stored
}

// readJPEG reads the frame header.
func readJPEG(f *os.File, _ int64, h *tiff.Header) (decoder, error) {
	if _, err := f.Seek(0, io.SeekStart); err != nil {
		return nil, err
	}
	config, err := jpeg.DecodeConfig(bufio.NewReader(f))
	if err != nil {
		return nil, jpegError(err)
	}
	p := &photograph{photometric: tiff.RGB}
	h.Width, h.Height, h.Type, h.Bands, h.Photometric = config.Width, config.Height, tiff.Uint8, 3, tiff.RGB
	switch config.ColorModel {
	case color.GrayModel:
		h.Bands, h.Photometric = 1, tiff.MinIsBlack
		p.photometric = tiff.MinIsBlack
	case color.YCbCrModel:
		p.photometric = tiff.YCbCr
	case color.CMYKModel:
		return nil, failf(ErrUnsupported, "JPEG: four colors (CMYK) are not supported")
	}
	if h.Width == 0 || h.Height == 0 {
		return nil, failf(ErrUnsupported, "JPEG: the header has %d x %d pixels, which is not supported", h.Width, h.Height)
	}
	if int64(h.Width)*int64(h.Height)*int64(h.Bands) > 4<<30 {
		return nil, failf(ErrUnsupported, "JPEG: images of more than 4 GiB are not supported")
	}
	p.header = *h
	return p, nil
}

func jpegError(err error) error {
	kind := ErrFormat
	var unsupported jpeg.UnsupportedError
	if errors.As(err, &unsupported) {
		kind = ErrUnsupported
	}
	return failf(kind, "JPEG: %v", err)
}

// decode implements decoder. It reads the image as the only strip of a TIFF file: package tiff interpolates colors as GDAL does.
func (p *photograph) decode(ctx context.Context, f *os.File, size int64) (*store, error) {
	r := &prefixed{f: f}
	for range 2 { // the directory is as long with the offset of the strip as without
		r.head = p.directory(size, len(r.head))
	}
	t, err := tiff.NewFile(r, int64(len(r.head))+size, tiff.Limits{BlockBytes: 4<<30 + 1})
	if err != nil {
		return nil, failf(ErrFormat, "JPEG: %v", err)
	}
	s, err := newStore(int64(p.header.Width)*int64(p.header.Height)*int64(p.header.Bands), true)
	if err != nil {
		return nil, err
	}
	s.memory = s.memory[:cap(s.memory)]
	if err := t.Image().ReadRegion(ctx, s.memory, t.Image().All()); err != nil {
		kind := ErrFormat
		var unsupported jpeg.UnsupportedError
		if errors.As(err, &unsupported) {
			kind = ErrUnsupported
		}
		if ctx.Err() != nil {
			return s, context.Cause(ctx)
		}
		return s, failf(kind, "JPEG: %v", err)
	}
	return s, nil
}

// directory is a TIFF file up to its strip, which has some bytes and begins at an offset.
func (p *photograph) directory(bytes int64, offset int) []byte {
	const short, long = 3, 4
	type field struct {
		tag         tiff.Tag
		kind, value uint32
	}
	fields := []field{
		{tiff.ImageWidth, long, uint32(p.header.Width)}, {tiff.ImageLength, long, uint32(p.header.Height)}, {tiff.BitsPerSample, short, 8},
		{tiff.CompressionTag, short, uint32(tiff.JPEG)}, {tiff.PhotometricTag, short, uint32(p.photometric)}, {tiff.StripOffsets, long, uint32(offset)},
		{tiff.SamplesPerPixel, short, uint32(p.header.Bands)}, {tiff.RowsPerStrip, long, uint32(p.header.Height)}, {tiff.StripByteCounts, long, uint32(bytes)},
	}
	b := binary.LittleEndian.AppendUint32([]byte("II*\x00"), 8)
	b = binary.LittleEndian.AppendUint16(b, uint16(len(fields)))
	for _, f := range fields {
		b = binary.LittleEndian.AppendUint16(b, uint16(f.tag))
		b = binary.LittleEndian.AppendUint16(b, uint16(f.kind))
		b = binary.LittleEndian.AppendUint32(b, 1)
		b = binary.LittleEndian.AppendUint32(b, f.value)
	}
	return append(b, 0, 0, 0, 0)
}

// prefixed is a file with bytes before it.
type prefixed struct {
	head []byte
	f    io.ReaderAt
}

// ReadAt implements [io.ReaderAt].
func (r *prefixed) ReadAt(p []byte, offset int64) (n int, err error) {
	if offset < int64(len(r.head)) {
		n = copy(p, r.head[offset:])
	}
	if n == len(p) {
		return n, nil
	}
	m, err := r.f.ReadAt(p[n:], offset+int64(n)-int64(len(r.head)))
	return n + m, err
}
