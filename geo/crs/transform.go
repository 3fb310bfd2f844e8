package crs

import (
	"fmt"
	"math"
	"runtime"
	"slices"
	"strings"
	"sync"

	"quern.dev/geo/crs/internal/epsg"
	"quern.dev/geo/internal/projection"
)

// Option changes how [NewTransform] works.
type Option func(*options)

type options struct {
	authority, ballpark bool
	area                Extent
	hasArea             bool
	epoch               float64
	codes               []int
	helmert             *Helmert
	source, target      gridUse
	geoid, nextGeoid    *Grid
	hasGeoid            bool
}

type gridUse struct {
	grid *Grid
	hub  *CRS
}

// AuthorityOrder keeps the order of axes that the authority defines: latitude before longitude in EPSG:4326.
// Without it, x is to the east and y to the north, except in systems with axes to the south or the west.
func AuthorityOrder() Option { return func(o *options) { o.authority = true } }

// Ballpark permits to skip a datum shift that is not known. Longitude and latitude keep their values then, and
// points may be off by some hundred meters.
func Ballpark() Option { return func(o *options) { o.ballpark = true } }

// Area is where points are, by which the shift between datums is chosen. Without it, they are where both
// systems may be used.
func Area(e Extent) Option { return func(o *options) { o.area, o.hasArea = e, true } }

// Epoch is the year of the coordinates, such as 2020.5, which shifts that depend on time need.
func Epoch(year float64) Option { return func(o *options) { o.epoch = year } }

// UseOperation names the EPSG operations that lead from the datum of the source to that of the target, in this
// order. Inverses are found.
func UseOperation(codes ...int) Option { return func(o *options) { o.codes = codes } }

// UseHelmert gives the shift from the datum of the source to that of the target.
func UseHelmert(h Helmert) Option { return func(o *options) { o.helmert = &h } }

// SourceGrid shifts from the datum of the source to that of hub by a grid. What remains from there to the target is
// found as without a grid. A nil hub has the datum of the target.
func SourceGrid(g *Grid, hub *CRS) Option {
	return func(o *options) { o.source = gridUse{g, hub} }
}

// TargetGrid is like SourceGrid: the grid leads from the datum of the target to that of hub, and its inverse is
// used. A nil hub has the datum of the source.
func TargetGrid(g *Grid, hub *CRS) Option {
	return func(o *options) { o.target = gridUse{g, hub} }
}

// Geoids are the grids of the heights to which the heights of source and target refer, above the ellipsoids. One that is
// nil stands for heights above the ellipsoid.
func Geoids(source, target *Grid) Option {
	return func(o *options) { o.geoid, o.nextGeoid, o.hasGeoid = source, target, true }
}

// Transform converts coordinates from one system to another. It does not change, and may be used
// concurrently.
type Transform struct {
	from, to      *CRS
	forward, back projection.Operation
	subgrids      []projection.Subgrid
	nodes         []float32
	steps         []Step
	ballpark      bool
	grids         []*Grid
}

