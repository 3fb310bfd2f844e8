package client

import (
	"cmp"
	"context"
	"encoding/xml"
	"fmt"
	"math"
	"net/http"
	"net/url"
	"slices"
	"strconv"
	"strings"

	"quern.dev/geo/crs"
)

// WMS is what to read of a Web Map Service.
type WMS struct {
	URL     string   // of GetMap, with parameters of the server's own if it has any
	Version string   // 1.3.0 by default, or 1.1.1
	Layers  []string // from the bottom to the top
	Styles  []string // one per layer, or none
	EPSG    int      // coordinate system
	// Extent is the area: minimum x and y, maximum x and y; x is to the east.
	Extent [4]float64
	// PixelSize is the size of a pixel in units of the system.
	PixelSize float64
	Time      string
	Format    string // image/png by default
	TileSize  int    // width and height of what is requested at a time: 512 by default
}

// OpenWMS makes an image of a map. It makes no request.
func OpenWMS(ctx context.Context, m WMS, o Options) (*Source, error) {
	c, err := system(m.EPSG)
	if err != nil {
		return nil, err
	}
	if m.Version == "" {
		m.Version = "1.3.0"
	}
	if m.Format == "" {
		m.Format = "image/png"
	}
	if m.TileSize == 0 {
		m.TileSize = 512
	}
	base, err := url.Parse(m.URL)
	switch e := m.Extent; {
	case err != nil || base.Scheme != "http" && base.Scheme != "https":
		return nil, failf(ErrArgument, "the address %q does not begin with http:// or https://", m.URL)
	case m.Version != "1.3.0" && m.Version != "1.1.1":
		return nil, failf(ErrArgument, "version %q is not known; 1.3.0 and 1.1.1 are known", m.Version)
	case len(m.Layers) == 0:
		return nil, failf(ErrArgument, "a layer is required")
	case len(m.Styles) != 0 && len(m.Styles) != len(m.Layers):
		return nil, failf(ErrArgument, "%d styles for %d layers", len(m.Styles), len(m.Layers))
	case !(e[0] < e[2] && e[1] < e[3]) || math.IsInf(e[2]-e[0], 0) || math.IsInf(e[3]-e[1], 0):
		return nil, failf(ErrArgument, "extent %v: the minimum must be less than the maximum", e)
	case !(m.PixelSize > 0) || m.TileSize < 16 || m.TileSize > 8192 || m.TileSize%16 != 0:
		return nil, failf(ErrArgument, "pixels of %v and tiles of %d are not possible; tiles have a multiple of 16 pixels up to 8192", m.PixelSize, m.TileSize)
	case (e[2]-e[0])/m.PixelSize > 1e9 || (e[3]-e[1])/m.PixelSize > 1e9:
		return nil, failf(ErrArgument, "the extent %v cannot be divided into pixels of %v", e, m.PixelSize)
	}
	g := &grid{epsg: m.EPSG, geographic: c.Kind() == crs.Geographic, x: m.Extent[0], y: m.Extent[3], tile: m.TileSize}
	swap := m.Version == "1.3.0" && northFirst(c)
	width, height := int(math.Ceil((m.Extent[2]-m.Extent[0])/m.PixelSize-1e-9)), int(math.Ceil((m.Extent[3]-m.Extent[1])/m.PixelSize-1e-9))
	for pixel := m.PixelSize; ; pixel *= 2 {
		size := pixel
		g.levels = append(g.levels, level{width, height, pixel, func(column, row int) string {
			span := size * float64(m.TileSize)
			x, y := m.Extent[0]+span*float64(column), m.Extent[3]-span*float64(row)
			return m.address(*base, [4]float64{x, y - span, x + span, y}, swap)
		}})
		if width <= m.TileSize && height <= m.TileSize {
			return open(ctx, g, o)
		}
		width, height = (width+1)/2, (height+1)/2
	}
}

// address returns the request for an extent.
func (m *WMS) address(base url.URL, e [4]float64, swap bool) string {
	q := base.Query()
	if swap {
		e = [4]float64{e[1], e[0], e[3], e[2]}
	}
	var box []string
	for _, v := range e {
		box = append(box, strconv.FormatFloat(v, 'f', -1, 64))
	}
	key := "CRS"
	if m.Version != "1.3.0" {
		key = "SRS"
	}
	for name, value := range map[string]string{"SERVICE": "WMS", "REQUEST": "GetMap", "VERSION": m.Version, "LAYERS": strings.Join(m.Layers, ","), "STYLES": strings.Join(m.Styles, ","),
		key: fmt.Sprintf("EPSG:%d", m.EPSG), "BBOX": strings.Join(box, ","), "WIDTH": strconv.Itoa(m.TileSize), "HEIGHT": strconv.Itoa(m.TileSize), "FORMAT": m.Format, "TRANSPARENT": "TRUE"} {
		q.Set(name, value)
	}
	if m.Time != "" {
		q.Set("TIME", m.Time)
	}
	base.RawQuery = q.Encode()
	return base.String()
}

