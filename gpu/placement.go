package gpu

// placement is how a launch was placed: the variant that runs and, in the launch's
// frame, the blocks. Most programs launch a kernel again and again with the same
// sizes, and evaluating a kernel's limits takes longer than everything else that
// the package does for a launch, so each Launch remembers its last placement.
type placement struct {
	loaded  *loadedKernel // of the form that was launched; nil: nothing is remembered
	number  int           // of the variant
	variant *variant

	// What the decision depended on, besides the kernel.
	dev  *Device
	grid Grid
	wide bool // the values are in the launch
}

// placeAlignment is the widest alignment that limits ask for, in bytes.
const placeAlignment = 16

// holds reports whether l would be placed again as it was. A kernel that was
// unloaded meanwhile is loaded anew.
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

// forget makes the next launch decide anew.
func (p *placement) forget() { p.loaded, p.variant, p.dev = nil, nil, nil }

// remember keeps the decision that was made for l.
func (p *placement) remember(l *Launch, r *loadedKernel, number int, v *variant) {
	p.loaded, p.number, p.variant = r, number, v
	p.dev, p.grid, p.wide = l.stream.dev, l.grid, l.wide
	for i := range l.params {
		s := &l.params[i]
		s.placedValue, s.placedPlace = s.value, s.place%placeAlignment
	}
}
