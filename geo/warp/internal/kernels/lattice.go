package kernels

import (
	"math"

	"quern.dev/geo/internal/projection"
	"quern.dev/kernel"
)

// A cell of the lattice has Step x Step pixels of the output. Cells are counted from the output's first pixel.
const (
	StepShift = 4
	Step      = 1 << StepShift
)

// Lattice is the cells that a tile needs. Their nodes, and those around them, are (Across+3) x (Down+3) points.
type Lattice struct {
	X, Y         int // the first cell
	Across, Down int
}

// Nodes returns how many nodes the lattice has in each direction.
func (l *Lattice) Nodes() (across, down int) { return l.Across + 3, l.Down + 3 }

// nodes writes the exact positions of nodes. half is that of locate.
//
//quern:kernel
func nodes(t kernel.Thread, l Lattice, half float64, places []Place, subgrids []projection.Subgrid, grid []float32, spline, us, vs []float64) {
	across, down := l.Nodes()
	i, j := t.Global2()
	if i >= across || j >= down {
		return
	}
	x, y := (l.X-1+i)<<StepShift, (l.Y-1+j)<<StepShift
	us[j*across+i], vs[j*across+i] = places[0].Position(subgrids, grid, spline, float64(x)+half, float64(y)+half)
}

// bent returns how much a line through three nodes is bent in the middle one: the sum of the second differences of both
// coordinates. It is NaN if one of them has no position.
func bent(us, vs []float64, i, step int) float64 {
	return math.Abs(us[i-step]-2*us[i]+us[i+step]) + math.Abs(vs[i-step]-2*vs[i]+vs[i+step])
}

// flat sets smooth to 1 for the cells in which positions can be interpolated: at none of their corners the second
// differences in both directions are more than tolerance. The error of linear interpolation between nodes is an eighth of
// a second difference that does not change, and half of one that a kink between the nodes makes.
//
//quern:kernel
func flat(t kernel.Thread, l Lattice, tolerance float64, us, vs []float64, smooth []uint8) {
	x, y := t.Global2()
	if x >= l.Across || y >= l.Down {
		return
	}
	across, _ := l.Nodes()
	ok := true
	for k := 0; k < 4; k++ {
		i := (y+1+k>>1)*across + x + 1 + k&1
		ok = ok && bent(us, vs, i, 1)+bent(us, vs, i, across) <= tolerance
	}
	var v uint8
	if ok {
		v = 1
	}
	smooth[y*l.Across+x] = v
}

// interpolate is locate with a lattice: positions in smooth cells are those between the four nodes.
//
//quern:kernel
func interpolate(t kernel.Thread, l Lattice, x0, y0, width, height int, half float64, places []Place, subgrids []projection.Subgrid, grid []float32, spline, us, vs []float64, smooth []uint8, xs, ys []float64) {
	x, y := t.Global2()
	if x >= width || y >= height {
		return
	}
	to := y*width + x
	column, row := x0+x, y0+y
	i, j := column>>StepShift-l.X, row>>StepShift-l.Y
	if smooth[j*l.Across+i] == 0 {
		p := &places[0]
		xs[to], ys[to] = p.Position(subgrids, grid, spline, float64(column)+half, float64(row)+half)
		return
	}
	u, v := float64(column&(Step-1))*(1.0/Step), float64(row&(Step-1))*(1.0/Step)
	across, _ := l.Nodes()
	a := (j+1)*across + i + 1
	xs[to], ys[to] = between(us, a, across, u, v), between(vs, a, across, u, v)
}

// between interpolates in the cell whose first node is i.
func between(values []float64, i, across int, u, v float64) float64 {
	upper := values[i] + float64((values[i+1]-values[i])*u)
	lower := values[i+across] + float64((values[i+across+1]-values[i+across])*u)
	return upper + float64((lower-upper)*v)
}
