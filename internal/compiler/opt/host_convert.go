package opt

import (
	"go/token"
	"strings"

	"quern.dev/internal/compiler/ir"
)

// Truncations finds the functions that generated Go must not call directly. They, or
// functions that they call, convert a float to an integer that may be out of range, and
// Go leaves that result to the processor. The generated Go has copies of them.
//
// A function of another package that uses unexported names of that package is called
// directly all the same.
type Truncations struct {
	pkg    string // the kernel's package
	copies map[*ir.Func]*ir.Func
}

// NewTruncations returns a Truncations for the kernels of a package.
func NewTruncations(pkg string) *Truncations {
	return &Truncations{pkg, map[*ir.Func]*ir.Func{}}
}

// Copy returns the function to call instead of f, prepared as by Host, or nil if that
// is f itself.
func (t *Truncations) Copy(f *ir.Func) *ir.Func {
	if g, ok := t.copies[f]; ok {
		return g
	}
	t.copies[f] = nil
	k := &ir.Kernel{Name: f.Name, Func: f}
	g := inlineIf(k, func(c *ir.Call) bool { return isFormula(c.Func) || isArrayFormula(c.Func) }).Func
	copyAtOnce(&ir.Kernel{Func: g})
	conversions(g)
	if t.converts(g) && t.canWrite(g) {
		t.copies[f] = g
	}
	return t.copies[f]
}

// converts reports whether a function, or a function that it calls, converts a float
// that may be out of range.
func (t *Truncations) converts(f *ir.Func) bool {
	found := false
	v := ir.Visitor{
		Stmt: func(s ir.Stmt) bool {
			if call, ok := s.(*ir.Call); ok {
				found = found || t.Copy(call.Func) != nil
			}
			return !found
		},
		Expr: func(e ir.Expr) bool {
			if c, ok := e.(*ir.Convert); ok && c.IsTruncation() {
				found = found || !c.InRange
			}
			return !found
		},
	}
	v.Body(f.Body)
	return found
}

// canWrite reports whether the kernel's package may use all names that a function uses.
func (t *Truncations) canWrite(f *ir.Func) bool {
	if f.Go.Package == t.pkg {
		return true
	}
	ok := true
	for _, list := range [...][]*ir.Local{f.Params, f.Results, f.Locals} {
		for _, v := range list {
			ok = ok && t.namesType(v.Type)
		}
	}
	v := ir.Visitor{
		Stmt: func(s ir.Stmt) bool {
			if c, isCall := s.(*ir.Call); isCall {
				ok = ok && (t.Copy(c.Func) != nil || t.names(c.Func.Go.Package, c.Func.Go.Name))
			}
			return ok
		},
		Expr: func(e ir.Expr) bool {
			ok = ok && t.namesType(e.Type())
			if c, composed := e.(*ir.Composite); composed && c.T.Kind == ir.Struct {
				for i := range c.Elems {
					ok = ok && namesField(c.T, i)
				}
			}
			return ok
		},
		Place: func(p ir.Place) bool {
			switch p := p.(type) {
			case *ir.FieldPlace:
				ok = ok && namesField(p.X.Type(), p.Field)
			case *ir.TablePlace:
				ok = ok && (p.Table.IsString() || t.names(p.Table.Go.Package, p.Table.Go.Name))
			}
			return ok
		},
	}
	v.Body(f.Body)
	return ok
}

// names reports whether the kernel's package may use a name of package pkg.
func (t *Truncations) names(pkg, name string) bool {
	if pkg == t.pkg {
		return true
	}
	outside, _, internal := strings.Cut("/"+pkg+"/", "/internal/")
	return token.IsExported(name) && (!internal || strings.HasPrefix("/"+t.pkg+"/", outside+"/"))
}

// namesField reports whether other packages may use a field.
func namesField(typ *ir.Type, i int) bool {
	return typ.IsComplex() || token.IsExported(typ.Fields[i].Name)
}

// namesType reports whether the kernel's package may use a type.
func (t *Truncations) namesType(typ *ir.Type) bool {
	if typ.Name != "" { // possibly with type arguments
		for _, name := range strings.FieldsFunc(typ.Name, func(r rune) bool { return strings.ContainsRune("[]*,; {}", r) }) {
			if dot := strings.LastIndexByte(name, '.'); dot >= 0 && !t.names(name[:dot], name[dot+1:]) {
				return false
			}
		}
		return true
	}
	if typ.Elem != nil {
		return t.namesType(typ.Elem)
	}
	for i, f := range typ.Fields {
		if !namesField(typ, i) || !t.namesType(f.Type) {
			return false
		}
	}
	return true
}
