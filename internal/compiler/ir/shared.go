package ir

// Limits of the shared memory of a block, in bytes (CUDA C Programming Guide,
// compute capabilities).
const (
	// MaxStaticShared is available to every kernel on every device. Variables that need
	// more are placed in dynamic shared memory, which the launch requests.
	MaxStaticShared = 48 << 10
	// MaxShared is the maximum that a launch can request on any device.
	MaxShared = 227 << 10
)

// IsDynamic reports whether a shared variable stands for the dynamic shared memory,
// whose size is set at launch: it is a slice of all elements that fit. All such
// variables refer to the same memory.
func (v *SharedVar) IsDynamic() bool { return v.Type.Kind == Slice }

// MaxDynamic returns the maximum number of elements of type t in dynamic shared memory.
func MaxDynamic(t *Type) int64 { return MaxShared / max(t.Size(), 1) }

// Dynamic returns the shared variable that an expression reads as the slice of dynamic
// shared memory.
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
