package gpu

import (
	"reflect"
	"strings"
	"unsafe"
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
}

// integerOf returns how to read a parameter. The name of a defined type does not
// tell its sign: it is read as unsigned of its size, which read then doubts if
// the highest bit is set.
func integerOf(p Param) integer {
	if p.Kind != Scalar {
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
	pass(l *Launch)
}

func (b *Buffer[T]) element() reflect.Type { return reflect.TypeFor[T]() }
func (b *Buffer[T]) pass(l *Launch)        { SliceArg(l, b) }

// textureArgument is a *Texture2D[T] of any T.
type textureArgument interface {
	texel() reflect.Type
	pass(l *Launch)
}

func (x *Texture2D[T]) texel() reflect.Type { return reflect.TypeFor[T]() }
func (x *Texture2D[T]) pass(l *Launch)      { TextureArg(l, x) }

// Launch runs the kernel on the grid g with arguments whose number and types are
// checked now rather than by the Go compiler. A number must have the parameter's
// very type, as in float32(2); a struct or array its size. The argument for a
// slice is a *Buffer, for a texture a *Texture2D.
func (k *Kernel) Launch(s *Stream, g Grid, args ...any) error {
	l, err := k.Begin(s, g)
	if err != nil {
		return err
	}
	for i, arg := range args {
		if i < len(k.info.Params) {
			l.pass(arg, &k.info.Params[i])
		} else {
			l.next++
		}
	}
	return l.End()
}

// pass sets the next argument.
func (l *Launch) pass(arg any, p *Param) {
	if t := reflect.TypeOf(arg); t == nil || t != l.types[l.next] {
		if !argumentFits(arg, p) {
			if l.argument() != nil {
				l.fail(invalid("have %T, want %s", arg, p.describe()))
			}
			return
		}
		l.types[l.next] = t
	}
	switch p.Kind {
	case Slice:
		arg.(bufferArgument).pass(l)
	case Texture:
		arg.(textureArgument).pass(l)
	default:
		l.passValue(arg)
	}
}

// argumentFits reports whether arg is of the type of an argument for p.
func argumentFits(arg any, p *Param) bool {
	b, isBuffer := arg.(bufferArgument)
	x, isTexture := arg.(textureArgument)
	switch {
	case isTexture:
		return p.Kind == Texture && x.texel().String() == p.Type
	case isBuffer:
		return p.Kind == Slice && typeFits(b.element(), p)
	default:
		return arg != nil && p.Kind != Slice && p.Kind != Texture && typeFits(reflect.TypeOf(arg), p)
	}
}

func (l *Launch) passValue(arg any) {
	a := l.argument()
	if a == nil {
		return
	}
	// An interface holds the address of a value whose type has no pointers.
	value := (*[2]unsafe.Pointer)(unsafe.Pointer(&arg))[1]
	copy(unsafe.Slice((*byte)(a.Value), a.Size), unsafe.Slice((*byte)(value), a.Size))
	l.setInteger(a.Value)
}

// typeFits reports whether t may stand for the value or element type of p.
func typeFits(t reflect.Type, p *Param) bool {
	if int(t.Size()) != p.Size {
		return false
	}
	if inner, _ := notData(t); inner != nil {
		return false
	}
	if b, ok := basicTypes[p.Type]; ok {
		return t.Kind() == b.kind
	}
	// Of other types the name may be another package's or unknown here.
	composite := t.Kind() == reflect.Struct || t.Kind() == reflect.Array
	return composite || !strings.ContainsAny(p.Type, "{[")
}