// NewTransform returns the transform from one system to another. If their datums differ, it needs a shift between them:
// of the options, of the definitions themselves (TOWGS84), or an operation of EPSG's table that is valid
// in nine tenths of the area at least; among several, the most accurate one. Without one, the error is a
// *[ShiftError].
func NewTransform(from, to *CRS, opts ...Option) (*Transform, error) {
	const op = "transform"
	if from == nil || to == nil {
		return nil, failure(ErrParameter, op, "", "a system is nil")
	}
	for _, c := range []*CRS{from, to} {
		if c.foreign != nil {
			return nil, c.foreign
		}
	}
	var o options
	for _, f := range opts {
		f(&o)
	}
	if err := o.check(); err != nil {
		return nil, failure(ErrParameter, op, "", "%v", err)
	}
	t := &Transform{from: from, to: to}
	t.forward.From, t.forward.To = from.system(o.authority), to.system(o.authority)
	if err := t.heights(&o); err != nil {
		return nil, err
	}
	shift, err := t.shift(&o)
	if err != nil {
		return nil, err
	}
	shift.From, shift.To = t.forward.From, t.forward.To
	t.forward, t.back = *shift, *shift
	t.forward.Source = t.use(o.source.grid, false)
	t.forward.Target = t.use(o.target.grid, true)
	t.forward.Geoid = t.use(o.geoid, false)
	t.forward.NextGeoid = t.use(o.nextGeoid, false)
	b := &t.back
	b.From, b.To, b.Figure, b.Next = b.To, b.From, b.Next, b.Figure
	b.Source, b.Target = t.forward.Target, t.forward.Source
	b.Source.Inverse, b.Target.Inverse = !b.Source.Inverse, !b.Target.Inverse
	b.Geoid, b.NextGeoid = t.forward.NextGeoid, t.forward.Geoid
	if shift.Cartesian {
		b.Matrix = invert(shift.Matrix)
	}
	return t, nil
}

func (o *options) check() error {
	if a := o.area; o.hasArea && !(a.South >= -90 && a.North <= 90 && a.South <= a.North && math.Abs(a.West) <= 360 && math.Abs(a.East) <= 360) {
		return fmt.Errorf("the area is %+v", a)
	}
	if o.epoch != 0 && !(o.epoch > 1800 && o.epoch < 2200) {
		return fmt.Errorf("the epoch is %g", o.epoch)
	}
	for _, g := range []*Grid{o.source.grid, o.target.grid} {
		if g != nil && !g.Horizontal() {
			return fmt.Errorf("the grid for longitude and latitude has heights (%s)", g)
		}
	}
	for _, g := range []*Grid{o.geoid, o.nextGeoid} {
		if g != nil && g.Horizontal() {
			return fmt.Errorf("the grid of a geoid has shifts of longitude and latitude (%s)", g)
		}
	}
	if h := o.helmert; h != nil {
		if slices.ContainsFunc(h.parameters(), func(x float64) bool { return math.IsNaN(x) || math.IsInf(x, 0) }) {
			return fmt.Errorf("a Helmert parameter is not finite")
		}
		if h.Epoch != 0 && o.epoch == 0 {
			return fmt.Errorf("the Helmert parameters depend on time; use Epoch")
		}
	}
	return nil
}

// use adds a grid to the tables of the transform.
func (t *Transform) use(g *Grid, inverse bool) projection.Grid {
	if g == nil {
		return projection.Grid{}
	}
	ref := projection.Grid{First: len(t.subgrids), Count: len(g.subgrids), Inverse: inverse}
	for _, s := range g.subgrids {
		s.Offset += len(t.nodes)
		t.subgrids = append(t.subgrids, s)
	}
	t.nodes = append(t.nodes, g.nodes...)
	t.grids = append(t.grids, g)
	return ref
}

// heights checks that heights of different kinds are not taken for each other.
func (t *Transform) heights(o *options) error {
	if o.hasGeoid || o.ballpark || t.from.vertical == t.to.vertical {
		return nil
	}
	hasHeights := func(c *CRS) bool { return len(c.axes) > 2 }
	if !hasHeights(t.from) || !hasHeights(t.to) {
		return nil
	}
	surface := func(c *CRS) string {
		if c.vertical.name == "" {
			return "the ellipsoid"
		}
		return c.vertical.name
	}
	return &ShiftError{surface(t.from), surface(t.to), "heights refer to different surfaces; use Geoids", nil}
}

