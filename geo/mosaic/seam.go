package mosaic

import (
	"context"
	"math"
	"slices"

	"quern.dev/geo/mosaic/internal/cut"
	"quern.dev/geo/mosaic/internal/kernels"
)

// seam says which of two neighbors owns the cells along the border between them.
type seam struct {
	kernels.Window
	images [2]int32
	owner  []uint8 // of a cell: 1 or 2 for the first or the second image, 0 where the order decides
}

// searchCells is how far a seam may be from the border that the order makes.
const searchCells = 48

// findSeams labels cells by the order, and cuts along the borders between labels.
func (m *mosaic) findSeams(ctx context.Context) error {
	labels, err := m.labelCells(ctx)
	if err != nil {
		return err
	}
	borders := labels.borders()
	var pairs [][2]int32
	for p := range borders {
		pairs = append(pairs, p)
	}
	slices.SortFunc(pairs, func(a, b [2]int32) int { return slices.Compare(a[:], b[:]) })
	seams := make([]*seam, len(pairs))
	err = parallel(ctx, len(pairs), func(k int) error {
		a, err := m.thumbs.get(ctx, int(pairs[k][0]))
		if err != nil {
			return err
		}
		b, err := m.thumbs.get(ctx, int(pairs[k][1]))
		if err != nil {
			return err
		}
		seams[k] = m.cutPair(labels, borders[pairs[k]], pairs[k], a, b)
		return nil
	})
	if err != nil {
		return err
	}
	for _, s := range seams {
		if s != nil {
			m.seams[s.images[0]] = append(m.seams[s.images[0]], s)
			m.seams[s.images[1]] = append(m.seams[s.images[1]], s)
		}
	}
	return nil
}

// cells are the labels of the whole mosaic.
type cells struct {
	width, height int
	labels        []int32
}

func (m *mosaic) labelCells(ctx context.Context) (*cells, error) {
	g := m.thumbs.w.Grid()
	c := &cells{g.Width, g.Height, make([]int32, g.Width*g.Height)}
	for i := range c.labels {
		c.labels[i] = -1
	}
	for image := range m.sources {
		t, err := m.thumbs.get(ctx, image)
		if err != nil {
			return nil, err
		}
		for y := t.Y; y < t.Y+t.H; y++ {
			for x := t.X; x < t.X+t.W; x++ {
				l := &c.labels[y*c.width+x]
				if t.has(x, y) && m.before(int32(image), *l, (float64(x)+0.5)*m.cell, (float64(y)+0.5)*m.cell) {
					*l = int32(image)
				}
			}
		}
	}
	return c, nil
}

// before reports whether the order prefers an image to another one, which may be -1, at a pixel of the output.
func (m *mosaic) before(image, other int32, x, y float64) bool {
	if other < 0 {
		return true
	}
	switch m.opt.Order {
	case First:
		return image < other
	case Last:
		return image > other
	}
	a, b := m.distance(image, x, y), m.distance(other, x, y)
	return a < b || a == b && image < other
}

// distance returns the square of the distance of a pixel from the center of an image.
func (m *mosaic) distance(image int32, x, y float64) float64 {
	c := m.centers[image]
	dx, dy := x-c[0], y-c[1]
	return float64(dx*dx) + float64(dy*dy)
}

// borders returns the pairs of labels that are next to each other, and where.
func (c *cells) borders() map[[2]int32]kernels.Window {
	out := map[[2]int32]kernels.Window{}
	meet := func(a, b int32, x, y int) {
		if a == b || a < 0 || b < 0 {
			return
		}
		w, ok := out[[2]int32{min(a, b), max(a, b)}]
		if !ok {
			w = kernels.Window{X: x, Y: y, W: 1, H: 1}
		}
		x0, y0, x1, y1 := min(w.X, x), min(w.Y, y), max(w.X+w.W, x+1), max(w.Y+w.H, y+1)
		out[[2]int32{min(a, b), max(a, b)}] = kernels.Window{X: x0, Y: y0, W: x1 - x0, H: y1 - y0}
	}
	for y := range c.height {
		for x := range c.width {
			l := c.labels[y*c.width+x]
			if x+1 < c.width {
				meet(l, c.labels[y*c.width+x+1], x, y)
			}
			if y+1 < c.height {
				meet(l, c.labels[(y+1)*c.width+x], x, y)
			}
		}
	}
	return out
}

