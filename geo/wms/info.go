package wms

import (
	"context"
	"encoding/json"
	"fmt"
	"math"
	"net/http"
	"net/url"
	"strings"

	"quern.dev/geo/crs"
	"quern.dev/geo/tiff"
)

var infoFormats = []string{"text/plain", "application/json", "text/html", "text/xml"}

// point is what GetFeatureInfo returns of a layer at a point.
type point struct {
	Layer  string     `json:"layer"`
	Time   string     `json:"time,omitempty"`
	Column int        `json:"column"` // of the pixel in the file
	Row    int        `json:"row"`
	Values []*float64 `json:"values"` // of the bands; null where there is no data
}

// information is the answer of GetFeatureInfo.
type information struct {
	System string  `json:"crs"`
	X      float64 `json:"x"`
	Y      float64 `json:"y"`
	Points []point `json:"features"`
}

// informationAt returns the values at a pixel of a map.
func (s *Server) informationAt(ctx context.Context, m *mapRequest, i, j int) (*information, error) {
	e := m.extent
	out := &information{System: m.system.name, Points: []point{}}
	out.X = e.MinX + (float64(i)+0.5)*(e.MaxX-e.MinX)/float64(m.width)
	out.Y = e.MaxY - (float64(j)+0.5)*(e.MaxY-e.MinY)/float64(m.height)
	for k := len(m.layers) - 1; k >= 0; k-- { // the uppermost one first
		l := m.layers[k].layer
		f := l.at(m.time)
		for n := len(f.images) - 1; n >= 0; n-- {
			p, err := f.images[n].at(ctx, m.system.crs, out.X, out.Y)
			if err != nil {
				return nil, err
			}
			if p == nil {
				continue
			}
			p.Layer = l.Name
			if l.timed {
				p.Time = formatTime(f.time)
			}
			out.Points = append(out.Points, *p)
			break
		}
	}
	return out, nil
}

// at returns the values of the pixel at coordinates; nil outside of the image.
func (im *raster) at(ctx context.Context, system *crs.CRS, x, y float64) (*point, error) {
	t, err := crs.NewTransform(im.crs, system)
	if err != nil {
		return nil, err
	}
	x, y, err = t.Inverse(x, y)
	if err != nil {
		return nil, nil
	}
	a, _ := im.im.Geo.Affine()
	d := a[1]*a[5] - a[2]*a[4]
	x, y = x-a[0], y-a[3]
	column, row := math.Floor((x*a[5]-y*a[2])/d), math.Floor((y*a[1]-x*a[4])/d)
	if !(column >= 0 && row >= 0 && column < float64(im.im.Width) && row < float64(im.im.Height)) {
		return nil, nil
	}
	p := &point{Column: int(column), Row: int(row), Values: make([]*float64, im.im.Bands)}
	err = sampleRegion(ctx, im.im, tiff.Region{X: p.Column, Y: p.Row, Width: 1, Height: 1}, func(band int, v float64) { p.Values[band] = &v })
	return p, err
}

// wmsFeatureInfo answers GetFeatureInfo.
func (s *Server) wmsFeatureInfo(w http.ResponseWriter, q *http.Request, p parameters, version string) *Exception {
	m, e := s.parseMap(p, version)
	if e != nil {
		return e
	}
	queried, e := s.queried(p, m)
	if e != nil {
		return e
	}
	m.layers = queried
	column, row := "I", "J"
	if version == version111 {
		column, row = "X", "Y"
	}
	i, e := p.integer(column, 0, m.width-1)
	if e == nil {
		var j int
		if j, e = p.integer(row, 0, m.height-1); e == nil {
			return s.sendInformation(w, q, m, i, j, p["INFO_FORMAT"], "INFO_FORMAT")
		}
	}
	if e.Code == codeInvalid {
		e.Code = codePoint
	}
	return e
}

