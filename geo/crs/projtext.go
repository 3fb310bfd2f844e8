package crs

import (
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"

	"quern.dev/geo/crs/internal/epsg"
)

// projText is a PROJ string, such as "+proj=utm +zone=33 +datum=WGS84".
type projText struct {
	keys   []string // in their order
	values map[string]string
}

// projKeys are the keys that are read, or have no effect. Others would change coordinates in a way that is not here.
var projKeys = strings.Fields(`proj init type no_defs wktext title datum ellps a b rf f es e R towgs84 nadgrids pm units to_meter vunits vto_meter axis
	lat_0 lon_0 lat_1 lat_2 lat_ts lonc alpha gamma k k_0 x_0 y_0 zone south no_uoff no_off uoff approx algo no_rot hyperbolic R_A R_V R_a R_g R_h R_lat_a R_lat_g`)

// projEllipsoids are the ellipsoids of PROJ: the semi-major axis, and the inverse flattening or, as a negative number, the
// semi-minor axis.
var projEllipsoids = map[string][2]float64{
	"MERIT": {6378137, 298.257}, "SGS85": {6378136, 298.257}, "GRS80": {6378137, 298.257222101}, "IAU76": {6378140, 298.257},
	"airy": {6377563.396, 299.3249646}, "APL4.9": {6378137, 298.25}, "NWL9D": {6378145, 298.25}, "mod_airy": {6377340.189, -6356034.446},
	"andrae": {6377104.43, 300}, "danish": {6377019.2563, 300}, "aust_SA": {6378160, 298.25}, "GRS67": {6378160, 298.2471674270},
	"GSK2011": {6378136.5, 298.2564151}, "bessel": {6377397.155, 299.1528128}, "bess_nam": {6377483.865, 299.1528128},
	"clrk66": {6378206.4, -6356583.8}, "clrk80": {6378249.145, 293.4663}, "clrk80ign": {6378249.2, 293.4660212936269}, "CPM": {6375738.7, 334.29},
	"delmbr": {6376428, 311.5}, "engelis": {6378136.05, 298.2566}, "evrst30": {6377276.345, 300.8017}, "evrst48": {6377304.063, 300.8017},
	"evrst56": {6377301.243, 300.8017}, "evrst69": {6377295.664, 300.8017}, "evrstSS": {6377298.556, 300.8017}, "fschr60": {6378166, 298.3},
	"fschr60m": {6378155, 298.3}, "fschr68": {6378150, 298.3}, "helmert": {6378200, 298.3}, "hough": {6378270, 297}, "intl": {6378388, 297},
	"krass": {6378245, 298.3}, "kaula": {6378163, 298.24}, "lerch": {6378139, 298.257}, "mprts": {6397300, 191}, "new_intl": {6378157.5, -6356772.2},
	"plessis": {6376523, -6355863}, "PZ90": {6378136, 298.25784}, "SEasia": {6378155, -6356773.3205}, "walbeck": {6376896, -6355834.8467},
	"WGS60": {6378165, 298.3}, "WGS66": {6378145, 298.25}, "WGS72": {6378135, 298.26}, "WGS84": {6378137, 298.257223563}, "sphere": {6370997, 0},
}

// projDatums are EPSG's codes of PROJ's datums.
var projDatums = map[string]int{"WGS84": wgs84, "GGRS87": 6121, "NAD83": 6269, "NAD27": 6267, "potsdam": 6314, "carthage": 6223,
	"hermannskogel": 6312, "ire65": 6299, "nzgd49": 6272, "OSGB36": 6277}

// projMeridians are prime meridians in degrees, minutes and seconds.
var projMeridians = map[string]string{"greenwich": "0", "lisbon": "9d07'54.862\"W", "paris": "2d20'14.025\"E", "bogota": "74d04'51.3\"W",
	"madrid": "3d41'16.58\"W", "rome": "12d27'8.4\"E", "bern": "7d26'22.5\"E", "jakarta": "106d48'27.79\"E", "ferro": "17d40'W",
	"brussels": "4d22'4.71\"E", "stockholm": "18d3'29.8\"E", "athens": "23d42'58.815\"E", "oslo": "10d43'22.5\"E", "copenhagen": "12d34'40.35\"E"}