func system(code int) (*crs.CRS, error) {
	if code < 1 || code > math.MaxUint16 {
		return nil, failf(ErrArgument, "EPSG:%d is not a code that files can name", code)
	}
	return crs.EPSG(code)
}

func northFirst(c *crs.CRS) bool {
	axes := c.Axes()
	return axes[0].Direction == "north" && axes[1].Direction == "east"
}

// XYZ is what to read of tiles in Web Mercator.
type XYZ struct {
	URL string // with {z}, {x} and {y}, or {-y} for rows from the south
	// Extent is the area in meters of EPSG:3857: minimum x and y, maximum x and y. It is extended to whole tiles.
	Extent [4]float64
	// MinZoom and MaxZoom are the levels to use; MaxZoom has the resolution of the image.
	MinZoom, MaxZoom int
	TileSize         int // 256 by default
}

const worldHalf = math.Pi * 6378137

// OpenXYZ makes an image of tiles. It makes no request.
func OpenXYZ(ctx context.Context, t XYZ, o Options) (*Source, error) {
	if t.TileSize == 0 {
		t.TileSize = 256
	}
	switch {
	case !strings.HasPrefix(t.URL, "http://") && !strings.HasPrefix(t.URL, "https://"):
		return nil, failf(ErrArgument, "the address %q does not begin with http:// or https://", t.URL)
	case !strings.Contains(t.URL, "{z}") || !strings.Contains(t.URL, "{x}") || !strings.Contains(t.URL, "{y}") && !strings.Contains(t.URL, "{-y}"):
		return nil, failf(ErrArgument, "the address %q has no {z}, {x} and {y}", t.URL)
	case t.MinZoom < 0 || t.MinZoom > t.MaxZoom || t.MaxZoom > 30:
		return nil, failf(ErrArgument, "levels %d to %d are not possible; they are 0 to 30", t.MinZoom, t.MaxZoom)
	case t.TileSize < 16 || t.TileSize > 4096 || t.TileSize%16 != 0:
		return nil, failf(ErrArgument, "tiles of %d pixels are not possible; they have a multiple of 16 up to 4096", t.TileSize)
	}
	p := pyramid{epsg: 3857, left: -worldHalf, top: worldHalf, tile: t.TileSize}
	for z := t.MinZoom; z <= t.MaxZoom; z++ {
		n := 1 << z
		p.matrices = append(p.matrices, tileMatrix{2 * worldHalf / float64(n) / float64(t.TileSize), n, n, func(column, row int) string {
			return strings.NewReplacer("{z}", strconv.Itoa(z), "{x}", strconv.Itoa(column), "{y}", strconv.Itoa(row), "{-y}", strconv.Itoa(n-1-row)).Replace(t.URL)
		}})
	}
	return p.open(ctx, t.Extent, o)
}

// pyramid is a set of tile matrices with a common corner, each with half the pixel size of the one before.
type pyramid struct {
	epsg       int
	geographic bool
	left, top  float64
	tile       int
	matrices   []tileMatrix // the coarsest first
}

type tileMatrix struct {
	pixel         float64
	width, height int
	url           func(column, row int) string
}

// open makes a source of the tiles that an extent meets. The corner is that of a tile of every level that is used.
func (p *pyramid) open(ctx context.Context, e [4]float64, o Options) (*Source, error) {
	if !(e[0] < e[2] && e[1] < e[3]) {
		return nil, failf(ErrArgument, "extent %v: the minimum must be less than the maximum", e)
	}
	last := len(p.matrices) - 1
	finest := &p.matrices[last]
	span := finest.pixel * float64(p.tile)
	clip := func(v float64, n int) int { return int(min(max(v, 0), float64(n))) }
	x0, x1 := clip(math.Floor((e[0]-p.left)/span+1e-9), finest.width), clip(math.Ceil((e[2]-p.left)/span-1e-9), finest.width)
	y0, y1 := clip(math.Floor((p.top-e[3])/span+1e-9), finest.height), clip(math.Ceil((p.top-e[1])/span-1e-9), finest.height)
	if x0 >= x1 || y0 >= y1 {
		return nil, failf(ErrArgument, "extent %v meets no tile", e)
	}
	// Coarser levels as long as the image grows by less than half of its size.
	count := 0
	for count < last && 2<<count <= max(x1-x0, y1-y0)/2 && halves(p.matrices[last-count-1].pixel, p.matrices[last-count].pixel) {
		count++
	}
	unit := 1 << count
	x0, y0 = x0/unit*unit, y0/unit*unit
	x1, y1 = (x1+unit-1)/unit*unit, (y1+unit-1)/unit*unit
	g := &grid{epsg: p.epsg, geographic: p.geographic, x: p.left + float64(x0)*span, y: p.top - float64(y0)*span, tile: p.tile, absent: true}
	for k := 0; k <= count; k++ {
		m := p.matrices[last-k]
		column, row := x0>>k, y0>>k
		g.levels = append(g.levels, level{(x1 - x0) >> k * p.tile, (y1 - y0) >> k * p.tile, m.pixel, func(x, y int) string { return m.url(column+x, row+y) }})
	}
	return open(ctx, g, o)
}

