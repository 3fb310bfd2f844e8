package opt

import (
	"cmp"
	"fmt"
	"strings"

	"quern.dev/internal/compiler/ir"
)

// uniform reports barriers that not all threads of a block reach together.
func uniform(k *ir.Kernel) error {
	if list := Uniform(k); len(list) > 0 {
		return list
	}
	return nil
}

// Uniform returns an error for each barrier under control flow that may differ between
// the threads of a block, in source order. Functions that use the thread must have been
// inlined.
func Uniform(k *ir.Kernel) Errors {
	list := append(uniformWarps(k), uniformBlocks(k)...)
	if !leaves(k.Func.Body, isBarrier) {
		return list
	}
	u := Analyse(k)
	for _, b := range u.barriers {
		op := cmp.Or(b.op, "Sync")
		list = append(list, &Error{Pos: b.pos, Kernel: k.Name, Msg: op + " is not reached by all threads of the block together: " + u.explain(b.why) + "; guard the work around " + op + ", not " + op + " itself"})
	}
	return append(list, differingArguments(k, u)...)
}

// isBarrier reports whether all threads of a block must reach a statement together.
func isBarrier(s ir.Stmt) bool {
	switch s := s.(type) {
	case *ir.Barrier:
		return true
	case *ir.Memory:
		return s.Op.IsBulk()
	}
	return false
}

// Uniformity says which values are the same for all threads of a block at any one time.
// A load from memory at a uniform address counts as uniform: without data races, it is.
type Uniformity struct {
	group    group
	options  ir.Options
	varying  map[*ir.Local]*cause
	private  map[*ir.Local]bool // address taken: one variable per thread
	barriers []divergentBarrier
	apart    map[*ir.Warp]bool
}

// cause explains why a value or the control flow differs between threads.
type cause struct {
	pos  ir.Pos // of the statement
	what string // "if", "for", "return", ... for control flow
	expr ir.Expr
	// inherited is the control flow that makes an assignment diverge.
	inherited *cause
}

type divergentBarrier struct {
	pos ir.Pos
	why *cause
	op  string // as written
}

// Analyse finds the uniform values of a kernel, before or after scalarisation.
func Analyse(k *ir.Kernel) *Uniformity { return analyse(k, ofBlock) }

func analyse(k *ir.Kernel, g group) *Uniformity {
	u := &Uniformity{group: g, options: k.Options, varying: map[*ir.Local]*cause{}, private: map[*ir.Local]bool{}}
	for v, use := range countUses(k.Func) {
		if use.addressed {
			u.private[v] = true
		}
	}
	loops := map[*ir.Loop]*cause{}
	for {
		d := &divergence{u: u, loops: loops, apart: map[*ir.Warp]bool{}}
		d.body(k.Func.Body)
		if !d.changed {
			u.barriers, u.apart = d.barriers, d.apart
			return u
		}
	}
}

// IsUniform reports whether a variable has the same value in all threads of the block
// that are at the same statement.
func (u *Uniformity) IsUniform(v *ir.Local) bool {
	switch {
	case v.Uniform == ir.OfThreadBlock && u.group != ofBlocks, v.Uniform == ir.OfWarp && u.group == ofWarp:
		return true
	default:
		return !u.private[v] && u.varying[v] == nil
	}
}

// UniformExpr reports whether an expression has the same value in all threads
// of the block.
func (u *Uniformity) UniformExpr(e ir.Expr) bool { return e == nil || u.source(e) == nil }

// source returns the node that makes an expression vary: a ThreadValue, an Addr or
// SliceExpr of a variable, or a variable's VarPlace; nil if it is uniform.
func (u *Uniformity) source(e ir.Expr) any {
	var found any
	v := ir.Visitor{
		Expr: func(e ir.Expr) bool {
			switch e := e.(type) {
			case *ir.ThreadValue:
				if u.varies(e.Op) {
					found = e
				}
			case *ir.Addr:
				if isLocal(e.Place) {
					found = e
				}
			case *ir.SliceExpr:
				if e.Array != nil && isLocal(e.Array) {
					found = e
				}
			}
			return found == nil
		},
		Place: func(p ir.Place) bool {
			switch p := p.(type) {
			case *ir.VarPlace:
				if !u.IsUniform(p.Var) {
					found = p
				}
			case *ir.SharedPlace:
				if u.group == ofBlocks {
					found = p
				}
			}
			return found == nil
		},
	}
	v.Value(e)
	return found
}