// shift returns an operation with the matrix between the datums.
func (t *Transform) shift(o *options) (*projection.Operation, error) {
	from, to := t.from.datum, t.to.datum
	if g := o.source; g.grid != nil {
		from = to
		if g.hub != nil {
			from = g.hub.datum
		}
		t.steps = append(t.steps, Step{Name: g.grid.String(), Accuracy: math.NaN()})
	}
	if g := o.target; g.grid != nil {
		to = from
		if g.hub != nil {
			to = g.hub.datum
		}
		defer func() { t.steps = append(t.steps, Step{Name: g.grid.String(), Accuracy: math.NaN(), Inverse: true}) }()
	}
	s := &projection.Operation{Figure: from.ellipsoid.math(), Next: to.ellipsoid.math()}
	apply := func(m projection.Matrix) {
		if s.Cartesian {
			m = then(s.Matrix, m)
		}
		s.Cartesian, s.Matrix = true, m
	}
	if o.helmert != nil {
		apply(matrix(o.helmert.parameters(), o.epoch, false))
		t.steps = append(t.steps, Step{Name: "given Helmert parameters", Accuracy: math.NaN()})
		return s, nil
	}
	if len(o.codes) > 0 {
		return s, t.follow(o, from, to, apply)
	}
	if from.same(to) {
		return s, nil
	}
	// Definitions that have their own parameters to WGS 84.
	var last []float64
	if p := t.from.toWGS84; p != nil && o.source.grid == nil {
		apply(matrix(p, 0, false))
		t.steps = append(t.steps, Step{Name: "TOWGS84 of " + t.from.name, Accuracy: math.NaN()})
		from = datumOf(epsg.Load(), wgs84)
	}
	if p := t.to.toWGS84; p != nil && o.target.grid == nil {
		last = p
		to = datumOf(epsg.Load(), wgs84)
	}
	if !from.same(to) {
		r, err := t.choose(o, from, to)
		if err != nil {
			if !o.ballpark {
				return nil, err
			}
			t.ballpark = true
			t.steps = append(t.steps, Step{Name: fmt.Sprintf("ballpark: the shift from %s to %s is skipped", from.name, to.name), Accuracy: math.NaN()})
			return s, nil
		}
		for _, step := range r.steps {
			t.steps = append(t.steps, step.step())
			if !step.null() {
				apply(matrix(step.parameters(), o.epoch, step.inverse))
			}
		}
	}
	if last != nil {
		apply(matrix(last, 0, true))
		t.steps = append(t.steps, Step{Name: "TOWGS84 of " + t.to.name, Accuracy: math.NaN(), Inverse: true})
	}
	return s, nil
}

// choose returns the best route between datums.
func (t *Transform) choose(o *options, from, to datum) (route, error) {
	area, known := o.area, o.hasArea
	if !known {
		area, known = common(t.from.extents, t.to.extents)
	}
	fail := func(reason string, candidates []Step) (route, error) {
		return route{}, &ShiftError{from.name, to.name, reason, candidates}
	}
	if from.code == 0 || to.code == 0 {
		unknown := from
		if from.code != 0 {
			unknown = to
		}
		return fail(fmt.Sprintf("the datum %q is not known to EPSG; use UseHelmert or a grid", unknown.name), nil)
	}
	found, timed := routes(from.code, to.code, area, known, o.epoch)
	switch {
	case len(found) == 0 && timed > 0:
		return fail("the operations between them depend on time; use Epoch", nil)
	case len(found) == 0:
		return fail("the table has no operation between them; use UseHelmert or a grid", nil)
	case found[0].share >= enough:
		return found[0], nil
	}
	var candidates []Step
	for _, r := range found {
		if len(r.steps) == 1 && len(candidates) < 5 {
			candidates = append(candidates, r.steps[0].step())
		}
	}
	if !known {
		return fail("several operations are valid in different areas; use Area or UseOperation", candidates)
	}
	return fail(fmt.Sprintf("no operation is valid in the whole area from %g to %g degrees east and from %g to %g degrees north; use Area, UseOperation or a grid",
		area.West, area.East, area.South, area.North), candidates)
}

