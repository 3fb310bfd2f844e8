package crs

import (
	"fmt"
	"math"
	"strconv"
	"strings"
	"unicode"
)

// Limits of texts.
const (
	maxText  = 1 << 20
	maxDepth = 32
)

// node is a keyword with values: *node, string or float64. A word without brackets is a node without values.
type node struct {
	keyword string
	values  []any
}

// scanner reads WKT.
type scanner struct {
	text string
	at   int
}

func (s *scanner) space() {
	for s.at < len(s.text) && unicode.IsSpace(rune(s.text[s.at])) {
		s.at++
	}
}

func (s *scanner) peek() byte {
	s.space()
	if s.at >= len(s.text) {
		return 0
	}
	return s.text[s.at]
}

func (s *scanner) fail(format string, args ...any) error {
	return fmt.Errorf("byte %d: %s", s.at, fmt.Sprintf(format, args...))
}

func letter(c byte) bool {
	return c >= 'A' && c <= 'Z' || c >= 'a' && c <= 'z' || c == '_' || c >= '0' && c <= '9'
}

func (s *scanner) node(depth int) (*node, error) {
	if depth > maxDepth {
		return nil, s.fail("brackets are nested deeper than %d", maxDepth)
	}
	s.space()
	start := s.at
	for s.at < len(s.text) && letter(s.text[s.at]) {
		s.at++
	}
	if s.at == start {
		return nil, s.fail("a keyword is missing")
	}
	n := &node{keyword: strings.ToUpper(s.text[start:s.at])}
	open := s.peek()
	if open != '[' && open != '(' {
		return n, nil
	}
	s.at++
	closing := byte(']')
	if open == '(' {
		closing = ')'
	}
	for {
		v, err := s.value(depth)
		if err != nil {
			return nil, err
		}
		n.values = append(n.values, v)
		switch s.peek() {
		case ',':
			s.at++
		case closing:
			s.at++
			return n, nil
		case 0:
			return nil, s.fail("the text ends inside of %s", n.keyword)
		default:
			return nil, s.fail("%q in %s instead of a comma or %q", s.text[s.at], n.keyword, closing)
		}
	}
}

func (s *scanner) value(depth int) (any, error) {
	switch c := s.peek(); {
	case c == '"':
		return s.quoted()
	case c >= '0' && c <= '9' || c == '-' || c == '+' || c == '.':
		start := s.at
		for s.at < len(s.text) && (letter(s.text[s.at]) || strings.IndexByte("+-.", s.text[s.at]) >= 0) {
			s.at++
		}
		text := s.text[start:s.at]
		f, err := strconv.ParseFloat(text, 64)
		if err != nil || math.IsInf(f, 0) {
			if strings.Count(text, "-") == 2 || strings.Count(text, ".") > 1 {
				return text, nil // a date
			}
			return nil, s.fail("%q is not a number", text)
		}
		return f, nil
	}
	return s.node(depth + 1)
}

// quoted reads a text, in which two quotes stand for one.
func (s *scanner) quoted() (string, error) {
	var b strings.Builder
	for s.at++; s.at < len(s.text); s.at++ {
		if s.text[s.at] != '"' {
			b.WriteByte(s.text[s.at])
			continue
		}
		if s.at+1 >= len(s.text) || s.text[s.at+1] != '"' {
			s.at++
			return b.String(), nil
		}
		b.WriteByte('"')
		s.at++
	}
	return "", s.fail("a quotation mark is missing")
}

// child returns the first child with one of the keywords, or nil.
func (n *node) child(keywords ...string) *node {
	if n == nil {
		return nil
	}
	for _, v := range n.values {
		if c, ok := v.(*node); ok {
			for _, k := range keywords {
				if c.keyword == k {
					return c
				}
			}
		}
	}
	return nil
}

// children returns all children with a keyword.
func (n *node) children(keyword string) []*node {
	var all []*node
	if n == nil {
		return nil
	}
	for _, v := range n.values {
		if c, ok := v.(*node); ok && c.keyword == keyword {
			all = append(all, c)
		}
	}
	return all
}

func (n *node) text(i int) string {
	if n == nil || i >= len(n.values) {
		return ""
	}
	switch v := n.values[i].(type) {
	case string:
		return v
	case *node:
		return v.keyword
	}
	return ""
}

func (n *node) number(i int) (float64, bool) {
	if n == nil || i >= len(n.values) {
		return 0, false
	}
	switch v := n.values[i].(type) {
	case float64:
		return v, true
	case string: // codes may be quoted
		f, err := strconv.ParseFloat(v, 64)
		return f, err == nil && !math.IsInf(f, 0)
	}
	return 0, false
}