func halves(large, small float64) bool { return math.Abs(large/small-2) < 1e-6 }

// WMTS is what to read of a Web Map Tile Service.
type WMTS struct {
	URL       string // of the capabilities
	Layer     string
	Style     string // the default one if empty
	MatrixSet string // the layer's first one if empty
	Time      string // the default if empty
	Format    string // image/png by default, if the layer has it
	// Extent is the area in the system of the matrix set: minimum x and y, maximum x and y. It is extended to whole
	// tiles.
	Extent [4]float64
	// PixelSize is the size of the largest pixels that are fine enough, in units of the system; 0 for the finest ones.
	PixelSize float64
}

// capabilities is what matters of the description of a WMTS.
type capabilities struct {
	Layers []tileLayer `xml:"Contents>Layer"`
	Sets   []tileSet   `xml:"Contents>TileMatrixSet"`
}

type tileLayer struct {
	Name   string `xml:"Identifier"`
	Styles []struct {
		Default bool   `xml:"isDefault,attr"`
		Name    string `xml:"Identifier"`
	} `xml:"Style"`
	Dimensions []struct {
		Name    string `xml:"Identifier"`
		Default string `xml:"Default"`
	} `xml:"Dimension"`
	Sets      []string `xml:"TileMatrixSetLink>TileMatrixSet"`
	Resources []struct {
		Kind     string `xml:"resourceType,attr"`
		Format   string `xml:"format,attr"`
		Template string `xml:"template,attr"`
	} `xml:"ResourceURL"`
}

type tileSet struct {
	Name     string      `xml:"Identifier"`
	System   string      `xml:"SupportedCRS"`
	Matrices []setMatrix `xml:"TileMatrix"`
}

type setMatrix struct {
	Name   string  `xml:"Identifier"`
	Scale  float64 `xml:"ScaleDenominator"`
	Corner string  `xml:"TopLeftCorner"`
	Tile   int     `xml:"TileWidth"`
	High   int     `xml:"TileHeight"`
	Width  int     `xml:"MatrixWidth"`
	Height int     `xml:"MatrixHeight"`
}

// corner returns the coordinates of the upper left corner.
func (m *setMatrix) corner(swap bool) (x, y float64, ok bool) {
	fields := strings.Fields(m.Corner)
	if len(fields) != 2 {
		return 0, 0, false
	}
	x, errX := strconv.ParseFloat(fields[0], 64)
	y, errY := strconv.ParseFloat(fields[1], 64)
	if swap {
		x, y = y, x
	}
	return x, y, errX == nil && errY == nil
}

// OpenWMTS makes an image of tiles. It requests the capabilities. The server must have resources (REST), as nearly all have.
func OpenWMTS(ctx context.Context, m WMTS, o Options) (*Source, error) {
	complete := o.complete()
	body, status, err := fetch(ctx, ctx, &complete, nil, m.URL)
	if err != nil {
		return nil, err
	}
	if e := exception(m.URL, status, body); e != nil {
		return nil, e
	}
	if status != http.StatusOK {
		return nil, &ServiceError{URL: m.URL, Status: status, Text: firstLine(body)}
	}
	var c capabilities
	if err := xml.Unmarshal(body, &c); err != nil {
		return nil, failf(ErrAnswer, "%s: the answer is not a document of capabilities: %v", m.URL, err)
	}
	p, err := c.pyramid(&m)
	if err != nil {
		return nil, err
	}
	return p.open(ctx, m.Extent, o)
}

