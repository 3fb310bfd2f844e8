package gpu

import (
	"quern.dev/internal/limits"
)

// maxSpecial is how many special forms a kernel can have.
const maxSpecial = 16

// specialForm is a special form as a kernel of its own.
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

// form returns the special form of the kernel for a launch's arguments, or the
// kernel itself.
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