// common returns the area that two systems share.
func common(a, b []Extent) (Extent, bool) {
	if len(a) == 0 {
		a, b = b, a
	}
	if len(a) == 0 {
		return Extent{}, false
	}
	if len(b) == 0 || span(b[0]) >= 360 && b[0].South <= a[0].South && b[0].North >= a[0].North {
		return a[0], true
	}
	if span(a[0]) >= 360 && a[0].South <= b[0].South && a[0].North >= b[0].North {
		return b[0], true
	}
	for _, turn := range []float64{0, -360, 360} {
		e := Extent{max(a[0].West, b[0].West+turn), max(a[0].South, b[0].South), min(a[0].West+span(a[0]), b[0].West+turn+span(b[0])), min(a[0].North, b[0].North)}
		if e.West < e.East && e.South < e.North {
			return e, true
		}
	}
	return Extent{}, false
}

// follow applies the operations that are named.
func (t *Transform) follow(o *options, from, to datum, apply func(projection.Matrix)) error {
	table := epsg.Load()
	at := table.Greenwich(from.code)
	for _, code := range o.codes {
		r, ok := table.Row("helmert", code)
		if !ok {
			return failure(ErrUnknown, "transform", fmt.Sprintf("operation %d", code), "it is not in the table of Helmert operations")
		}
		a, _ := table.Row("geodetic", r.Int(0))
		b, _ := table.Row("geodetic", r.Int(1))
		x := operation{row: r}
		switch source, target := table.Greenwich(a.Int(0)), table.Greenwich(b.Int(0)); at {
		case source:
			at = target
		case target:
			at, x.inverse = source, true
		default:
			return failure(ErrParameter, "transform", fmt.Sprintf("operation %d", code), "%s does not start from the datum %s", r.Text(4), datumOf(table, at).name)
		}
		if len(x.parameters()) == 15 && o.epoch == 0 {
			return failure(ErrParameter, "transform", fmt.Sprintf("operation %d", code), "%s depends on time; use Epoch", r.Text(4))
		}
		t.steps = append(t.steps, x.step())
		apply(matrix(x.parameters(), o.epoch, x.inverse))
	}
	if at != table.Greenwich(to.code) {
		return failure(ErrParameter, "transform", "operations", "they lead to the datum %s, not to %s", datumOf(table, at).name, to.name)
	}
	return nil
}

// invert returns the inverse of a matrix.
func invert(m projection.Matrix) projection.Matrix {
	at := func(i, k int) float64 { return m[4*(i%3)+k%3] }
	det := 0.0
	for k := range 3 {
		det += at(0, k) * (at(1, k+1)*at(2, k+2) - at(1, k+2)*at(2, k+1))
	}
	var out projection.Matrix
	for i := range 3 {
		for k := range 3 {
			out[4*k+i] = (at(i+1, k+1)*at(i+2, k+2) - at(i+1, k+2)*at(i+2, k+1)) / det
		}
	}
	for i := range 3 {
		for k := range 3 {
			out[4*i+3] -= out[4*i+k] * m[4*k+3]
		}
	}
	return out
}

// From returns the source.
func (t *Transform) From() *CRS { return t.from }

// To returns the target.
func (t *Transform) To() *CRS { return t.to }

// Steps returns the operations between the datums; none if the datum is the same.
func (t *Transform) Steps() []Step { return slices.Clone(t.steps) }

// IsBallpark reports whether a datum shift is skipped.
func (t *Transform) IsBallpark() bool { return t.ballpark }

// String names the systems and the steps.
func (t *Transform) String() string {
	text := t.from.String() + " to " + t.to.String()
	var steps []string
	for _, s := range t.steps {
		steps = append(steps, s.String())
	}
	if steps != nil {
		text += " by " + strings.Join(steps, ", ")
	}
	return text
}