// epsg returns the EPSG code of an object, or 0.
func (n *node) epsg() int {
	id := n.child("ID", "AUTHORITY")
	if !strings.EqualFold(id.text(0), "EPSG") {
		return 0
	}
	code, _ := id.number(1)
	return whole(code)
}

// whole returns a code, or 0 for what is none.
func whole(f float64) int {
	if f != math.Trunc(f) || f < 0 || f > 1e8 {
		return 0
	}
	return int(f)
}

// parseWKT reads WKT 1 (of OGC, GDAL and Esri) and WKT 2.
func parseWKT(text string) (*CRS, error) {
	const op = "parse WKT"
	s := &scanner{text: text}
	n, err := s.node(0)
	if err == nil && s.peek() == ',' { // Esri writes a compound as two systems with a comma between them
		s.at++
		var height *node
		if height, err = s.node(0); err == nil {
			n = &node{"COMPD_CS", []any{n.text(0), n, height}}
		}
	}
	if err == nil && s.peek() != 0 {
		err = s.fail("text after the end of %s", n.keyword)
	}
	if err != nil {
		return nil, failure(ErrFormat, op, "", "%v", err)
	}
	d := &definition{}
	if err := d.fromWKT(n); err != nil {
		kind := ErrFormat
		if _, ok := err.(unsupported); ok {
			kind = ErrUnsupported
		}
		return nil, failure(kind, op, n.text(0), "%v", err)
	}
	return d.build(op)
}

// unsupported is an error about something that is well-formed.
type unsupported string

func (u unsupported) Error() string { return string(u) }

func (d *definition) fromWKT(n *node) error {
	d.name, d.code = n.text(0), n.epsg()
	switch n.keyword {
	case "GEOGCS":
		return d.geographicWKT(n)
	case "GEOCCS":
		d.kind = Geocentric
		if err := d.geographicWKT(n); err != nil {
			return err
		}
		d.axes = nil
		return nil
	case "PROJCS":
		return d.projectedWKT1(n)
	case "GEOGCRS", "GEOGRAPHICCRS", "GEODCRS", "GEODETICCRS":
		if strings.EqualFold(n.child("CS").text(0), "Cartesian") {
			d.kind = Geocentric
		}
		if err := d.geographicWKT(n); err != nil {
			return err
		}
		return d.axesWKT(n)
	case "PROJCRS", "PROJECTEDCRS":
		return d.projectedWKT2(n)
	case "COMPD_CS", "COMPOUNDCRS":
		return d.compoundWKT(n)
	case "BOUNDCRS":
		return d.boundWKT(n)
	}
	return unsupported(fmt.Sprintf("the text is a %s; geographic, geocentric, projected, compound and bound systems are supported", n.keyword))
}

// unitWKT returns the unit that is a child of n, with a default.
func unitWKT(n *node, otherwise float64) (float64, error) {
	u := n.child("ANGLEUNIT", "LENGTHUNIT", "SCALEUNIT", "UNIT")
	if u == nil {
		return otherwise, nil
	}
	f, ok := u.number(1)
	if !ok || !(f > 0) {
		return 0, fmt.Errorf("the unit %q has no factor", u.text(0))
	}
	return exact(f), nil
}

// geographicWKT reads datum, ellipsoid, prime meridian and the axes of WKT 1.
func (d *definition) geographicWKT(n *node) error {
	datum := n.child("DATUM", "GEODETICDATUM", "TRF", "ENSEMBLE")
	if datum == nil {
		datum = n.child("DYNAMIC").child("DATUM")
	}
	if datum == nil {
		return fmt.Errorf("%s has no DATUM", n.keyword)
	}
	d.datum, d.datumCode = datum.text(0), datum.epsg()
	d.baseCode = n.epsg()
	e := datum.child("ELLIPSOID", "SPHEROID")
	if e == nil {
		return fmt.Errorf("the datum %q has no ellipsoid", d.datum)
	}
	a, ok := e.number(1)
	inverse, ok2 := e.number(2)
	if !ok || !ok2 {
		return fmt.Errorf("the ellipsoid %q lacks an axis or the flattening", e.text(0))
	}
	length, err := unitWKT(e, 1)
	if err != nil {
		return err
	}
	d.ellipsoid = Ellipsoid{a * length, inverse}
	angle, err := unitWKT(n, degree)
	if err != nil {
		return err
	}
	if p := n.child("PRIMEM", "PRIMEMERIDIAN"); p != nil {
		lon, ok := p.number(1)
		if !ok {
			return fmt.Errorf("the prime meridian %q has no longitude", p.text(0))
		}
		u, err := unitWKT(p, degree) // WKT 1 of GDAL and Esri: degrees whatever the unit of the system is
		if err != nil {
			return err
		}
		d.meridian = lon * (u / degree)
	}
	if t := datum.child("TOWGS84"); t != nil {
		if err := d.toWGS84WKT(t); err != nil {
			return err
		}
	}
	if d.kind == Geographic && n.keyword == "GEOGCS" {
		for _, x := range n.children("AXIS") {
			d.axes = append(d.axes, axis{x.text(0), x.text(1), angle})
		}
		if d.axes == nil {
			d.axes = []axis{{"longitude", "east", angle}, {"latitude", "north", angle}}
		}
	}
	return nil
}

