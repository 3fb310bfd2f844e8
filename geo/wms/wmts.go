package wms

import (
	"math"
	"net/http"
	"strconv"
	"strings"

	"quern.dev/geo/wms/internal/render"
)

// matrixSet is a pyramid of tiles.
type matrixSet struct {
	name   string
	known  string // URN of a well-known scale set
	system *system
	left   float64 // x of the upper left corner
	top    float64
	levels []matrix
}

// matrix is a level of a pyramid.
type matrix struct {
	pixel         float64 // size of a pixel in units of the system
	width, height int     // tiles
}

// pixelSize is the size of a pixel of a rendering in meters: WMTS 1.0.0, section 6.1.
const pixelSize = 0.00028

// googleMaps is the well-known scale set GoogleMapsCompatible of WMTS 1.0.0, annex E.4, with more levels.
func googleMaps(s *system) *matrixSet {
	set := &matrixSet{name: "GoogleMapsCompatible", known: "urn:ogc:def:wkss:OGC:1.0:GoogleMapsCompatible", system: s, left: -worldHalf, top: worldHalf}
	for z := range mostZoom + 1 {
		n := 1 << z
		set.levels = append(set.levels, matrix{2 * worldHalf / tileSize / float64(n), n, n})
	}
	return set
}

// ownSet is the pyramid of a layer in its own system: the finest level has the pixels of the file. It is nil if the
// system has no code or the image is rotated.
func (s *Server) ownSet(l *layer) *matrixSet {
	if l.own == nil {
		return nil
	}
	var own *system
	for _, candidate := range s.systems {
		if candidate.crs.Code() == l.own.Code() {
			own = candidate
		}
	}
	inf := math.Inf(1)
	e, pixel := render.Extent{MinX: inf, MinY: inf, MaxX: -inf, MaxY: -inf}, inf
	for _, f := range l.frames {
		for _, im := range f.images {
			a, _ := im.im.Geo.Affine()
			if a[2] != 0 || a[4] != 0 || im.crs.Code() != l.own.Code() {
				return nil
			}
			x, y := a[0]+a[1]*float64(im.im.Width), a[3]+a[5]*float64(im.im.Height)
			e = render.Extent{MinX: min(e.MinX, a[0], x), MinY: min(e.MinY, a[3], y), MaxX: max(e.MaxX, a[0], x), MaxY: max(e.MaxY, a[3], y)}
			pixel = min(pixel, math.Abs(a[1]), math.Abs(a[5]))
		}
	}
	set := &matrixSet{name: "native-" + l.Name, system: own, left: e.MinX, top: e.MaxY}
	for {
		span := pixel * tileSize
		m := matrix{pixel, int(math.Ceil((e.MaxX-e.MinX)/span - 1e-9)), int(math.Ceil((e.MaxY-e.MinY)/span - 1e-9))}
		set.levels = append([]matrix{m}, set.levels...)
		if m.width <= 1 && m.height <= 1 {
			return set
		}
		pixel *= 2
	}
}

// extent returns the coordinates of a tile.
func (set *matrixSet) extent(level, column, row int) render.Extent {
	span := set.levels[level].pixel * tileSize
	edge := func(origin float64, i int, sign float64) float64 { return origin + sign*span*float64(i) }
	return render.Extent{MinX: edge(set.left, column, 1), MinY: edge(set.top, row+1, -1), MaxX: edge(set.left, column+1, 1), MaxY: edge(set.top, row, -1)}
}

// sets returns the pyramids of a layer.
func (s *Server) sets(l *layer) []*matrixSet {
	all := []*matrixSet{googleMaps(s.systems[0])}
	if own := s.ownSet(l); own != nil {
		all = append(all, own)
	}
	return all
}