// Forward converts a point at height 0. It returns NaN and an error that matches [ErrDomain] if the point has no
// coordinates in the target.
func (t *Transform) Forward(x, y float64) (float64, float64, error) {
	x2, y2, _ := t.forward.Apply(t.subgrids, t.nodes, x, y, 0)
	return x2, y2, t.judge(t.from, t.to, x, y, x2, y2)
}

// Inverse is Forward from the target to the source.
func (t *Transform) Inverse(x, y float64) (float64, float64, error) {
	x2, y2, _ := t.back.Apply(t.subgrids, t.nodes, x, y, 0)
	return x2, y2, t.judge(t.to, t.from, x, y, x2, y2)
}

// Forward3 converts a point with a height, which is above the ellipsoid if the system has none.
func (t *Transform) Forward3(x, y, z float64) (float64, float64, float64, error) {
	x2, y2, z2 := t.forward.Apply(t.subgrids, t.nodes, x, y, z)
	return x2, y2, z2, t.judge(t.from, t.to, x, y, x2, y2+z2)
}

// Inverse3 is Forward3 from the target to the source.
func (t *Transform) Inverse3(x, y, z float64) (float64, float64, float64, error) {
	x2, y2, z2 := t.back.Apply(t.subgrids, t.nodes, x, y, z)
	return x2, y2, z2, t.judge(t.to, t.from, x, y, x2, y2+z2)
}

func (t *Transform) judge(from, to *CRS, x, y, x2, y2 float64) error {
	if sum := x2 + y2; sum == sum {
		return nil
	}
	reason := "the point (%g, %g) of %s has no coordinates in %s"
	if len(t.grids) > 0 {
		reason = "the point (%g, %g) of %s is outside of the grid or has no coordinates in %s"
	}
	return failure(ErrDomain, "transform", "", reason, x, y, from, to)
}

// ForwardAll converts points in place, on all cores. Heights, z, may be nil. Points without coordinates in the target
// become NaN; their number is returned. An error says that lengths differ.
func (t *Transform) ForwardAll(x, y, z []float64) (failed int, err error) {
	return t.all(&t.forward, x, y, z)
}

// InverseAll is ForwardAll from the target to the source.
func (t *Transform) InverseAll(x, y, z []float64) (failed int, err error) {
	return t.all(&t.back, x, y, z)
}

func (t *Transform) all(o *projection.Operation, x, y, z []float64) (failed int, err error) {
	if len(x) != len(y) || z != nil && len(z) != len(x) {
		return 0, failure(ErrParameter, "transform", "", "%d, %d and %d coordinates", len(x), len(y), len(z))
	}
	const chunk = 1024
	workers := min(runtime.GOMAXPROCS(0), (len(x)+chunk-1)/chunk)
	if workers <= 1 {
		return t.part(o, x, y, z), nil
	}
	counts := make([]int, workers)
	var wait sync.WaitGroup
	for w := range workers {
		lo, hi := len(x)*w/workers, len(x)*(w+1)/workers
		wait.Go(func() {
			var heights []float64
			if z != nil {
				heights = z[lo:hi]
			}
			counts[w] = t.part(o, x[lo:hi], y[lo:hi], heights)
		})
	}
	wait.Wait()
	for _, n := range counts {
		failed += n
	}
	return failed, nil
}

func (t *Transform) part(o *projection.Operation, x, y, z []float64) (failed int) {
	for i := range x {
		h := 0.0
		if z != nil {
			h = z[i]
		}
		x[i], y[i], h = o.Apply(t.subgrids, t.nodes, x[i], y[i], h)
		if z != nil {
			z[i] = h
		}
		if sum := x[i] + y[i] + h; sum != sum {
			failed++
		}
	}
	return failed
}

// Operation returns the operation and the grids for kernels of the packages below geo.
func (t *Transform) Operation(inverse bool) (projection.Operation, projection.Grids) {
	g := projection.Grids{Subgrids: t.subgrids, Nodes: t.nodes}
	if inverse {
		return t.back, g
	}
	return t.forward, g
}