func (d *definition) toWGS84WKT(t *node) error {
	var p [7]float64
	for i := range t.values {
		f, ok := t.number(i)
		if !ok || i >= len(p) {
			return fmt.Errorf("TOWGS84 has %d values; it takes at most 7, and all must be numbers", len(t.values))
		}
		p[i] = f
	}
	p[6] *= 1e-6
	d.toWGS84 = p[:]
	return nil
}

func (d *definition) parameterWKT(p *node, angle, length float64) error {
	v, ok := p.number(1)
	if !ok {
		return fmt.Errorf("the parameter %q has no value", p.text(0))
	}
	x := parameter{name: p.text(0), code: p.epsg()}
	role, known := parameterRoles[x.code]
	if !known {
		role, known = parameterNames[normalName(x.name)]
	}
	switch {
	case !known || role == scale || role == ellipsoidScale:
		u, err := unitWKT(p, 1)
		if err != nil {
			return err
		}
		x.value = v * u
	case role.angular():
		u, err := unitWKT(p, angle)
		if err != nil {
			return err
		}
		x.value = v * (u / degree)
	default:
		u, err := unitWKT(p, length)
		if err != nil {
			return err
		}
		x.value = v * u
	}
	d.parameters = append(d.parameters, x)
	return nil
}

func (d *definition) projectedWKT1(n *node) error {
	base := n.child("GEOGCS")
	if base == nil {
		return fmt.Errorf("PROJCS has no GEOGCS")
	}
	if err := d.geographicWKT(base); err != nil {
		return err
	}
	d.kind, d.axes = Projected, nil
	angle, err := unitWKT(base, degree)
	if err != nil {
		return err
	}
	length, err := unitWKT(n, 1)
	if err != nil {
		return err
	}
	p := n.child("PROJECTION")
	if p == nil {
		return fmt.Errorf("PROJCS has no PROJECTION")
	}
	d.method, d.methodCode = p.text(0), p.epsg()
	for _, x := range n.children("PARAMETER") {
		if err := d.parameterWKT(x, angle, length); err != nil {
			return err
		}
	}
	extension := n.child("EXTENSION").text(1)
	d.webSphere = strings.Contains(extension, "+proj=merc") && strings.Contains(extension, "+a=6378137 +b=6378137")
	for _, x := range n.children("AXIS") {
		d.axes = append(d.axes, axis{x.text(0), x.text(1), length})
	}
	if d.axes == nil {
		d.axes = []axis{{"easting", "east", length}, {"northing", "north", length}}
		if normalName(d.method) == "krovak" && !d.turned() {
			d.axes = []axis{{"southing", "south", length}, {"westing", "west", length}}
		}
	}
	return nil
}

// turned reports whether Esri's parameters turn the axes of Krovak's projection to the east and the north.
func (d *definition) turned() bool {
	for _, p := range d.parameters {
		if normalName(p.name) == "xscale" && p.value == -1 {
			return true
		}
	}
	return false
}

func (d *definition) projectedWKT2(n *node) error {
	base := n.child("BASEGEOGCRS", "BASEGEODCRS")
	if base == nil {
		return fmt.Errorf("%s has no BASEGEOGCRS", n.keyword)
	}
	if err := d.geographicWKT(base); err != nil {
		return err
	}
	d.kind, d.axes = Projected, nil
	conversion := n.child("CONVERSION")
	method := conversion.child("METHOD", "PROJECTION")
	if method == nil {
		return fmt.Errorf("%s has no CONVERSION with a METHOD", n.keyword)
	}
	d.method, d.methodCode = method.text(0), method.epsg()
	for _, p := range conversion.children("PARAMETER") {
		if err := d.parameterWKT(p, degree, 1); err != nil {
			return err
		}
	}
	return d.axesWKT(n)
}

// axesWKT reads the axes of WKT 2.
func (d *definition) axesWKT(n *node) error {
	otherwise := 1.0
	if d.kind == Geographic {
		otherwise = degree
	}
	otherwise, err := unitWKT(n, otherwise)
	if err != nil {
		return err
	}
	d.axes = nil
	for _, x := range n.children("AXIS") {
		if len(x.values) < 2 {
			return fmt.Errorf("the axis %q has no direction", x.text(0))
		}
		fallback := otherwise
		if direction := x.text(1); d.kind == Geographic && (strings.EqualFold(direction, "up") || strings.EqualFold(direction, "down")) {
			fallback = 1
		}
		u, err := unitWKT(x, fallback)
		if err != nil {
			return err
		}
		d.axes = append(d.axes, axis{x.text(0), x.text(1), u})
	}
	return nil
}