func isLocal(p ir.Place) bool {
	_, ok := ir.Root(p).(*ir.VarPlace)
	return ok
}

// varies reports whether a coordinate differs between the threads of a block.
func (u *Uniformity) varies(op ir.ThreadOp) bool {
	switch u.group {
	case ofWarp:
		return u.variesInWarp(op)
	case ofBlocks:
		if op >= ir.BlockIdxX && op <= ir.BlockIdxZ {
			return true
		}
	}
	switch op {
	case ir.ThreadIdxX, ir.ThreadIdxY, ir.ThreadIdxZ:
		return u.options.Block[op-ir.ThreadIdxX] != 1
	case ir.LaneID, ir.WarpID:
		return true
	}
	return false
}

// explain says where control flow diverges and what it depends on.
func (u *Uniformity) explain(c *cause) string {
	for c.expr == nil && c.inherited != nil {
		c = c.inherited
	}
	return fmt.Sprintf("the %s at %s depends on %s", c.what, c.pos, u.dependence(u.source(c.expr)))
}

// dependence names what a varying node depends on, and the variables in between.
func (u *Uniformity) dependence(node any) string {
	through := ""
	for range 8 {
		switch n := node.(type) {
		case *ir.ThreadValue:
			return n.Op.String() + through
		case *ir.VarPlace:
			c := u.varying[n.Var]
			if c != nil && through == "" && strings.HasPrefix(c.what, warpResult) {
				return c.what // the operation's own variable
			}
			if n.Var.Name != "" && !n.Var.Hidden && through == "" {
				through = " through " + n.Var.Name
			}
			if c == nil {
				return "a variable whose address is taken" + through
			}
			if c.what != "" {
				return c.what + through
			}
			for c.expr == nil && c.inherited != nil {
				c = c.inherited
			}
			if c.expr == nil {
				return "the thread" + through
			}
			node = u.source(c.expr)
		case *ir.SharedPlace:
			return "shared memory, which is separate for each block" + through
		case *ir.Addr, *ir.SliceExpr:
			return "the address of a variable of the thread" + through
		default:
			return "the thread" + through
		}
	}
	return "the thread" + through
}

// divergence walks a body once. Facts are only added, so that repeating the walk
// terminates.
type divergence struct {
	u       *Uniformity
	loops   map[*ir.Loop]*cause // loops in which not all threads run all iterations
	changed bool

	now      *cause // why control flow diverges here; nil if it does not
	pending  []departure
	barriers []divergentBarrier
	apart    map[*ir.Warp]bool
}

// departure is a jump that only some threads take: the code up to its target is
// divergent.
type departure struct {
	label *ir.Label // nil for a return
	next  bool      // a continue
	why   *cause
}

// current returns why control flow diverges at this point.
func (d *divergence) current() *cause {
	if d.now != nil {
		return d.now
	}
	if len(d.pending) > 0 {
		return d.pending[len(d.pending)-1].why
	}
	return nil
}

// under walks a body with one additional cause of divergence.
func (d *divergence) under(why *cause, body []ir.Stmt) {
	saved := d.now
	if d.now == nil {
		d.now = why
	}
	d.body(body)
	d.now = saved
}

func (d *divergence) body(list []ir.Stmt) {
	for _, s := range list {
		d.stmt(s)
	}
}

