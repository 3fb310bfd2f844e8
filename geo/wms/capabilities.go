package wms

import (
	"math"
	"net/http"
	"strconv"
	"strings"
)

// updated answers the parameter UPDATESEQUENCE; it reports whether it has.
func (s *Server) updated(fail func(e *Exception), p parameters) bool {
	switch have := p["UPDATESEQUENCE"]; {
	case have == s.version:
		fail(exceptf(codeCurrent, "UPDATESEQUENCE", "the capabilities have not changed"))
		return true
	case have > s.version:
		fail(exceptf(codeSequence, "UPDATESEQUENCE", "the capabilities have the number %s", s.version))
		return true
	}
	return false
}

// wmsCapabilities describes the service: WMS 1.3.0, section 7.2, or 1.1.1, section 7.1.
func (s *Server) wmsCapabilities(w http.ResponseWriter, q *http.Request, p parameters, version string) {
	if s.updated(func(e *Exception) { s.exception(w, q, p, version, e) }, p) {
		return
	}
	c := &capabilities{s: s, base: s.base(q), old: version == version111}
	kind := "text/xml; charset=utf-8"
	if c.old {
		kind = "application/vnd.ogc.wms_xml; charset=utf-8"
	}
	w.Header().Set("Cache-Control", "no-cache")
	s.answerWith(w, q, answer{c.write(), kind}, "")
}

// capabilities writes the description of the service.
type capabilities struct {
	*document
	s    *Server
	base string
	old  bool // 1.1.1
}

func (c *capabilities) write() []byte {
	root := "WMS_Capabilities"
	attributes := []string{"version", version130, "updateSequence", c.s.version, "xmlns", "http://www.opengis.net/wms", "xmlns:xlink", "http://www.w3.org/1999/xlink",
		"xmlns:xsi", "http://www.w3.org/2001/XMLSchema-instance", "xsi:schemaLocation", "http://www.opengis.net/wms http://schemas.opengis.net/wms/1.3.0/capabilities_1_3_0.xsd"}
	if c.old {
		root = "WMT_MS_Capabilities"
		attributes = []string{"version", version111, "updateSequence", c.s.version}
		c.document = newDocument("<!DOCTYPE WMT_MS_Capabilities SYSTEM \"http://schemas.opengis.net/wms/1.1.1/WMS_MS_Capabilities.dtd\">\n")
	} else {
		c.document = newDocument("")
	}
	c.begin(root, attributes...)
	c.service()
	c.begin("Capability")
	c.requests()
	c.begin("Exception")
	kinds := []string{"XML", "INIMAGE", "BLANK"}
	if c.old {
		kinds = []string{"application/vnd.ogc.se_xml", "application/vnd.ogc.se_inimage", "application/vnd.ogc.se_blank"}
	}
	for _, k := range kinds {
		c.text("Format", k)
	}
	c.end()
	c.layers()
	c.end()
	c.end()
	return c.Bytes()
}

func (c *capabilities) service() {
	c.begin("Service")
	name := "WMS"
	if c.old {
		name = "OGC:WMS"
	}
	c.text("Name", name)
	c.text("Title", c.s.config.Title)
	if c.s.config.Abstract != "" {
		c.text("Abstract", c.s.config.Abstract)
	}
	online := []string{"xlink:type", "simple", "xlink:href", c.base + "/wms"}
	if c.old {
		online = append([]string{"xmlns:xlink", "http://www.w3.org/1999/xlink"}, online...)
	}
	c.empty("OnlineResource", online...)
	if !c.old {
		c.text("LayerLimit", strconv.Itoa(mostLayers))
		c.text("MaxWidth", strconv.Itoa(c.s.config.MaxWidth))
		c.text("MaxHeight", strconv.Itoa(c.s.config.MaxHeight))
	}
	c.end()
}

func (c *capabilities) requests() {
	c.begin("Request")
	operation := func(name string, formats ...string) {
		c.begin(name)
		for _, f := range formats {
			c.text("Format", f)
		}
		c.begin("DCPType")
		c.begin("HTTP")
		c.begin("Get")
		online := []string{"xlink:type", "simple", "xlink:href", c.base + "/wms?"}
		if c.old {
			online = append([]string{"xmlns:xlink", "http://www.w3.org/1999/xlink"}, online...)
		}
		c.empty("OnlineResource", online...)
		for range 4 {
			c.end()
		}
	}
	description := "text/xml"
	if c.old {
		description = "application/vnd.ogc.wms_xml"
	}
	operation("GetCapabilities", description)
	var images []string
	for _, f := range formats {
		images = append(images, f.mime)
	}
	operation("GetMap", images...)
	operation("GetFeatureInfo", infoFormats...)
	c.end()
}

