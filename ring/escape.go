package ring

import "unsafe"

// Messages and replies pass through the methods of a core as unsafe.Pointer, since a
// core does not know their types. These methods call others through interfaces, which
// would make every message and every reply escape: an allocation for each. The two
// functions here avoid that without hiding what a message points to. An actor and its core
// have the same types In and Out, since nothing but newActor and the constructors join
// them: so whoever converts such a pointer back converts it to what it was.
//
// The rule: a method that gets a pointer from noescape copies the value in its own
// type, with assignments that the garbage collector sees, and does not keep the
// pointer. Whatever the copy points to is then reachable from the heap, so it must not
// live on the sender's stack: who sends calls escapes first. Replies need no such call:
// they come from the heap.

// noescape hides p from escape analysis. The callee must not keep p; see above. p may
// point into a stack: that moves only where a function is called, and then every
// unsafe.Pointer into it is adjusted.
//
//go:nocheckptr
func noescape(p unsafe.Pointer) unsafe.Pointer { return unsafe.Add(nil, uintptr(p)) }

// escapes makes what *v points to escape to the heap, but not *v itself. Values without
// pointers cost a load and a branch, and stay where they are.
func escapes[T any](v *T) {
	if sink.taken {
		sink.value = *v
	}
}

// sink is where escapes assigns to. It never does, but the compiler cannot know.
var sink struct {
	taken bool
	value any
}
