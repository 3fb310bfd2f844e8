package frontend

import (
	"go/token"
	"go/types"
	"strings"

	"quern.dev/internal/compiler/ir"
)

var basicTypes = map[types.BasicKind]*ir.Type{
	types.Bool: ir.TBool, types.UntypedBool: ir.TBool,
	types.Int8: ir.TInt8, types.Int16: ir.TInt16, types.Int32: ir.TInt32, types.Int64: ir.TInt64, types.Int: ir.TInt,
	types.Uint8: ir.TUint8, types.Uint16: ir.TUint16, types.Uint32: ir.TUint32, types.Uint64: ir.TUint64, types.Uint: ir.TUint,
	types.UntypedInt: ir.TInt, types.UntypedRune: ir.TInt32,
	types.Float32: ir.TFloat32, types.Float64: ir.TFloat64, types.UntypedFloat: ir.TFloat64,
	types.Complex64: ir.TComplex64, types.Complex128: ir.TComplex128, types.UntypedComplex: ir.TComplex128,
}

// unsupported says why values of a type are not allowed in a kernel, and what is.
func unsupported(t types.Type) string {
	switch u := t.Underlying().(type) {
	case *types.Map:
		return "maps are not supported in kernels; use a slice or array indexed by the key"
	case *types.Chan:
		return "channels are not supported in kernels; use slices for data and atomics to coordinate threads"
	case *types.Signature:
		return keptFunction
	case *types.Interface:
		return "interfaces are not supported in kernels; use a concrete type or a generic function"
	case *types.Basic:
		switch {
		case u.Info()&types.IsString != 0:
			return "strings are not supported in kernels; pass bytes in a []uint8, or index a constant string"
		case u.Kind() == types.UnsafePointer || u.Kind() == types.Uintptr:
			return "package unsafe and uintptr are not supported in kernels; index a slice"
		case u.Kind() == types.Invalid: // the type checker does not know the types of cgo's C
			return "C types are not supported in kernels; declare a type in Go"
		case u.Kind() == types.UntypedNil:
			return "nil is not supported in kernels; use a flag or an index of -1"
		}
	case *types.Slice:
		return "a slice inside a slice or array is not supported in kernels; use one slice and compute the index"
	}
	return "type " + t.String() + " is not supported in kernels"
}

// isKernelType reports whether t is the named type of package kernel.
func isKernelType(t types.Type, name string) bool {
	n, ok := types.Unalias(t).(*types.Named)
	return ok && n.Obj().Name() == name && n.Obj().Pkg() != nil && n.Obj().Pkg().Path() == kernelPath
}

func isThread(t types.Type) bool { return t != nil && isKernelType(t, "Thread") }

// subst replaces type parameters by the arguments of the instance being lowered.
func (fn *function) subst(t types.Type) types.Type {
	if len(fn.typeArgs) == 0 || t == nil {
		return t
	}
	switch t := t.(type) {
	case *types.TypeParam:
		if a, ok := fn.typeArgs[t]; ok {
			return a
		}
	case *types.Alias:
		return fn.subst(types.Unalias(t))
	case *types.Pointer:
		return types.NewPointer(fn.subst(t.Elem()))
	case *types.Slice:
		return types.NewSlice(fn.subst(t.Elem()))
	case *types.Array:
		return types.NewArray(fn.subst(t.Elem()), t.Len())
	case *types.Named:
		if t.TypeArgs().Len() > 0 {
			args := make([]types.Type, t.TypeArgs().Len())
			for i := range args {
				args[i] = fn.subst(t.TypeArgs().At(i))
			}
			if inst, err := types.Instantiate(nil, t.Origin(), args, false); err == nil {
				return inst
			}
		}
	case *types.Struct:
		fields := make([]*types.Var, t.NumFields())
		for i := range fields {
			f := t.Field(i)
			fields[i] = types.NewField(f.Pos(), f.Pkg(), f.Name(), fn.subst(f.Type()), f.Embedded())
		}
		return types.NewStruct(fields, nil)
	case *types.Tuple:
		vars := make([]*types.Var, t.Len())
		for i := range vars {
			vars[i] = types.NewVar(t.At(i).Pos(), t.At(i).Pkg(), t.At(i).Name(), fn.subst(t.At(i).Type()))
		}
		return types.NewTuple(vars...)
	}
	return t
}

