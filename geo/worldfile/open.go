package worldfile

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"sync"

	"quern.dev/geo/tiff"
)

// format is a kind of files.
type format struct {
	name      string
	signature string
	// header reads the header of an image.
	header func(f *os.File, size int64, h *tiff.Header) (decoder, error)
}

// decoder decodes the pixels of an image: rows of pixels, in the machine's byte order.
type decoder interface {
	decode(ctx context.Context, f *os.File, size int64) (*store, error)
}

var formats = []format{
	{"PNG", "\x89PNG\r\n\x1a\n", readPNG},
	{"JPEG", "\xff\xd8\xff", readJPEG},
}

// Format returns the format of a file that begins with some bytes: "PNG", "JPEG", or "" for all others.
func Format(first []byte) string {
	for _, f := range formats {
		if len(first) >= len(f.signature) && string(first[:len(f.signature)]) == f.signature {
			return f.name
		}
	}
	return ""
}

// Open opens a PNG or JPEG image and the files beside it. It reads no pixels. A coordinate system that package crs cannot interpret is
// an error of that package.
func Open(name string) (*tiff.File, error) {
	f, err := os.Open(name)
	if err != nil {
		return nil, fmt.Errorf("worldfile: open: %w", err)
	}
	defer f.Close()
	info, err := f.Stat()
	if err != nil {
		return nil, err
	}
	first := make([]byte, 8)
	n, err := io.ReadFull(f, first)
	if err != nil && !errors.Is(err, io.ErrUnexpectedEOF) && !errors.Is(err, io.EOF) {
		return nil, fmt.Errorf("worldfile: open: %w", err)
	}
	kind := Format(first[:n])
	for _, k := range formats {
		if k.name != kind {
			continue
		}
		im := &source{name: name}
		if im.decoder, err = k.header(f, info.Size(), &im.header); err != nil {
			return nil, fmt.Errorf("%s: %w", name, err)
		}
		if err := place(name, &im.header); err != nil {
			return nil, err
		}
		im.pixel = im.header.Bands * im.header.Type.Size()
		return tiff.NewVirtual(tiff.Virtual{Name: name, Modified: info.ModTime(), Header: im.header, BlockWidth: blockSide, BlockHeight: blockSide, Read: im.read, Close: im.close})
	}
	return nil, failf(ErrUnsupported, "open: %s: the file begins with %q; PNG and JPEG are supported", name, first[:n])
}

// source is an open image. Its file is open while it is decoded.
type source struct {
	name    string
	header  tiff.Header
	decoder decoder
	pixel   int

	mu     sync.RWMutex
	pixels *store
	err    error
	closed bool
}

// read reads a block.
func (im *source) read(ctx context.Context, b tiff.VirtualBlock, dst []byte) error {
	im.mu.RLock()
	if im.pixels == nil {
		im.mu.RUnlock()
		if err := im.load(ctx); err != nil {
			return err
		}
		im.mu.RLock()
	}
	defer im.mu.RUnlock()
	if im.closed {
		return failf(ErrClosed, "%s is closed", im.name)
	}
	stride := blockSide * im.pixel
	for y := range b.Height {
		row := dst[y*stride:][:b.Width*im.pixel]
		if err := im.pixels.readAt(row, (int64(b.Y+y)*int64(im.header.Width)+int64(b.X))*int64(im.pixel)); err != nil {
			return fmt.Errorf("worldfile: %s: %w", im.name, err)
		}
	}
	return nil
}

// blockSide is the width and height of blocks.
const blockSide = 512

// load decodes the image, once.
func (im *source) load(ctx context.Context) error {
	im.mu.Lock()
	defer im.mu.Unlock()
	switch {
	case im.closed:
		return failf(ErrClosed, "%s is closed", im.name)
	case im.pixels != nil || im.err != nil:
		return im.err
	}
	f, err := os.Open(im.name)
	if err != nil {
		return fmt.Errorf("worldfile: %w", err)
	}
	defer f.Close()
	info, err := f.Stat()
	if err != nil {
		return err
	}
	pixels, err := im.decoder.decode(ctx, f, info.Size())
	if err != nil {
		err = errors.Join(fmt.Errorf("%s: %w", im.name, err), pixels.close())
		if ctx.Err() == nil {
			im.err = err
		}
		return err
	}
	im.pixels = pixels
	return nil
}

func (im *source) close() error {
	im.mu.Lock()
	defer im.mu.Unlock()
	im.closed = true
	return im.pixels.close()
}
