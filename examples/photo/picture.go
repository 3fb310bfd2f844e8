package main

import (
	"bufio"
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"image"
	"image/draw"
	_ "image/jpeg" // registers the decoder
	"image/png"
	"io"
	"os"
	"path/filepath"
	"strings"

	"quern.dev/gpu"
)

// picture is an image in host memory, as packed sRGB pixels, row by row, with
// non-premultiplied alpha. Without pixels it represents the scene of that size.
type picture struct {
	w, h   int
	pixels []uint32
}

const (
	// maxPixels limits the indices of three planes to 31 bits.
	maxPixels = 1 << 29

	// simPixels is the number of pixels that the simulator, which interprets
	// every instruction, processes in about a minute.
	simPixels = 1 << 18
)

// newScene returns the picture to render.
func newScene(backend gpu.Backend) picture {
	if backend == gpu.Sim {
		return picture{w: 320, h: 180}
	}
	return picture{w: 3840, h: 2160}
}

// openPicture reads a picture from a file.
func openPicture(in string, backend gpu.Backend) (picture, error) {
	limit := maxPixels
	if backend == gpu.Sim {
		limit = simPixels
	}
	p, err := decode(in, limit)
	var large *sizeError
	if errors.As(err, &large) && backend == gpu.Sim {
		return p, fmt.Errorf("%w; the simulator interprets every instruction; use a smaller picture or -device cpu", err)
	}
	return p, err
}

// sizeError reports a picture with too many pixels.
type sizeError struct {
	name        string
	w, h, limit int
}

func (e *sizeError) Error() string {
	return fmt.Sprintf("%s has %dx%d pixels; the limit is %d pixels", e.name, e.w, e.h, e.limit)
}

func decode(name string, limit int) (picture, error) {
	f, err := os.Open(name)
	if err != nil {
		return picture{}, err
	}
	defer f.Close()
	if info, err := f.Stat(); err == nil && info.IsDir() {
		return picture{}, fmt.Errorf("%s is a directory", name)
	}

	config, _, err := image.DecodeConfig(bufio.NewReader(f))
	if err != nil {
		return picture{}, decodeError(name, err)
	}
	if config.Width > limit/max(1, config.Height) {
		return picture{}, &sizeError{name, config.Width, config.Height, limit}
	}
	if _, err := f.Seek(0, io.SeekStart); err != nil {
		return picture{}, err
	}
	img, _, err := image.Decode(bufio.NewReader(f))
	if err != nil {
		return picture{}, decodeError(name, err)
	}
	return newPicture(img), nil
}

func decodeError(name string, err error) error {
	switch {
	case errors.Is(err, image.ErrFormat):
		return fmt.Errorf("%s is not a JPEG or PNG image", name)
	case errors.Is(err, io.ErrUnexpectedEOF) || errors.Is(err, io.EOF):
		return fmt.Errorf("%s is truncated: the image data ends early", name)
	}
	return fmt.Errorf("%s cannot be decoded: %w", name, err)
}

// newPicture copies an image. Package draw converts to RGBA quickly; for an
// opaque image this is the same as NRGBA.
func newPicture(img image.Image) picture {
	b := img.Bounds()
	at := image.Rect(0, 0, b.Dx(), b.Dy())
	var bytes []uint8
	if o, ok := img.(interface{ Opaque() bool }); ok && o.Opaque() {
		dst := image.NewRGBA(at)
		draw.Draw(dst, at, img, b.Min, draw.Src)
		bytes = dst.Pix
	} else {
		dst := image.NewNRGBA(at)
		draw.Draw(dst, at, img, b.Min, draw.Src)
		bytes = dst.Pix
	}
	p := picture{b.Dx(), b.Dy(), make([]uint32, b.Dx()*b.Dy())}
	for i := range p.pixels {
		p.pixels[i] = binary.LittleEndian.Uint32(bytes[4*i:])
	}
	return p
}

// image returns an opaque picture as an image.
func (p picture) image() *image.RGBA {
	img := image.NewRGBA(image.Rect(0, 0, p.w, p.h))
	for i, v := range p.pixels {
		binary.LittleEndian.PutUint32(img.Pix[4*i:], v)
	}
	return img
}

// output is the output file. The data is written to a temporary file next to it,
// which is renamed when complete, so an existing file is replaced only by a
// complete picture.
type output struct {
	name string
	temp *os.File
}

func createOutput(name string) (*output, error) {
	if info, err := os.Stat(name); err == nil && !info.Mode().IsRegular() {
		return nil, fmt.Errorf("cannot write %s: not a regular file", name)
	}
	if !strings.EqualFold(filepath.Ext(name), ".png") {
		return nil, fmt.Errorf("cannot write %s: photo writes PNG; use a name that ends in .png", name)
	}
	temp, err := os.CreateTemp(filepath.Dir(name), ".photo-*.png")
	if err != nil {
		// Leave out the name of the temporary file; it would be confusing.
		if e := new(os.PathError); errors.As(err, &e) {
			err = e.Err
		}
		return nil, fmt.Errorf("cannot write %s: %w", name, err)
	}
	return &output{name, temp}, nil
}

func (o *output) write(ctx context.Context, p picture) error {
	encoder := png.Encoder{CompressionLevel: png.BestSpeed}
	w := bufio.NewWriterSize(contextWriter{ctx, o.temp}, 1<<20)
	err := encoder.Encode(w, p.image())
	if err == nil {
		err = w.Flush()
	}
	if err == nil {
		err = o.temp.Chmod(0o644)
	}
	if err == nil {
		err = o.temp.Close()
	}
	if err == nil {
		err = os.Rename(o.temp.Name(), o.name)
	}
	if err != nil {
		return fmt.Errorf("cannot write %s: %w", o.name, err)
	}
	return nil
}

// discard removes the temporary file unless it was renamed.
func (o *output) discard() {
	o.temp.Close()
	os.Remove(o.temp.Name())
}

// contextWriter stops writing when ctx is done.
type contextWriter struct {
	ctx context.Context
	w   io.Writer
}

func (c contextWriter) Write(b []byte) (int, error) {
	if err := c.ctx.Err(); err != nil {
		return 0, err
	}
	return c.w.Write(b)
}
