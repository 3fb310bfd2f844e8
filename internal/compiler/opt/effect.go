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
