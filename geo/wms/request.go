package wms

import (
	"image/color"
	"math"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"time"

	"quern.dev/geo/wms/internal/render"
)

// parameters are those of a request, whose names have no case.
type parameters map[string]string

// parseParameters reads a query. Of a parameter that comes several times, the first one counts.
func parseParameters(query string) (parameters, *Exception) {
	if len(query) > mostQuery {
		return nil, exceptf(codeInvalid, "", "the query has more than %d bytes", mostQuery)
	}
	values, err := url.ParseQuery(strings.ReplaceAll(query, ";", "%3B")) // media types of some clients have a plain semicolon
	if err != nil {
		return nil, exceptf(codeInvalid, "", "the query is not encoded as URLs are: %v", err)
	}
	p := parameters{}
	for name, v := range values {
		upper := strings.ToUpper(name)
		if _, ok := p[upper]; !ok {
			p[upper] = v[0]
		}
	}
	return p, nil
}

const mostQuery = 16 << 10

// list returns the elements of a list; none if the parameter is empty.
func (p parameters) list(name string) []string {
	if p[name] == "" {
		return nil
	}
	return strings.Split(p[name], ",")
}

// need returns a parameter that must be there.
func (p parameters) need(name string) (string, *Exception) {
	if p[name] == "" {
		return "", exceptf(codeMissing, name, "the parameter is missing")
	}
	return p[name], nil
}

// integer returns a whole number between two limits.
func (p parameters) integer(name string, least, most int) (int, *Exception) {
	text, e := p.need(name)
	if e != nil {
		return 0, e
	}
	n, err := strconv.Atoi(text)
	if err != nil || n < least || n > most {
		return 0, exceptf(codeInvalid, name, "%.40q is not a whole number from %d to %d", text, least, most)
	}
	return n, nil
}

// mapRequest is what GetMap, GetFeatureInfo and tiles draw.
type mapRequest struct {
	layers        []*look
	system        *system
	extent        render.Extent // x to the east
	width, height int
	format        *format
	transparent   bool
	background    color.NRGBA
	time          time.Time // zero for the last one
	exact         bool
}

// format is a kind of image.
type format struct {
	mime, extension string
}

var formats = []*format{{"image/png", "png"}, {"image/png; mode=8bit", "png8"}, {"image/jpeg", "jpg"}, {"image/tiff", "tif"}}

const (
	formatPNG = iota
	formatPNG8
	formatJPEG
	formatTIFF
)

// tileFormats are those of tiles.
var tileFormats = formats[:formatTIFF]

// findFormat returns the format of a media type or an extension; nil if there is none.
func findFormat(text string) *format {
	kind, parameters, _ := strings.Cut(strings.ToLower(text), ";")
	switch kind = strings.TrimSpace(kind); kind {
	case "image/geotiff", "image/geotiff8", "tiff":
		return formats[formatTIFF]
	case "image/jpg", "jpeg":
		return formats[formatJPEG]
	case "image/png8":
		return formats[formatPNG8]
	case "image/png":
		if strings.ReplaceAll(parameters, " ", "") == "mode=8bit" {
			return formats[formatPNG8]
		}
	}
	for _, f := range formats {
		if kind == f.mime || kind == f.extension {
			return f
		}
	}
	return nil
}

