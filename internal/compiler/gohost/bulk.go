package gohost

import (
	"fmt"
	"strings"

	"quern.dev/internal/compiler/ir"
)

// bulk returns statements of a region as operations on whole rows of elements, or nil if
// they are not: each copies the elements of the threads from one row to another, or
// clears them. All threads then run a statement before the next one, and read before any
// of them writes.
func (e *emitter) bulk(g *region, stmts []ir.Stmt) *text {
	if e.windows == nil && e.edges != nil {
		return nil
	}
	t := &text{}
	for _, s := range stmts {
		a, ok := s.(*ir.Assign)
		if !ok {
			return nil
		}
		if e.skipped(a) && (e.moved(a) || !e.facts.exprMayFaultAnywhere(a.Src)) {
			continue
		}
		if copied := e.copyArray(g, a); copied != "" {
			t.at(a.Pos, false, "%s", copied)
			continue
		}
		dst := e.wholeRow(g, a.Dst)
		if dst == "" {
			return nil
		}
		if src, ok := a.Src.(*ir.Load); ok && identical(src.Place.Type(), a.Dst.Type()) {
			row := e.wholeRow(g, src.Place)
			if row == "" {
				return nil
			}
			t.at(a.Pos, false, "copy(%s, %s)", dst, row)
			continue
		}
		if c, ok := constant(a.Src); !ok || !c.IsZero() {
			return nil
		}
		if array, ok := strings.CutSuffix(dst, "[:]"); ok {
			t.at(a.Pos, false, "*%s = [%d]%s{}", array, e.declaredRow(), e.typ(a.Dst.Type()))
		} else {
			t.at(a.Pos, false, "clear(%s)", dst)
		}
	}
	if len(t.lines) == 0 {
		return nil
	}
	return t
}

// wholeRow prints the elements that the threads use of a slice or array, or of a
// variable that lives across barriers, as a slice, or returns "".
func (e *emitter) wholeRow(g *region, p ir.Place) string {
	if v, ok := p.(*ir.VarPlace); ok {
		if !e.hasRow(g, uses(g.stmts...), v.Var) || e.inPlace(v.Var) {
			return ""
		}
		row := e.names.of[rowOf{v.Var}]
		if e.declaredRow() > 0 && (e.windows == nil || e.windows.full > 0) {
			row += "[:]"
		}
		return row
	}
	if !e.isWindow(p) {
		return ""
	}
	row, index, _ := strings.Cut(strings.TrimSuffix(e.place(p), "]"), "["+e.inRow())
	if e.windows.full == 0 {
		return row
	}
	from := 0
	fmt.Sscanf(index, " + %d", &from)
	return fmt.Sprintf("%s[%d:%d]", row, from, int64(from)+e.windows.full)
}

// maxInline is the size in bytes up to which a row is copied as an array: calling copy
// takes longer.
const maxInline = 128

// copyArray prints the copy of a short row of declared length as an assignment of
// arrays, or returns "". The Go compiler does it inline if one side does not start with
// *, because then the two cannot overlap in part.
func (e *emitter) copyArray(g *region, a *ir.Assign) string {
	n := int64(e.declaredRow())
	src, ok := a.Src.(*ir.Load)
	if !ok || n == 0 || !identical(src.Place.Type(), a.Dst.Type()) || n*a.Dst.Type().Size() > maxInline {
		return ""
	}
	if e.windows == nil && e.edges == nil || e.windows != nil && e.windows.full == n {
		to, from := e.wholeArray(g, a.Dst), e.wholeArray(g, src.Place)
		if to != "" && from != "" && !(to[0] == '*' && from[0] == '*') {
			return to + " = " + from
		}
	}
	return ""
}

// wholeArray prints the elements that the threads of a whole row use, as an array of
// declared length, or returns "".
func (e *emitter) wholeArray(g *region, p ir.Place) string {
	switch p := p.(type) {
	case *ir.VarPlace:
		if row := e.wholeRow(g, p); row != "" {
			return "*" + strings.TrimSuffix(row, "[:]")
		}
	case *ir.IndexPlace:
		if !e.isWindow(p) || p.X.Type().Len != e.windows.full {
			return ""
		}
		if offset, _ := e.facts.offset(p.Index); isZero(offset) {
			e.requireRow(p.X)
			return e.place(p.X)
		}
	case *ir.ElemPlace:
		if !e.isWindow(p) {
			return ""
		}
		row, at, _ := strings.Cut(e.place(p), "[")
		for _, group := range e.windows.groups {
			if group.name == row && group.min == group.max && at == e.inRow()+"]" {
				return "*" + row
			}
		}
	}
	return ""
}

// isWindow reports whether the current code has a window for a place.
func (e *emitter) isWindow(p ir.Place) bool {
	return e.windows != nil && e.facts.hasWindow(p) && !e.facts.isFixed(p)
}

func isZero(x ir.Expr) bool {
	c, ok := constant(x)
	return ok && c.IsZero()
}
