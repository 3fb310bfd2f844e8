package frontend

import (
	"fmt"
	"go/ast"
	"go/types"
	"reflect"
	"strings"

	"quern.dev/internal/compiler/ir"
)

// printf lowers kernel.Printf(format, args...).
func (fn *function) printf(e *ast.CallExpr) {
	text, ok := fn.constantString(e.Args[0])
	switch {
	case e.Ellipsis.IsValid():
		fn.errorf(e.Ellipsis, "kernel.Printf takes its arguments one by one in kernels")
		return
	case !ok:
		fn.notConstant(e.Args[0], "the format of kernel.Printf must be a constant string")
		return
	}
	f := &ir.Format{Text: text, ID: len(fn.l.kernel.Formats)}
	s := &ir.Effect{Op: ir.Print, Format: f, Pos: fn.l.pos(e.Pos())}
	var samples []any
	for _, arg := range e.Args[1:] {
		if constant, ok := fn.constantString(arg); ok {
			f.Args = append(f.Args, ir.FormatArg{Text: constant})
			samples = append(samples, constant)
			continue
		}
		sample, ok := fn.printable(arg)
		if !ok {
			fn.errorf(arg.Pos(), "kernel.Printf prints numbers, bools and constant strings, not %s", fn.typeOf(arg))
			return
		}
		value := fn.stable(fn.exprAs(arg, fn.valueType(arg)), arg.Pos())
		f.Args = append(f.Args, ir.FormatArg{Type: ir.Basic(value.Type().Kind)})
		s.Args = append(s.Args, value)
		samples = append(samples, sample)
	}
	if strings.Contains(strings.ReplaceAll(text, "%%", ""), "%T") {
		fn.errorf(e.Args[0].Pos(), "kernel.Printf does not print types: the arguments arrive as numbers; write the type's name")
		return
	}
	if trial := fmt.Sprintf(strings.ReplaceAll(text, "%%", ""), samples...); strings.Contains(trial, "%!") {
		_, complaint, _ := strings.Cut(trial, "%!")
		fn.errorf(e.Args[0].Pos(), "the format of kernel.Printf does not fit its arguments: %%!%s", firstLine(complaint))
		return
	}
	fn.l.kernel.Formats = append(fn.l.kernel.Formats, f)
	fn.f.UsesThread = true // Go code must print where the device prints
	fn.emit(s)
}

func firstLine(s string) string {
	line, _, _ := strings.Cut(s, "\n")
	if complaint, _, ok := strings.Cut(line, ")"); ok {
		return complaint + ")"
	}
	return line
}

// printable returns a value of the basic type underlying an argument's type.
func (fn *function) printable(e ast.Expr) (sample any, ok bool) {
	t := fn.subst(fn.typeOf(e))
	if t == nil {
		return nil, false
	}
	b, ok := types.Default(t).Underlying().(*types.Basic)
	if !ok {
		return nil, false
	}
	goType := printableTypes[b.Kind()]
	if goType == nil {
		return nil, false
	}
	return reflect.Zero(goType).Interface(), true
}

var printableTypes = map[types.BasicKind]reflect.Type{
	types.Bool: reflect.TypeFor[bool](),
	types.Int8: reflect.TypeFor[int8](), types.Int16: reflect.TypeFor[int16](),
	types.Int32: reflect.TypeFor[int32](), types.Int64: reflect.TypeFor[int64](), types.Int: reflect.TypeFor[int](),
	types.Uint8: reflect.TypeFor[uint8](), types.Uint16: reflect.TypeFor[uint16](),
	types.Uint32: reflect.TypeFor[uint32](), types.Uint64: reflect.TypeFor[uint64](), types.Uint: reflect.TypeFor[uint](),
	types.Float32: reflect.TypeFor[float32](), types.Float64: reflect.TypeFor[float64](),
}
