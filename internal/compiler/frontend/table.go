package frontend

import (
	"encoding/binary"
	"go/ast"
	"go/constant"
	"go/token"
	"go/types"
	"math"
	"slices"
	"strings"

	"quern.dev/internal/compiler/ir"
)

// table returns the place of a package-level variable. Kernels see its initial
// contents, so it must be initialized with constants and never assigned. Proving that
// an exported variable is never assigned would require all packages of the program:
// only those of the standard library are treated as constant.
func (fn *function) table(v *types.Var, pos token.Pos) ir.Place {
	l := fn.l
	path := v.Pkg().Path()
	name := path + "." + v.Name()
	if t, ok := l.tables[name]; ok {
		return fn.readTable(t)
	}
	src := l.pkg
	if path != l.pkg.Path {
		var err error
		if src, err = l.world.source(path); err != nil {
			fn.errorf(pos, "%v", err)
			return fn.badPlace(ir.TInt)
		}
	}
	if v.Exported() && !src.standard {
		fn.errorf(pos, "exported variable %s of package %s can be assigned by any package, so a kernel cannot read it; unexport it or pass it as a parameter", v.Name(), src.Name)
		return fn.badPlace(fn.typ(v.Type(), pos))
	}
	obj, _ := src.Types.Scope().Lookup(v.Name()).(*types.Var)
	init, written := src.variable(obj)
	if obj == nil || written {
		fn.errorf(pos, "package-level variable %s is assigned, or its address taken, so a kernel cannot read it; pass it as a parameter", v.Name())
		return fn.badPlace(fn.typ(v.Type(), pos))
	}
	t := fn.typ(obj.Type(), pos)
	if !plain(t) {
		fn.errorf(pos, "package-level variable %s: a kernel can read arrays, structs and numbers, not %s; declare it as an array or pass it as a parameter", v.Name(), t)
		return fn.badPlace(t)
	}
	if size := t.Size(); size > maxTable {
		fn.errorf(pos, "package-level variable %s has %d bytes; a kernel can read at most %d; pass it as a slice", v.Name(), size, maxTable)
		return fn.badPlace(t)
	}
	if !fn.hasRoom(t.Size(), pos) {
		return fn.badPlace(t)
	}
	table := &ir.Table{Name: name, Type: t, Data: make([]byte, t.Size()), Go: ir.GoRef{Package: path, Name: v.Name()}}
	if init != nil && !src.encode(table.Data, t, init) {
		fn.errorf(pos, "package-level variable %s is not declared with constants, so a kernel cannot read it; pass it as a parameter", v.Name())
	}
	l.tables[name] = table
	return fn.readTable(table)
}

// readTable returns the place of a table, which is one of the kernel's from then on.
func (fn *function) readTable(t *ir.Table) ir.Place {
	k := fn.l.kernel
	if !slices.Contains(k.Tables, t) {
		k.Tables = append(k.Tables, t)
	}
	return &ir.TablePlace{Table: t}
}

// Limits of tables: their contents become text in the GPU code.
const (
	maxTable = 1 << 20 // bytes of one table

	// Of all kernels of a text, and of all forms of one kernel.
	maxTables     = 256
	MaxTableBytes = 4 << 20
)

// hasRoom reports whether the kernels of a text may have another table. If not, it
// reports an error.
func (fn *function) hasRoom(size int64, pos token.Pos) bool {
	l := fn.l
	if !l.pkg.isText() {
		return true
	}
	for _, t := range l.tables {
		size += int64(len(t.Data))
	}
	switch {
	case len(l.tables) >= maxTables:
		fn.errorf(pos, "the kernels of the text read more than %d package-level variables and constant strings; combine them, or pass them as slices", maxTables)
	case size > MaxTableBytes:
		fn.errorf(pos, "the package-level variables and constant strings that the kernels of the text read have more than %d bytes in all; pass them as slices", MaxTableBytes)
	default:
		return true
	}
	return false
}

// variable returns the initial value of a package-level variable and whether anything
// assigns to it.
func (p *Package) variable(v *types.Var) (init ast.Expr, written bool) {
	if v == nil {
		return nil, true
	}
	for _, f := range p.Files {
		for _, d := range f.Decls {
			gd, ok := d.(*ast.GenDecl)
			if !ok || gd.Tok != token.VAR {
				continue
			}
			for _, spec := range gd.Specs {
				vs := spec.(*ast.ValueSpec)
				for i, name := range vs.Names {
					if p.Info.Defs[name] != v {
						continue
					}
					if len(vs.Values) == len(vs.Names) {
						init = vs.Values[i]
					} else if len(vs.Values) > 0 {
						return nil, true // assigned from a call with several results
					}
				}
			}
		}
	}
	return init, p.changed()[v]
}

