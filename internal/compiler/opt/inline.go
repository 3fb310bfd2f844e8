package opt

import (
	"fmt"
	"slices"
	"strings"

	"quern.dev/internal/compiler/ir"
)

// inline replaces every call by the body of the called function. Parameters become
// variables. A return becomes an assignment and a break out of a block around the body;
// a return at the end of the body needs no block. The front end has rejected recursion.
func inline(k *ir.Kernel) error {
	in := &inliner{flat: map[*ir.Func]*ir.Func{}, want: func(*ir.Call) bool { return true }}
	in.function(k.Func)
	if in.tooLong {
		return Errors{&Error{Pos: k.Func.Pos, Kernel: k.Name, Msg: fmt.Sprintf(
			"the kernel has more than %d statements after inlining; call functions that call each other several times in a loop", maxInlined)}}
	}
	propagate(k.Func, in.params)
	return nil
}

// kernelPackage is the package that kernels are written with. A failure in its
// functions is a fault of the caller, also if Go calls them.
const kernelPackage = "quern.dev/kernel"

// actorPackages are the same for actor handlers; loopPackage has the code that calls
// handlers.
var actorPackages = []string{"quern.dev/ring/actor", "quern.dev/ring/internal/mail"}

const loopPackage = "quern.dev/ring/internal/loop"

// maxInlined limits the statements of a kernel after inlining: functions that each call
// the next one twice double it with every step.
const maxInlined = 40_000

// inlineIf returns a copy of a kernel with the selected calls inlined, for Go.
func inlineIf(k *ir.Kernel, want func(*ir.Call) bool) *ir.Kernel {
	k = ir.CloneKernel(k)
	in := &inliner{flat: map[*ir.Func]*ir.Func{}, want: want, forGo: true}
	in.function(k.Func)
	propagate(k.Func, in.params)
	return k
}

type inliner struct {
	want func(*ir.Call) bool
	// forGo: functions that have an instruction for GPUs are not replaced by it, and
	// operations of the standard library may be fused, as in the library itself.
	forGo bool
	// flat holds copies of functions whose calls are inlined.
	flat   map[*ir.Func]*ir.Func
	params map[*ir.Local]bool // of the copies in the current function

	sizes   map[*ir.Func]int // number of statements of the copies in flat
	grown   int              // statements that calls were expanded to
	tooLong bool             // there would be more than maxInlined
}

// function inlines the calls in f.
func (in *inliner) function(f *ir.Func) {
	in.params = map[*ir.Local]bool{}
	r := ir.Rewriter{Stmt: func(s ir.Stmt) []ir.Stmt {
		if c, ok := s.(*ir.Call); ok && in.want(c) {
			if !in.forGo && c.Func.Assembly != nil {
				return []ir.Stmt{inlineAssembly(f, c)}
			}
			return in.expand(f, c)
		}
		return []ir.Stmt{s}
	}}
	f.Body = r.Body(f.Body)
}

func (in *inliner) flatten(f *ir.Func) *ir.Func {
	if g, ok := in.flat[f]; ok {
		return g
	}
	g := ir.CloneFunc(f)
	if in.forGo && g.Strict {
		allowFusing(g)
	}
	outer := in.params
	in.function(g)
	propagate(g, in.params)
	in.params = outer
	in.flat[f] = g
	return g
}

func allowFusing(f *ir.Func) {
	v := ir.Visitor{Expr: func(e ir.Expr) bool {
		if b, ok := e.(*ir.Binary); ok {
			b.Strict = false
		}
		return true
	}}
	v.Body(f.Body)
}

// size returns the number of statements of a function after inlining.
func (in *inliner) size(f *ir.Func) int {
	if n, ok := in.sizes[f]; ok {
		return n
	}
	n := 0
	v := ir.Visitor{Stmt: func(ir.Stmt) bool { n++; return true }}
	v.Body(f.Body)
	if in.sizes == nil {
		in.sizes = map[*ir.Func]int{}
	}
	in.sizes[f] = n
	return n
}

