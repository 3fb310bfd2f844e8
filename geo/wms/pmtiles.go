package wms

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"runtime"
	"slices"
	"sync"
	"time"

	"quern.dev/geo/wms/internal/pmtiles"
)

// Export says which tiles an archive gets.
type Export struct {
	Layer     string
	Rendering Rendering
	Time      time.Time // the last one if zero
	// JPEG tiles are smaller than those of PNG, and not transparent.
	JPEG bool
	// Palette gives PNG tiles up to 256 colors each.
	Palette bool
	// MinZoom and MaxZoom are the first and the last level; by default those of the layer.
	MinZoom, MaxZoom *int
	// Progress is called after some tiles, by one goroutine at a time.
	Progress func(done, total int)
}

// mostTiles is how many tiles an archive may have.
const mostTiles = 1 << 26

// WritePMTiles writes the tiles of a layer to a PMTiles archive, which appears under its name when it is complete. Tiles
// without data are left out. It returns the number of tiles.
func (s *Server) WritePMTiles(ctx context.Context, name string, e Export) (int, error) {
	l := s.layers[e.Layer]
	if l == nil {
		return 0, failf(ErrArgument, "export: there is no layer %q", e.Layer)
	}
	k, err := l.look(e.Rendering)
	if err != nil {
		return 0, err
	}
	if !e.Time.IsZero() && l.at(e.Time.UTC()) == nil {
		return 0, failf(ErrArgument, "export: layer %s has nothing at %s", l.Name, formatTime(e.Time.UTC()))
	}
	first, last := l.zooms(s.systems[0])
	if e.MinZoom != nil {
		first = *e.MinZoom
	}
	if e.MaxZoom != nil {
		last = *e.MaxZoom
	}
	if first < 0 || last > mostZoom || first > last {
		return 0, failf(ErrArgument, "export: levels %d to %d are not possible; they are 0 to %d", first, last, mostZoom)
	}
	numbers, err := s.numbers(l, first, last)
	if err != nil {
		return 0, err
	}
	h := pmtiles.Header{Kind: pmtiles.PNG, MinZoom: first, MaxZoom: last, Bounds: l.bounds}
	f := formats[formatPNG]
	if e.Palette {
		f = formats[formatPNG8]
	}
	if e.JPEG {
		h.Kind, f = pmtiles.JPEG, formats[formatJPEG]
	}
	h.Bounds[1], h.Bounds[3] = max(h.Bounds[1], -mercatorLatitude), min(h.Bounds[3], mercatorLatitude)
	if h.Metadata, err = json.Marshal(map[string]string{"name": l.Title, "description": l.Abstract, "type": "overlay", "format": map[pmtiles.Kind]string{pmtiles.PNG: "png", pmtiles.JPEG: "jpg"}[h.Kind]}); err != nil {
		return 0, err
	}
	w, err := pmtiles.Create(name, h)
	if err != nil {
		return 0, err
	}
	n, err := s.export(ctx, w, k, numbers, f, &e)
	if err != nil {
		return n, errors.Join(err, w.Abort())
	}
	return n, w.Close()
}

// tileNumber is a tile and its number in an archive.
type tileNumber struct {
	id      uint64
	z, x, y int
}

// numbers lists the tiles of a layer in the order of an archive.
func (s *Server) numbers(l *layer, first, last int) ([]tileNumber, error) {
	e, ok := extentIn(l.bounds, s.systems[0])
	if !ok {
		return nil, failf(ErrArgument, "export: layer %s is not in the area of Web Mercator", l.Name)
	}
	var all []tileNumber
	for z := first; z <= last; z++ {
		x0, y0, x1, y1 := tilesIn(e, z)
		if len(all)+(x1-x0)*(y1-y0) > mostTiles {
			return nil, failf(ErrArgument, "export: more than %d tiles; choose a smaller last level", mostTiles)
		}
		for y := y0; y < y1; y++ {
			for x := x0; x < x1; x++ {
				all = append(all, tileNumber{pmtiles.ID(z, x, y), z, x, y})
			}
		}
	}
	slices.SortFunc(all, func(a, b tileNumber) int { return cmp.Compare(a.id, b.id) })
	return all, nil
}

// made is a tile on its way to the archive; without a body, it has no data.
type made struct {
	tileNumber
	done chan struct{}
	body []byte
	err  error
}

// export makes tiles on several goroutines and adds them in order.
func (s *Server) export(ctx context.Context, w *pmtiles.Writer, k *look, numbers []tileNumber, f *format, e *Export) (n int, err error) {
	ctx, cancel := context.WithCancel(ctx)
	workers := 2 * runtime.GOMAXPROCS(0)
	jobs, order := make(chan *made), make(chan *made, 4*workers)
	var wg sync.WaitGroup
	defer wg.Wait()
	defer cancel()
	wg.Go(func() {
		defer close(jobs)
		defer close(order)
		for _, t := range numbers {
			m := &made{tileNumber: t, done: make(chan struct{})}
			for _, c := range []chan *made{order, jobs} {
				select {
				case c <- m:
				case <-ctx.Done():
					return
				}
			}
		}
	})
	for range workers {
		wg.Go(func() {
			for m := range jobs {
				m.body, m.err = s.exportTile(ctx, k, m.tileNumber, f, e.Time)
				close(m.done)
			}
		})
	}
	done := 0
	for m := range order {
		select {
		case <-m.done:
		case <-ctx.Done():
			return n, ctx.Err()
		}
		if m.err != nil {
			return n, m.err
		}
		if m.body != nil {
			if err := w.Add(m.id, m.body); err != nil {
				return n, err
			}
			n++
		}
		if done++; e.Progress != nil && (done%64 == 0 || done == len(numbers)) {
			e.Progress(done, len(numbers))
		}
	}
	return n, ctx.Err()
}

// exportTile makes a tile; nil if it has no data.
func (s *Server) exportTile(ctx context.Context, k *look, t tileNumber, f *format, at time.Time) ([]byte, error) {
	m := &mapRequest{layers: []*look{k}, system: s.systems[0], extent: tileExtent(t.z, t.x, t.y), width: tileSize, height: tileSize, format: formats[formatPNG], transparent: true, time: at.UTC()}
	if at.IsZero() {
		m.time = at
	}
	c := canvases.Get().(*canvas)
	defer canvases.Put(c)
	if err := s.draw(ctx, m, c); err != nil {
		return nil, err
	}
	if !slices.ContainsFunc(c.pixels, func(p uint32) bool { return p>>24 != 0 }) {
		return nil, nil
	}
	if m.format = f; f == formats[formatJPEG] {
		blendOver(c.pixels, white)
	}
	a, err := s.encode(m, c)
	return a.body, err
}