// serveWMTS answers KVP requests, and paths below /wmts, and returns the name of the operation.
func (s *Server) serveWMTS(w http.ResponseWriter, q *http.Request, parts []string) string {
	if len(parts) == 0 {
		return s.serveKVP(w, q)
	}
	missing := func() string {
		s.owsException(w, q, http.StatusNotFound, exceptf(codeInvalid, "", "there is no such resource; see 1.0.0/WMTSCapabilities.xml"))
		return "wmts"
	}
	if parts[0] != "1.0.0" {
		return missing()
	}
	parts = parts[1:]
	if len(parts) == 1 && parts[0] == "WMTSCapabilities.xml" {
		s.wmtsCapabilities(w, q, nil)
		return "GetCapabilities"
	}
	p, e := parseParameters(q.URL.RawQuery)
	if e != nil || len(parts) < 6 {
		return missing()
	}
	p["LAYER"], p["STYLE"] = parts[0], parts[1]
	parts = parts[2:]
	if l := s.layers[p["LAYER"]]; l != nil && l.timed {
		p["TIME"], parts = parts[0], parts[1:]
	}
	if len(parts) != 4 && len(parts) != 6 {
		return missing()
	}
	last, extension, _ := strings.Cut(parts[len(parts)-1], ".")
	parts[len(parts)-1] = last
	p["TILEMATRIXSET"], p["TILEMATRIX"], p["TILEROW"], p["TILECOL"], p["FORMAT"] = parts[0], parts[1], parts[2], parts[3], extension
	fail := func(e *Exception) {
		status := http.StatusBadRequest
		if e.Code == codeTile || e.Code == codeLayer {
			status = http.StatusNotFound
		}
		s.owsException(w, q, status, e)
	}
	if len(parts) == 6 {
		p["J"], p["I"], p["FORMAT"] = parts[4], parts[5], "png"
		p["INFOFORMAT"] = map[string]string{"txt": "text/plain", "json": "application/json", "html": "text/html", "xml": "text/xml"}[extension]
		s.wmtsFeatureInfo(w, q, p, fail)
		return "GetFeatureInfo"
	}
	s.wmtsTile(w, q, p, fail)
	return "GetTile"
}

// serveKVP answers a request with parameters.
func (s *Server) serveKVP(w http.ResponseWriter, q *http.Request) string {
	fail := func(e *Exception) { s.owsException(w, q, http.StatusBadRequest, e) }
	p, e := parseParameters(q.URL.RawQuery)
	if e != nil {
		fail(e)
		return "wmts"
	}
	if service := p["SERVICE"]; !strings.EqualFold(service, "WMTS") {
		if service == "" {
			fail(exceptf(codeMissing, "SERVICE", "the parameter is missing"))
		} else {
			fail(exceptf(codeInvalid, "SERVICE", "this is a WMTS, not %.40q", service))
		}
		return "wmts"
	}
	request := strings.ToLower(p["REQUEST"])
	if request == "getcapabilities" {
		if versions := p.list("ACCEPTVERSIONS"); len(versions) > 0 && !strings.Contains(","+p["ACCEPTVERSIONS"]+",", ",1.0.0,") {
			fail(exceptf("VersionNegotiationFailed", "ACCEPTVERSIONS", "the server has version 1.0.0"))
			return "GetCapabilities"
		}
		if e := s.wmtsCapabilities(w, q, p); e != nil {
			fail(e)
		}
		return "GetCapabilities"
	}
	if version := p["VERSION"]; version != "" && version != "1.0.0" && request != "" {
		fail(exceptf(codeInvalid, "VERSION", "the server has version 1.0.0, not %.40q", version))
		return "wmts"
	}
	switch request {
	case "gettile":
		s.wmtsTile(w, q, p, fail)
		return "GetTile"
	case "getfeatureinfo":
		s.wmtsFeatureInfo(w, q, p, fail)
		return "GetFeatureInfo"
	case "":
		fail(exceptf(codeMissing, "REQUEST", "the parameter is missing"))
	default:
		fail(exceptf(codeOperation, "REQUEST", "the server has no operation %.60q", p["REQUEST"]))
	}
	return "wmts"
}

