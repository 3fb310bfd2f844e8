package ranges

import "quern.dev/internal/compiler/ir"

// Trips is what is known of the iterations of a loop.
type Trips struct {
	Most int   // iterations at most
	By   int64 // what each adds to the variable, 0 if that is not one number
}

// CountTrips finds the loops that run at most a few times, whatever the launch: no more than
// most. Step returns the assignment at the end of a loop's iteration that alone
// changes its variable, or nil for a loop that is not to be counted. No parameter may be
// assigned to: see FreezeParams.
func CountTrips(k *ir.Kernel, most int, step func(*ir.Loop) *ir.Assign) map[*ir.Loop]Trips {
	w := newWalker(k, Wide)
	w.trips = &tripCounter{step: step, most: most, found: map[*ir.Loop]Trips{}}
	w.list(k.Func.Body)
	return w.trips.found
}

// tripCounter is what a walk needs that counts the iterations of loops.
type tripCounter struct {
	step  func(*ir.Loop) *ir.Assign
	most  int
	found map[*ir.Loop]Trips
}

// noteTrips counts the iterations of a loop that is about to be entered. Of several
// walks the last one counts.
func (w *walker) noteTrips(s *ir.Loop) {
	if t, ok := w.countTrips(s); ok {
		w.trips.found[s] = t
	} else {
		delete(w.trips.found, s)
	}
}

// countTrips goes through the conditions and the steps of a loop until the
// condition is certain to be false. Of the body it knows which variables it changes.
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

// nearby reports whether steps by a number bring x to y before there are too many,
// if the condition compares them. It saves the walk most loops.
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
