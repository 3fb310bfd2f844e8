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

// bufferArgument is a *Buffer[T] of any T.
type bufferArgument interface {
	element() reflect.Type
}

func (b *Buffer[T]) element() reflect.Type { return reflect.TypeFor[T]() }

// bufferType reports whether t is *Buffer[T], and not of something that has one.
func bufferType(t reflect.Type) bool {
	if t.Kind() != reflect.Pointer || t.Elem().PkgPath() != reflect.TypeFor[Device]().PkgPath() {
		return false
	}
	return strings.HasPrefix(t.Elem().Name(), "Buffer[")
}

// bytesOf returns the buffer itself for those who need not know what it is of. A
// Buffer is the same for all types.
func (b *Buffer[T]) bytesOf() *Buffer[byte] { return (*Buffer[byte])(unsafe.Pointer(b)) }

// textureArgument is a *Texture2D[T] of any T.
type textureArgument interface {
	texel() reflect.Type
	pass(l *Launch)
}

func (x *Texture2D[T]) texel() reflect.Type { return reflect.TypeFor[T]() }
func (x *Texture2D[T]) pass(l *Launch)      { TextureArg(l, x) }

// Launch runs the kernel on the grid g with arguments whose number and types are
// checked now rather than by the Go compiler. A number must have the parameter's
// very type, as in float32(2). A struct or array may have another type of the same
// layout: numbers of the same types at the same offsets, and fields that both have by
// the same name in the same places. The argument for a slice is a *Buffer, of elements
// of which the same holds, for a texture a *Texture2D.
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

// passAny sets the next argument, the one for p.
func (l *Launch) passAny(arg any, p *param) {
	// An interface holds its type and the address of its value, or the pointer.
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

// passValue sets the next argument to the value at an address, which is of the
// parameter's type.
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

// accepts returns an error if arg is no argument for p.
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

// mistyped is the error for an argument of type have, which has values or elements of
// type t. sameKind: it is a value, a buffer or a texture as the parameter wants it.
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

// layout is the layout of the parameter's value or elements, or their type if that is
// all that is known.
func (p *param) layout() string { return cmp.Or(p.Layout, p.Type) }

// mismatch says what about t is not as in the values or elements of p, "" if nothing
// is.
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
