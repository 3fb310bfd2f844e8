package wms

import (
	"image"
	"image/color"
	"image/jpeg"
	stdpng "image/png"
	"log/slog"
	"net/http"
	"strings"

	"golang.org/x/image/font"
	"golang.org/x/image/font/basicfont"
	"golang.org/x/image/math/fixed"
)

func attr(name, value string) slog.Attr { return slog.String(name, value) }

const (
	version111 = "1.1.1"
	version130 = "1.3.0"
)

// negotiate returns the version for the one that a client asks for: the greatest that is not greater, or 1.1.1 for
// smaller ones (WMS 1.3.0, section 6.2.4).
func negotiate(p parameters) string {
	version := p["VERSION"]
	if version == "" {
		version = p["WMTVER"]
	}
	if version == "" || version >= version130 {
		return version130
	}
	return version111
}

// serveWMS answers a WMS request and returns the name of the operation.
func (s *Server) serveWMS(w http.ResponseWriter, q *http.Request) string {
	p, e := parseParameters(q.URL.RawQuery)
	if e != nil {
		s.exception(w, q, nil, version130, e)
		return "wms"
	}
	version := negotiate(p)
	request := strings.ToLower(p["REQUEST"])
	fail := func(e *Exception) { s.exception(w, q, p, version, e) }
	if service := p["SERVICE"]; service != "" && !strings.EqualFold(service, "WMS") {
		fail(exceptf(codeInvalid, "SERVICE", "this is a WMS, not %.40q", service))
		return "wms"
	}
	switch request {
	case "getcapabilities", "capabilities":
		s.wmsCapabilities(w, q, p, version)
		return "GetCapabilities"
	case "getmap", "map":
		m, e := s.parseMap(p, version)
		if e == nil {
			m.format, e = p.mapFormat()
		}
		if e != nil {
			fail(e)
			return "GetMap"
		}
		m.warn(w.Header())
		s.serveTile(w, q, m, fail)
		return "GetMap"
	case "getfeatureinfo", "feature_info":
		if e := s.wmsFeatureInfo(w, q, p, version); e != nil {
			fail(e)
		}
		return "GetFeatureInfo"
	case "getlegendgraphic":
		if e := s.wmsLegend(w, q, p); e != nil {
			fail(e)
		}
		return "GetLegendGraphic"
	case "":
		fail(exceptf(codeMissing, "REQUEST", "the parameter is missing"))
	default:
		fail(exceptf(codeOperation, "REQUEST", "the server has no operation %.60q", p["REQUEST"]))
	}
	return "wms"
}

// warn says that a default time is used: WMS 1.3.0, annex C.4.2.
func (m *mapRequest) warn(h http.Header) {
	for _, k := range m.layers {
		if l := k.layer; l.timed && m.time.IsZero() {
			h.Set("Warning", "99 Default value used: time="+formatTime(l.at(m.time).time)+" ISO8601")
		}
	}
}

// mapFormat reads FORMAT.
func (p parameters) mapFormat() (*format, *Exception) {
	text, e := p.need("FORMAT")
	if e != nil {
		return nil, e
	}
	f := findFormat(text)
	if f == nil {
		return nil, exceptf(codeInvalidFormat, "FORMAT", "maps are image/png, image/png; mode=8bit, image/jpeg or image/tiff, not %.60q", text)
	}
	return f, nil
}

// exception sends an exception in the way that EXCEPTIONS says: as XML, as text in an image, or as a blank image.
func (s *Server) exception(w http.ResponseWriter, q *http.Request, p parameters, version string, e *Exception) {
	h := w.Header()
	h.Set("Cache-Control", "no-store")
	status := e.status
	if status == 0 {
		status = http.StatusOK // as servers of WMS do; the content type tells
	}
	setRetry(w, status)
	switch kind := strings.ToLower(p["EXCEPTIONS"]); kind {
	case "inimage", "application/vnd.ogc.se_inimage", "blank", "application/vnd.ogc.se_blank":
		if strings.Contains(strings.ToLower(p["REQUEST"]), "map") {
			s.exceptionImage(w, p, status, e, strings.HasSuffix(kind, "inimage"))
			return
		}
	}
	d := newDocument("")
	kind := "text/xml; charset=utf-8"
	attributes := []string{"version", version130, "xmlns", "http://www.opengis.net/ogc", "xmlns:xsi", "http://www.w3.org/2001/XMLSchema-instance",
		"xsi:schemaLocation", "http://www.opengis.net/ogc http://schemas.opengis.net/wms/1.3.0/exceptions_1_3_0.xsd"}
	if version == version111 {
		kind = "application/vnd.ogc.se_xml; charset=utf-8"
		attributes = []string{"version", version111}
	}
	d.begin("ServiceExceptionReport", attributes...)
	var detail []string
	if e.Code != codeNone {
		detail = append(detail, "code", e.Code)
	}
	if e.Locator != "" && version == version130 {
		detail = append(detail, "locator", e.Locator)
	}
	d.text("ServiceException", e.Text, detail...)
	d.end()
	h.Set("Content-Type", kind)
	w.WriteHeader(status)
	if q.Method != http.MethodHead {
		_, _ = w.Write(d.Bytes()) // fails only if the client has disconnected
	}
}

// exceptionImage sends an image with the text of an exception, or without anything.
func (s *Server) exceptionImage(w http.ResponseWriter, p parameters, status int, e *Exception, withText bool) {
	width, height := 256, 256
	if n, bad := p.integer("WIDTH", 1, s.config.MaxWidth); bad == nil {
		width = n
	}
	if n, bad := p.integer("HEIGHT", 1, s.config.MaxHeight); bad == nil {
		height = n
	}
	background := color.NRGBA{255, 255, 255, 255}
	if c, ok := parseColor(p["BGCOLOR"]); ok {
		background = c
	}
	asJPEG := findFormat(p["FORMAT"]) == formats[formatJPEG]
	if strings.EqualFold(p["TRANSPARENT"], "TRUE") && !asJPEG {
		background.A = 0
	}
	im := image.NewNRGBA(image.Rect(0, 0, width, height))
	for i := 0; i < len(im.Pix); i += 4 {
		im.Pix[i], im.Pix[i+1], im.Pix[i+2], im.Pix[i+3] = background.R, background.G, background.B, background.A
	}
	if withText {
		writeText(im, e.Text)
	}
	if asJPEG {
		w.Header().Set("Content-Type", "image/jpeg")
		w.WriteHeader(status)
		_ = jpeg.Encode(w, im, nil) // fails only if the client has disconnected
		return
	}
	w.Header().Set("Content-Type", "image/png")
	w.WriteHeader(status)
	encoder := stdpng.Encoder{CompressionLevel: stdpng.BestSpeed}
	_ = encoder.Encode(w, im) // fails only if the client has disconnected
}

// writeText writes text into an image, in as many lines as it takes.
func writeText(im *image.NRGBA, text string) {
	face := basicfont.Face7x13
	columns := max((im.Rect.Dx()-8)/face.Advance, 1)
	y := 4 + face.Ascent
	line := ""
	flush := func() {
		d := font.Drawer{Dst: im, Src: image.NewUniform(color.NRGBA{180, 0, 0, 255}), Face: face, Dot: fixed.P(4, y)}
		d.DrawString(line)
		y, line = y+face.Height, ""
	}
	for _, word := range strings.Fields(text) {
		if line != "" && len(line)+1+len(word) > columns {
			flush()
		}
		if line != "" {
			line += " "
		}
		for line += word; len(line) > columns; {
			rest := line[columns:]
			line = line[:columns]
			flush()
			line = rest
		}
	}
	flush()
}