// parseTile reads GetTile.
func (s *Server) parseTile(p parameters) (*mapRequest, *Exception) {
	for _, name := range []string{"LAYER", "FORMAT", "TILEMATRIXSET", "TILEMATRIX", "TILEROW", "TILECOL"} {
		if _, e := p.need(name); e != nil {
			return nil, e
		}
	}
	l := s.layers[p["LAYER"]]
	if l == nil {
		return nil, exceptf(codeLayer, "LAYER", "there is no layer %.100q", p["LAYER"])
	}
	k, e := s.lookOf(p, l, p["STYLE"])
	if e != nil {
		e.Locator = "STYLE"
		return nil, e
	}
	f := findFormat(p["FORMAT"])
	if f == nil || f == formats[formatTIFF] {
		return nil, exceptf(codeInvalid, "FORMAT", "tiles are image/png, image/png; mode=8bit or image/jpeg, not %.60q", p["FORMAT"])
	}
	var set *matrixSet
	for _, candidate := range s.sets(l) {
		if candidate.name == p["TILEMATRIXSET"] {
			set = candidate
		}
	}
	if set == nil {
		return nil, exceptf(codeInvalid, "TILEMATRIXSET", "layer %s has no tile matrix set %.100q", l.Name, p["TILEMATRIXSET"])
	}
	level, err := strconv.Atoi(p["TILEMATRIX"])
	if err != nil || level < 0 || level >= len(set.levels) {
		return nil, exceptf(codeInvalid, "TILEMATRIX", "the tile matrices are 0 to %d, not %.40q", len(set.levels)-1, p["TILEMATRIX"])
	}
	row, errRow := strconv.Atoi(p["TILEROW"])
	column, errColumn := strconv.Atoi(p["TILECOL"])
	if m := set.levels[level]; errRow != nil || row < 0 || row >= m.height {
		return nil, exceptf(codeTile, "TILEROW", "tile matrix %d has the rows 0 to %d", level, m.height-1)
	} else if errColumn != nil || column < 0 || column >= m.width {
		return nil, exceptf(codeTile, "TILECOL", "tile matrix %d has the columns 0 to %d", level, m.width-1)
	}
	m := &mapRequest{layers: []*look{k}, system: set.system, extent: set.extent(level, column, row), width: tileSize, height: tileSize, format: f}
	if e := p.setOptions(m); e != nil {
		return nil, e
	}
	m.transparent = f != formats[formatJPEG]
	return m, p.setTime(m)
}

func (s *Server) wmtsTile(w http.ResponseWriter, q *http.Request, p parameters, fail func(*Exception)) {
	m, e := s.parseTile(p)
	if e != nil {
		fail(e)
		return
	}
	s.serveTile(w, q, m, fail)
}

func (s *Server) wmtsFeatureInfo(w http.ResponseWriter, q *http.Request, p parameters, fail func(*Exception)) {
	m, e := s.parseTile(p)
	if e != nil {
		fail(e)
		return
	}
	i, e := p.integer("I", 0, tileSize-1)
	if e == nil {
		var j int
		if j, e = p.integer("J", 0, tileSize-1); e == nil {
			e = s.sendInformation(w, q, m, i, j, p["INFOFORMAT"], "INFOFORMAT")
		}
	}
	if e != nil && e.Code == codeInvalid && (e.Locator == "I" || e.Locator == "J") {
		e.Code = codePixel
	}
	if e != nil {
		fail(e)
	}
}

