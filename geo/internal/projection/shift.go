package projection

// Subgrid is a grid of shifts. Its nodes are Components numbers each, row by row from the
// south, from Offset.
type Subgrid struct {
	West, South   float64 // radians
	DX, DY        float64 // spacing in radians
	Columns, Rows int
	Offset        int
	Components    int     // 2: longitude and latitude; 1: height
	Scale         float64 // from values to radians or meters
}

// Grid refers to subgrids. Those of Count are searched from the last one: finer ones follow coarser ones.
type Grid struct {
	First, Count int
	Inverse      bool
}

// Grids are the grids of an operation, and their nodes.
type Grids struct {
	Subgrids []Subgrid
	Nodes    []float32
}

// interpolate returns the bilinear shift at a point, and whether the grid covers it.
func (g Grid) interpolate(subgrids []Subgrid, nodes []float32, lon, lat float64) (dlon, dlat float64, ok bool) {
	const margin = 1e-11 // a point on an edge belongs to the grid
	for i := g.First + g.Count - 1; i >= g.First; i-- {
		s := subgrids[i]
		x := wrap(lon-s.West-float64(float64(s.Columns-1)*s.DX/2)) + float64(float64(s.Columns-1)*s.DX/2)
		x, y := x/s.DX, (lat-s.South)/s.DY
		if !(x >= -margin/s.DX && y >= -margin/s.DY && x <= float64(s.Columns-1)+margin/s.DX && y <= float64(s.Rows-1)+margin/s.DY) {
			continue
		}
		c, r := min(max(int(x), 0), s.Columns-2), min(max(int(y), 0), s.Rows-2)
		x, y = x-float64(c), y-float64(r)
		south, north := s.Offset+(r*s.Columns+c)*s.Components, s.Offset+((r+1)*s.Columns+c)*s.Components
		dlon = float64(s.Scale * mix(nodes[south], nodes[south+s.Components], nodes[north], nodes[north+s.Components], x, y))
		if dlon != dlon {
			dlon = float64(s.Scale * known(nodes[south], nodes[south+s.Components], nodes[north], nodes[north+s.Components], x, y))
		}
		if s.Components == 2 {
			dlat = float64(s.Scale * mix(nodes[south+1], nodes[south+3], nodes[north+1], nodes[north+3], x, y))
		}
		return float64(dlon), float64(dlat), true
	}
	return 0, 0, false
}

// mix interpolates between the corners of a cell.
func mix(sw, se, nw, ne float32, x, y float64) float64 {
	s := fma(x, float64(se)-float64(sw), float64(sw))
	n := fma(x, float64(ne)-float64(nw), float64(nw))
	return fma(y, n-s, s)
}

// known is mix without the corners that have no data.
func known(sw, se, nw, ne float32, x, y float64) float64 {
	w1, w2, w3, w4 := float64((1-x)*(1-y)), float64(x*(1-y)), float64((1-x)*y), float64(x*y)
	sum, weight := 0.0, 0.0
	if sw == sw {
		sum, weight = float64(w1*float64(sw)), w1
	}
	if se == se {
		sum, weight = fma(w2, float64(se), sum), weight+w2
	}
	if nw == nw {
		sum, weight = fma(w3, float64(nw), sum), weight+w3
	}
	if ne == ne {
		sum, weight = fma(w4, float64(ne), sum), weight+w4
	}
	return sum / weight
}

// shift applies a horizontal grid. The inverse is found by iteration.
func (g Grid) shift(subgrids []Subgrid, nodes []float32, lon, lat float64) (float64, float64) {
	if g.Count == 0 {
		return lon, lat
	}
	x, y := lon, lat
	for range 21 {
		dlon, dlat, ok := g.interpolate(subgrids, nodes, x, y)
		if !ok {
			return outside()
		}
		if !g.Inverse {
			return lon + dlon, lat + dlat
		}
		ex, ey := lon-dlon-x, lat-dlat-y
		x, y = x+ex, y+ey
		if fma(ex, ex, float64(ey*ey)) < 1e-28 {
			break
		}
	}
	return x, y
}

// Matrix leads from Cartesian coordinates to Cartesian coordinates: rows of three coefficients and a
// translation in meters.
type Matrix [12]float64

func (m *Matrix) apply(x, y, z float64) (float64, float64, float64) {
	return fma(m[0], x, fma(m[1], y, fma(m[2], z, m[3]))),
		fma(m[4], x, fma(m[5], y, fma(m[6], z, m[7]))),
		fma(m[8], x, fma(m[9], y, fma(m[10], z, m[11])))
}