func (d *definition) compoundWKT(n *node) error {
	var horizontal, height *node
	for _, v := range n.values {
		c, ok := v.(*node)
		if !ok {
			continue
		}
		switch c.keyword {
		case "VERT_CS", "VERTCS", "VERTCRS", "VERTICALCRS":
			height = c
		case "ID", "AUTHORITY", "USAGE", "SCOPE", "AREA", "BBOX", "REMARK":
		default:
			if horizontal == nil {
				horizontal = c
			}
		}
	}
	if horizontal == nil || height == nil {
		return fmt.Errorf("%s needs a horizontal and a vertical system", n.keyword)
	}
	name, code := d.name, d.code
	if horizontal.keyword == n.keyword {
		return fmt.Errorf("%s inside of itself", n.keyword)
	}
	if err := d.fromWKT(horizontal); err != nil {
		return err
	}
	if len(d.axes) == 0 || d.kind == Geocentric {
		return unsupported("a compound of a system that is not horizontal")
	}
	d.name = name
	if d.baseCode == 0 && d.kind == Geographic {
		d.baseCode = d.code
	}
	d.code = code
	u, err := unitWKT(height, 1)
	if err != nil {
		return err
	}
	direction := "up"
	if x := height.child("AXIS"); x != nil {
		direction = x.text(1)
		if u, err = unitWKT(x, u); err != nil {
			return err
		}
	}
	datum := height.child("VDATUM", "VERT_DATUM", "VERTICALDATUM", "VRF", "ENSEMBLE")
	d.vertical = vertical{datum.verticalCode(height.epsg()), height.text(0)}
	d.axes = append(d.axes[:min(2, len(d.axes))], axis{"height", direction, u})
	return nil
}

// boundWKT reads a system with its own transformation to WGS 84.
func (d *definition) boundWKT(n *node) error {
	source := n.child("SOURCECRS")
	if source == nil || len(source.values) == 0 {
		return fmt.Errorf("BOUNDCRS has no SOURCECRS")
	}
	inner, ok := source.values[0].(*node)
	if !ok || inner.keyword == n.keyword {
		return fmt.Errorf("SOURCECRS is not a system")
	}
	if err := d.fromWKT(inner); err != nil {
		return err
	}
	t := n.child("ABRIDGEDTRANSFORMATION")
	method := t.child("METHOD")
	var parameters []parameter
	for _, p := range t.children("PARAMETER") {
		v, ok := p.number(1)
		if !ok {
			return fmt.Errorf("the parameter %q of ABRIDGEDTRANSFORMATION has no value", p.text(0))
		}
		parameters = append(parameters, parameter{p.text(0), p.epsg(), v})
	}
	return d.bound(method.text(0), method.epsg(), parameters, true)
}

// bound takes Helmert parameters: meters, seconds of arc and, in WKT, a factor near 1 or, in PROJJSON, parts per million.
func (d *definition) bound(method string, code int, parameters []parameter, factor bool) error {
	name := normalName(method)
	sign := 0.0
	switch {
	case code == 9603 || code == 9606 || code == 1031 || code == 1033 || strings.HasPrefix(name, "positionvector") || strings.HasPrefix(name, "geocentrictranslations"):
		sign = 1
	case code == 9607 || code == 1032 || strings.HasPrefix(name, "coordinateframe"):
		sign = -1
	default:
		return unsupported(fmt.Sprintf("the transformation %q of a bound system is not supported; use a grid or UseHelmert", method))
	}
	var p [7]float64
	for _, x := range parameters {
		i := x.code - 8605
		if x.code == 0 {
			n, ok := map[string]int{"xaxistranslation": 0, "yaxistranslation": 1, "zaxistranslation": 2, "xaxisrotation": 3, "yaxisrotation": 4,
				"zaxisrotation": 5, "scaledifference": 6}[normalName(x.name)]
			if !ok {
				return unsupported(fmt.Sprintf("the parameter %q of a bound system is not supported", x.name))
			}
			i = n
		}
		switch {
		case i < 0 || i > 6:
			return unsupported(fmt.Sprintf("the parameter %q of a bound system is not supported", x.name))
		case i == 6 && factor:
			p[i] = x.value - 1
		case i == 6:
			p[i] = x.value * 1e-6
		case i >= 3:
			p[i] = sign * x.value
		default:
			p[i] = x.value
		}
	}
	d.toWGS84 = p[:]
	return nil
}
