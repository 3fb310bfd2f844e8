package proj

import (
	"math"
	"runtime"
	"strings"
	"sync"
	"sync/atomic"

	"quern.dev/geo/crs"
)

// Options change how transforms work.
type Options struct {
	// Area is where points are, by which operations are chosen, or nil.
	Area *crs.Extent
	// AuthorityOrder keeps the order of axes of the authority: latitude before longitude in EPSG:4326.
	AuthorityOrder bool
	// Epoch is the year of the coordinates, such as 2020.5, which operations that depend on time need; or 0.
	Epoch float64
	// Ballpark permits to skip a datum shift that PROJ does not know. Points may be off by some hundred meters then.
	Ballpark bool
}

// Transform converts coordinates from one system to another. It is safe for concurrent use, except Close.
type Transform struct {
	lib      *Library
	from, to string
	o        Options
	idle     chan *worker // with a nil worker for each that may be made
}

// batch is how many points one call of PROJ converts.
const batch = 2048

// worker has a context and memory for one thread. PROJ is given the worker's own arrays, which the runtime does not move.
type worker struct {
	lib     *Library
	context context
	pj      uintptr
	x, y, z [batch]float64
	time    [1]float64
}

// NewTransform returns the transform between two systems, which are texts that PROJ understands: codes of authorities
// ("EPSG:6247", "ESRI:54030", "IGNF:LAMB93"), names, WKT, PROJJSON or PROJ strings. An error matches ErrSystem or ErrOperation.
func (l *Library) NewTransform(from, to string, o Options) (*Transform, error) {
	if a := o.Area; a != nil && !(a.South >= -90 && a.North <= 90 && a.South <= a.North && math.Abs(a.West) <= 360 && math.Abs(a.East) <= 360) {
		return nil, failure(ErrParameter, "transform", "", "the area is %+v", *a)
	}
	if o.Epoch != 0 && !(o.Epoch > 1800 && o.Epoch < 2200) {
		return nil, failure(ErrParameter, "transform", "", "the epoch is %g", o.Epoch)
	}
	t := &Transform{lib: l, from: from, to: to, o: o, idle: make(chan *worker, workers())}
	first, err := t.worker()
	if err != nil {
		return nil, err
	}
	for range cap(t.idle) - 1 {
		t.idle <- nil
	}
	t.idle <- first
	return t, nil
}

// Converter returns a function for the options Converter of geo/warp and geo/mosaic. Transforms that it makes are not closed:
// they are few.
func (l *Library) Converter(o Options) func(from, to *crs.CRS) (crs.Converter, error) {
	return func(from, to *crs.CRS) (crs.Converter, error) {
		var texts [2]string
		for i, c := range []*crs.CRS{from, to} {
			if texts[i] = c.Definition(); texts[i] == "" {
				return nil, failure(ErrSystem, "transform", c.String(), "the system has no code and no text by which PROJ could know it")
			}
		}
		o := o
		o.AuthorityOrder = false
		return l.NewTransform(texts[0], texts[1], o)
	}
}

// create makes an object of PROJ for a system.
func (l *Library) create(op string, c context, text string) (uintptr, error) {
	if strings.ContainsRune(text, 0) {
		return 0, failure(ErrSystem, op, short(text), "the text has a zero byte")
	}
	definition := text
	if bare := strings.TrimPrefix(text, "+"); (strings.HasPrefix(bare, "proj=") || strings.HasPrefix(bare, "init=")) && !strings.Contains(text, "type=crs") {
		definition += " +type=crs"
	}
	b := cString(definition)
	pj := l.proj_create(c.handle, &b[0])
	runtime.KeepAlive(b)
	if pj == 0 {
		return 0, failure(ErrSystem, op, short(text), "PROJ does not know the system: %s", l.reason(c))
	}
	return pj, nil
}