// expand returns the statements that replace a call in caller.
func (in *inliner) expand(caller *ir.Func, call *ir.Call) []ir.Stmt {
	f := in.flatten(call.Func)
	if in.grown += in.size(f); in.tooLong || in.grown > maxInlined {
		in.tooLong = true
		return nil
	}
	c := &ir.Cloner{Vars: map[*ir.Local]*ir.Local{}}
	for _, list := range [...][]*ir.Local{f.Params, f.Results, f.Locals} {
		for _, v := range list {
			w := *v
			c.Vars[v] = &w
			caller.Locals = append(caller.Locals, &w)
		}
	}
	var out []ir.Stmt
	for i, p := range f.Params {
		v := c.Vars[p]
		in.params[v] = true
		out = append(out, &ir.Assign{Dst: &ir.VarPlace{Var: v}, Src: call.Args[i], Pos: call.Pos})
	}
	body := c.Body(f.Body)
	switch own := ownFiles(f, call); {
	case own != nil:
		ir.Relocate(body, call.Pos, own)
	case in.forGo && f.Strict:
		ir.Relocate(body, call.Pos, allFiles)
	}
	exit := &ir.Label{Name: f.Name}
	results := &results{caller: caller, dst: call.Dst, exit: exit}
	block := &ir.Block{Label: exit, Body: results.replace(body)}
	return append(out, dissolve(block)...)
}

// ownFiles returns a function that reports whether a file is library code, or nil if no
// code of the function is: a failure there is the caller's mistake and gets the
// position of the call.
func ownFiles(f *ir.Func, call *ir.Call) func(file string) bool {
	switch {
	case f.Go.Package == kernelPackage:
		return allFiles
	case inActor(f.Go.Package+"/") && !inActor(call.Pos.File) && !inLoop(call.Pos.File):
		return inActor
	}
	return nil
}

func allFiles(string) bool { return true }

// inActor reports whether a file belongs to the packages that handlers are written
// with.
func inActor(file string) bool {
	return slices.ContainsFunc(actorPackages, func(pkg string) bool { return strings.HasPrefix(file, pkg+"/") })
}

// inLoop reports whether a file belongs to the loop that calls a handler. A failure
// there is the loop's own.
func inLoop(file string) bool { return strings.HasPrefix(file, loopPackage+"/") }

// results turns the returns of an inlined body into assignments.
type results struct {
	caller *ir.Func
	dst    []*ir.Local // of the call, nil for a dropped result
	exit   *ir.Label
}

func (r *results) replace(body []ir.Stmt) []ir.Stmt {
	var out []ir.Stmt
	for _, s := range body {
		switch s := s.(type) {
		case *ir.Return:
			out = append(out, r.assign(s)...)
			return append(out, &ir.Break{Label: r.exit})
		case *ir.If:
			s.Then, s.Else = r.replace(s.Then), r.replace(s.Else)
		case *ir.Loop:
			s.Pre, s.Body, s.Post = r.replace(s.Pre), r.replace(s.Body), r.replace(s.Post)
		case *ir.Block:
			s.Body = r.replace(s.Body)
		}
		out = append(out, s)
	}
	return out
}

// assign stores the results of a return. Several results go through temporaries if one
// could read, through a pointer, what another is assigned to.
func (r *results) assign(s *ir.Return) []ir.Stmt {
	var first, then []ir.Stmt
	indirect := len(s.Results) > 1 && readsMemory(s.Results)
	for i, e := range s.Results {
		var dst *ir.Local
		if i < len(r.dst) {
			dst = r.dst[i]
		}
		if dst == nil {
			if !ir.MayFault(e) {
				continue
			}
			dst = r.temp(e.Type(), s.Pos)
		}
		if indirect {
			t := r.temp(e.Type(), s.Pos)
			first = append(first, &ir.Assign{Dst: &ir.VarPlace{Var: t}, Src: e, Pos: s.Pos})
			e = ir.Get(t)
		}
		then = append(then, &ir.Assign{Dst: &ir.VarPlace{Var: dst}, Src: e, Pos: s.Pos})
	}
	return append(first, then...)
}

func (r *results) temp(t *ir.Type, pos ir.Pos) *ir.Local {
	v := &ir.Local{Name: "result", Type: t, Pos: pos, Hidden: true}
	r.caller.Locals = append(r.caller.Locals, v)
	return v
}

// reached reports whether a place begins with a slice or a pointer: it may be the same memory as
// what others reach.
func reached(p ir.Place) bool {
	switch p.(type) {
	case *ir.ElemPlace, *ir.ArrayPlace, *ir.DerefPlace:
		return true
	}
	return false
}

func readsMemory(list []ir.Expr) bool {
	found := false
	v := ir.Visitor{Place: func(p ir.Place) bool {
		found = found || reached(p)
		return !found
	}}
	for _, e := range list {
		v.Value(e)
	}
	return found
}
