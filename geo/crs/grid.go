package crs

import (
	"encoding/binary"
	"fmt"
	"io"
	"math"
	"slices"
	"strings"

	"quern.dev/geo/internal/projection"
)

// Grid is a grid of datum shifts or geoid heights. It does not change.
type Grid struct {
	format   string
	from, to string // the datums as the file names them
	subgrids []projection.Subgrid
	nodes    []float32
}

// maxGrid bounds the size of a grid file.
const maxGrid = 1 << 30

// Horizontal reports whether the grid shifts longitudes and latitudes, not heights.
func (g *Grid) Horizontal() bool { return g.subgrids[0].Components == 2 }

// Extents returns the areas of the subgrids.
func (g *Grid) Extents() []Extent {
	var all []Extent
	for _, s := range g.subgrids {
		all = append(all, Extent{s.West / degree, s.South / degree, (s.West + float64(float64(s.Columns-1)*s.DX)) / degree,
			(s.South + float64(float64(s.Rows-1)*s.DY)) / degree})
	}
	return all
}

// String returns the format and the systems that the file names.
func (g *Grid) String() string {
	if g.from == "" {
		return g.format
	}
	return fmt.Sprintf("%s from %s to %s", g.format, g.from, g.to)
}

// ReadGrid reads a grid in the format NTv2, of shifts of longitude and latitude, or GTX, of heights.
func ReadGrid(r io.Reader) (*Grid, error) {
	b, err := io.ReadAll(io.LimitReader(r, maxGrid+1))
	if err != nil {
		return nil, fmt.Errorf("crs: read grid: %w", err)
	}
	if len(b) > maxGrid {
		return nil, failure(ErrUnsupported, "read grid", "", "the file is larger than %d bytes", maxGrid)
	}
	var g *Grid
	if strings.HasPrefix(string(b), "NUM_OREC") {
		g, err = readNTv2(b)
	} else {
		g, err = readGTX(b)
	}
	if err != nil {
		return nil, &Error{Op: "read grid", Reason: err.Error(), Kind: ErrFormat}
	}
	return g, nil
}

// records are those of an NTv2 file: a name of 8 bytes and a value of 8.
type records struct {
	b     []byte
	order binary.ByteOrder
}

func (r *records) next(name string) ([]byte, error) {
	if len(r.b) < 16 {
		return nil, fmt.Errorf("the file ends before %s", name)
	}
	if got := strings.TrimRight(string(r.b[:8]), " \x00"); got != name {
		return nil, fmt.Errorf("a record is named %q, not %s", got, name)
	}
	v := r.b[8:16]
	r.b = r.b[16:]
	return v, nil
}

func (r *records) text(name string, err *error) string {
	v, e := r.next(name)
	if *err == nil {
		*err = e
	}
	return strings.TrimRight(string(v), " \x00")
}

func (r *records) number(name string, err *error) float64 {
	v, e := r.next(name)
	if *err == nil {
		*err = e
	}
	if v == nil {
		return 0
	}
	return math.Float64frombits(r.order.Uint64(v))
}

func (r *records) integer(name string, err *error) int {
	v, e := r.next(name)
	if *err == nil {
		*err = e
	}
	if v == nil {
		return 0
	}
	return int(int32(r.order.Uint32(v)))
}

const arcsecond = math.Pi / 180 / 3600