// rendering reads a style and the parameters BANDS, RESCALE, RAMP, AZIMUTH, ALTITUDE and ZFACTOR.
func (p parameters) rendering(style string) (r Rendering, e *Exception) {
	switch {
	case style == "" || strings.EqualFold(style, "default"):
	case ramps[style] != nil:
		r.Ramp = style
	case shadings[style].Shading != 0:
		r.Shading = style
	default:
		return r, exceptf(codeStyle, "STYLES", "there is no style %.80q", style)
	}
	for _, b := range p.list("BANDS") {
		n, err := strconv.Atoi(b)
		if err != nil {
			return r, exceptf(codeInvalid, "BANDS", "%.40q is not the number of a band", b)
		}
		if r.Bands = append(r.Bands, n); len(r.Bands) > 3 {
			break
		}
	}
	for name, to := range map[string]*float64{"AZIMUTH": &r.Light.Azimuth, "ALTITUDE": &r.Light.Altitude, "ZFACTOR": &r.Light.ZFactor} {
		if p[name] == "" {
			continue
		}
		v, ok := parseNumbers(p[name])
		if !ok || len(v) != 1 || v[0] == 0 && name != "AZIMUTH" {
			return r, exceptf(codeInvalid, name, "%s: %.40q is no number, or it is 0, which only AZIMUTH may be", name, p[name])
		}
		*to = v[0]
		r.Light.NorthLight = r.Light.NorthLight || name == "AZIMUTH" && v[0] == 0
	}
	if name := p["RAMP"]; name != "" {
		if ramps[name] == nil {
			return r, exceptf(codeInvalid, "RAMP", "there is no color ramp %.80q", name)
		}
		r.Ramp = name
	}
	if text := p["RESCALE"]; text != "" {
		v, ok := parseNumbers(text)
		if !ok || len(v)%2 != 0 || len(v) > 6 {
			return r, exceptf(codeInvalid, "RESCALE", "%.80q is not LOW,HIGH for all bands or each band", text)
		}
		for i := 0; i < len(v); i += 2 {
			r.Low, r.High = append(r.Low, v[i]), append(r.High, v[i+1])
		}
	}
	return r, nil
}

// box reads BBOX.
func (p parameters) box(northFirst bool) (b render.Extent, e *Exception) {
	text, e := p.need("BBOX")
	if e != nil {
		return b, e
	}
	v, ok := parseNumbers(text)
	if !ok || len(v) != 4 {
		return b, exceptf(codeInvalid, "BBOX", "%.80q is not four numbers with commas between them", text)
	}
	if northFirst {
		v[0], v[1], v[2], v[3] = v[1], v[0], v[3], v[2]
	}
	b = render.Extent{MinX: v[0], MinY: v[1], MaxX: v[2], MaxY: v[3]}
	if !(b.MinX < b.MaxX && b.MinY < b.MaxY) {
		return b, exceptf(codeInvalid, "BBOX", "the minimum %v, %v is not less than the maximum %v, %v", v[0], v[1], v[2], v[3])
	}
	if most := 1e12; math.Abs(v[0]) > most || math.Abs(v[1]) > most || math.Abs(v[2]) > most || math.Abs(v[3]) > most {
		return b, exceptf(codeInvalid, "BBOX", "a coordinate is beyond %g", most)
	}
	return b, nil
}

// white is the default background.
var white = color.NRGBA{255, 255, 255, 255}

// parseColor reads 0xRRGGBB.
func parseColor(text string) (c color.NRGBA, ok bool) {
	text = strings.TrimPrefix(strings.TrimPrefix(strings.ToLower(text), "0x"), "#")
	v, err := strconv.ParseUint(text, 16, 32)
	return color.NRGBA{byte(v >> 16), byte(v >> 8), byte(v), 255}, err == nil && len(text) == 6
}

// timeLayouts are the forms of ISO 8601 that WMS 1.3.0, annex D, has.
var timeLayouts = []string{"2006-01-02T15:04:05.999Z07:00", "2006-01-02T15:04:05Z", "2006-01-02T15:04:05", "2006-01-02T15:04Z", "2006-01-02T15:04", "2006-01-02T15Z", "2006-01-02", "2006-01", "2006"}

// setTime reads TIME for the layers.
func (p parameters) setTime(m *mapRequest) *Exception {
	text := strings.TrimSpace(p["TIME"])
	if text == "" || strings.EqualFold(text, "current") || strings.EqualFold(text, "default") {
		return nil // the last one, which is the default
	}
	timed := false
	for _, k := range m.layers {
		timed = timed || k.layer.timed
	}
	if !timed {
		return nil // unknown parameters do not matter
	}
	if strings.ContainsAny(text, ",/") { // WMS 1.3.0, annex C.4.2: the dimension has no multipleValues
		return exceptf(codeInvalidDimension, "TIME", "%.60q is a list or an interval; a map shows one time", text)
	}
	for _, layout := range timeLayouts {
		at, err := time.Parse(layout, text)
		if err != nil {
			continue
		}
		m.time = at.UTC()
		for _, k := range m.layers {
			if k.layer.timed && k.layer.at(m.time) == nil {
				return exceptf(codeInvalidDimension, "TIME", "layer %s has nothing at %s; GetCapabilities lists the times", k.layer.Name, formatTime(m.time))
			}
		}
		return nil
	}
	return exceptf(codeInvalidDimension, "TIME", "%.60q is not a date or a time such as 2026-01-31T12:00:00Z", text)
}

