package wms

import (
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"math"
	"net/http"
	"strconv"
	"strings"

	"quern.dev/geo/wms/internal/render"
)

// worldHalf is half the width of the square of Web Mercator in meters.
const worldHalf = math.Pi * 6378137

// tileSize is the width and height of tiles in pixels; those of XYZ may have twice as many.
const tileSize = 256

// mostZoom is the finest level of tiles.
const mostZoom = 24

// tileExtent returns the coordinates of a tile in Web Mercator.
func tileExtent(z, x, y int) render.Extent {
	size := 2 * worldHalf / float64(int(1)<<z)
	edge := func(i int) float64 { return float64(i)*size - worldHalf }
	return render.Extent{MinX: edge(x), MinY: -edge(y + 1), MaxX: edge(x + 1), MaxY: -edge(y)}
}

// tilesIn returns the tiles of a level that meet an extent in Web Mercator: columns x0 to x1-1 and rows y0 to y1-1.
func tilesIn(e render.Extent, z int) (x0, y0, x1, y1 int) {
	n := 1 << z
	size := 2 * worldHalf / float64(n)
	low := func(v float64) int { return min(max(int(math.Floor(v/size+1e-9)), 0), n-1) }
	high := func(v float64) int { return min(max(int(math.Ceil(v/size-1e-9)), 1), n) }
	return low(e.MinX + worldHalf), low(worldHalf - e.MaxY), high(e.MaxX + worldHalf), high(worldHalf - e.MinY)
}

// zooms returns the levels of tiles of a layer: from the one that has it in about a tile to that of its pixels.
func (l *layer) zooms(s *system) (first, last int) {
	last = 0
	cos := math.Cos((l.bounds[1] + l.bounds[3]) / 2 * math.Pi / 180)
	for last < mostZoom && 2*worldHalf*cos/tileSize/float64(int(1)<<last) > l.finest*1.2 {
		last++
	}
	e, ok := extentIn(l.bounds, s)
	if !ok {
		return 0, last
	}
	size := max(e.MaxX-e.MinX, e.MaxY-e.MinY)
	for first < last && 2*worldHalf/float64(int(1)<<(first+1)) > size {
		first++
	}
	return first, last
}

// serveXYZ answers LAYER/Z/X/Y.EXT and LAYER/Z/X/Y@2x.EXT.
func (s *Server) serveXYZ(w http.ResponseWriter, q *http.Request, parts []string) {
	m, e := s.parseXYZ(q, parts)
	if e != nil {
		status := http.StatusBadRequest
		if e.Code == codeLayer || e.Code == codeTile {
			status = http.StatusNotFound
		}
		w.Header().Set("Cache-Control", "no-store")
		http.Error(w, e.Text, status)
		return
	}
	s.serveTile(w, q, m, func(e *Exception) { s.plainError(w, e) })
}

// plainError sends an error as text.
func (s *Server) plainError(w http.ResponseWriter, e *Exception) {
	w.Header().Set("Cache-Control", "no-store")
	status := e.status
	if status == 0 {
		status = http.StatusBadRequest
	}
	setRetry(w, status)
	http.Error(w, e.Text, status)
}

// setRetry says when to try again.
func setRetry(w http.ResponseWriter, status int) {
	if status == http.StatusServiceUnavailable {
		w.Header().Set("Retry-After", "1")
	}
}

// serveTile answers with a map, or with an error that fail sends.
func (s *Server) serveTile(w http.ResponseWriter, q *http.Request, m *mapRequest, fail func(e *Exception)) {
	key := m.key()
	tag := tagOf(key)
	if s.unchanged(w, q, tag) {
		return
	}
	a, err := s.cachedMap(q.Context(), m, key)
	if err != nil {
		s.report(q, err)
		fail(exceptionOf(err))
		return
	}
	s.answerWith(w, q, a, tag)
}

// report logs an error that is not the client's.
func (s *Server) report(q *http.Request, err error) {
	if e := exceptionOf(err); e.status == http.StatusInternalServerError {
		s.config.Logger.LogAttrs(context.WithoutCancel(q.Context()), 8, "a map could not be made", attr("url", q.URL.RequestURI()), attr("error", err.Error()))
	}
}

