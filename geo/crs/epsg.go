package crs

import (
	"math"
	"slices"
	"strconv"
	"strings"

	"quern.dev/geo/crs/internal/epsg"
	"quern.dev/geo/internal/projection"
)

// EPSG returns the system with a code. A code of two systems, horizontal and vertical, has heights
// above the vertical one's surface. 900913 is taken as 3857.
func EPSG(code int) (*CRS, error) {
	const op = "EPSG"
	if code == 900913 {
		code = 3857
	}
	t, name := epsg.Load(), "EPSG:"+strconv.Itoa(code)
	if r, ok := t.Row("geodetic", code); ok {
		return geodetic(op, t, r)
	}
	if r, ok := t.Row("projected", code); ok {
		return projected(op, name, t, r)
	}
	if r, ok := t.Row("compound", code); ok {
		c, err := DescribeEPSG(r.Int(0))
		if err != nil {
			return nil, err
		}
		v, ok := t.Row("vertical", r.Int(1))
		if !ok {
			return nil, failure(ErrUnknown, op, name, "its vertical system, %d, is not in the table", r.Int(1))
		}
		c.code, c.name = code, r.Text(2)
		c.vertical = vertical{v.Int(0), v.Text(3)}
		c.heightUnit = unit(t, v.Int(2))
		c.axes = c.axes[:2] + v.Text(1)
		if c.foreign != nil {
			return nil, of(c.foreign, c)
		}
		return c, c.check(op)
	}
	if r, ok := t.Row("vertical", code); ok {
		return nil, failure(ErrUnsupported, op, name, "%s is a vertical system; name the horizontal one too", r.Text(3))
	}
	return nil, failure(ErrUnknown, op, name, "the code is not in the table of EPSG's geodetic, projected and compound systems")
}

// Codes returns the codes of all geographic, geocentric, projected and compound systems of the table, in
// order. Systems with other projections than those of this package are among them.
func Codes() []int {
	t := epsg.Load()
	codes := slices.Concat(t.Codes("geodetic"), t.Codes("projected"), t.Codes("compound"))
	slices.Sort(codes)
	return codes
}

// unit returns a unit in radians or meters, or 0.
func unit(t *epsg.Table, code int) float64 {
	if code == 9102 || code == 9122 || code == 9108 || code == 9107 || code == 9110 {
		return degree // sexagesimal notations are written as decimals
	}
	r, ok := t.Row("unit", code)
	if !ok {
		return 0
	}
	return r.Number(1)
}

func datumOf(t *epsg.Table, code int) datum {
	r, _ := t.Row("datum", code)
	e, _ := t.Row("ellipsoid", r.Int(0))
	return datum{code, r.Text(2), Ellipsoid{e.Number(0), e.Number(1)}, r.Number(1)}
}

func extents(text string) []Extent {
	var all []Extent
	for part := range strings.FieldsSeq(text) {
		var e Extent
		for i, field := range strings.Split(part, ",") {
			f, _ := strconv.ParseFloat(field, 64)
			*[]*float64{&e.West, &e.South, &e.East, &e.North}[i&3] = f
		}
		all = append(all, e)
	}
	return all
}

func geodetic(op string, t *epsg.Table, r epsg.Row) (*CRS, error) {
	c := &CRS{name: r.Text(4), code: r.Code, datum: datumOf(t, r.Int(0)), axes: r.Text(1), unit: unit(t, r.Int(2)), heightUnit: 1,
		extents: extents(r.Text(3))}
	if strings.HasPrefix(c.axes, "X") {
		c.kind = Geocentric
		c.heightUnit = c.unit
		c.projection.Method = projection.Geocentric
	}
	c.projection.E = c.datum.ellipsoid.math()
	return c, c.check(op)
}

func projected(op, name string, t *epsg.Table, r epsg.Row) (*CRS, error) {
	b, ok := t.Row("geodetic", r.Int(0))
	if !ok {
		return nil, failure(ErrUnknown, op, name, "its geographic system, %d, is not in the table", r.Int(0))
	}
	c := &CRS{name: r.Text(5), code: r.Code, kind: Projected, datum: datumOf(t, b.Int(0)), axes: r.Text(2), unit: unit(t, r.Int(3)), heightUnit: 1,
		extents: extents(r.Text(4))}
	if err := c.check(op); err != nil {
		return nil, err
	}
	c.conversion = conversion{r.Int(1), parametersOf(r)}
	var err error
	c.projection, err = project(op, name, r.Int(1), c.datum.ellipsoid.math(), parametersOf(r))
	return c, of(err, c)
}

// parametersOf returns the parameters of a projected system.
func parametersOf(r epsg.Row) (v values) {
	for i := 6; i < r.Len(); i++ {
		key, value, _ := strings.Cut(r.Text(i), "=")
		code, _ := strconv.Atoi(key)
		x, err := strconv.ParseFloat(value, 64)
		which, ok := parameterRoles[code]
		if !ok || err != nil {
			continue // the method is not one of those below
		}
		if code == 8801 && r.Int(1) == 1102 {
			which = parallel1
		}
		v.set(which, x)
	}
	return v
}

// overlap returns the share of an area that is in any of the extents; extents of an object may overlap, and the
// greatest share counts.
func overlap(area Extent, extents []Extent) float64 {
	best := 0.0
	for _, e := range extents {
		height := min(area.North, e.North) - max(area.South, e.South)
		if height < 0 || height == 0 && area.North > area.South {
			continue
		}
		width, total := 0.0, span(area)
		for _, turn := range []float64{-360, 0, 360} {
			width += max(0, min(area.West+total, e.West+turn+span(e))-max(area.West, e.West+turn))
		}
		share := 1.0
		if total > 0 {
			share *= min(width/total, 1)
		} else if !inside(area.West, e) {
			share = 0
		}
		if area.North > area.South {
			share *= height / (area.North - area.South)
		}
		best = max(best, share)
	}
	return best
}

// span is the width of an extent in degrees.
func span(e Extent) float64 {
	if e.East < e.West {
		return e.East - e.West + 360
	}
	return e.East - e.West
}

func inside(lon float64, e Extent) bool {
	d := math.Mod(lon-e.West, 360)
	if d < 0 {
		d += 360
	}
	return d <= span(e)
}
