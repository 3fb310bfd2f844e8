package gohost

import "quern.dev/internal/compiler/ir"

// items prints what a block does.
func (e *emitter) items(list []item) {
	for _, it := range list {
		switch it := it.(type) {
		case *region:
			e.region(it)
		case *once:
			e.faults(e.facts.mayFault([]ir.Stmt{it.stmt}))
			e.stmt(it.stmt)
		case *control:
			e.control(it)
		}
	}
}

// faults prepares for a failure outside the loops over the threads.
func (e *emitter) faults(may bool) {
	if may {
		e.out.add("r.ThreadIdx = %s{}", e.member(kernelPath, "Dim3"))
	}
}

// control prints a statement whose control flow is the same for all threads.
func (e *emitter) control(c *control) {
	switch s := c.stmt.(type) {
	case *ir.If:
		e.faults(e.facts.exprMayFault(s.Cond))
		e.out.at(s.Pos, e.facts.exprMayFault(s.Cond), "if %s {", e.value(s.Cond, ir.TBool, precOr))
		e.indented(func() { e.items(c.lists[0]) })
		if len(c.lists[1]) > 0 {
			e.out.add("} else {")
			e.indented(func() { e.items(c.lists[1]) })
		}
		e.out.add("}")
	case *ir.Loop:
		e.uniformLoop(s, c)
	case *ir.Block:
		e.breakable(s.Label, leaves(c.lists[0], s.Label), func() { e.items(c.lists[0]) })
	}
}

// leaves reports whether the block, rather than its threads one by one, breaks
// out of the construct with the label.
func leaves(list []item, l *ir.Label) bool {
	for _, it := range list {
		switch it := it.(type) {
		case *once:
			if breaks([]ir.Stmt{it.stmt}, l) {
				return true
			}
		case *control:
			for _, inner := range it.lists {
				if leaves(inner, l) {
					return true
				}
			}
		}
	}
	return false
}

func (e *emitter) indented(f func()) {
	e.out.depth++
	f()
	e.out.depth--
}

func (e *emitter) uniformLoop(s *ir.Loop, c *control) {
	pre, body, post := c.lists[0], c.lists[1], c.lists[2]
	t := target{ir: s.Label, label: e.newLabel("loop"), loop: true}
	cond, next := "", ""
	mayFault := s.Cond != nil && e.facts.exprMayFault(s.Cond)
	inHeader := len(pre) == 0 && !mayFault
	if inHeader && s.Cond != nil && !isTrue(s.Cond) {
		cond = e.value(s.Cond, ir.TBool, precOr)
	}
	if len(post) == 1 {
		if o, ok := post[0].(*once); ok {
			if a, ok := o.stmt.(*ir.Assign); ok && !e.skipped(a) && !e.facts.exprMayFault(a.Src) {
				next = e.assignment(a)
				post = nil
			}
		}
	}
	e.out.label(t.label)
	e.out.at(s.Pos, false, "%s", forClause("", cond, next))
	e.targets = append(e.targets, t)
	e.indented(func() {
		e.items(pre)
		if !inHeader && s.Cond != nil {
			e.faults(mayFault)
			e.out.at(s.Pos, e.facts.exprMayFault(s.Cond), "if !%s {", e.value(s.Cond, ir.TBool, precUnary))
			e.out.add("\tbreak")
			e.out.add("}")
		}
		after := s.Post
		if len(post) == 0 {
			after = nil
		}
		e.withPost(s, after, func() { e.items(body) }, func([]ir.Stmt) { e.items(post) })
	})
	e.targets = e.targets[:len(e.targets)-1]
	e.out.add("}")
}

// region prints a region: loops over the threads of the block around its
// statements.
func (e *emitter) region(g *region) {
	e.scopes.place(g.stmts, e.plan.private[g])
	threads := target{label: e.newLabel("threads"), loop: true, returns: true}
	row, thread, body := e.newSection(), e.newSection(), &text{}
	e.sections[perRow], e.sections[perThread] = row, thread
	e.axes = [3]bool{}
	out, targets := e.out, e.targets
	e.out, e.targets = body, append(targets[:len(targets):len(targets)], threads)
	fails := e.facts.mayFault(g.stmts)
	e.at(perThread, func() {
		e.carryIn(g, row.text, thread.text)
		e.breakable(g.exit, g.exit != nil, func() { e.stmts(g.stmts) })
		e.carryOut(g)
		if fails {
			for op := ir.ThreadIdxX; op <= ir.ThreadIdxZ; op++ {
				e.coordinate(op)
			}
		}
	})
	e.out, e.targets = out, targets
	if len(body.lines) == 0 {
		return
	}

	out.add("%s", e.axis(ir.ThreadIdxZ))
	out.depth++
	out.add("%s", e.axis(ir.ThreadIdxY))
	out.depth++
	if fails {
		out.add("r.ThreadIdx.Y, r.ThreadIdx.Z = %s, %s", e.names.of[ir.ThreadIdxY], e.names.of[ir.ThreadIdxZ])
	}
	out.splice(row.text)
	out.label(threads.label)
	out.add("%s", e.axis(ir.ThreadIdxX))
	out.depth++
	if fails {
		out.add("r.ThreadIdx.X = %s", e.names.of[ir.ThreadIdxX])
	}
	out.splice(thread.text)
	out.splice(body)
	for range 3 {
		out.depth--
		out.add("}")
	}
}

// axis prints the head of the loop over an axis of the block.
func (e *emitter) axis(op ir.ThreadOp) string {
	dim := e.coordinate(op - ir.ThreadIdxX + ir.BlockDimX)
	if e.axes[op] {
		return "for " + e.names.of[op] + " := range " + dim + " {"
	}
	return "for range " + dim + " {"
}

// carryIn gives the thread of a region its values of the variables that live
// across barriers.
func (e *emitter) carryIn(g *region, row, thread *text) {
	u := uses(g.stmts...)
	for _, v := range e.plan.carried {
		if !u.mentions(v) {
			continue
		}
		all, name := e.scratch(v), e.names.name(v, v.Name)
		of := e.names.name(rowOf{v}, v.Name+"Row")
		first, dim := e.firstOfRow(), e.coordinate(ir.BlockDimX)
		row.add("%s := %s[%s : %s+%s]", of, all, first, first, dim)
		at := of + "[" + e.coordinate(ir.ThreadIdxX) + "]"
		switch {
		case e.inPlace(v):
			thread.add("%s := &%s", name, at)
		case assignedFirst(g, v):
			thread.add("var %s %s", name, e.typ(v.Type))
		default:
			thread.add("%s := %s", name, at)
		}
	}
}

type rowOf struct{ v *ir.Local }

// carryOut stores the values that the region has changed.
func (e *emitter) carryOut(g *region) {
	if g.last {
		return
	}
	u := uses(g.stmts...)
	for _, v := range e.plan.carried {
		if u.writes[v] && !e.inPlace(v) {
			e.out.add("%s[%s] = %s", e.names.of[rowOf{v}], e.coordinate(ir.ThreadIdxX), e.names.of[v])
		}
	}
}
