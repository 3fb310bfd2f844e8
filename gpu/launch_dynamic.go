package gpu

import (
	"cmp"
	"fmt"
	"reflect"
	"strings"
	"unsafe"

	"quern.dev/gpu/compiled"
	"quern.dev/gpu/internal/layout"
)

// bufferArgument is a *Buffer[T] for any T.
type bufferArgument interface {
	element() reflect.Type
}

func (b *Buffer[T]) element() reflect.Type { return reflect.TypeFor[T]() }

// bufferType reports whether t is *Buffer[T], and not a type that embeds one.
func bufferType(t reflect.Type) bool {
	if t.Kind() != reflect.Pointer || t.Elem().PkgPath() != reflect.TypeFor[Device]().PkgPath() {
		return false
	}
	return strings.HasPrefix(t.Elem().Name(), "Buffer[")
}

// bytesOf returns the buffer as a Buffer[byte], for code that does not depend on the
// element type. All Buffers have the same layout.
func (b *Buffer[T]) bytesOf() *Buffer[byte] { return (*Buffer[byte])(unsafe.Pointer(b)) }

// textureArgument is a *Texture2D[T] for any T.
type textureArgument interface {
	texel() reflect.Type
	pass(l *Launch)
}

func (x *Texture2D[T]) texel() reflect.Type { return reflect.TypeFor[T]() }
func (x *Texture2D[T]) pass(l *Launch)      { TextureArg(l, x) }

// Launch runs the kernel on the grid g. The number and types of the arguments are
// checked at run time, not by the Go compiler. A number must have exactly the type of
// the parameter, as in float32(2). A struct or array may have a different type with
// the same layout: numbers of the same types at the same offsets, and fields that have
// the same name in both types at the same offset. The argument for a slice is a
// *Buffer whose elements follow the same rule, and for a texture a *Texture2D.
func (k *Kernel) Launch(s *Stream, g Grid, args ...any) error {
	l, err := k.Begin(s, g)
	if err != nil {
		return err
	}
	for i, arg := range args {
		if i < len(k.info.Params) {
			l.passAny(arg, k.info.param(i))
		} else {
			l.next++
		}
	}
	return l.End()
}

// passAny sets the next argument, for parameter p.
func (l *Launch) passAny(arg any, p *param) {
	// An interface holds its type, and the pointer or the address of the value.
	words := (*[2]unsafe.Pointer)(unsafe.Pointer(&arg))
	s := &l.params[l.next]
	if t := words[0]; t == nil || t != s.accepted {
		if err := p.accepts(arg); err != nil {
			if l.argument() != nil {
				l.fail(err)
			}
			return
		}
		s.accepted = t
	}
	switch {
	case s.slice:
		if a := l.argument(); a != nil {
			l.pass(a, (*Buffer[byte])(words[1]))
		}
	case p.Kind == compiled.Texture:
		arg.(textureArgument).pass(l)
	default:
		l.passValue(words[1])
	}
}

// passValue sets the next argument to the value at an address. The value has the type
// of the parameter.
func (l *Launch) passValue(at unsafe.Pointer) {
	a := l.argument()
	if a == nil {
		return
	}
	switch a.Size {
	case 4:
		*(*uint32)(a.Value) = *(*uint32)(at)
	case 8:
		*(*uint64)(a.Value) = *(*uint64)(at)
	default:
		copy(unsafe.Slice((*byte)(a.Value), a.Size), unsafe.Slice((*byte)(at), a.Size))
	}
	l.setInteger(a.Value)
}

// accepts returns an error if arg is not a valid argument for p.
func (p *param) accepts(arg any) error {
	t, have := reflect.TypeOf(arg), "%s" // the type of the elements, or of the value
	sameKind := arg != nil && p.Kind != compiled.Slice && p.Kind != compiled.Texture
	switch x := arg.(type) {
	case bufferArgument:
		if !bufferType(t) {
			return invalid("have %s, want %s", layout.FullName(t), p.describe())
		}
		t, have, sameKind = x.element(), "*gpu.Buffer[%s]", p.Kind == compiled.Slice
	case textureArgument:
		t, have, sameKind = x.texel(), "*gpu.Texture2D[%s]", p.Kind == compiled.Texture
	}
	if !sameKind || p.mismatch(t) != "" {
		return p.mistyped(fmt.Sprintf(have, layout.FullName(t)), t, sameKind)
	}
	return nil
}

// mistyped returns the error for an argument of type have, whose value or elements
// have type t. sameKind means that the argument is a value, a buffer or a texture, as
// the parameter requires.
func (p *param) mistyped(have string, t reflect.Type, sameKind bool) error {
	want := p.describe()
	if have == want {
		want = "another " + want
	}
	composite := func(k reflect.Kind) bool { return k == reflect.Struct || k == reflect.Array }
	known, ok := layout.Parse(p.layout())
	if !sameKind || p.Kind == compiled.Texture || !composite(t.Kind()) && ok && known.Basic() {
		return invalid("have %s, want %s", have, want)
	}
	return invalid("have %s, want %s: %s", have, want, p.mismatch(t))
}

// layout returns the layout of the parameter's value or elements, or their type if
// the layout is unknown.
func (p *param) layout() string { return cmp.Or(p.Layout, p.Type) }

// mismatch describes how t differs from the type of the values or elements of p. It
// returns "" if it does not.
func (p *param) mismatch(t reflect.Type) string {
	if p.Kind == compiled.Texture {
		if layout.FullName(t) == p.Type {
			return ""
		}
		return "another type"
	}
	why := ""
	if l, known := layout.Parse(p.layout()); known {
		why = l.Differs(t)
	} else if inner, _ := layout.NotData(t); inner != nil || p.Kind == compiled.Struct && t.Kind() != reflect.Struct && t.Kind() != reflect.Array {
		why = layout.FullName(t) + " is not " + p.Type
	}
	switch {
	case int(t.Size()) != p.Size:
		return fmt.Sprintf("the sizes differ: %d bytes, want %d%s", t.Size(), p.Size, strings.TrimSuffix("; "+why, "; "))
	case why != "":
		return "the layouts differ: " + why
	default:
		return ""
	}
}
