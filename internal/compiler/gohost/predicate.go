package gohost

import (
	"slices"

	"quern.dev/internal/compiler/ir"
	"quern.dev/internal/compiler/opt"
)

// predicate handles jumps by which individual threads leave a statement next to a
// barrier. It replaces them with variables that record which threads have left, and
// with conditions on the statements that they skip:
//
//	if uniform {                    if uniform {
//		t.Sync()                        t.Sync()
//		if x[i] > 0 {                   if x[i] > 0 {
//			return          =>              left = true
//		}                               }
//		a()                             if !left {
//	}                                       a()
//	b()                                 }
//	                                }
//	                                if !left {
//	                                        b()
//	                                }
//
// No barrier is skipped, because a barrier that only some threads reach is an error.
// For the same reason, all threads agree at the end of a loop body with a barrier
// whether they have left the loop. If this is not provable here, the PTX back end,
// which knows what all pointers point to, has proved it. The same is done next to warp
// operations that not all warps reach together.
func predicate(k *ir.Kernel) error {
	if hasStmt(k.Func.Body, isCollective) {
		if err := predicateWith(k, newSplitter); err != nil {
			return err
		}
	}
	if hasStmt(k.Func.Body, opt.IsWarp) {
		return predicateWith(k, newWarpSplitter)
	}
	return nil
}

func predicateWith(k *ir.Kernel, split func(*ir.Kernel, *facts) *splitter) error {
	s := split(k, newFacts(k))
	if len(s.divergent) == 0 {
		return nil
	}
	p := &predicator{splitter: s, flags: map[any]*ir.Local{}}
	body, _ := p.list(k.Func.Body)
	k.Func.Body = append(p.clear(returnTarget{}), body...)
	k.Func.Locals = append(k.Func.Locals, p.locals...)
	if len(split(k, newFacts(k)).divergent) > 0 {
		return &Error{Kernel: k.Name, Msg: "threads of a block leave a loop with a barrier individually"}
	}
	return nil
}

// predicator rewrites the statement lists that the block runs once.
type predicator struct {
	*splitter
	flags  map[any]*ir.Local // by target of the jump
	locals []*ir.Local
}

// returnTarget, breakTarget and continueTarget are the targets of jumps.
type (
	returnTarget   struct{}
	breakTarget    struct{ label *ir.Label }
	continueTarget struct{ label *ir.Label }
)

func targetOf(jump ir.Stmt) any {
	switch j := jump.(type) {
	case *ir.Break:
		return breakTarget{j.Label}
	case *ir.Continue:
		return continueTarget{j.Label}
	}
	return returnTarget{}
}

// flag returns the variable that is true in threads that have jumped.
func (p *predicator) flag(target any) *ir.Local {
	v := p.flags[target]
	if v == nil {
		v = &ir.Local{Name: "left", Type: ir.TBool}
		p.flags[target] = v
		p.locals = append(p.locals, v)
	}
	return v
}

// clear returns the statement that resets the flag at the start of a construct, if
// threads leave the construct.
func (p *predicator) clear(target any) []ir.Stmt {
	if p.flags[target] == nil {
		return nil
	}
	return []ir.Stmt{&ir.Assign{Dst: &ir.VarPlace{Var: p.flags[target]}, Src: ir.BoolConst(false)}}
}

// list rewrites a list. It returns the targets for which threads may have left at its
// end.
func (p *predicator) list(list []ir.Stmt) ([]ir.Stmt, []any) {
	for i, t := range list {
		var left []any
		rewritten := t
		switch {
		case p.control[t]:
			left = p.children(t)
		case p.divergent[t] != nil:
			rewritten, left = p.statement(t)
		}
		if len(left) == 0 {
			continue
		}
		out := append(slices.Clone(list[:i]), rewritten)
		rest, more := p.list(list[i+1:])
		for _, target := range more {
			if !slices.Contains(left, target) {
				left = append(left, target)
			}
		}
		if len(rest) > 0 {
			out = append(out, &ir.If{Cond: p.stays(left), Then: rest})
		}
		return out, left
	}
	return list, nil
}

// stays returns the condition that a thread has not left.
func (p *predicator) stays(targets []any) ir.Expr {
	var all ir.Expr
	for _, target := range targets {
		x := ir.Expr(&ir.Unary{Op: ir.LNot, X: ir.Get(p.flag(target))})
		if all != nil {
			x = &ir.Binary{Op: ir.LAnd, X: all, Y: x}
		}
		all = x
	}
	return all
}

// children rewrites the lists of a control statement and returns the targets
// outside it.
func (p *predicator) children(t ir.Stmt) (left []any) {
	switch t := t.(type) {
	case *ir.If:
		var more []any
		t.Then, left = p.list(t.Then)
		t.Else, more = p.list(t.Else)
		left = append(left, more...)
	case *ir.Loop:
		t.Body, left = p.list(t.Body)
		again, end := continueTarget{t.Label}, breakTarget{t.Label}
		left = slices.DeleteFunc(left, func(x any) bool { return x == again })
		if len(left) > 0 {
			t.Body = append(t.Body, p.leave(t, left)...)
		}
		t.Body = slices.Concat(p.clear(again), p.clear(end), t.Body)
		left = slices.DeleteFunc(left, func(x any) bool { return x == end })
	case *ir.Block:
		t.Body, left = p.list(t.Body)
		t.Body = append(p.clear(breakTarget{t.Label}), t.Body...)
		left = slices.DeleteFunc(left, func(x any) bool { return x == breakTarget{t.Label} })
	}
	return left
}

// leave ends a loop if its threads have left it for one of the targets.
func (p *predicator) leave(loop *ir.Loop, targets []any) []ir.Stmt {
	over := &ir.Local{Name: "over", Type: ir.TBool, Hidden: true, Uniform: p.group()}
	p.locals = append(p.locals, over)
	return []ir.Stmt{
		&ir.Assign{Dst: &ir.VarPlace{Var: over}, Src: &ir.Unary{Op: ir.LNot, X: p.stays(targets)}},
		&ir.If{Cond: ir.Get(over), Then: []ir.Stmt{&ir.Break{Label: loop.Label}}},
	}
}

// group returns the threads that run the control statements together.
func (p *predicator) group() ir.Group {
	if p.warp {
		return ir.OfWarp
	}
	return ir.OfThreadBlock
}

// statement rewrites a statement that individual threads leave.
func (p *predicator) statement(t ir.Stmt) (ir.Stmt, []any) {
	end := &ir.Label{Name: "left"}
	var left []any
	r := ir.Rewriter{Stmt: func(s ir.Stmt) []ir.Stmt {
		if !slices.Contains(p.divergent[t], s) {
			return []ir.Stmt{s}
		}
		target := targetOf(s)
		if !slices.Contains(left, target) {
			left = append(left, target)
		}
		return []ir.Stmt{
			&ir.Assign{Dst: &ir.VarPlace{Var: p.flag(target)}, Src: ir.BoolConst(true)},
			&ir.Break{Label: end},
		}
	}}
	return &ir.Block{Label: end, Body: trimBreaks(r.Body([]ir.Stmt{t}), end)}, left
}

// trimBreaks removes breaks to the end of a list from the list's end.
func trimBreaks(list []ir.Stmt, end *ir.Label) []ir.Stmt {
	if len(list) == 0 {
		return list
	}
	switch s := list[len(list)-1].(type) {
	case *ir.Break:
		if s.Label == end {
			return list[:len(list)-1]
		}
	case *ir.If:
		s.Then, s.Else = trimBreaks(s.Then, end), trimBreaks(s.Else, end)
	}
	return list
}
