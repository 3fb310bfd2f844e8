package opt

import "quern.dev/internal/compiler/ir"

// keepEffect drops the results of an effect that nothing reads. The effect stays.
func (r *reaper) keepEffect(s *ir.Effect) {
	r.later = nil
	for i, v := range s.Dst {
		if v != nil && r.unread(v) {
			s.Dst[i] = nil
		}
	}
}

// effect walks the arguments of an effect. What it results in is not known.
func (w *rangeWalk) effect(s *ir.Effect) {
	for _, e := range s.Args {
		w.apart(func() { w.visit(e) })
	}
	for _, v := range s.Dst {
		if i, ok := w.index[v]; ok {
			w.env.bind(i, binding{})
		}
	}
}