// formatTime returns a time in the form of ISO 8601, with parts of seconds if it has some.
func formatTime(t time.Time) string { return t.Format("2006-01-02T15:04:05.999999999Z") }

// setOptions reads the parameters that all kinds of requests have.
func (p parameters) setOptions(m *mapRequest) *Exception {
	switch strings.ToUpper(p["TRANSPARENT"]) {
	case "TRUE", "1":
		m.transparent = true
	case "", "FALSE", "0":
	default:
		return exceptf(codeInvalid, "TRANSPARENT", "%.40q is not TRUE or FALSE", p["TRANSPARENT"])
	}
	m.background = white
	if text := p["BGCOLOR"]; text != "" {
		var ok bool
		if m.background, ok = parseColor(text); !ok {
			return exceptf(codeInvalid, "BGCOLOR", "%.40q is not a color such as 0xFFFFFF", text)
		}
	}
	m.exact = strings.EqualFold(p["EXACT"], "TRUE")
	return nil
}

// layersOf reads LAYERS and STYLES.
func (s *Server) layersOf(p parameters, name string) ([]*look, *Exception) {
	names := p.list(name)
	if len(names) == 0 {
		return nil, exceptf(codeLayer, name, "no layer is named")
	}
	if len(names) > mostLayers {
		return nil, exceptf(codeInvalid, name, "%d layers; the limit is %d", len(names), mostLayers)
	}
	styles := p.list("STYLES")
	if len(styles) != 0 && len(styles) != len(names) {
		return nil, exceptf(codeStyle, "STYLES", "%d styles for %d layers", len(styles), len(names))
	}
	var looks []*look
	for i, n := range names {
		l := s.layers[n]
		if l == nil {
			return nil, exceptf(codeLayer, name, "there is no layer %.100q", n)
		}
		style := ""
		if len(styles) > 0 {
			style = styles[i]
		}
		k, e := s.lookOf(p, l, style)
		if e != nil {
			return nil, e
		}
		looks = append(looks, k)
	}
	return looks, nil
}

// noSymbols refuses styles that a client defines: a map in another style would be wrong.
func (p parameters) noSymbols() *Exception {
	for _, name := range []string{"SLD", "SLD_BODY"} {
		if p[name] != "" {
			return exceptf(codeOperation, name, "styles of clients are not supported; use STYLES, and parameters such as BANDS, RESCALE and RAMP")
		}
	}
	return nil
}

// lookOf returns a layer in the style of a request.
func (s *Server) lookOf(p parameters, l *layer, style string) (*look, *Exception) {
	r, e := p.rendering(style)
	if e != nil {
		return nil, e
	}
	if style != "" && !slices.Contains(l.styles(), strings.ToLower(style)) {
		return nil, exceptf(codeStyle, "STYLES", "layer %s has no style %.80q", l.Name, style)
	}
	k, err := l.look(r)
	if err != nil {
		return nil, exceptionOf(err)
	}
	return k, nil
}

const mostLayers = 32

// parseMap reads a GetMap request, or the map part of GetFeatureInfo.
func (s *Server) parseMap(p parameters, version string) (m *mapRequest, e *Exception) {
	m = &mapRequest{}
	if e = p.noSymbols(); e != nil {
		return nil, e
	}
	if m.layers, e = s.layersOf(p, "LAYERS"); e != nil {
		return nil, e
	}
	name, code := "CRS", codeInvalidCRS
	if version != version130 {
		name, code = "SRS", "InvalidSRS"
	}
	text, e := p.need(name)
	if e != nil {
		return nil, e
	}
	var northFirst bool
	if m.system, northFirst = find(s.systems, text); m.system == nil {
		return nil, exceptf(code, name, "maps are not served in %.80q; GetCapabilities lists the systems", text)
	}
	if m.extent, e = p.box(northFirst && version == version130); e != nil {
		return nil, e
	}
	if m.width, e = p.integer("WIDTH", 1, s.config.MaxWidth); e != nil {
		return nil, e
	}
	if m.height, e = p.integer("HEIGHT", 1, s.config.MaxHeight); e != nil {
		return nil, e
	}
	if e = p.setOptions(m); e != nil {
		return nil, e
	}
	return m, p.setTime(m)
}
