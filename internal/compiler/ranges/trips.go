package ranges

import "quern.dev/internal/compiler/ir"

// Trips describes the iterations of a loop.
type Trips struct {
	Most int   // maximum number of iterations
	By   int64 // step of the variable, 0 if it is not one number
}

// CountTrips finds the loops that run at most most times in every launch. step returns
// the assignment at the end of a loop's iteration that is the only change of its
// variable, or nil for a loop that is not to be counted. No parameter may be assigned:
// see FreezeParams.
func CountTrips(k *ir.Kernel, most int, step func(*ir.Loop) *ir.Assign) map[*ir.Loop]Trips {
	w := newWalker(k, Wide)
	w.trips = &tripCounter{step: step, most: most, found: map[*ir.Loop]Trips{}}
	w.list(k.Func.Body)
	return w.trips.found
}

// tripCounter is the state of a walk that counts loop iterations.
type tripCounter struct {
	step  func(*ir.Loop) *ir.Assign
	most  int
	found map[*ir.Loop]Trips
}

// noteTrips counts the iterations of a loop that is about to be entered. If a loop is
// walked several times, the last walk counts.
func (w *walker) noteTrips(s *ir.Loop) {
	if t, ok := w.countTrips(s); ok {
		w.trips.found[s] = t
	} else {
		delete(w.trips.found, s)
	}
}

// countTrips evaluates the conditions and steps of a loop until the condition is known
// to be false. It only knows which variables the body changes.
func (w *walker) countTrips(s *ir.Loop) (t Trips, ok bool) {
	step := w.trips.step(s)
	if step == nil {
		return t, false
	}
	v := step.Dst.(*ir.VarPlace).Var
	if !w.has(v) || !v.Type.IsInteger() {
		return t, false
	}
	m, env := w.mark(), w.env
	w.env = env.clone()
	defer func() {
		w.release(m)
		w.env = env
	}()
	for ; ; t.Most++ {
		cond := w.condition(s.Cond)
		if w.decided(cond, false) {
			return t, true
		}
		if t.Most == w.trips.most || cond == nil || t.Most > 1 && t.By == 0 || t.Most == 1 && !w.nearby(cond, t.By) {
			return t, false
		}
		w.assumeCondition(cond, true)
		for _, i := range w.regions[loopBody{s}].assigned {
			w.env.bind(i, binding{})
		}
		before := w.value(ir.Get(v))
		w.assign(step)
		added := w.value(ir.Get(v)).plus(-1, before)
		switch {
		case added == nil || !added.isConst() || t.Most > 0 && t.By != added.c:
			t.By = 0
		default:
			t.By = added.c
		}
	}
}

// nearby reports whether steps of size by bring x to y within the maximum, if the
// condition compares them. It excludes most loops cheaply.
func (w *walker) nearby(c *condition, by int64) bool {
	if c.x == nil || by == 0 {
		return by != 0
	}
	distance := c.y.plus(-1, c.x)
	if by < 0 {
		distance, by = distance.negated(), -by
	}
	return distance != nil && w.proves(constPoly(saturatedMul(by, int64(w.trips.most))).plus(-1, distance))
}
