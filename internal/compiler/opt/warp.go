package opt

import "quern.dev/internal/compiler/ir"

// keepWarp reports whether a warp operation is still needed. All lanes drop the
// same results, so that one without any can go.
func (r *reaper) keepWarp(s *ir.Warp) bool {
	r.later = nil
	needed := len(s.Dst) == 0
	for i, v := range s.Dst {
		if v != nil && r.unread(v) {
			s.Dst[i] = nil
		}
		needed = needed || s.Dst[i] != nil
	}
	for _, e := range s.Args {
		needed = needed || mayFault(e)
	}
	return needed
}

// warp walks the arguments of a warp operation. A value that another lane hands
// over is one that the argument can have.
func (w *rangeWalk) warp(s *ir.Warp) {
	for _, e := range s.Args {
		w.apart(func() { w.visit(e) })
	}
	for _, v := range s.Dst {
		if i, ok := w.index[v]; ok {
			w.env.bind(i, binding{})
		}
	}
}
