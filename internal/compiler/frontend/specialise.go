package frontend

import (
	"go/ast"
	"go/constant"
	"math"
	"slices"
	"strings"

	"quern.dev/internal/compiler/ir"
)

// maxChoices is the maximum number of special forms of a kernel. A launch searches them
// for its own.
const maxChoices = 16

// specialise parses the parameters with special forms, each spelled
// parameter:value1,value2.
func (l *lowering) specialise(fd *ast.FuncDecl, k *ir.Kernel, spelled []word) {
	choices := 1
	for _, w := range spelled {
		parts := splitWord(w, ':')
		if len(parts) != 2 || parts[0].text == "" || parts[1].text == "" {
			l.errorAt(w.pos, k.Name, "specialise names a parameter and its values, as in specialise=radius:1,2,3")
			continue
		}
		name := parts[0].text
		index := slices.IndexFunc(k.Func.Params, func(v *ir.Local) bool { return v.Name == name })
		if index < 0 {
			var names []string
			for _, v := range k.Func.Params {
				names = append(names, v.Name)
			}
			l.errorAt(w.pos, k.Name, "there is no parameter %q to specialise; the parameters are %s", name, strings.Join(names, ", "))
			continue
		}
		if slices.ContainsFunc(k.Special, func(s ir.Special) bool { return s.Param == index }) {
			l.errorAt(w.pos, k.Name, "parameter %s is specialised twice; list all its values together", name)
			continue
		}
		t := k.Func.Params[index].Type
		if !t.IsInteger() && t.Kind != ir.Bool {
			l.errorAt(w.pos, k.Name, "parameter %s is of type %s; integers and bools can be specialised", name, t)
			continue
		}
		s := ir.Special{Param: index}
		for _, value := range splitWord(parts[1], ',') {
			if v, ok := l.specialValue(fd, k, value, name, t); !ok {
				continue
			} else if slices.Contains(s.Values, v) {
				l.errorAt(value.pos, k.Name, "specialise lists %s=%s twice; keep one", name, value.text)
			} else {
				s.Values = append(s.Values, v)
			}
		}
		choices *= max(1, len(s.Values))
		if choices > maxChoices {
			l.errorAt(w.pos, k.Name, "specialise makes %d forms of the kernel; it may have %d; list fewer values", choices, maxChoices)
			return
		}
		k.Special = append(k.Special, s)
	}
}

// specialValue evaluates a constant expression in the scope of the file.
func (l *lowering) specialValue(fd *ast.FuncDecl, k *ir.Kernel, value word, param string, t *ir.Type) (int64, bool) {
	tv, err := l.constantsOf(fd).eval(value.text)
	switch {
	case err != nil:
		l.errorAt(value.pos, k.Name, "value %q of %s: %s%s", value.text, param, reasonOf(err), l.constantsOf(fd).suggest(value.text))
	case tv.Value == nil:
		l.errorAt(value.pos, k.Name, "value %q of %s is not a constant", value.text, param)
	case t.Kind == ir.Bool && tv.Value.Kind() == constant.Bool:
		if constant.BoolVal(tv.Value) {
			return 1, true
		}
		return 0, true
	default:
		v, exact := constant.Int64Val(constant.ToInt(tv.Value))
		if t.Kind != ir.Bool && constant.ToInt(tv.Value).Kind() == constant.Int && exact && fitsType(v, t) {
			return v, true
		}
		l.errorAt(value.pos, k.Name, "value %q of %s does not fit its type, %s", value.text, param, t)
	}
	return 0, false
}

// fitsType reports whether an integer type can represent the value and its negation
// does not overflow.
func fitsType(v int64, t *ir.Type) bool {
	bits := 8 * t.Size()
	switch {
	case v == math.MinInt64:
		return false
	case t.IsSigned():
		return bits == 64 || -1<<(bits-1) <= v && v < 1<<(bits-1)
	}
	return v >= 0 && (bits == 64 || v < 1<<bits)
}