// owsException sends an exception report of OWS Common 1.1.
func (s *Server) owsException(w http.ResponseWriter, q *http.Request, status int, e *Exception) {
	if e.status != 0 {
		status = e.status
	}
	setRetry(w, status)
	code := e.Code
	switch code {
	case codeOperation:
		status = http.StatusNotImplemented
	case codeLayer, codeStyle, codeInvalidFormat, codeInvalidDimension, codePoint:
		code = codeInvalid // the codes of WMS are not those of OWS
	}
	d := newDocument("")
	d.begin("ExceptionReport", "version", "1.1.0", "xmlns", "http://www.opengis.net/ows/1.1", "xmlns:xsi", "http://www.w3.org/2001/XMLSchema-instance",
		"xsi:schemaLocation", "http://www.opengis.net/ows/1.1 http://schemas.opengis.net/ows/1.1.0/owsExceptionReport.xsd")
	attributes := []string{"exceptionCode", code}
	if e.Locator != "" {
		attributes = append(attributes, "locator", strings.ToLower(e.Locator))
	}
	d.begin("Exception", attributes...)
	d.text("ExceptionText", e.Text)
	d.end()
	d.end()
	h := w.Header()
	h.Set("Cache-Control", "no-store")
	h.Set("Content-Type", "text/xml; charset=utf-8")
	w.WriteHeader(status)
	if q.Method != http.MethodHead {
		_, _ = w.Write(d.Bytes()) // fails only if the client has disconnected
	}
}

// wmtsCapabilities describes the service: WMTS 1.0.0, section 7.1. A client that has the description gets only its number.
func (s *Server) wmtsCapabilities(w http.ResponseWriter, q *http.Request, p parameters) *Exception {
	base := s.base(q)
	d := newDocument("")
	have := p["UPDATESEQUENCE"]
	if have > s.version {
		return exceptf(codeSequence, "UPDATESEQUENCE", "the capabilities have the number %s", s.version)
	}
	d.begin("Capabilities", "version", "1.0.0", "updateSequence", s.version, "xmlns", "http://www.opengis.net/wmts/1.0", "xmlns:ows", "http://www.opengis.net/ows/1.1",
		"xmlns:xlink", "http://www.w3.org/1999/xlink", "xmlns:xsi", "http://www.w3.org/2001/XMLSchema-instance",
		"xsi:schemaLocation", "http://www.opengis.net/wmts/1.0 http://schemas.opengis.net/wmts/1.0/wmtsGetCapabilities_response.xsd")
	if have != s.version {
		s.describe(d, base)
	}
	d.end()
	w.Header().Set("Cache-Control", "no-cache")
	s.answerWith(w, q, answer{d.Bytes(), "text/xml; charset=utf-8"}, "")
	return nil
}

// describe writes the sections of the capabilities.
func (s *Server) describe(d *document, base string) {
	d.begin("ows:ServiceIdentification")
	d.text("ows:Title", s.config.Title)
	if s.config.Abstract != "" {
		d.text("ows:Abstract", s.config.Abstract)
	}
	d.text("ows:ServiceType", "OGC WMTS")
	d.text("ows:ServiceTypeVersion", "1.0.0")
	d.end()
	d.begin("ows:OperationsMetadata")
	for _, name := range []string{"GetCapabilities", "GetTile", "GetFeatureInfo"} {
		d.begin("ows:Operation", "name", name)
		d.begin("ows:DCP")
		d.begin("ows:HTTP")
		d.begin("ows:Get", "xlink:href", base+"/wmts?")
		d.begin("ows:Constraint", "name", "GetEncoding")
		d.begin("ows:AllowedValues")
		d.text("ows:Value", "KVP")
		for range 6 {
			d.end()
		}
	}
	d.end()
	d.begin("Contents")
	sets := []*matrixSet{googleMaps(s.systems[0])}
	for _, l := range s.order {
		all := s.sets(l)
		s.wmtsLayer(d, l, all, base)
		sets = append(sets, all[1:]...)
	}
	for _, set := range sets {
		set.write(d)
	}
	d.end()
	d.empty("ServiceMetadataURL", "xlink:href", base+"/wmts/1.0.0/WMTSCapabilities.xml")
}