// onGlobe returns an extent in degrees within the limits of longitude and latitude. One that goes on beyond the antimeridian becomes all
// longitudes.
func onGlobe(b [4]float64) [4]float64 {
	switch {
	case b[2] <= -180 || b[0] >= 180:
		turn := 360 * math.Floor((b[0]+180)/360)
		b[0], b[2] = b[0]-turn, min(b[2]-turn, 180)
	case b[2] > 181 || b[0] < -181: // not just the outer half of a pixel
		b[0], b[2] = -180, 180
	}
	return [4]float64{max(b[0], -180), max(b[1], -90), min(b[2], 180), min(b[3], 90)}
}

// bounds writes the extent of a layer in all systems.
func (c *capabilities) bounds(b [4]float64) {
	globe := onGlobe(b)
	names := []string{"minx", "miny", "maxx", "maxy"}
	box := func(system string, v ...float64) {
		key := "CRS"
		if c.old {
			key = "SRS"
		}
		attributes := []string{key, system}
		for i, n := range names {
			attributes = append(attributes, n, number(v[i]))
		}
		c.empty("BoundingBox", attributes...)
	}
	if c.old {
		c.empty("LatLonBoundingBox", "minx", number(globe[0]), "miny", number(globe[1]), "maxx", number(globe[2]), "maxy", number(globe[3]))
	} else {
		c.begin("EX_GeographicBoundingBox")
		c.text("westBoundLongitude", number(globe[0]))
		c.text("eastBoundLongitude", number(globe[2]))
		c.text("southBoundLatitude", number(globe[1]))
		c.text("northBoundLatitude", number(globe[3]))
		c.end()
		box("CRS:84", b[:]...)
	}
	for _, s := range c.s.systems {
		e, ok := extentIn(b, s)
		if !ok {
			continue
		}
		if s.northFirst && !c.old {
			box(s.name, e.MinY, e.MinX, e.MaxY, e.MaxX)
		} else {
			box(s.name, e.MinX, e.MinY, e.MaxX, e.MaxY)
		}
	}
}

func (c *capabilities) layers() {
	c.begin("Layer")
	c.text("Title", c.s.config.Title)
	key := "CRS"
	if c.old {
		key = "SRS"
	} else {
		c.text(key, "CRS:84")
	}
	for _, s := range c.s.systems {
		c.text(key, s.name)
	}
	c.bounds(c.s.bounds())
	for _, l := range c.s.order {
		c.layer(l)
	}
	c.end()
}

// bounds returns the extent of all layers in degrees.
func (s *Server) bounds() [4]float64 {
	b := s.order[0].bounds
	for _, l := range s.order[1:] {
		b = [4]float64{min(b[0], l.bounds[0]), min(b[1], l.bounds[1]), max(b[2], l.bounds[2]), max(b[3], l.bounds[3])}
	}
	return b
}

// layer writes a layer. Styles and systems of the layer above are inherited.
func (c *capabilities) layer(l *layer) {
	c.begin("Layer", "queryable", "1", "opaque", "0")
	c.text("Name", l.Name)
	c.text("Title", l.Title)
	if l.Abstract != "" {
		c.text("Abstract", l.Abstract)
	}
	c.bounds(l.bounds)
	if l.timed {
		attributes := []string{"name", "time", "units", "ISO8601"}
		last := formatTime(l.frames[len(l.frames)-1].time)
		if c.old {
			c.empty("Dimension", attributes...)
			c.text("Extent", l.times(), "name", "time", "default", last, "nearestValue", "0")
		} else {
			c.text("Dimension", l.times(), append(attributes, "default", last, "multipleValues", "0", "nearestValue", "0", "current", "1")...)
		}
	}
	for _, style := range l.styles() {
		c.begin("Style")
		c.text("Name", style)
		c.text("Title", style)
		width, height := legendSize(l)
		c.begin("LegendURL", "width", strconv.Itoa(width), "height", strconv.Itoa(height))
		c.text("Format", "image/png")
		online := []string{"xlink:type", "simple", "xlink:href", c.base + legendPath(l.Name, style)}
		if c.old {
			online = append([]string{"xmlns:xlink", "http://www.w3.org/1999/xlink"}, online...)
		}
		c.empty("OnlineResource", online...)
		c.end()
		c.end()
	}
	c.end()
}

// times lists the points in time.
func (l *layer) times() string {
	var all []string
	for _, f := range l.frames {
		all = append(all, formatTime(f.time))
	}
	return strings.Join(all, ",")
}

// styles lists the names of the layer's styles.
func (l *layer) styles() []string {
	if l.colorBands() >= 3 && len(l.Default.Bands) != 1 || l.palette {
		return []string{"default"}
	}
	all := append([]string{"default"}, Ramps()...)
	if l.colorBands() == 1 && l.kind.Size() > 1 && !l.rotated() {
		all = append(all, Shadings()...)
	}
	return all
}
