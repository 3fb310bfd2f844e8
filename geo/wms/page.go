package wms

import (
	"net/http"
)

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

func (s *Server) servePage(w http.ResponseWriter, q *http.Request) { http.NotFound(w, q) }

func (s *Server) serveAsset(w http.ResponseWriter, q *http.Request, _ []string) { http.NotFound(w, q) }
