package wms

import (
	"fmt"
	"math"
	"strconv"
	"strings"

	"quern.dev/geo/crs"
	"quern.dev/geo/wms/internal/render"
)

// system is a coordinate system that maps are served in.
type system struct {
	name       string // such as "EPSG:3857"
	crs        *crs.CRS
	northFirst bool    // the authority has the northing, or latitude, before the easting
	unit       float64 // meters of a unit of the axes; for degrees, those at the equator
}

// meterPerDegree is that of WMTS 1.0.0 and WMS 1.3.0, at the equator of WGS 84.
const meterPerDegree = 2 * math.Pi * 6378137 / 360

func newSystem(code int) (*system, error) {
	c, err := crs.EPSG(code)
	if err != nil {
		return nil, err
	}
	if c.Kind() == crs.Geocentric {
		return nil, failf(ErrConfig, "EPSG:%d: geocentric coordinates are not those of a map", code)
	}
	s := &system{name: fmt.Sprintf("EPSG:%d", code), crs: c}
	axes := c.Axes()
	s.northFirst = axes[0].Direction == "north" && axes[1].Direction == "east"
	s.unit = axes[0].Unit
	if c.Kind() == crs.Geographic {
		s.unit = axes[0].Unit * 180 / math.Pi * meterPerDegree
	}
	return s, nil
}

// aliases are other names of systems.
var aliases = map[string]string{"EPSG:900913": "EPSG:3857", "EPSG:102100": "EPSG:3857", "EPSG:3785": "EPSG:3857", "OSGEO:41001": "EPSG:3857"}

// find returns the system of a name such as EPSG:3857, CRS:84 or urn:ogc:def:crs:EPSG::3857, and whether coordinates in
// the authority's order have the northing first.
func find(systems []*system, name string) (s *system, northFirst bool) {
	upper := strings.ToUpper(strings.TrimSpace(name))
	if rest, ok := strings.CutPrefix(upper, "URN:OGC:DEF:CRS:"); ok {
		if authority, code, ok := strings.Cut(rest, ":"); ok {
			upper = authority + code[strings.LastIndex(code, ":"):]
			if strings.LastIndex(code, ":") < 0 {
				upper = authority + ":" + code
			}
			upper = strings.Replace(upper, "OGC:CRS84", "CRS:84", 1)
		}
	}
	if a, ok := aliases[upper]; ok {
		upper = a
	}
	want, lonLat := upper, upper == "CRS:84" || upper == "OGC:CRS84"
	if lonLat {
		want = "EPSG:4326"
	}
	for _, s := range systems {
		if s.name == want {
			return s, s.northFirst && !lonLat
		}
	}
	return nil, false
}

// extentIn returns the extent of degrees in a system; it is false if there is none.
func extentIn(bounds [4]float64, s *system) (render.Extent, bool) {
	inf := math.Inf(1)
	e := render.Extent{MinX: inf, MinY: inf, MaxX: -inf, MaxY: -inf}
	if s.crs.Code() == 4326 {
		return render.Extent{MinX: bounds[0], MinY: bounds[1], MaxX: bounds[2], MaxY: bounds[3]}, true
	}
	geographic, err := crs.EPSG(4326)
	if err != nil {
		return e, false
	}
	t, err := crs.NewTransform(geographic, s.crs)
	if err != nil {
		return e, false
	}
	const steps = 20
	for j := range steps + 1 {
		for i := range steps + 1 {
			lon := bounds[0] + (bounds[2]-bounds[0])*float64(i)/steps
			lat := bounds[1] + (bounds[3]-bounds[1])*float64(j)/steps
			if s.crs.Code() == 3857 {
				lat = min(max(lat, -mercatorLatitude), mercatorLatitude)
			}
			x, y, err := t.Forward(lon, lat)
			if err != nil {
				continue
			}
			e = render.Extent{MinX: min(e.MinX, x), MinY: min(e.MinY, y), MaxX: max(e.MaxX, x), MaxY: max(e.MaxY, y)}
		}
	}
	return e, e.MinX < e.MaxX && e.MinY < e.MaxY
}

// mercatorLatitude is where the square of Web Mercator ends.
const mercatorLatitude = 85.0511287798066

// number formats a coordinate.
func number(v float64) string { return strconv.FormatFloat(v, 'f', -1, 64) }