// CRS returns a system that PROJ knows by a text; see [Library.NewTransform]. Its projection need not be one of package crs:
// [crs.CRS.Supported] tells. GeoTIFF files name it by Esri's definition, if it has one; see [crs.CRS.Cited].
func (l *Library) CRS(text string) (*crs.CRS, error) {
	c := l.context()
	defer l.free(c)
	pj, err := l.create("system", c, text)
	if err != nil {
		return nil, err
	}
	defer l.proj_destroy(pj)
	const wkt2of2019 = 2
	wkt := goString(l.proj_as_wkt(c.handle, pj, wkt2of2019, nil))
	if wkt == "" {
		return nil, failure(ErrSystem, "system", short(text), "it is not a coordinate reference system: %s", l.reason(c))
	}
	system, err := crs.Describe(wkt)
	if err != nil {
		return nil, err
	}
	const wkt1OfEsri = 5
	esri := ""
	for line := range strings.Lines(goString(l.proj_as_wkt(c.handle, pj, wkt1OfEsri, nil))) {
		esri += strings.TrimSpace(line)
	}
	if strings.HasPrefix(esri, "PROJCS[") && !strings.Contains(esri, `PROJECTION["PROJ_`) { // other names are Esri's
		system = system.Cited(esri)
	}
	return system, nil
}

// worker makes a worker.
func (t *Transform) worker() (*worker, error) {
	l := t.lib
	w := &worker{lib: l, context: l.context()}
	w.time[0] = t.o.Epoch
	if err := w.create(t); err != nil {
		w.close()
		return nil, err
	}
	return w, nil
}

func (w *worker) create(t *Transform) error {
	l, c := w.lib, w.context.handle
	var systems [2]uintptr
	for i, text := range []string{t.from, t.to} {
		var err error
		if systems[i], err = l.create("transform", w.context, text); err != nil {
			return err
		}
		defer l.proj_destroy(systems[i])
	}
	var area uintptr
	if a := t.o.Area; a != nil {
		area = l.proj_area_create()
		defer l.proj_area_destroy(area)
		l.proj_area_set_bbox(area, a.West, a.South, a.East, a.North)
	}
	option := cString("ALLOW_BALLPARK=NO")
	if t.o.Ballpark {
		option = cString("ALLOW_BALLPARK=YES")
	}
	options := []*byte{&option[0], nil}
	pj := l.proj_create_crs_to_crs_from_pj(c, systems[0], systems[1], area, &options[0])
	runtime.KeepAlive(options)
	if pj == 0 {
		return failure(ErrOperation, "transform", short(t.from)+" to "+short(t.to), "PROJ has no operation between the systems that does not skip a datum shift: %s", l.reason(w.context))
	}
	if w.pj = pj; t.o.AuthorityOrder {
		return nil
	}
	w.pj = l.proj_normalize_for_visualization(c, pj)
	l.proj_destroy(pj)
	if w.pj == 0 {
		return failure(ErrOperation, "transform", short(t.from)+" to "+short(t.to), "the order of axes cannot be changed: %s", l.reason(w.context))
	}
	return nil
}

func (w *worker) close() {
	if w.pj != 0 {
		w.lib.proj_destroy(w.pj)
	}
	w.lib.free(w.context)
}

// short returns the beginning of a text.
func short(text string) string {
	if len(text) > 60 {
		return text[:57] + "..."
	}
	return text
}

// Close frees the contexts. Calls of other methods must have ended.
func (t *Transform) Close() error {
	for range cap(t.idle) {
		if w := <-t.idle; w != nil {
			w.close()
		}
	}
	close(t.idle)
	return nil
}

// String names the systems and the library.
func (t *Transform) String() string {
	return short(t.from) + " to " + short(t.to) + " by " + t.lib.String()
}

// use calls f with a worker.
func (t *Transform) use(f func(w *worker)) error {
	w, open := <-t.idle
	if !open {
		return failure(ErrParameter, "transform", t.String(), "it is closed")
	}
	var err error
	if w == nil {
		w, err = t.worker()
	}
	if err == nil {
		f(w)
	}
	t.idle <- w
	return err
}

// Directions of proj_trans_generic.
const (
	forward = 1
	inverse = -1
)