func (d *divergence) stmt(s ir.Stmt) {
	switch s := s.(type) {
	case *ir.Assign:
		d.assign(s.Dst, s.Src, s.Pos)
	case *ir.If:
		why := d.condition("if", s.Cond, s.Pos)
		d.under(why, s.Then)
		d.under(why, s.Else)
	case *ir.Loop:
		d.loop(s)
	case *ir.Block:
		d.body(s.Body)
		d.arrive(s.Label, false)
	case *ir.Break:
		d.depart(departure{label: s.Label})
	case *ir.Continue:
		d.depart(departure{label: s.Label, next: true})
	case *ir.Return:
		d.depart(departure{})
	case *ir.Call:
		var args ir.Expr
		for _, e := range s.Args {
			if !d.u.UniformExpr(e) {
				args = e
			}
		}
		for _, v := range s.Dst {
			d.define(v, args, "", s.Pos)
		}
	case *ir.Atomic:
		d.define(s.Dst, nil, "the result of an atomic operation", s.Pos)
		d.assign(s.Place, nil, s.Pos)
	case *ir.LoadVector:
		for _, v := range s.Dst {
			d.define(v, &ir.Load{Place: s.Place}, "", s.Pos)
		}
	case *ir.Memory:
		d.memory(s)
	case *ir.Barrier:
		if why := d.current(); why != nil && (d.u.group == ofBlock || d.u.group == ofBlocks && s.Of != ir.OfBlock) {
			d.barriers = append(d.barriers, divergentBarrier{pos: s.Pos, why: why, op: s.Of.GoName()})
		}
	case *ir.Warp:
		d.warp(s)
	case *ir.Effect:
		for _, v := range s.Dst {
			d.define(v, nil, "the result of an operation of one thread", s.Pos)
		}
	}
}

// condition returns why a condition makes control flow diverge, or nil.
func (d *divergence) condition(what string, e ir.Expr, pos ir.Pos) *cause {
	if d.u.UniformExpr(e) {
		return nil
	}
	return &cause{pos: pos, what: what, expr: e}
}

func (d *divergence) loop(s *ir.Loop) {
	saved := d.now
	if d.now == nil {
		d.now = d.loops[s]
	}
	outside := len(d.pending)
	d.body(s.Pre)
	if why := d.condition("for", s.Cond, s.Pos); why != nil && d.now == nil {
		d.iterate(s, why)
		d.now = why
	}
	d.body(s.Body)
	d.arrive(s.Label, true)
	d.body(s.Post)
	if len(d.pending) > outside && saved == nil {
		d.iterate(s, d.pending[outside].why)
	}
	d.arrive(s.Label, false)
	d.now = saved
}

// iterate records that not all threads run all iterations of a loop.
func (d *divergence) iterate(s *ir.Loop, why *cause) {
	if d.loops[s] == nil {
		d.loops[s] = why
		d.changed = true
	}
}

func (d *divergence) depart(j departure) {
	if j.why = d.current(); j.why != nil {
		d.pending = append(d.pending, j)
	}
}

// arrive joins the threads that jumped to this point.
func (d *divergence) arrive(l *ir.Label, next bool) {
	out := d.pending[:0]
	for _, j := range d.pending {
		if j.label == nil || j.label != l || j.next != next {
			out = append(out, j)
		}
	}
	d.pending = out
}

// assign records the effect of an assignment on the variable that it changes.
func (d *divergence) assign(dst ir.Place, src ir.Expr, pos ir.Pos) {
	v, ok := ir.Root(dst).(*ir.VarPlace)
	if !ok {
		return
	}
	for p := dst; ; {
		switch q := p.(type) {
		case *ir.FieldPlace:
			p = q.X
			continue
		case *ir.IndexPlace:
			if !d.u.UniformExpr(q.Index) {
				d.define(v.Var, q.Index, "", pos)
			}
			p = q.X
			continue
		}
		break
	}
	d.define(v.Var, src, "", pos)
}

// define records an assignment of an expression, or of what is named, to v.
func (d *divergence) define(v *ir.Local, src ir.Expr, what string, pos ir.Pos) {
	if v == nil || d.u.varying[v] != nil {
		return
	}
	c := &cause{pos: pos, what: what, expr: src}
	switch {
	case what != "" || src != nil && !d.u.UniformExpr(src):
	case d.current() != nil:
		c.expr, c.inherited = nil, d.current()
	default:
		return
	}
	d.u.varying[v] = c
	d.changed = true
}
