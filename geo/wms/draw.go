package wms

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"hash/fnv"
	"image"
	"image/color"
	"image/jpeg"
	"os"
	"path/filepath"
	"strconv"
	"sync"

	"quern.dev/geo/tiff"
	"quern.dev/geo/wms/internal/png"
	"quern.dev/geo/wms/internal/render"
)

// key identifies the map of a request among all of the server's.
func (m *mapRequest) key() string {
	b := make([]byte, 0, 128)
	for _, k := range m.layers {
		b = append(b, k.layer.Name...)
		b = append(b, ' ')
		b = strconv.AppendUint(b, k.layer.version, 36)
		b = append(b, ' ')
		b = append(b, k.key...)
		b = append(b, '|')
	}
	b = append(b, m.system.name...)
	for _, v := range [...]float64{m.extent.MinX, m.extent.MinY, m.extent.MaxX, m.extent.MaxY} {
		b = append(b, ' ')
		b = strconv.AppendFloat(b, v, 'g', -1, 64)
	}
	for _, v := range [...]int{m.width, m.height} {
		b = append(b, ' ')
		b = strconv.AppendInt(b, int64(v), 10)
	}
	b = append(b, m.format.extension...)
	b = strconv.AppendBool(b, m.transparent)
	b = strconv.AppendBool(b, m.exact)
	b = append(b, m.background.R, m.background.G, m.background.B)
	return string(m.time.AppendFormat(b, "20060102150405.000000000"))
}

// tagOf returns an entity tag for a key.
func tagOf(key string) string {
	h := fnv.New64a()
	_, _ = h.Write([]byte(key)) // never fails
	return `"` + strconv.FormatUint(h.Sum64(), 36) + `"`
}

// canvas is memory for a map.
type canvas struct {
	pixels []uint32
	png    png.Encoder
	out    []byte
}

var canvases = sync.Pool{New: func() any { return new(canvas) }}

// mostKept is the size in pixels up to which the memory of a map is used again.
const mostKept = 1 << 20

// makeMap draws a map and encodes it. It waits for its turn.
func (s *Server) makeMap(ctx context.Context, m *mapRequest) (answer, error) {
	leave, err := s.enter(ctx)
	if err != nil {
		return answer{}, err
	}
	defer leave()
	c := canvases.Get().(*canvas)
	defer func() {
		if cap(c.pixels) <= mostKept {
			canvases.Put(c)
		}
	}()
	if err := s.draw(ctx, m, c); err != nil {
		return answer{}, err
	}
	return s.encode(m, c)
}

// draw draws a map to a canvas.
func (s *Server) draw(ctx context.Context, m *mapRequest, c *canvas) (failed error) {
	if n := m.width * m.height; cap(c.pixels) < n {
		c.pixels = make([]uint32, n)
	}
	c.pixels = c.pixels[:m.width*m.height]
	to := render.Map{Extent: m.extent, Width: m.width, Height: m.height, Exact: m.exact || s.config.Exact}
	for _, k := range m.layers {
		views, err := k.viewsOf(k.layer.at(m.time), m.system)
		defer func() { failed = errors.Join(failed, k.drawn()) }()
		if err != nil {
			return err
		}
		to.Views = append(to.Views, views...)
	}
	if err := s.renderer.Draw(ctx, &to, c.pixels); err != nil {
		return err
	}
	if !m.transparent || m.format == formats[formatJPEG] {
		blendOver(c.pixels, m.background)
	}
	return nil
}

// blendOver puts an opaque background under pixels.
func blendOver(pixels []uint32, background color.NRGBA) {
	under := uint32(background.R) | uint32(background.G)<<8 | uint32(background.B)<<16 | 0xff000000
	for i, p := range pixels {
		switch a := p >> 24; a {
		case 255:
		case 0:
			pixels[i] = under
		default:
			mix := func(shift uint) uint32 {
				return ((p>>shift&0xff)*a + (under>>shift&0xff)*(255-a) + 127) / 255 << shift
			}
			pixels[i] = mix(0) | mix(8) | mix(16) | 0xff000000
		}
	}
}