// queried returns the layers of QUERY_LAYERS, which are among those of the map.
func (s *Server) queried(p parameters, m *mapRequest) ([]*look, *Exception) {
	names := p.list("QUERY_LAYERS")
	if len(names) == 0 {
		return nil, exceptf(codeMissing, "QUERY_LAYERS", "the parameter is missing")
	}
	var all []*look
	for _, name := range names {
		if s.layers[name] == nil {
			return nil, exceptf(codeLayer, "QUERY_LAYERS", "there is no layer %.100q", name)
		}
		var found *look
		for _, k := range m.layers {
			if k.layer.Name == name {
				found = k
			}
		}
		if found == nil {
			return nil, exceptf(codeLayer, "QUERY_LAYERS", "layer %s is not in the map", name)
		}
		all = append(all, found)
	}
	return all, nil
}

// sendInformation answers with the values at a pixel of a map.
func (s *Server) sendInformation(w http.ResponseWriter, q *http.Request, m *mapRequest, i, j int, kind, parameter string) *Exception {
	kind, _, _ = strings.Cut(strings.ToLower(kind), ";")
	if kind == "" {
		kind = infoFormats[0]
	}
	var write func(info *information) []byte
	switch kind {
	case "text/plain":
		write = (*information).plain
	case "application/json", "application/geo+json", "json":
		kind, write = "application/json", (*information).json
	case "text/html":
		write = (*information).html
	case "text/xml", "application/xml", "application/vnd.ogc.gml", "application/vnd.ogc.wms_xml":
		kind, write = "text/xml", (*information).xml
	default:
		return exceptf(codeInvalidFormat, parameter, "values are %s, not %.60q", strings.Join(infoFormats, ", "), kind)
	}
	info, err := s.informationAt(q.Context(), m, i, j)
	if err != nil {
		s.report(q, err)
		return exceptionOf(err)
	}
	w.Header().Set("Cache-Control", "no-cache")
	if kind != "application/json" {
		kind += "; charset=utf-8"
	}
	s.answerWith(w, q, answer{write(info), kind}, "")
	return nil
}

func (info *information) json() []byte {
	b, err := json.Marshal(info)
	if err != nil {
		panic(err) // only finite numbers and strings
	}
	return b
}

// text returns a value as text.
func (p *point) text(band int) string {
	if v := p.Values[band]; v != nil {
		return number(*v)
	}
	return "no data"
}

func (info *information) plain() []byte {
	var b strings.Builder
	fmt.Fprintf(&b, "%s: %s, %s\n", info.System, number(info.X), number(info.Y))
	for _, p := range info.Points {
		fmt.Fprintf(&b, "layer %s", p.Layer)
		if p.Time != "" {
			fmt.Fprintf(&b, ", time %s", p.Time)
		}
		fmt.Fprintf(&b, ", pixel %d, %d\n", p.Column, p.Row)
		for band := range p.Values {
			fmt.Fprintf(&b, "  band %d = %s\n", band+1, p.text(band))
		}
	}
	return []byte(b.String())
}

func (info *information) html() []byte {
	d := &document{}
	d.WriteString("<!DOCTYPE html>\n")
	d.begin("html")
	d.begin("body")
	for _, p := range info.Points {
		d.begin("table")
		d.text("caption", strings.TrimSpace(p.Layer+" "+p.Time))
		for band := range p.Values {
			d.begin("tr")
			d.text("th", fmt.Sprintf("band %d", band+1))
			d.text("td", p.text(band))
			d.end()
		}
		d.end()
	}
	d.end()
	d.end()
	return d.Bytes()
}

func (info *information) xml() []byte {
	d := newDocument("")
	d.begin("FeatureInfo", "crs", info.System, "x", number(info.X), "y", number(info.Y))
	for _, p := range info.Points {
		attributes := []string{"name", p.Layer, "column", fmt.Sprint(p.Column), "row", fmt.Sprint(p.Row)}
		if p.Time != "" {
			attributes = append(attributes, "time", p.Time)
		}
		d.begin("Layer", attributes...)
		for band, v := range p.Values {
			if v == nil {
				d.empty("Band", "number", fmt.Sprint(band+1))
			} else {
				d.text("Band", number(*v), "number", fmt.Sprint(band+1))
			}
		}
		d.end()
	}
	d.end()
	return d.Bytes()
}

// legendPath returns the address of a legend.
func legendPath(layer, style string) string {
	return "/wms?SERVICE=WMS&VERSION=1.3.0&REQUEST=GetLegendGraphic&FORMAT=image/png&LAYER=" + url.QueryEscape(layer) + "&STYLE=" + url.QueryEscape(style)
}