// projUnits are lengths in meters.
var projUnits = map[string]float64{"mm": 0.001, "cm": 0.01, "dm": 0.1, "m": 1, "km": 1000, "in": 0.0254, "ft": 0.3048, "yd": 0.9144, "mi": 1609.344,
	"fath": 1.8288, "kmi": 1852, "ch": 20.1168, "link": 0.201168, "us-in": 100. / 3937, "us-ft": 1200. / 3937, "us-yd": 3600. / 3937,
	"us-ch": 79200. / 3937, "us-mi": 6336000. / 3937, "ind-yd": 0.91439523, "ind-ft": 0.30479841, "ind-ch": 20.11669506}

func firstError(errs ...error) error {
	for _, err := range errs {
		if err != nil {
			return err
		}
	}
	return nil
}

// isPROJ reports whether a text looks like a PROJ string.
func isPROJ(text string) bool {
	return strings.HasPrefix(text, "+") || strings.HasPrefix(text, "proj=") || strings.HasPrefix(text, "init=")
}

func (t *projText) has(key string) bool { _, ok := t.values[key]; return ok }

// number returns the value of a key, or what it is without it.
func (t *projText) number(key string, otherwise float64) (float64, error) {
	text, ok := t.values[key]
	if !ok {
		return otherwise, nil
	}
	f, err := strconv.ParseFloat(text, 64)
	if err != nil || math.IsNaN(f) || math.IsInf(f, 0) {
		return 0, fmt.Errorf("+%s=%s is not a number", key, text)
	}
	return f, nil
}

// angle sets the role of an angle in degrees.
func (t *projText) angle(v *values, key string, r role, otherwise float64) error {
	text, ok := t.values[key]
	if !ok {
		v.set(r, otherwise)
		return nil
	}
	f, err := parseAngle(text)
	if err != nil {
		return fmt.Errorf("+%s=%s: %w", key, text, err)
	}
	v.set(r, f)
	return nil
}

// parseAngle reads degrees as decimals, with minutes and seconds (12d30'5.5"W), or radians (0.5r).
func parseAngle(text string) (float64, error) {
	bad := fmt.Errorf("this is not an angle, such as 12.5 or 12d30'0\"W")
	rest := strings.TrimSpace(text)
	negative := false
	if len(rest) > 0 {
		switch rest[len(rest)-1] {
		case 'W', 'w', 'S', 's':
			negative = true
			fallthrough
		case 'E', 'e', 'N', 'n':
			rest = rest[:len(rest)-1]
		case 'r':
			f, err := strconv.ParseFloat(rest[:len(rest)-1], 64)
			if err != nil || math.IsInf(f, 0) || math.IsNaN(f) {
				return 0, bad
			}
			return f / degree, nil
		}
	}
	if strings.HasPrefix(rest, "-") {
		negative, rest = !negative, rest[1:]
	} else {
		rest = strings.TrimPrefix(rest, "+")
	}
	sum, unit := 0.0, 1.0
	for _, marks := range []string{"dD\u00b0", "'", "\""} {
		end := strings.IndexAny(rest, marks)
		number, after := rest, ""
		if end >= 0 {
			number = rest[:end]
			after = strings.TrimPrefix(strings.TrimPrefix(rest[end:], "\u00b0"), rest[end:end+1])
		}
		if number != "" || end >= 0 {
			f, err := strconv.ParseFloat(number, 64)
			if err != nil || !(f >= 0 && f < 1e6) {
				return 0, bad
			}
			sum += f / unit
		}
		if rest = after; rest == "" {
			break
		}
		unit *= 60
	}
	if rest != "" || text == "" {
		return 0, bad
	}
	if negative {
		sum = -sum
	}
	return sum, nil
}

// parsePROJ reads a PROJ string.
func parsePROJ(text string) (*CRS, error) {
	const op = "parse PROJ"
	t := &projText{values: map[string]string{}}
	for field := range strings.FieldsSeq(text) {
		key, value, _ := strings.Cut(strings.TrimPrefix(field, "+"), "=")
		if key == "" {
			continue
		}
		if !t.has(key) { // the first one counts
			t.keys = append(t.keys, key)
			t.values[key] = value
		}
	}
	c, err := t.system(op)
	if err == nil {
		return c, nil
	}
	switch e := err.(type) {
	case *Error:
		return nil, e
	case unsupported:
		return nil, failure(ErrUnsupported, op, t.name(), "%v", err)
	}
	return nil, failure(ErrParameter, op, t.name(), "%v", err)
}

