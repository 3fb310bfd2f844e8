package ir

import (
	"fmt"
	"strings"
)

// Special is a parameter with the values for which the kernel has special forms.
type Special struct {
	Param  int     // index in Func.Params, of integer or bool type
	Values []int64 // true is 1
}

// Fixed is one choice of values for a kernel's special parameters, in order.
type Fixed []int64

// Choices returns all combinations of the values of the special parameters, with the
// last parameter changing fastest; none if there are no special parameters.
func (k *Kernel) Choices() []Fixed {
	if len(k.Special) == 0 {
		return nil
	}
	choices := []Fixed{nil}
	for _, s := range k.Special {
		var longer []Fixed
		for _, c := range choices {
			for _, v := range s.Values {
				longer = append(longer, append(c[:len(c):len(c)], v))
			}
		}
		choices = longer
	}
	return choices
}

// FixedName formats a choice: "radius=1,flip=true".
func (k *Kernel) FixedName(f Fixed) string {
	parts := make([]string, len(f))
	for i, s := range k.Special {
		p := k.Func.Params[s.Param]
		value := fmt.Sprint(f[i])
		if p.Type.Kind == Bool {
			value = fmt.Sprint(f[i] != 0)
		}
		parts[i] = p.Name + "=" + value
	}
	return strings.Join(parts, ",")
}

// Specialised returns the form of the kernel for a choice. The parameters stay, so that
// it is launched like the kernel; the body reads constants instead.
func (k *Kernel) Specialised(f Fixed) *Kernel {
	out := CloneKernel(k)
	name := k.FixedName(f)
	if instance, ok := strings.CutSuffix(k.Name, "]"); ok {
		out.Name = instance + "," + name + "]"
	} else {
		out.Name = k.Name + "[" + name + "]"
	}
	out.Special = nil
	var constants []Stmt
	for i, s := range k.Special {
		v := out.Func.Params[s.Param]
		unused := *v
		out.Func.Params[s.Param] = &unused
		out.Func.Locals = append(out.Func.Locals, v)
		c := IntConst(v.Type, f[i])
		if v.Type.Kind == Bool {
			c = BoolConst(f[i] != 0)
			c.T = v.Type
		}
		constants = append(constants, &Assign{Dst: &VarPlace{Var: v}, Src: c, Pos: v.Pos})
	}
	out.Func.Body = append(constants, out.Func.Body...)
	return out
}

// Conditions returns the conditions on the launch arguments under which a choice's form
// is exact.
func (k *Kernel) Conditions(f Fixed) Limits {
	var out Limits
	for i, s := range k.Special {
		arg := &Sym{Op: SymArg, Value: int64(s.Param)}
		out = append(out,
			Limit{X: arg, Max: f[i]},
			Limit{X: &Sym{Op: SymSub, X: &Sym{}, Y: arg}, Max: -f[i]})
	}
	return out
}
