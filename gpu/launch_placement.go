package gpu

// placement is the placement of a launch: the variant that runs and, in the launch's frame,
// the blocks. Most programs launch a kernel many times with the same sizes, and evaluating
// limits takes longer than the rest of a launch in this package. So each Launch keeps its
// last placement.
type placement struct {
	loaded  *loadedKernel // of the form that was launched; nil if nothing is remembered
	number  int           // of the variant
	variant *variant

	// Inputs of the decision besides the kernel.
	dev  *Device
	grid Grid
	wide bool // the values are in the launch
}

// placeAlignment is the largest alignment in limits, in bytes.
const placeAlignment = 16

// holds reports whether the placement is still valid for l. It is not if the kernel was
// unloaded in the meantime.
func (p *placement) holds(l *Launch) bool {
	if p.loaded == nil || p.dev != l.stream.dev || p.grid != l.grid || p.wide != l.wide {
		return false
	}
	for i := range l.params {
		if s := &l.params[i]; s.value != s.placedValue || s.place%placeAlignment != s.placedPlace {
			return false
		}
	}
	return p.loaded.variants[p.number].Load() == p.variant
}

// forget discards the placement.
func (p *placement) forget() { p.loaded, p.variant, p.dev = nil, nil, nil }

// remember records the placement of l.
func (p *placement) remember(l *Launch, r *loadedKernel, number int, v *variant) {
	p.loaded, p.number, p.variant = r, number, v
	p.dev, p.grid, p.wide = l.stream.dev, l.grid, l.wide
	for i := range l.params {
		s := &l.params[i]
		s.placedValue, s.placedPlace = s.value, s.place%placeAlignment
	}
}
