package gohost

import (
	"fmt"
	"slices"
	"strings"

	"quern.dev/internal/compiler/ir"
	"quern.dev/internal/compiler/opt"
)

// functions are the copies of functions that a kernel calls in place of the originals.
type functions struct {
	*opt.Truncations
	names map[*ir.Func]string
	list  []*ir.Func // to be generated, ordered by name
}

// name returns the name of the function's copy, "" if there is none.
func (fs *functions) name(kernel string, f *ir.Func) string {
	g := fs.Copy(f)
	if g == nil {
		return ""
	}
	if fs.names[g] == "" {
		fs.list = append(fs.list, g)
		fs.names[g] = fmt.Sprintf("quernFunc%d%s", len(fs.list), FuncName(kernel)[len("quernHost"):])
	}
	return fs.names[g]
}

// functionCopies generates the copies that the kernel calls, and those that they call.
func (e *emitter) functionCopies() []*text {
	var out []*text
	for i := 0; i < len(e.functions.list); i++ {
		f := e.functions.list[i]
		c := newEmitter(e.kernel, newFacts(&ir.Kernel{Func: f}), &plan{}, e.imports, e.avoid)
		c.functions, c.copied, c.reserved = e.functions, f, e.reserved
		out = append(out, c.functionCopy(f))
		if c.err != nil && e.err == nil {
			e.err = c.err
		}
	}
	return out
}

// functionCopy generates a function that does not use the thread.
func (e *emitter) functionCopy(f *ir.Func) *text {
	params, results := make([]string, len(f.Params)), make([]string, len(f.Results))
	for i, v := range f.Params {
		params[i] = e.names.name(v, v.Name) + " " + e.typ(v.Type)
	}
	for i, v := range f.Results {
		results[i] = e.typ(v.Type)
	}
	clear(e.facts.params)
	for _, list := range [...][]*ir.Local{f.Params, f.Results, f.Locals} {
		for _, v := range list {
			e.facts.levels[v] = varying // everything is computed in place
		}
	}
	body := &text{}
	e.out, e.current = body, varying
	e.scopes.place(f.Body, slices.Concat(f.Results, f.Locals))
	e.stmts(f.Body)
	if len(f.Results) > 0 && !endsItself(f.Body) {
		body.add("panic(%q)", "unreachable")
	}
	whole := &text{}
	whole.add("// %s is %s.", e.functions.names[f], f.Name)
	head := fmt.Sprintf("func %s(%s)", e.functions.names[f], strings.Join(params, ", "))
	switch len(results) {
	case 0:
	case 1:
		head += " " + results[0]
	default:
		head += " (" + strings.Join(results, ", ") + ")"
	}
	whole.add("%s {", head)
	whole.depth++
	whole.splice(e.root.text)
	whole.splice(body)
	whole.depth--
	whole.add("}")
	return whole
}

// endsItself reports whether a list as printed ends in what Go calls a terminating
// statement.
func endsItself(list []ir.Stmt) bool {
	if len(list) == 0 {
		return false
	}
	switch s := list[len(list)-1].(type) {
	case *ir.Return, *ir.Panic:
		return true
	case *ir.If:
		return endsItself(s.Then) && endsItself(s.Else)
	case *ir.Block:
		return !breaks(s.Body, s.Label) && endsItself(s.Body)
	case *ir.Loop:
		return (s.Cond == nil || isTrue(s.Cond)) && !breaks(s.Body, s.Label)
	}
	return false
}

// returnValues prints the return statement of a function.
func (e *emitter) returnValues(s *ir.Return) {
	values := make([]string, len(s.Results))
	for i, x := range s.Results {
		values[i] = e.value(x, e.copied.Results[i].Type, precOr)
	}
	e.out.at(s.Pos, e.facts.mayFault([]ir.Stmt{s}), "%s", strings.TrimSpace("return "+strings.Join(values, ", ")))
}
