package gohost

import (
	"fmt"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	"quern.dev/internal/compiler/ir"
)

func isExported(name string) bool {
	c, _ := utf8.DecodeRuneInString(name)
	return unicode.IsUpper(c)
}

// call prints a call of the Go function.
func (e *emitter) call(s *ir.Call) {
	f := s.Func
	if f.UsesThread {
		e.failf("call of %s, which belongs to a thread, has not been inlined", f.Name)
	}
	args := make([]string, len(s.Args))
	for i, a := range s.Args {
		args[i] = e.value(a, f.Params[i].Type, precOr)
	}
	callee := e.functions.name(e.kernel.Name, f)
	if callee != "" {
		e.results(s, fmt.Sprintf("%s(%s)", callee, strings.Join(args, ", ")))
		return
	}
	if f.Go.Method {
		callee = e.receiver(s.Args[0], f.Params[0].Type) + "." + f.Go.Name
		if !isExported(f.Go.Name) && f.Go.Package != e.imports.pkg {
			e.failf("method %s of package %s is not exported, so the generated code of package %s cannot call it", f.Go.Name, f.Go.Package, e.imports.pkg)
		}
		args = args[1:]
	} else {
		callee = e.member(f.Go.Package, f.Go.Name)
		if len(f.Go.TypeArgs) > 0 {
			types := make([]string, len(f.Go.TypeArgs))
			for i, t := range f.Go.TypeArgs {
				types[i] = e.typ(t)
			}
			callee += "[" + strings.Join(types, ", ") + "]"
		}
	}
	for _, i := range f.Go.Thread {
		args = slices.Insert(args, i, e.member(kernelPath, "Thread")+"{}")
	}
	call := fmt.Sprintf("%s(%s)", callee, strings.Join(args, ", "))
	e.results(s, call)
}

// receiver prints the receiver of a method call.
func (e *emitter) receiver(x ir.Expr, t *ir.Type) string {
	if a, ok := x.(*ir.Addr); ok {
		// Go takes the address implicitly.
		if s := e.base(a.Place); assignable(ir.PointerTo(a.Place.Type()), t) {
			return s
		}
	}
	if isConst(x) {
		return e.conversion(t, e.value(x, t, precOr))
	}
	return e.value(x, t, precPrimary)
}

// results prints the assignment of a call's results.
func (e *emitter) results(s *ir.Call, call string) {
	dst := make([]string, len(s.Dst))
	defined, assigned := 0, 0
	for i, v := range s.Dst {
		if !e.wants(v) {
			dst[i] = "_"
			continue
		}
		assigned++
		if e.scopes.define[s][v] {
			defined++
			dst[i] = e.names.name(v, v.Name)
			continue
		}
		dst[i] = e.variable(v)
	}
	switch {
	case assigned == 0:
		e.out.at(s.Pos, true, "%s", call)
		return
	case defined == assigned:
		e.out.at(s.Pos, true, "%s := %s", strings.Join(dst, ", "), call)
		return
	}
	for _, v := range s.Dst {
		if e.scopes.define[s][v] && e.wants(v) {
			e.out.add("var %s %s", e.names.name(v, v.Name), e.typ(v.Type))
		}
	}
	e.out.at(s.Pos, true, "%s = %s", strings.Join(dst, ", "), call)
}
