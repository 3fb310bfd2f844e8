package gpu

import "slices"

// placement is how a launch was placed: the variant that runs and, in the launch's
// frame, the blocks. Most programs launch a kernel again and again with the same
// sizes, and evaluating a kernel's limits takes longer than everything else that
// the package does for a launch, so each Launch remembers its last placement.
type placement struct {
	resident *resident // of the form that was launched; nil: nothing is remembered
	number   int       // of the variant
	variant  *variant

	// What the decision depended on, besides the kernel.
	dev    *Device
	grid   Grid
	wide   bool
	values []int64
	places []uint64 // modulo placeAlignment
}

// placeAlignment is the widest alignment that limits ask for, in bytes.
const placeAlignment = 16

// holds reports whether l would be placed again as it was. A kernel that was
// unloaded meanwhile is loaded anew.
func (p *placement) holds(l *Launch) bool {
	if p.resident == nil || p.dev != l.stream.dev || p.grid != l.grid || p.wide != l.wide {
		return false
	}
	for i, v := range p.values[:len(p.places)] {
		if v != l.values[i] || p.places[i] != l.places[i]%placeAlignment {
			return false
		}
	}
	return p.resident.variants[p.number].Load() == p.variant
}

// forget makes the next launch decide anew.
func (p *placement) forget() { p.resident, p.variant, p.dev = nil, nil, nil }

// remember keeps the decision that was made for l.
func (p *placement) remember(l *Launch, r *resident, number int, v *variant) {
	p.resident, p.number, p.variant = r, number, v
	p.dev, p.grid, p.wide = l.stream.dev, l.grid, l.wide
	p.values = append(p.values[:0], l.values[:len(l.places)]...)
	p.places = slices.Grow(p.places[:0], len(l.places))[:len(l.places)]
	for i, at := range l.places {
		p.places[i] = at % placeAlignment
	}
}
