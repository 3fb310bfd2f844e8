package gpu

import (
	"quern.dev/internal/limits"
)

// maxSpecial is the maximum number of special forms per kernel.
const maxSpecial = 16

// specialForm is a special form, represented as a separate kernel.
type specialForm struct {
	name   string
	limits limits.Program
	kernel *Kernel
}

// specialise makes the kernel's special forms.
func (k *Kernel) specialise() {
	if len(k.info.Special) > maxSpecial {
		k.err = invalid("the kernel has %d special forms, at most %d", len(k.info.Special), maxSpecial)
		return
	}
	for _, s := range k.info.Special {
		info := k.info
		info.modules, info.Entry, info.Variants, info.Special, info.Shared, info.Host = s.Section, s.Entry, s.Variants, nil, s.Shared, s.Host
		form := specialForm{s.Name, s.Limits, newKernel(info)}
		if err := form.limits.Validate(len(info.Params)); err != nil && k.err == nil {
			k.err = err
		}
		if form.kernel.err != nil && k.err == nil {
			k.err = form.kernel.err
		}
		k.special = append(k.special, form)
		k.limited = true
	}
}

// form returns the special form for the arguments of a launch, or the kernel itself.
func (l *Launch) form() *Kernel {
	if l.wide {
		return l.kernel
	}
	for i := range l.kernel.special {
		if s := &l.kernel.special[i]; s.limits.HoldAt(l.values, l.places, &l.dims) {
			return s.kernel
		}
	}
	return l.kernel
}