func (t *projText) name() string { return "+proj=" + t.values["proj"] }

func (t *projText) system(op string) (*CRS, error) {
	name := t.values["proj"]
	switch {
	case t.has("init"):
		return t.initial(op)
	case name == "":
		return nil, failure(ErrFormat, op, "", "the text has no +proj")
	case name == "pipeline" || t.has("step"):
		return nil, unsupported("a pipeline is an operation, not a system")
	}
	for _, key := range t.keys {
		if !slices.Contains(projKeys, key) {
			hint := map[string]string{"geoidgrids": "; use Geoids", "nadgrids": "; use SourceGrid"}[key]
			return nil, unsupported("the parameter +" + key + " is not supported" + hint)
		}
	}
	d := &definition{name: t.name(), anySize: true}
	if err := t.datum(d); err != nil {
		return nil, err
	}
	datumCode, own := d.datumCode, d.ellipsoid
	null := t.values["nadgrids"] == "@null"
	if null { // longitude and latitude are those of WGS 84, whatever the ellipsoid
		d.datumCode, d.datum = wgs84, ""
		d.ellipsoid = Ellipsoid{}
		datumCode = wgs84
	}
	var v values
	code := 0
	switch name {
	case "longlat", "latlong", "latlon", "lonlat":
	case "geocent":
		d.kind = Geocentric
	default:
		set, ok := projMethods[name]
		if !ok {
			return nil, unsupported("the projection is not supported")
		}
		d.kind = Projected
		if name == "utm" && own.InverseFlattening == 0 {
			return nil, fmt.Errorf("UTM is of an ellipsoid, not of a sphere")
		}
		if err := t.common(&v); err != nil {
			return nil, err
		}
		var err error
		if code, err = set(t, &v); err != nil {
			return nil, err
		}
		d.webSphere = name == "merc" && null && own.InverseFlattening == 0
		if d.webSphere {
			code = pseudoMercator
		}
	}
	if err := t.axes(d); err != nil {
		return nil, err
	}
	kind := d.kind
	if kind == Projected {
		d.kind = Geographic // build makes the system, and project its projection
	}
	axes := d.axes
	if kind == Projected {
		d.axes = nil
	}
	c, err := d.build(op)
	if err != nil {
		return nil, err
	}
	if datumCode != 0 {
		c.datum.code = datumCode // with another prime meridian too
	}
	if kind != Projected {
		return c, nil
	}
	if null {
		c.projection.E = own.math()
	}
	c.kind, d.kind, d.axes, c.axes = Projected, Projected, axes, ""
	if err := d.setAxes(c); err != nil {
		return nil, unsupported(err.Error())
	}
	if err := c.check(op); err != nil {
		return nil, err
	}
	c.conversion = conversion{code, v}
	c.projection, err = project(op, c.name, code, c.projection.E, v)
	return c, err
}

// initial is a system of a table: +init=epsg:4326.
func (t *projText) initial(op string) (*CRS, error) {
	for _, key := range t.keys {
		if !slices.Contains([]string{"init", "type", "no_defs", "wktext", "towgs84"}, key) {
			return nil, unsupported("+init with +" + key + " is not supported")
		}
	}
	authority, number, _ := strings.Cut(t.values["init"], ":")
	code, err := strconv.Atoi(number)
	if !strings.EqualFold(authority, "epsg") || err != nil {
		return nil, unsupported("+init=" + t.values["init"] + " is not supported; the table is that of EPSG")
	}
	c, err := EPSG(code)
	if err != nil {
		return nil, err
	}
	if strings.HasPrefix(c.axes, "NE") { // longitude first, also with AuthorityOrder
		c.axes = "EN" + c.axes[2:]
	}
	c.toWGS84, err = t.shift()
	return c, err
}

// shift reads the shift to WGS 84, which may be missing.
func (t *projText) shift() ([]float64, error) {
	text, ok := t.values["towgs84"]
	if !ok {
		return nil, nil
	}
	p := make([]float64, 7)
	fields := strings.Split(text, ",")
	if len(fields) != 3 && len(fields) != 7 {
		return nil, fmt.Errorf("+towgs84 has %d numbers, not 3 or 7", len(fields))
	}
	for i, field := range fields {
		f, err := strconv.ParseFloat(field, 64)
		if err != nil || !(math.Abs(f) < 1e7) {
			return nil, fmt.Errorf("+towgs84=%s: %q is not a number of meters, seconds of arc or millionths", text, field)
		}
		p[i] = f
	}
	p[6] *= 1e-6
	return p, nil
}