// encode returns a map as an image of its format.
func (s *Server) encode(m *mapRequest, c *canvas) (answer, error) {
	switch m.format {
	case formats[formatJPEG]:
		im := &image.RGBA{Pix: tiff.Bytes(c.pixels), Stride: 4 * m.width, Rect: image.Rect(0, 0, m.width, m.height)}
		var w bytes.Buffer
		err := jpeg.Encode(&w, im, &jpeg.Options{Quality: s.config.Quality})
		return answer{w.Bytes(), m.format.mime}, err
	case formats[formatTIFF]:
		body, err := encodeTIFF(m, c.pixels)
		return answer{body, m.format.mime}, err
	}
	if m.format == formats[formatPNG8] {
		c.out = c.png.AppendIndexed(c.out[:0], c.pixels, m.width, m.height)
	} else {
		c.out = c.png.Append(c.out[:0], c.pixels, m.width, m.height)
	}
	return answer{bytes.Clone(c.out), m.format.mime}, nil
}

// encodeTIFF returns a GeoTIFF file with the colors of a map, and with alpha if it is transparent.
func encodeTIFF(m *mapRequest, pixels []uint32) ([]byte, error) {
	h := tiff.Header{Width: m.width, Height: m.height, Bands: 3, Type: tiff.Uint8, Photometric: tiff.RGB}
	if m.transparent {
		h.Bands, h.Extra = 4, []tiff.ExtraSample{tiff.StraightAlpha}
	}
	key, model := tiff.ProjectedCRS, uint16(tiff.ModelProjected)
	if m.system.crs.Kind() == 0 {
		key, model = tiff.GeodeticCRS, uint16(tiff.ModelGeographic)
	}
	h.Geo.Keys.Set(tiff.GeoValue{Key: tiff.GTModelType, Code: model})
	h.Geo.Keys.Set(tiff.GeoValue{Key: tiff.GTRasterType, Code: tiff.RasterPixelIsArea})
	h.Geo.Keys.Set(tiff.GeoValue{Key: key, Code: uint16(m.system.crs.Code())})
	e := m.extent
	h.Geo.SetAffine(tiff.Affine{e.MinX, (e.MaxX - e.MinX) / float64(m.width), 0, e.MaxY, 0, (e.MinY - e.MaxY) / float64(m.height)})
	bytes := make([]byte, 0, len(pixels)*h.Bands)
	for _, p := range pixels {
		bytes = append(bytes, byte(p), byte(p>>8), byte(p>>16))
		if m.transparent {
			bytes = append(bytes, byte(p>>24))
		}
	}
	folder, err := os.MkdirTemp("", "quern-wms")
	if err != nil {
		return nil, err
	}
	defer os.RemoveAll(folder)
	name := filepath.Join(folder, "map.tif")
	w, err := tiff.Create(name, h, tiff.Options{BlockWidth: 256, BlockHeight: 256, Level: 1})
	if err != nil {
		return nil, err
	}
	defer w.Abort() // does nothing after Close
	if err := w.WriteRows(context.Background(), tiff.Rows{Pixels: bytes}); err != nil {
		return nil, err
	}
	if err := w.Close(); err != nil {
		return nil, err
	}
	return os.ReadFile(name)
}

// sendMap answers with a map: from the cache, if the client does not have it.
func (s *Server) cachedMap(ctx context.Context, m *mapRequest, key string) (answer, error) {
	build := func() (answer, error) { return s.makeMap(ctx, m) }
	if s.cache == nil || m.width*m.height > mostCached {
		return build()
	}
	a, err := s.cache.get(ctx, key, build)
	if err != nil {
		return a, fmt.Errorf("wms: map: %w", err)
	}
	return a, nil
}

// mostCached is the size in pixels of the largest map that is kept.
const mostCached = 512 * 512
