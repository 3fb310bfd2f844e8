package ir

// Limits of the shared memory of a block, in bytes (CUDA C Programming Guide,
// compute capabilities).
const (
	// MaxStaticShared is what every kernel has on every device. Variables that
	// need more are placed in dynamic shared memory, for which a launch asks.
	MaxStaticShared = 48 << 10
	// MaxShared is the most that any device allows a launch to ask for.
	MaxShared = 227 << 10
)

// IsDynamic reports whether a shared variable stands for the dynamic shared
// memory, whose size is given at the launch: it is a slice, of all elements that
// fit. All such variables name the same memory.
func (v *SharedVar) IsDynamic() bool { return v.Type.Kind == Slice }

// MaxDynamic bounds the number of elements of type t in dynamic shared memory.
func MaxDynamic(t *Type) int64 { return MaxShared / max(t.Size(), 1) }

// Dynamic returns the shared variable that an expression reads as the slice of
// the dynamic shared memory.
func Dynamic(e Expr) (*SharedVar, bool) {
	l, ok := e.(*Load)
	if !ok {
		return nil, false
	}
	p, ok := l.Place.(*SharedPlace)
	if !ok || !p.Var.IsDynamic() {
		return nil, false
	}
	return p.Var, true
}