// common sets the parameters of most projections.
func (t *projText) common(v *values) error {
	if err := firstError(t.angle(v, "lat_0", lat0, 0), t.angle(v, "lon_0", lon0, 0)); err != nil {
		return err
	}
	k := "k_0"
	if !t.has(k) {
		k = "k"
	}
	for _, p := range []struct {
		key       string
		role      role
		otherwise float64
	}{{"x_0", easting, 0}, {"y_0", northing, 0}, {k, scale, 1}} {
		f, err := t.number(p.key, p.otherwise)
		if err != nil {
			return err
		}
		v.set(p.role, f)
	}
	return nil
}

// datum reads datum, ellipsoid, prime meridian and the shift to WGS 84.
func (t *projText) datum(d *definition) error {
	table := epsg.Load()
	if text, ok := t.values["datum"]; ok {
		code, ok := projDatums[text]
		if !ok {
			return fmt.Errorf("the datum %q is not known", text)
		}
		known := datumOf(table, code)
		d.datumCode, d.datum, d.ellipsoid = code, known.name, known.ellipsoid
	} else {
		e, name, err := t.ellipsoid()
		if err != nil {
			return err
		}
		d.ellipsoid, d.datum = e, "unknown, of the ellipsoid "+name
		if name == "" {
			d.datumCode, d.datum = wgs84, datumOf(table, wgs84).name
		}
	}
	if text, ok := t.values["pm"]; ok {
		if known, ok := projMeridians[text]; ok {
			text = known
		}
		var err error
		if d.meridian, err = parseAngle(text); err != nil {
			return fmt.Errorf("+pm=%s: %w", t.values["pm"], err)
		}
	}
	if text, ok := t.values["nadgrids"]; ok && text != "@null" {
		return unsupported("+nadgrids=" + text + " is not supported; use SourceGrid or TargetGrid")
	}
	var err error
	if d.toWGS84, err = t.shift(); d.toWGS84 != nil && d.datumCode == 0 {
		d.datum += " with +towgs84=" + t.values["towgs84"]
	}
	return err
}

// ellipsoid returns the ellipsoid, and what the text says of it; nothing if it has none.
func (t *projText) ellipsoid() (Ellipsoid, string, error) {
	if r, ok := t.values["R"]; ok {
		f, err := t.number("R", 0)
		return Ellipsoid{f, 0}, "R=" + r, err
	}
	name, given := t.values["ellps"]
	known, ok := projEllipsoids[name]
	if given && !ok {
		return Ellipsoid{}, "", fmt.Errorf("the ellipsoid %q is not known", name)
	}
	a, inverse := known[0], known[1]
	if inverse < 0 {
		inverse = a / (a + inverse)
	}
	if !given {
		a, inverse = 6378137, 298.257223563
	}
	a, err := t.number("a", a)
	if err != nil {
		return Ellipsoid{}, "", err
	}
	shaped := false
	for _, key := range []string{"rf", "f", "es", "e", "b"} { // the first one counts
		if !t.has(key) {
			continue
		}
		x, err := t.number(key, 0)
		if err != nil {
			return Ellipsoid{}, "", err
		}
		flattening := 0.0
		switch key {
		case "rf":
			if !(x > 1) {
				return Ellipsoid{}, "", fmt.Errorf("the inverse flattening is %g", x)
			}
			flattening = 1 / x
		case "f":
			flattening = x
		case "e":
			x *= x
			fallthrough
		case "es":
			flattening = 1 - math.Sqrt(1-x)
		case "b":
			if !(x > 0) {
				return Ellipsoid{}, "", fmt.Errorf("the semi-minor axis is %g", x)
			}
			flattening = (a - x) / a
		}
		if !(flattening >= 0 && flattening < 1) {
			return Ellipsoid{}, "", fmt.Errorf("+%s=%g does not make an oblate ellipsoid", key, x)
		}
		inverse = 0
		if flattening > 0 {
			inverse = 1 / flattening
		}
		name += " " + key + "=" + t.values[key]
		shaped = true
		break
	}
	if t.has("a") {
		name += " a=" + t.values["a"]
		if !given && !shaped {
			inverse = 0
		}
	} else if !given && shaped {
		return Ellipsoid{}, "", fmt.Errorf("the ellipsoid has no semi-major axis; use +a")
	}
	return t.sphere(Ellipsoid{a, inverse}, strings.TrimSpace(name))
}

