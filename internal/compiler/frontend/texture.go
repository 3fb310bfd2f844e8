package frontend

import (
	"go/ast"
	"go/types"

	"quern.dev/internal/compiler/ir"
)

// TextureElem returns the element type of a kernel.Texture2D; nil for any other type.
func TextureElem(t types.Type) types.Type {
	if !isKernelType(t, "Texture2D") {
		return nil
	}
	n := types.Unalias(t).(*types.Named)
	if n.TypeArgs().Len() != 1 {
		return nil
	}
	return n.TypeArgs().At(0)
}

// holdsTexture reports whether values of a type contain a texture.
func holdsTexture(t types.Type) bool {
	switch u := types.Unalias(t).Underlying().(type) {
	case *types.Slice:
		return isTexture(u.Elem()) || holdsTexture(u.Elem())
	case *types.Array:
		return isTexture(u.Elem()) || holdsTexture(u.Elem())
	case *types.Struct:
		for i := range u.NumFields() {
			if f := u.Field(i).Type(); isTexture(f) || holdsTexture(f) {
				return true
			}
		}
	}
	return false
}

func isTexture(t types.Type) bool { return TextureElem(t) != nil }

// sampleMethod is the method of textures that is an instruction.
const sampleMethod = "Texture2D.Sample"

// sampleFunc returns the method Sample of textures. Its body is for GPUs; Go code calls
// the method itself.
func (l *lowering) sampleFunc(src *Package, fd *ast.FuncDecl, obj *types.Func, typeArgs []types.Type) *ir.Func {
	sig := obj.Signature()
	fn := &function{
		l: l, src: src, vars: map[types.Object]*ir.Local{}, typeArgs: map[*types.TypeParam]types.Type{},
		f: &ir.Func{
			Name: src.Name + "." + declName(fd), Pos: l.pos(fd.Pos()),
			Go: ir.GoRef{Package: src.Path, Name: fd.Name.Name, Method: true},
		},
	}
	for i := range sig.RecvTypeParams().Len() {
		if i < len(typeArgs) {
			fn.typeArgs[sig.RecvTypeParams().At(i)] = typeArgs[i]
		}
	}
	texture := fn.param(sig.Recv(), "recv")
	u, v := fn.param(sig.Params().At(0), "u"), fn.param(sig.Params().At(1), "v")
	result := fn.param(sig.Results().At(0), "result")
	fn.f.Params, fn.f.Results = []*ir.Local{texture, u, v}, []*ir.Local{result}
	s := &ir.Effect{
		Op:   ir.Sample,
		Args: []ir.Expr{&ir.Load{Place: &ir.FieldPlace{X: &ir.VarPlace{Var: texture}, Field: 0}}, ir.Get(u), ir.Get(v)},
		Dst:  make([]*ir.Local, 4),
		Pos:  fn.f.Pos,
	}
	value := &ir.Composite{T: result.Type}
	for i := range max(1, len(result.Type.Fields)) {
		s.Dst[i] = fn.newLocal([]string{"x", "y", "z", "w"}[i], ir.TFloat32, fd.Pos())
		value.Elems = append(value.Elems, ir.Get(s.Dst[i]))
	}
	fn.emit(s)
	ret := &ir.Return{Results: []ir.Expr{value}, Pos: fn.f.Pos}
	if result.Type.IsScalar() {
		ret.Results = value.Elems
	}
	fn.emit(ret)
	fn.f.Body = fn.out
	return fn.f
}