// changed returns the objects that the package assigns to, as a whole or in part, or
// takes the address of.
func (p *Package) changed() map[types.Object]bool {
	if p.written == nil {
		p.written = map[types.Object]bool{}
		add := func(obj types.Object) bool { p.written[obj] = true; return false }
		fn := &function{src: p}
		for _, f := range p.Files {
			fn.anyStored(f, add)
			if !p.standard { // the standard library takes addresses of its tables to read them
				fn.anyAddressed(f, add)
			}
		}
	}
	return p.written
}

// encode writes the value of a constant expression, of a literal of constant
// expressions, or of a call of a function of package kernel that builds a number or
// vector from them.
func (p *Package) encode(dst []byte, t *ir.Type, e ast.Expr) bool {
	e = ast.Unparen(e)
	if tv := p.Info.Types[e]; tv.Value != nil {
		return encodeConstant(dst, constantAs(tv.Value, t))
	}
	if call, ok := e.(*ast.CallExpr); ok {
		return p.encodeCall(dst, t, call)
	}
	lit, ok := e.(*ast.CompositeLit)
	if !ok {
		return false
	}
	switch t.Kind {
	case ir.Array:
		next := int64(0)
		size := t.Elem.Size()
		for _, el := range lit.Elts {
			if kv, ok := el.(*ast.KeyValueExpr); ok {
				tv := p.Info.Types[kv.Key]
				if tv.Value == nil {
					return false
				}
				next, _ = constant.Int64Val(constant.ToInt(tv.Value))
				el = kv.Value
			}
			if next < 0 || next >= t.Len || !p.encode(dst[next*size:][:size], t.Elem, el) {
				return false
			}
			next++
		}
		return true
	case ir.Struct:
		for i, el := range lit.Elts {
			field := i
			if kv, ok := el.(*ast.KeyValueExpr); ok {
				field = slices.IndexFunc(t.Fields, func(f ir.Field) bool { return f.Name == kv.Key.(*ast.Ident).Name })
				el = kv.Value
			}
			if field < 0 || field >= len(t.Fields) {
				return false
			}
			f := t.Fields[field]
			if !p.encode(dst[f.Offset:][:f.Type.Size()], f.Type, el) {
				return false
			}
		}
		return true
	}
	return false
}

// encodeConstant writes a scalar or complex constant.
func encodeConstant(dst []byte, e ir.Expr) bool {
	switch e := e.(type) {
	case *ir.Const:
		bits := e.Bits
		switch e.T.Kind {
		case ir.Float32:
			bits = uint64(math.Float32bits(float32(e.Float)))
		case ir.Float64:
			bits = math.Float64bits(e.Float)
		}
		var buf [8]byte
		binary.LittleEndian.PutUint64(buf[:], bits)
		copy(dst, buf[:e.T.Size()])
		return true
	case *ir.Composite:
		for i, f := range e.T.Fields {
			if !encodeConstant(dst[f.Offset:][:f.Type.Size()], e.Elems[i]) {
				return false
			}
		}
		return true
	}
	return false
}

// encodeCall writes the result of kernel.ToFloat16, kernel.V4 and the like.
func (p *Package) encodeCall(dst []byte, t *ir.Type, call *ast.CallExpr) bool {
	id := calleeIdent(ast.Unparen(call.Fun))
	if id == nil {
		return false
	}
	f, ok := p.Info.Uses[id].(*types.Func)
	if !ok || f.Pkg() == nil || f.Pkg().Path() != kernelPath || f.Signature().Recv() != nil {
		return false
	}
	switch f.Name() {
	case "V2", "V3", "V4":
		for i, arg := range call.Args {
			if i >= len(t.Fields) {
				return false
			}
			field := t.Fields[i]
			if !p.encode(dst[field.Offset:][:field.Type.Size()], field.Type, arg) {
				return false
			}
		}
		return true
	case "ToFloat16", "ToBFloat16", "Float16FromBits", "BFloat16FromBits":
		tv := p.Info.Types[call.Args[0]]
		b, ok := tv.Type.Underlying().(*types.Basic)
		if tv.Value == nil || !ok || !t.IsHalf() {
			return false
		}
		x, ok := constantOf(tv.Value, basicTypes[b.Kind()]).(*ir.Const)
		if !ok {
			return false
		}
		switch {
		case strings.HasSuffix(f.Name(), "FromBits"):
			return encodeConstant(dst, &ir.Const{T: t, Bits: x.Bits})
		case !x.T.IsFloat():
			return encodeConstant(dst, ir.IntegerHalf(t, x))
		}
		return encodeConstant(dst, ir.HalfConst(t, x.Float))
	}
	return false
}