func (s *Server) wmtsLayer(d *document, l *layer, sets []*matrixSet, base string) {
	d.begin("Layer")
	d.text("ows:Title", l.Title)
	if l.Abstract != "" {
		d.text("ows:Abstract", l.Abstract)
	}
	d.begin("ows:WGS84BoundingBox")
	b := onGlobe(l.bounds)
	d.text("ows:LowerCorner", number(b[0])+" "+number(b[1]))
	d.text("ows:UpperCorner", number(b[2])+" "+number(b[3]))
	d.end()
	d.text("ows:Identifier", l.Name)
	for i, style := range l.styles() {
		d.begin("Style", "isDefault", strconv.FormatBool(i == 0))
		d.text("ows:Title", style)
		d.text("ows:Identifier", style)
		width, height := legendSize(l)
		d.empty("LegendURL", "format", "image/png", "xlink:href", base+legendPath(l.Name, style), "width", strconv.Itoa(width), "height", strconv.Itoa(height))
		d.end()
	}
	for _, f := range tileFormats {
		d.text("Format", f.mime)
	}
	for _, f := range infoFormats {
		d.text("InfoFormat", f)
	}
	path := base + "/wmts/1.0.0/" + l.Name + "/{Style}/"
	if l.timed {
		path += "{Time}/"
		d.begin("Dimension")
		d.text("ows:Identifier", "Time")
		d.text("ows:UOM", "ISO8601")
		d.text("Default", formatTime(l.frames[len(l.frames)-1].time))
		d.text("Current", "true")
		for _, f := range l.frames {
			d.text("Value", formatTime(f.time))
		}
		d.end()
	}
	path += "{TileMatrixSet}/{TileMatrix}/{TileRow}/{TileCol}"
	first, last := l.zooms(s.systems[0])
	for i, set := range sets {
		d.begin("TileMatrixSetLink")
		d.text("TileMatrixSet", set.name)
		// Levels that have no more detail have no limits, so that clients do not take them for those of the image.
		if e, ok := extentIn(l.bounds, set.system); i == 0 && ok {
			d.begin("TileMatrixSetLimits")
			for z := first; z <= last; z++ {
				x0, y0, x1, y1 := tilesIn(e, z)
				d.begin("TileMatrixLimits")
				d.text("TileMatrix", strconv.Itoa(z))
				d.text("MinTileRow", strconv.Itoa(y0))
				d.text("MaxTileRow", strconv.Itoa(y1-1))
				d.text("MinTileCol", strconv.Itoa(x0))
				d.text("MaxTileCol", strconv.Itoa(x1-1))
				d.end()
			}
			d.end()
		}
		d.end()
	}
	for _, f := range tileFormats {
		d.empty("ResourceURL", "format", f.mime, "resourceType", "tile", "template", path+"."+f.extension)
	}
	d.empty("ResourceURL", "format", "application/json", "resourceType", "FeatureInfo", "template", path+"/{J}/{I}.json")
	d.end()
}

// write describes a set.
func (set *matrixSet) write(d *document) {
	d.begin("TileMatrixSet")
	d.text("ows:Identifier", set.name)
	d.text("ows:SupportedCRS", "urn:ogc:def:crs:EPSG::"+strings.TrimPrefix(set.system.name, "EPSG:"))
	if set.known != "" {
		d.text("WellKnownScaleSet", set.known)
	}
	for z, m := range set.levels {
		d.begin("TileMatrix")
		d.text("ows:Identifier", strconv.Itoa(z))
		d.text("ScaleDenominator", number(m.pixel*set.system.unit/pixelSize))
		corner := number(set.left) + " " + number(set.top)
		if set.system.northFirst {
			corner = number(set.top) + " " + number(set.left)
		}
		d.text("TopLeftCorner", corner)
		d.text("TileWidth", strconv.Itoa(tileSize))
		d.text("TileHeight", strconv.Itoa(tileSize))
		d.text("MatrixWidth", strconv.Itoa(m.width))
		d.text("MatrixHeight", strconv.Itoa(m.height))
		d.end()
	}
	d.end()
}