// pyramid finds the tiles that a request means.
func (c *capabilities) pyramid(m *WMTS) (*pyramid, error) {
	at := slices.IndexFunc(c.Layers, func(l tileLayer) bool { return l.Name == m.Layer })
	if at < 0 {
		return nil, failf(ErrArgument, "%s: there is no layer %q", m.URL, m.Layer)
	}
	l := &c.Layers[at]
	template, err := l.template(m)
	if err != nil {
		return nil, err
	}
	name := m.MatrixSet
	if name == "" && len(l.Sets) > 0 {
		name = l.Sets[0]
	}
	at = slices.IndexFunc(c.Sets, func(s tileSet) bool { return s.Name == name })
	if at < 0 || !slices.Contains(l.Sets, name) {
		return nil, failf(ErrArgument, "%s: layer %s has no tile matrix set %q", m.URL, m.Layer, name)
	}
	return c.Sets[at].pyramid(m, strings.ReplaceAll(template, "{TileMatrixSet}", name))
}

// template returns the address of tiles with what does not depend on the tile filled in.
func (l *tileLayer) template(m *WMTS) (string, error) {
	style := m.Style
	for i, s := range l.Styles {
		if m.Style == "" && (s.Default || i == 0) {
			style = s.Name
		}
	}
	template := ""
	for _, r := range l.Resources {
		if r.Kind == "tile" && (template == "" && m.Format == "" || r.Format == m.Format || m.Format == "" && r.Format == "image/png") {
			template = r.Template
		}
	}
	if template == "" {
		return "", failf(ErrArgument, "%s: layer %s has no resources of tiles in the format %q", m.URL, l.Name, m.Format)
	}
	template = strings.NewReplacer("{Style}", url.PathEscape(style), "{style}", url.PathEscape(style), "{layer}", url.PathEscape(l.Name), "{Layer}", url.PathEscape(l.Name)).Replace(template)
	for _, d := range l.Dimensions {
		value := d.Default
		if strings.EqualFold(d.Name, "time") && m.Time != "" {
			value = m.Time
		}
		template = strings.ReplaceAll(template, "{"+d.Name+"}", url.PathEscape(value))
	}
	return template, nil
}

// pixelSize is the size of a pixel of a rendering in meters: WMTS 1.0.0, section 6.1.
const pixelSize = 0.00028

// pyramid returns the levels of a set that are useful and have the same corner and tiles as the finest one.
func (s *tileSet) pyramid(m *WMTS, template string) (*pyramid, error) {
	digits := s.System[strings.LastIndexAny(s.System, ":/")+1:]
	if strings.HasSuffix(s.System, "CRS84") {
		digits = "4326"
	}
	code, err := strconv.Atoi(digits)
	if err != nil {
		return nil, failf(ErrArgument, "tile matrix set %s: the system %q has no EPSG code", s.Name, s.System)
	}
	c, err := system(code)
	if err != nil {
		return nil, err
	}
	unit := c.Axes()[0].Unit
	if c.Kind() == crs.Geographic {
		unit = 2 * worldHalf / 360
	}
	swap := northFirst(c) && !strings.HasSuffix(s.System, "CRS84")
	sorted := slices.Clone(s.Matrices)
	slices.SortFunc(sorted, func(a, b setMatrix) int { return cmp.Compare(b.Scale, a.Scale) })
	p := &pyramid{epsg: code, geographic: c.Kind() == crs.Geographic}
	for i := range sorted {
		k := &sorted[i]
		pixel := k.Scale * pixelSize / unit
		x, y, ok := k.corner(swap)
		if !ok || !(pixel > 0) || k.Width < 1 || k.Height < 1 || k.Tile != k.High || k.Tile < 16 || k.Tile > 4096 || k.Tile%16 != 0 {
			return nil, failf(ErrAnswer, "tile matrix %s of %s is not one of square tiles", k.Name, s.Name)
		}
		// Coarser levels with another corner or other tiles are left out.
		near := math.Abs(x-p.left) < pixel/100 && math.Abs(y-p.top) < pixel/100
		if len(p.matrices) > 0 && !(near && k.Tile == p.tile) {
			p.matrices = nil
		}
		if len(p.matrices) > 0 && m.PixelSize > 0 && p.matrices[len(p.matrices)-1].pixel <= m.PixelSize*(1+1e-9) {
			break
		}
		p.left, p.top, p.tile = x, y, k.Tile
		name := url.PathEscape(k.Name)
		p.matrices = append(p.matrices, tileMatrix{pixel, k.Width, k.Height, func(column, row int) string {
			return strings.NewReplacer("{TileMatrix}", name, "{TileRow}", strconv.Itoa(row), "{TileCol}", strconv.Itoa(column)).Replace(template)
		}})
	}
	if len(p.matrices) == 0 {
		return nil, failf(ErrAnswer, "tile matrix set %s has no tile matrix", s.Name)
	}
	return p, nil
}
