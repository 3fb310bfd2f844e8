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
		needed = needed || ir.MayFault(e)
	}
	return needed
}