func (s *Server) parseXYZ(q *http.Request, parts []string) (*mapRequest, *Exception) {
	l := s.layers[parts[0]]
	if l == nil {
		return nil, exceptf(codeLayer, "", "there is no layer %.100q", parts[0])
	}
	name, extension, _ := strings.Cut(parts[3], ".")
	size := tileSize
	if n, ok := strings.CutSuffix(name, "@2x"); ok {
		name, size = n, 2*tileSize
	}
	f := findFormat(extension)
	if f == nil || f == formats[formatTIFF] {
		return nil, exceptf(codeInvalidFormat, "", "tiles are png, png8 or jpg, not %.40q", extension)
	}
	z, x, y, e := tileNumbers(parts[1], parts[2], name)
	if e != nil {
		return nil, e
	}
	p, e := parseParameters(q.URL.RawQuery)
	if e != nil {
		return nil, e
	}
	k, e := s.lookOf(p, l, cmp.Or(p["STYLES"], p["STYLE"]))
	if e != nil {
		return nil, e
	}
	m := &mapRequest{layers: []*look{k}, system: s.systems[0], extent: tileExtent(z, x, y), width: size, height: size, format: f}
	if e := p.setOptions(m); e != nil {
		return nil, e
	}
	m.transparent = !strings.EqualFold(p["TRANSPARENT"], "FALSE") && f != formats[formatJPEG]
	return m, p.setTime(m)
}

// tileNumbers reads the place of a tile.
func tileNumbers(zText, xText, yText string) (z, x, y int, e *Exception) {
	z, errZ := strconv.Atoi(zText)
	x, errX := strconv.Atoi(xText)
	y, errY := strconv.Atoi(yText)
	if errZ != nil || errX != nil || errY != nil {
		return 0, 0, 0, exceptf(codeInvalid, "", "a tile has three whole numbers")
	}
	if z < 0 || z > mostZoom || x < 0 || y < 0 || x >= 1<<z || y >= 1<<z {
		return 0, 0, 0, exceptf(codeTile, "", "tile %d/%d/%d: levels are 0 to %d, rows and columns 0 to 2^level-1", z, x, y, mostZoom)
	}
	return z, x, y, nil
}

// tileJSON is the form of TileJSON 3.0.0.
type tileJSON struct {
	TileJSON    string     `json:"tilejson"`
	Name        string     `json:"name"`
	Description string     `json:"description,omitempty"`
	Version     string     `json:"version"`
	Scheme      string     `json:"scheme"`
	Tiles       []string   `json:"tiles"`
	MinZoom     int        `json:"minzoom"`
	MaxZoom     int        `json:"maxzoom"`
	Bounds      [4]float64 `json:"bounds"`
	Center      [3]float64 `json:"center"`
}

func (s *Server) serveTileJSON(w http.ResponseWriter, q *http.Request, name string) {
	l := s.layers[name]
	if l == nil {
		http.Error(w, fmt.Sprintf("there is no layer %.100q", name), http.StatusNotFound)
		return
	}
	first, last := l.zooms(s.systems[0])
	b := l.bounds
	b[1], b[3] = max(b[1], -mercatorLatitude), min(b[3], mercatorLatitude)
	t := tileJSON{TileJSON: "3.0.0", Name: l.Title, Description: l.Abstract, Version: "1.0.0", Scheme: "xyz", Tiles: []string{s.base(q) + "/" + l.Name + "/{z}/{x}/{y}.png"},
		MinZoom: first, MaxZoom: last, Bounds: b, Center: [3]float64{(b[0] + b[2]) / 2, (b[1] + b[3]) / 2, float64((first + last) / 2)}}
	s.sendJSON(w, q, t)
}

func (s *Server) sendJSON(w http.ResponseWriter, q *http.Request, v any) {
	body, err := json.Marshal(v)
	if err != nil {
		panic(err) // only numbers and strings are sent
	}
	w.Header().Set("Cache-Control", "no-cache")
	s.answerWith(w, q, answer{body, "application/json"}, "")
}