// convert converts points in place, and returns how many have no coordinates.
func (w *worker) convert(direction int32, x, y, z []float64) (failed int) {
	for len(x) > 0 {
		n := min(len(x), batch)
		copy(w.x[:], x[:n])
		copy(w.y[:], y[:n])
		clear(w.z[:n])
		if z != nil {
			copy(w.z[:], z[:n])
		}
		for i := range n { // PROJ takes no NaN
			if sum := w.x[i] + w.y[i] + w.z[i]; sum != sum {
				w.x[i] = math.Inf(1)
			}
		}
		var time *float64
		var times uintptr
		if w.time[0] != 0 {
			time, times = &w.time[0], 1
		}
		w.lib.proj_errno_reset(w.pj)
		w.lib.proj_trans_generic(w.pj, direction, &w.x[0], 8, uintptr(n), &w.y[0], 8, uintptr(n), &w.z[0], 8, uintptr(n), time, 8, times)
		runtime.KeepAlive(w)
		for i := range n {
			if math.IsInf(w.x[i], 0) || math.IsInf(w.y[i], 0) || math.IsInf(w.z[i], 0) || math.IsNaN(w.x[i]+w.y[i]+w.z[i]) {
				w.x[i], w.y[i], w.z[i] = math.NaN(), math.NaN(), math.NaN()
				failed++
			}
		}
		copy(x, w.x[:n])
		copy(y, w.y[:n])
		x, y = x[n:], y[n:]
		if z != nil {
			copy(z, w.z[:n])
			z = z[n:]
		}
	}
	return failed
}

func (t *Transform) point(direction int32, x, y, z float64) (float64, float64, float64, error) {
	p, q, h := [1]float64{x}, [1]float64{y}, [1]float64{z}
	var failed int
	var reason string
	err := t.use(func(w *worker) {
		if failed = w.convert(direction, p[:], q[:], h[:]); failed > 0 {
			reason = w.lib.reason(w.context)
			if code := w.lib.proj_errno(w.pj); code != 0 {
				reason = goString(w.lib.proj_errno_string(code))
			}
		}
	})
	if err == nil && failed > 0 {
		from, to := t.from, t.to
		if direction == inverse {
			from, to = to, from
		}
		err = failure(crs.ErrDomain, "transform", "", "the point (%g, %g) of %s has no coordinates in %s: %s", x, y, short(from), short(to), reason)
	}
	return p[0], q[0], h[0], err
}

// Forward converts a point at height 0. It returns NaN and an error that matches [crs.ErrDomain] if the point has no
// coordinates in the target.
func (t *Transform) Forward(x, y float64) (float64, float64, error) {
	x, y, _, err := t.point(forward, x, y, 0)
	return x, y, err
}

// Inverse is Forward from the target to the source.
func (t *Transform) Inverse(x, y float64) (float64, float64, error) {
	x, y, _, err := t.point(inverse, x, y, 0)
	return x, y, err
}

// Forward3 converts a point with a height.
func (t *Transform) Forward3(x, y, z float64) (float64, float64, float64, error) {
	return t.point(forward, x, y, z)
}

// Inverse3 is Forward3 from the target to the source.
func (t *Transform) Inverse3(x, y, z float64) (float64, float64, float64, error) {
	return t.point(inverse, x, y, z)
}

// ForwardAll converts points in place, on all cores. Heights, z, may be nil. Points without coordinates in the target become
// NaN; their number is returned.
func (t *Transform) ForwardAll(x, y, z []float64) (failed int, err error) {
	return t.all(forward, x, y, z)
}

// InverseAll is ForwardAll from the target to the source.
func (t *Transform) InverseAll(x, y, z []float64) (failed int, err error) {
	return t.all(inverse, x, y, z)
}

func (t *Transform) all(direction int32, x, y, z []float64) (failed int, err error) {
	if len(x) != len(y) || z != nil && len(z) != len(x) {
		return 0, failure(ErrParameter, "transform", "", "%d, %d and %d coordinates", len(x), len(y), len(z))
	}
	parts := (len(x) + batch - 1) / batch
	var next, missing atomic.Int64
	var wait sync.WaitGroup
	errs := make([]error, min(cap(t.idle), parts))
	for i := range errs {
		wait.Go(func() {
			errs[i] = t.use(func(w *worker) {
				for {
					lo := int(next.Add(1)-1) * batch
					if lo >= len(x) {
						return
					}
					hi := min(lo+batch, len(x))
					var heights []float64
					if z != nil {
						heights = z[lo:hi]
					}
					missing.Add(int64(w.convert(direction, x[lo:hi], y[lo:hi], heights)))
				}
			})
		})
	}
	wait.Wait()
	for _, e := range errs {
		if e != nil {
			err = e
		}
	}
	return int(missing.Load()), err
}