// sphere replaces an ellipsoid by a sphere that has something in common with it, if a text says so.
func (t *projText) sphere(e Ellipsoid, name string) (Ellipsoid, string, error) {
	m := e.math()
	b := e.SemiMajorAxis * math.Sqrt(1-m.E2)
	at := func(key string) (float64, error) {
		lat, err := parseAngle(t.values[key])
		if err != nil {
			return 0, fmt.Errorf("+%s=%s: %w", key, t.values[key], err)
		}
		if math.Abs(lat) > 90 {
			return 0, fmt.Errorf("+%s is the latitude %g", key, lat)
		}
		s := math.Sin(lat * degree)
		return 1 - m.E2*s*s, nil
	}
	for key, radius := range map[string]func() (float64, error){
		"R_A": func() (float64, error) { return m.Authalic().A, nil },
		"R_V": func() (float64, error) { return math.Cbrt(m.A * m.A * b), nil },
		"R_a": func() (float64, error) { return (m.A + b) / 2, nil },
		"R_g": func() (float64, error) { return math.Sqrt(m.A * b), nil },
		"R_h": func() (float64, error) { return 2 * m.A * b / (m.A + b), nil },
		"R_lat_a": func() (float64, error) {
			w, err := at("R_lat_a")
			return m.A * (1 - m.E2 + w) / (2 * w * math.Sqrt(w)), err
		},
		"R_lat_g": func() (float64, error) {
			w, err := at("R_lat_g")
			return m.A * math.Sqrt(1-m.E2) / w, err
		},
	} {
		if t.has(key) {
			r, err := radius()
			return Ellipsoid{r, 0}, name + " " + key + "=" + t.values[key], err
		}
	}
	return e, name, nil
}

// axes reads units and directions.
func (t *projText) axes(d *definition) error {
	unit, _, err := t.unit("units", "to_meter")
	if err != nil {
		return err
	}
	height, hasHeight, err := t.unit("vunits", "vto_meter")
	if err != nil {
		return err
	}
	if d.kind == Geocentric {
		if t.has("axis") && t.values["axis"] != "enu" {
			return unsupported("+axis of +proj=geocent is not supported")
		}
		for _, direction := range []string{"X", "Y", "Z"} {
			d.axes = append(d.axes, axis{direction, direction, unit})
		}
		return nil
	}
	if d.kind == Geographic {
		if unit != 1 {
			return unsupported("units of longitude and latitude other than degrees are not supported")
		}
		unit = degree
	}
	directions := "enu"
	if text, ok := t.values["axis"]; ok {
		directions = text
	}
	if len(directions) != 3 || !strings.ContainsAny(directions[2:], "ud") {
		return unsupported("+axis=" + directions + " is not supported: the third letter must be u or d")
	}
	names := map[byte]string{'e': "east", 'w': "west", 'n': "north", 's': "south", 'u': "up", 'd': "down"}
	for i := range 3 {
		u := unit
		if i == 2 {
			u = height
			if !hasHeight && directions[2] == 'u' {
				break
			}
		}
		name, ok := names[directions[i]]
		if !ok {
			return fmt.Errorf("+axis=%s has the letter %q; e, w, n, s, u and d are directions", directions, directions[i])
		}
		d.axes = append(d.axes, axis{"", name, u})
	}
	return nil
}

// unit returns a length in meters, given by a name or a factor, and whether the text has one.
func (t *projText) unit(name, factor string) (float64, bool, error) {
	if text, ok := t.values[name]; ok {
		u, ok := projUnits[text]
		if !ok {
			return 0, false, fmt.Errorf("the unit %q is not known", text)
		}
		return u, true, nil
	}
	text, ok := t.values[factor]
	if !ok {
		return 1, false, nil
	}
	numerator, denominator, ratio := strings.Cut(text, "/")
	u, err := strconv.ParseFloat(numerator, 64)
	if ratio && err == nil {
		var by float64
		by, err = strconv.ParseFloat(denominator, 64)
		u /= by
	}
	if err != nil || !(u > 0) || math.IsInf(u, 0) {
		return 0, false, fmt.Errorf("+%s=%s is not a positive number", factor, text)
	}
	return u, true, nil
}
