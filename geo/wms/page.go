package wms

import (
	"bytes"
	"compress/gzip"
	_ "embed"
	"io"
	"net/http"
	"strings"
	"sync"
)

// page is a page with a map, compressed. Its sources, and the licenses of what it contains, are in the folder page.
//
//go:embed page.html.gz
var page []byte

// plainPage returns the page for the few clients that do not decompress.
var plainPage = sync.OnceValues(func() ([]byte, error) {
	r, err := gzip.NewReader(bytes.NewReader(page))
	if err != nil {
		return nil, err
	}
	return io.ReadAll(r)
})

func (s *Server) servePage(w http.ResponseWriter, q *http.Request) {
	h := w.Header()
	h.Set("Content-Security-Policy", "default-src 'self'; script-src 'unsafe-inline'; style-src 'unsafe-inline'; img-src 'self' data: blob:")
	h.Set("Vary", "Accept-Encoding")
	h.Set("Cache-Control", "no-cache")
	body := page
	if strings.Contains(q.Header.Get("Accept-Encoding"), "gzip") {
		h.Set("Content-Encoding", "gzip")
	} else {
		var err error
		if body, err = plainPage(); err != nil {
			panic(err) // the page is part of the program
		}
	}
	s.answerWith(w, q, answer{body, "text/html; charset=utf-8"}, "")
}

// layerJSON describes a layer for the page.
type layerJSON struct {
	Name     string     `json:"name"`
	Title    string     `json:"title"`
	Abstract string     `json:"abstract,omitempty"`
	Bounds   [4]float64 `json:"bounds"`
	MinZoom  int        `json:"minzoom"`
	MaxZoom  int        `json:"maxzoom"`
	Bands    int        `json:"bands"`
	Styles   []string   `json:"styles"`
	Times    []string   `json:"times,omitempty"`
}

func (s *Server) serveLayers(w http.ResponseWriter, q *http.Request) {
	all := []layerJSON{}
	for _, l := range s.order {
		j := layerJSON{Name: l.Name, Title: l.Title, Abstract: l.Abstract, Bounds: l.bounds, Bands: l.bands, Styles: l.styles()}
		j.MinZoom, j.MaxZoom = l.zooms(s.systems[0])
		if l.timed {
			for _, f := range l.frames {
				j.Times = append(j.Times, formatTime(f.time))
			}
		}
		all = append(all, j)
	}
	s.sendJSON(w, q, map[string]any{"title": s.config.Title, "layers": all})
}
