package opt

import (
	"fmt"

	"quern.dev/internal/compiler/ir"
)

// maxLeaves is the maximum number of scalars of an aggregate in memory that is copied
// by single assignments; larger arrays are copied by loops.
const maxLeaves = 64

// maxSplit is the maximum length of an array that becomes variables.
const maxSplit = 1024

// scalarise replaces struct variables by one variable per field, and array variables
// whose indices are all constants by one variable per element. Assignments of
// aggregates become assignments of scalars. A variable whose address is taken, or an
// array that is indexed by a variable, stays in memory.
func scalarise(k *ir.Kernel) error {
	ownParams(k.Func)
	s := &scalariser{f: k.Func, uses: countUses(k.Func), nodes: map[*ir.Local]*node{}}
	for _, v := range k.Func.Locals {
		if v.Type.IsAggregate() && !s.uses[v].addressed {
			s.nodes[v] = &node{local: v}
		}
	}
	s.survey(k.Func.Body)
	s.split(k.Func.Locals)
	r := ir.Rewriter{Expr: simplifyExpr, Place: s.place, Stmt: s.stmt}
	k.Func.Body = r.Body(k.Func.Body)
	k.Func.Locals = without(k.Func.Locals, func(v *ir.Local) bool { return s.nodes[v] != nil })
	return nil
}

// ownParams copies array and struct parameters that the kernel changes to variables:
// parameter memory is read-only.
func ownParams(f *ir.Func) {
	uses := countUses(f)
	own := map[*ir.Local]*ir.Local{}
	var copies []ir.Stmt
	for _, p := range f.Params {
		if u := uses[p]; !p.Type.IsAggregate() || u.once() {
			continue
		}
		v := *p
		own[p] = &v
		f.Locals = append(f.Locals, &v)
		copies = append(copies, &ir.Assign{Dst: &ir.VarPlace{Var: &v}, Src: ir.Get(p), Pos: p.Pos})
	}
	if len(own) == 0 {
		return
	}
	r := ir.Rewriter{Place: func(p ir.Place) ir.Place {
		if v, ok := p.(*ir.VarPlace); ok && own[v.Var] != nil {
			v.Var = own[v.Var]
		}
		return p
	}}
	f.Body = append(copies, r.Body(f.Body)...)
}

// node is a variable, or a part of one, to be split.
type node struct {
	local  *ir.Local
	memory bool    // indexed by a variable: not split
	parts  []*node // of the fields or elements
	root   *ir.Local
}

type scalariser struct {
	f       *ir.Func
	uses    usages
	structs bool                // are not split
	nodes   map[*ir.Local]*node // of split variables; a leaf has none
	roots   map[*ir.Local]*ir.Local

	values map[*ir.Local]ir.Expr // values of variables; nil until needed
}

// survey finds the arrays that are indexed by variables.
func (s *scalariser) survey(body []ir.Stmt) {
	var v ir.Visitor
	v = ir.Visitor{Place: func(p ir.Place) bool {
		root, ok := ir.Root(p).(*ir.VarPlace)
		if !ok || s.nodes[root.Var] == nil {
			return true
		}
		s.descend(p)
		for p != ir.Place(root) {
			switch q := p.(type) {
			case *ir.FieldPlace:
				p = q.X
			case *ir.IndexPlace:
				v.Value(q.Index)
				p = q.X
			}
		}
		return false
	}}
	v.Body(body)
}

// descend returns the node of a place, nil below an array in memory.
func (s *scalariser) descend(p ir.Place) *node {
	switch p := p.(type) {
	case *ir.VarPlace:
		n := s.nodes[p.Var]
		if n.local.Type.Kind == ir.Array && n.local.Type.Len > maxSplit {
			n.memory = true
		}
		return n
	case *ir.FieldPlace:
		if n := s.descend(p.X); n != nil && !n.memory {
			return n.part(p.Field)
		}
	case *ir.IndexPlace:
		n := s.descend(p.X)
		if n == nil || n.memory {
			return nil
		}
		c := asConst(p.Index)
		if c == nil || c.Bits >= uint64(n.local.Type.Len) {
			n.memory = true
			return nil
		}
		return n.part(int(c.Bits))
	}
	return nil
}

// part returns the node of a field or element.
func (n *node) part(i int) *node {
	if n.parts == nil {
		n.parts = make([]*node, partCount(n.local.Type))
	}
	if n.parts[i] != nil {
		return n.parts[i]
	}
	t := n.local.Type
	v := &ir.Local{Pos: n.local.Pos, Hidden: n.local.Hidden}
	if t.Kind == ir.Struct {
		v.Name, v.Type = n.local.Name+"_"+t.Fields[i].Name, t.Fields[i].Type
		v.Path = n.local.Shown() + "." + t.Fields[i].Name
	} else {
		v.Name, v.Type = fmt.Sprintf("%s_%d", n.local.Name, i), t.Elem
		v.Path = fmt.Sprintf("%s[%d]", n.local.Shown(), i)
	}
	n.parts[i] = &node{local: v, memory: v.Type.Kind == ir.Array && v.Type.Len > maxSplit}
	return n.parts[i]
}

func partCount(t *ir.Type) int {
	if t.Kind == ir.Struct {
		return len(t.Fields)
	}
	return int(t.Len)
}

// split creates the variables that replace those in the list.
func (s *scalariser) split(list []*ir.Local) {
	s.roots = map[*ir.Local]*ir.Local{}
	for _, v := range list {
		n := s.nodes[v]
		if n == nil {
			continue
		}
		if n.memory {
			delete(s.nodes, v)
			continue
		}
		s.grow(n, v)
	}
}

// grow completes a node's parts down to scalars and arrays in memory.
func (s *scalariser) grow(n *node, root *ir.Local) {
	n.root = root
	if n.memory || s.isLeaf(n.local.Type) {
		s.f.Locals = append(s.f.Locals, n.local)
		s.roots[n.local] = root
		return
	}
	s.nodes[n.local] = n
	for i := range partCount(n.local.Type) {
		s.grow(n.part(i), root)
	}
}

// isLeaf reports whether a value of the type is not split.
func (s *scalariser) isLeaf(t *ir.Type) bool {
	return !t.IsAggregate() || s.structs && t.Kind == ir.Struct
}

// place replaces a part of a split variable by that part's variable.
func (s *scalariser) place(p ir.Place) ir.Place {
	switch p := p.(type) {
	case *ir.FieldPlace:
		if n := s.nodeOf(p.X); n != nil {
			return &ir.VarPlace{Var: n.parts[p.Field].local}
		}
	case *ir.IndexPlace:
		if n := s.nodeOf(p.X); n != nil {
			return &ir.VarPlace{Var: n.parts[asConst(p.Index).Bits].local}
		}
	}
	return p
}

// nodeOf returns the node of a split variable, nil for other places.
func (s *scalariser) nodeOf(p ir.Place) *node {
	if v, ok := p.(*ir.VarPlace); ok {
		return s.nodes[v.Var]
	}
	return nil
}

func (s *scalariser) stmt(st ir.Stmt) []ir.Stmt {
	switch st := st.(type) {
	case *ir.Assign:
		if st.Dst.Type().IsAggregate() {
			return s.assign(st)
		}
	case *ir.Check:
		if _, ok := st.Place.(*ir.VarPlace); ok {
			return nil
		}
	}
	return []ir.Stmt{st}
}