// cutPair finds the seam between two images near their border. It is nil if no cell changes its owner.
func (m *mosaic) cutPair(c *cells, border kernels.Window, pair [2]int32, a, b *thumbnail) *seam {
	const margin = searchCells + 1
	x0, y0 := max(border.X-margin, 0), max(border.Y-margin, 0)
	x1, y1 := min(border.X+border.W+margin, c.width), min(border.Y+border.H+margin, c.height)
	s := &seam{Window: kernels.Window{X: x0, Y: y0, W: x1 - x0, H: y1 - y0}, images: pair}
	label := func(x, y int) int32 { return c.labels[(y+y0)*c.width+x+x0] }
	mine := func(x, y int) bool { l := label(x, y); return l == pair[0] || l == pair[1] }
	n := s.W * s.H
	near := s.reach(mine, label)
	// What each cell costs beside a seam.
	cost := make([]float64, n)
	both := make([]bool, n)
	total, count := 0.0, 0
	for y := range s.H {
		for x := range s.W {
			if !mine(x, y) || !a.has(x+x0, y+y0) || !b.has(x+x0, y+y0) {
				continue
			}
			i := y*s.W + x
			both[i] = true
			for band := range m.bands {
				p, q := m.corrections[pair[0]][band], m.corrections[pair[1]][band]
				d := math.Abs(a.at(x+x0, y+y0, band)*p.gain + p.offset - b.at(x+x0, y+y0, band)*q.gain - q.offset)
				if d == d {
					cost[i] += d
				}
			}
			total += cost[i]
			count++
		}
	}
	if count == 0 {
		return nil
	}
	unit := 100 / max(total/float64(count), 1e-30)
	const never = 1 << 28
	g := cut.New(s.W, s.H)
	edge := func(i, j int) int32 {
		p, q := cost[i], cost[j]
		switch {
		case !both[i] && !both[j]:
			return 1
		case !both[i]:
			p = q
		case !both[j]:
			q = p
		}
		return 1 + int32(min((p+q)*unit, 1e6))
	}
	for y := range s.H {
		for x := range s.W {
			if !mine(x, y) {
				continue
			}
			i := y*s.W + x
			if !both[i] || !near[i] {
				if label(x, y) == pair[0] {
					g.Terminals(x, y, never, 0)
				} else {
					g.Terminals(x, y, 0, never)
				}
			}
			if x+1 < s.W && mine(x+1, y) {
				g.Right(x, y, edge(i, i+1))
			}
			if y+1 < s.H && mine(x, y+1) {
				g.Below(x, y, edge(i, i+s.W))
			}
		}
	}
	g.Cut()
	s.owner = make([]uint8, n)
	changed := false
	for y := range s.H {
		for x := range s.W {
			i := y*s.W + x
			if !mine(x, y) || !both[i] || !near[i] {
				continue
			}
			s.owner[i] = 1
			if g.Sink(x, y) {
				s.owner[i] = 2
			}
			changed = changed || pair[s.owner[i]-1] != label(x, y)
		}
	}
	if !changed {
		return nil
	}
	return s
}

// reach marks the cells of a pair that are near the border between them.
func (s *seam) reach(mine func(x, y int) bool, label func(x, y int) int32) []bool {
	n := s.W * s.H
	near := make([]bool, n)
	var front []int
	around := func(i int, visit func(j int)) {
		x, y := i%s.W, i/s.W
		if x > 0 {
			visit(i - 1)
		}
		if x+1 < s.W {
			visit(i + 1)
		}
		if y > 0 {
			visit(i - s.W)
		}
		if y+1 < s.H {
			visit(i + s.W)
		}
	}
	for i := range n {
		if !mine(i%s.W, i/s.W) {
			continue
		}
		around(i, func(j int) {
			if mine(j%s.W, j/s.W) && label(i%s.W, i/s.W) != label(j%s.W, j/s.W) && !near[i] {
				near[i] = true
				front = append(front, i)
			}
		})
	}
	for range searchCells - 1 {
		var next []int
		for _, i := range front {
			around(i, func(j int) {
				if !near[j] && mine(j%s.W, j/s.W) {
					near[j] = true
					next = append(next, j)
				}
			})
		}
		front = next
	}
	return near
}

// at returns which image a seam gives a pixel to, whose position is in cells: -1 if the order decides. Between cells, the
// owner of most of the four around the position counts.
func (s *seam) at(x, y float64) int32 {
	i, j := int(math.Floor(x))-s.X, int(math.Floor(y))-s.Y
	if i < 0 || j < 0 || i >= s.W || j >= s.H || s.owner[j*s.W+i] == 0 {
		return -1
	}
	u, v := x-0.5-float64(s.X), y-0.5-float64(s.Y)
	left, top := int(math.Floor(u)), int(math.Floor(v))
	qx, qy := u-float64(left), v-float64(top)
	var of [3]float64
	for k := range 4 {
		i, j, wx, wy := left, top, 1-qx, 1-qy
		if k&1 != 0 {
			i, wx = left+1, qx
		}
		if k&2 != 0 {
			j, wy = top+1, qy
		}
		if i >= 0 && j >= 0 && i < s.W && j < s.H {
			of[s.owner[j*s.W+i]] += float64(wx * wy)
		}
	}
	if of[2] > of[1] {
		return s.images[1]
	}
	return s.images[0]
}
