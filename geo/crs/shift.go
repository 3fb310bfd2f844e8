package crs

import (
	"cmp"
	"fmt"
	"math"
	"slices"
	"strings"
	"sync"

	"quern.dev/geo/crs/internal/epsg"
	"quern.dev/geo/internal/projection"
)

// Helmert is a similarity between geocentric coordinates, in the position vector convention: the
// rotations of the coordinate frame convention have the other signs.
type Helmert struct {
	Translation     [3]float64 // meters
	Rotation        [3]float64 // seconds of arc
	Scale           float64    // parts per million
	TranslationRate [3]float64 // per year
	RotationRate    [3]float64
	ScaleRate       float64
	Epoch           float64 // the year for which the first seven parameters hold; 0 without rates
}

// parameters returns the numbers as package epsg has them.
func (h Helmert) parameters() []float64 {
	p := append(append(h.Translation[:3:3], h.Rotation[:]...), h.Scale*1e-6)
	if h.Epoch != 0 {
		p = append(append(append(p, h.TranslationRate[:]...), h.RotationRate[:]...), h.ScaleRate*1e-6, h.Epoch)
	}
	return p
}

// matrix returns the matrix of a similarity, for small rotations, as EPSG and PROJ define it. The inverse
// has the transposed rotation, like PROJ's.
func matrix(p []float64, epoch float64, inverse bool) projection.Matrix {
	var v [7]float64
	copy(v[:], p)
	var pivot [3]float64
	switch len(p) {
	case 15:
		for i := range v {
			v[i] += (epoch - p[14]) * p[7+i]
		}
	case 10:
		copy(pivot[:], p[7:])
	}
	rx, ry, rz, s := v[3]*arcsecond, v[4]*arcsecond, v[5]*arcsecond, 1+v[6]
	r := [3][3]float64{{1, -rz, ry}, {rz, 1, -rx}, {-ry, rx, 1}}
	var m projection.Matrix
	for i := range 3 {
		for k := range 3 {
			if inverse {
				m[4*i+k] = r[k][i] / s
			} else {
				m[4*i+k] = r[i][k] * s
			}
		}
	}
	for i := range 3 {
		var t float64
		for k := range 3 {
			if inverse {
				t -= m[4*i+k] * (v[k] + pivot[k])
			} else {
				t -= m[4*i+k] * pivot[k]
			}
		}
		m[4*i+3] = t + pivot[i]
		if !inverse {
			m[4*i+3] += v[i]
		}
	}
	return m
}

// then returns the matrix of m followed by n.
func then(m, n projection.Matrix) projection.Matrix {
	var out projection.Matrix
	for i := range 3 {
		for k := range 4 {
			for j := range 3 {
				out[4*i+k] += n[4*i+j] * m[4*j+k]
			}
		}
		out[4*i+3] += n[4*i+3]
	}
	return out
}

// Step is an operation of a transform between datums.
type Step struct {
	Code     int // EPSG's, or 0
	Name     string
	Accuracy float64 // meters; NaN if unknown
	Inverse  bool
}

// String returns the EPSG code and the name of the step, and whether it is inverted.
func (s Step) String() string {
	text := s.Name
	if s.Code != 0 {
		text = fmt.Sprintf("EPSG:%d %s", s.Code, s.Name)
	}
	if s.Inverse {
		text = "inverse of " + text
	}
	return text
}

// operation is a row of the table in a direction.
type operation struct {
	row     epsg.Row
	inverse bool
}

func (o operation) step() Step {
	accuracy := math.NaN()
	if o.row.Text(2) != "" {
		accuracy = o.row.Number(2)
	}
	return Step{o.row.Code, o.row.Text(4), accuracy, o.inverse}
}

func (o operation) parameters() []float64 {
	var p []float64
	for i := 5; i < o.row.Len(); i++ {
		p = append(p, o.row.Number(i))
	}
	return p
}

// null reports whether the operation changes nothing, and so has no area where it is wrong more than elsewhere.
func (o operation) null() bool {
	return !slices.ContainsFunc(o.parameters(), func(x float64) bool { return x != 0 })
}

// Operations between datums by the codes of these.
var operations = sync.OnceValue(func() map[[2]int][]operation {
	t := epsg.Load()
	all := map[[2]int][]operation{}
	datumOf := func(code int) int {
		r, _ := t.Row("geodetic", code)
		return t.Greenwich(r.Int(0))
	}
	for _, r := range t.Helmert {
		a, b := datumOf(r.Int(0)), datumOf(r.Int(1))
		if _, old := t.Row("superseded", r.Code); old || a == 0 || b == 0 || a == b {
			continue
		}
		all[[2]int{a, b}] = append(all[[2]int{a, b}], operation{r, false})
		all[[2]int{b, a}] = append(all[[2]int{b, a}], operation{r, true})
	}
	return all
})

const (
	wgs84  = 6326
	etrs89 = 6258
)

// route is a sequence of operations between two datums.
type route struct {
	steps    []operation
	share    float64 // of the area
	accuracy float64
}

// enough is the share of the area in which a route must be valid.
const enough = 0.9

// routes returns the direct operations between two datums, and those by way of WGS 84 and ETRS89, best first.
func routes(from, to int, area Extent, known bool, epoch float64) (found []route, timed int) {
	ops, t := operations(), epsg.Load()
	from, to = t.Greenwich(from), t.Greenwich(to)
	add := func(steps ...operation) {
		r := route{steps, 1, 0}
		for _, s := range steps {
			if len(s.parameters()) == 15 && epoch == 0 {
				timed++
				return
			}
			if !s.null() {
				if !known {
					r.share = 0
				} else {
					r.share = min(r.share, overlap(area, extents(s.row.Text(3))))
				}
			}
			a := s.step().Accuracy
			if math.IsNaN(a) {
				a = 999
			}
			r.accuracy += a
		}
		found = append(found, r)
	}
	for _, o := range ops[[2]int{from, to}] {
		add(o)
	}
	if len(found) == 0 {
		for _, hub := range []int{wgs84, etrs89} {
			for _, a := range ops[[2]int{from, hub}] {
				for _, b := range ops[[2]int{hub, to}] {
					add(a, b)
				}
			}
		}
	}
	slices.SortStableFunc(found, func(a, b route) int {
		if c := cmp.Compare(min(b.share, enough), min(a.share, enough)); c != 0 {
			return c
		}
		if c := cmp.Compare(a.accuracy, b.accuracy); c != 0 {
			return c
		}
		if a, b := a.steps[0].null(), b.steps[0].null(); a != b { // the change is smaller than the accuracy
			if a {
				return -1
			}
			return 1
		}
		return cmp.Compare(b.steps[0].row.Code, a.steps[0].row.Code) // the later one
	})
	return found, timed
}

// ShiftError says why there is no transform between two datums. It matches [ErrDatumShift].
type ShiftError struct {
	From, To   string // datums
	Reason     string
	Candidates []Step // operations that are valid in a part of the area, for UseOperation; not all
}

// Error returns the datums, the reason, and the candidates.
func (e *ShiftError) Error() string {
	text := fmt.Sprintf("crs: transform: from %s to %s: %s", e.From, e.To, e.Reason)
	if len(e.Candidates) > 0 {
		var names []string
		for _, s := range e.Candidates {
			names = append(names, s.String())
		}
		text += " (" + strings.Join(names, "; ") + ")"
	}
	return text
}

// Unwrap returns [ErrDatumShift].
func (e *ShiftError) Unwrap() error { return ErrDatumShift }