// readNTv2 reads a file of the National Transformation, version 2, of Geodetic Survey Canada. Longitudes
// are positive to the west in it, and rows begin in the east.
func readNTv2(b []byte) (*Grid, error) {
	r := &records{b, binary.LittleEndian}
	if len(b) > 12 && binary.BigEndian.Uint32(b[8:]) == 11 {
		r.order = binary.BigEndian
	}
	var err error
	if n := r.integer("NUM_OREC", &err); err == nil && n != 11 {
		return nil, fmt.Errorf("the header has %d records, not 11", n)
	}
	r.integer("NUM_SREC", &err)
	count := r.integer("NUM_FILE", &err)
	kind := r.text("GS_TYPE", &err)
	r.text("VERSION", &err)
	g := &Grid{format: "NTv2"}
	g.from, g.to = r.text("SYSTEM_F", &err), r.text("SYSTEM_T", &err)
	for _, name := range []string{"MAJOR_F", "MINOR_F", "MAJOR_T", "MINOR_T"} {
		r.number(name, &err)
	}
	unit, ok := map[string]float64{"SECONDS": arcsecond, "MINUTES": 60 * arcsecond, "DEGREES": 3600 * arcsecond}[kind]
	switch {
	case err != nil:
		return nil, err
	case !ok:
		return nil, fmt.Errorf("the unit of shifts is %q", kind)
	case count < 1 || count > len(b)/176:
		return nil, fmt.Errorf("%d subgrids", count)
	}
	depths := map[string]int{"NONE": 0}
	depth := make([]int, count)
	for i := range count {
		name, parent := r.text("SUB_NAME", &err), r.text("PARENT", &err)
		r.text("CREATED", &err)
		r.text("UPDATED", &err)
		var v [6]float64 // south, north, east, west, spacing of latitude and longitude
		for k, field := range []string{"S_LAT", "N_LAT", "E_LONG", "W_LONG", "LAT_INC", "LONG_INC"} {
			v[k] = r.number(field, &err)
		}
		nodes := r.integer("GS_COUNT", &err)
		if err != nil {
			return nil, fmt.Errorf("subgrid %d: %w", i, err)
		}
		rows, columns := math.Round((v[1]-v[0])/v[4])+1, math.Round((v[3]-v[2])/v[5])+1
		if !(rows >= 2 && columns >= 2 && v[4] > 0 && v[5] > 0 && rows*columns == float64(nodes)) || nodes > len(r.b)/16 {
			return nil, fmt.Errorf("subgrid %s: %d nodes for %g x %g, with %d bytes left", name, nodes, columns, rows, len(r.b))
		}
		s := projection.Subgrid{West: -v[3] * unit, South: v[0] * unit, DX: v[5] * unit, DY: v[4] * unit,
			Columns: int(columns), Rows: int(rows), Offset: len(g.nodes), Components: 2, Scale: unit}
		if err := checkSubgrid(s); err != nil {
			return nil, fmt.Errorf("subgrid %s: %w", name, err)
		}
		for row := range s.Rows {
			for column := s.Columns - 1; column >= 0; column-- {
				at := r.b[16*(row*s.Columns+column):]
				lat, lon := math.Float32frombits(r.order.Uint32(at)), math.Float32frombits(r.order.Uint32(at[4:]))
				g.nodes = append(g.nodes, -lon, lat)
			}
		}
		r.b = r.b[16*nodes:]
		g.subgrids = append(g.subgrids, s)
		if d, ok := depths[parent]; ok {
			depth[i] = d + 1
		}
		depths[name] = depth[i]
	}
	// Finer grids come later, so that they are found first.
	order := make([]int, count)
	for i := range order {
		order[i] = i
	}
	slices.SortStableFunc(order, func(a, b int) int { return depth[a] - depth[b] })
	sorted := make([]projection.Subgrid, count)
	for i, from := range order {
		sorted[i] = g.subgrids[from]
	}
	g.subgrids = sorted
	return g, nil
}

func checkSubgrid(s projection.Subgrid) error {
	west, south := s.West/degree, s.South/degree
	east, north := west+float64(s.Columns-1)*s.DX/degree, south+float64(s.Rows-1)*s.DY/degree
	if !(south >= -90.001 && north <= 90.001 && north > south && west >= -361 && east <= 721 && east > west && east-west <= 360.001) {
		return fmt.Errorf("the area is %g to %g degrees east and %g to %g degrees north", west, east, south, north)
	}
	return nil
}

// readGTX reads a grid of heights of NOAA's VDatum.
func readGTX(b []byte) (*Grid, error) {
	if len(b) < 40 {
		return nil, fmt.Errorf("%d bytes are neither NTv2 nor GTX", len(b))
	}
	number := func(i int) float64 { return math.Float64frombits(binary.BigEndian.Uint64(b[8*i:])) }
	rows, columns := int(int32(binary.BigEndian.Uint32(b[32:]))), int(int32(binary.BigEndian.Uint32(b[36:])))
	s := projection.Subgrid{South: number(0) * degree, West: number(1) * degree, DY: number(2) * degree, DX: number(3) * degree,
		Columns: columns, Rows: rows, Components: 1, Scale: 1}
	if rows < 2 || columns < 2 || rows > maxGrid/columns || len(b)-40 < 4*rows*columns || !(s.DX > 0 && s.DY > 0) {
		return nil, fmt.Errorf("%d bytes are neither NTv2 nor GTX: a GTX grid would have %d x %d nodes", len(b), columns, rows)
	}
	if s.West > math.Pi {
		s.West -= 2 * math.Pi
	}
	around := math.Abs(float64(columns)*s.DX-2*math.Pi) < s.DX/2 // the last column is beside the first one
	if around {
		s.Columns++
	}
	if err := checkSubgrid(s); err != nil {
		return nil, err
	}
	nodes := make([]float32, 0, s.Columns*rows)
	for row := range rows {
		for column := range s.Columns {
			at := 40 + 4*(row*columns+column%columns)
			h := math.Float32frombits(binary.BigEndian.Uint32(b[at:]))
			if h < -88.888 && h > -88.889 {
				h = float32(math.NaN()) // no data
			}
			nodes = append(nodes, h)
		}
	}
	return &Grid{format: "GTX", subgrids: []projection.Subgrid{s}, nodes: nodes}, nil
}