// typ converts a Go type; pos is the position of the diagnostic if it cannot be
// converted.
func (fn *function) typ(t types.Type, pos token.Pos) *ir.Type {
	return fn.typOf(types.TypeString(fn.subst(t), fn.l.pkg.qualifier), t, pos)
}

// convertType returns the IR type, or why there is none.
func (l *lowering) convertType(t types.Type, depth int) (*ir.Type, string) {
	if depth > 32 {
		return nil, "type " + t.String() + " is recursive, which is not supported in kernels"
	}
	if cached, ok := l.types[t]; ok {
		return cached, ""
	}
	out, bad := l.convertNewType(t, depth)
	if bad == "" {
		l.types[t] = out
	}
	return out, bad
}

func (l *lowering) convertNewType(t types.Type, depth int) (*ir.Type, string) {
	switch t := t.(type) {
	case *types.Alias:
		return l.convertType(types.Unalias(t), depth)
	case *types.Basic:
		if b := basicTypes[t.Kind()]; b != nil {
			return b, ""
		}
	case *types.Named:
		if isThread(t) {
			return nil, "a kernel.Thread can only be passed to functions and asked for its coordinates"
		}
		under, bad := l.convertType(t.Underlying(), depth+1)
		if bad != "" {
			return nil, bad
		}
		named := *under
		named.Name = typeName(t)
		return &named, ""
	case *types.Array:
		elem, bad := l.convertType(t.Elem(), depth+1)
		if bad != "" {
			return nil, bad
		}
		if size := elem.Size(); size > 0 && t.Len() > maxTypeSize/size {
			return nil, tooLarge(t)
		}
		return ir.ArrayOf(t.Len(), elem), ""
	case *types.Slice:
		elem, bad := l.convertType(t.Elem(), depth+1)
		if bad != "" {
			return nil, bad
		}
		return ir.SliceOf(elem), ""
	case *types.Pointer:
		if isThread(t.Elem()) {
			return nil, threadByPointer
		}
		elem, bad := l.convertType(t.Elem(), depth+1)
		if bad != "" {
			return nil, bad
		}
		return ir.PointerTo(elem), ""
	case *types.Struct:
		if half := halfType(t); half != nil {
			return half, ""
		}
		fields := make([]ir.Field, t.NumFields())
		size := int64(0)
		for i := range fields {
			ft, bad := l.convertType(t.Field(i).Type(), depth+1)
			if bad != "" {
				return nil, bad
			}
			if size += ft.Size(); size > maxTypeSize {
				return nil, tooLarge(t)
			}
			fields[i] = ir.Field{Name: t.Field(i).Name(), Type: ft}
		}
		return ir.StructOf("", fields...), ""
	}
	return nil, unsupported(t)
}

// threadByPointer is the error for every pointer to a kernel.Thread.
const threadByPointer = "a kernel.Thread is passed by value, not by pointer; write f(t kernel.Thread)"

// maxTypeSize is the maximum size of a type in bytes. It prevents overflow in sums and
// products of sizes.
const maxTypeSize = 1 << 40

func tooLarge(t types.Type) string {
	return "type " + t.String() + " is larger than the memory of any device; use a slice"
}

// typeName returns the full name of a package-level type, "" for a local type, which
// cannot be named outside its function.
func typeName(t *types.Named) string {
	obj := t.Obj()
	if obj.Pkg() == nil || obj.Parent() != obj.Pkg().Scope() && t.Origin().Obj().Parent() != obj.Pkg().Scope() {
		return ""
	}
	var b strings.Builder
	b.WriteString(obj.Pkg().Path() + "." + obj.Name())
	if n := t.TypeArgs().Len(); n > 0 {
		b.WriteByte('[')
		for i := range n {
			if i > 0 {
				b.WriteByte(',')
			}
			b.WriteString(types.TypeString(t.TypeArgs().At(i), (*types.Package).Path))
		}
		b.WriteByte(']')
	}
	return b.String()
}

// plain reports whether values of a type can be in device memory: they contain no
// slices or pointers.
func plain(t *ir.Type) bool {
	switch t.Kind {
	case ir.Slice, ir.Pointer:
		return false
	case ir.Array:
		return plain(t.Elem)
	case ir.Struct:
		for _, f := range t.Fields {
			if !plain(f.Type) {
				return false
			}
		}
	}
	return true
}
