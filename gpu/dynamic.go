package gpu

import (
	"cmp"
	"fmt"
	"reflect"
	"strings"
	"unsafe"

	"quern.dev/gpu/compiled"
)

// integer is how the limits of a kernel read an integer parameter.
type integer uint8

const (
	notInteger integer = iota
	signed8
	signed16
	signed32
	signed64
	unsigned8
	unsigned16
	unsigned32
	unsigned64
	doubtful8 // signed or unsigned
	doubtful16
	doubtful32
)

// basicTypes gives the predeclared type with each name.
var basicTypes = map[string]struct {
	kind    reflect.Kind
	integer integer
}{
	"bool": {reflect.Bool, unsigned8},
	"int":  {reflect.Int, signed64}, "int8": {reflect.Int8, signed8}, "int16": {reflect.Int16, signed16},
	"int32": {reflect.Int32, signed32}, "rune": {reflect.Int32, signed32}, "int64": {reflect.Int64, signed64},
	"uint": {reflect.Uint, unsigned64}, "uint8": {reflect.Uint8, unsigned8}, "byte": {reflect.Uint8, unsigned8},
	"uint16": {reflect.Uint16, unsigned16}, "uint32": {reflect.Uint32, unsigned32}, "uint64": {reflect.Uint64, unsigned64},
	"float32": {reflect.Float32, notInteger}, "float64": {reflect.Float64, notInteger},
	"complex64": {reflect.Complex64, notInteger}, "complex128": {reflect.Complex128, notInteger},
}

// integerOf returns how to read a parameter. The name of a defined type does not
// tell its sign: it is read as unsigned of its size, which read then doubts if
// the highest bit is set.
func integerOf(p compiled.Param) integer {
	if p.Kind != compiled.Scalar {
		return notInteger
	}
	if b, ok := basicTypes[p.Type]; ok {
		return b.integer
	}
	switch p.Size {
	case 1:
		return doubtful8
	case 2:
		return doubtful16
	case 4:
		return doubtful32
	default:
		return unsigned64
	}
}

// read returns the integer at p. It reports false if the value may exceed int64
// or have another sign, so that no limit can be trusted to hold.
func (k integer) read(p unsafe.Pointer) (v int64, ok bool) {
	switch k {
	case signed8:
		return int64(*(*int8)(p)), true
	case signed16:
		return int64(*(*int16)(p)), true
	case signed32:
		return int64(*(*int32)(p)), true
	case signed64:
		return *(*int64)(p), true
	case unsigned8:
		return int64(*(*uint8)(p)), true
	case unsigned16:
		return int64(*(*uint16)(p)), true
	case unsigned32:
		return int64(*(*uint32)(p)), true
	case doubtful8:
		v := *(*int8)(p)
		return int64(v), v >= 0
	case doubtful16:
		v := *(*int16)(p)
		return int64(v), v >= 0
	case doubtful32:
		v := *(*int32)(p)
		return int64(v), v >= 0
	case unsigned64:
		v := *(*int64)(p)
		return v, v >= 0
	default:
		return 0, true
	}
}

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
			return invalid("have %s, want %s", fullName(t), p.describe())
		}
		t, have, sameKind = x.element(), "*gpu.Buffer[%s]", p.Kind == compiled.Slice
	case textureArgument:
		t, have, sameKind = x.texel(), "*gpu.Texture2D[%s]", p.Kind == compiled.Texture
	}
	if !sameKind || p.mismatch(t) != "" {
		return p.mistyped(fmt.Sprintf(have, fullName(t)), t, sameKind)
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
	known, ok := parseLayout(p.layout())
	if !sameKind || p.Kind == compiled.Texture || !composite(t.Kind()) && ok && known.name != "" {
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
		if fullName(t) == p.Type {
			return ""
		}
		return "another type"
	}
	why := ""
	if l, known := parseLayout(p.layout()); known {
		why = l.differs(t, "")
	} else if inner, _ := notData(t); inner != nil || p.Kind == compiled.Struct && t.Kind() != reflect.Struct && t.Kind() != reflect.Array {
		why = fullName(t) + " is not " + p.Type
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
