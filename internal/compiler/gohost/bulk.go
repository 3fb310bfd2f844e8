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
	if e.windows == nil || !e.facts.hasWindow(p) || e.facts.isFixed(p) {
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
