package fuzz

import (
	"cmp"
	"context"
	"fmt"
	"go/ast"
	"go/format"
	"go/parser"
	"go/token"
	"regexp"
	"slices"
	"strings"
)

// Reduce returns a smaller program that fails in the same way. It deletes statements,
// declarations and parts of expressions as long as fails reports true for the rest. It
// passes at most batch candidates at a time to fails, and stops early when ctx ends.
func Reduce(ctx context.Context, c *Case, batch int, fails func(candidates []*Case) []bool) *Case {
	for {
		smaller := reduceOnce(ctx, c, batch, fails)
		if smaller == nil {
			return c
		}
		c = smaller
	}
}

// reduceOnce tries each edit of a program once, the largest first, and keeps those that
// leave a failing program. It returns nil if there are none.
func reduceOnce(ctx context.Context, c *Case, batch int, fails func([]*Case) []bool) *Case {
	progress := false
	for next := 0; ctx.Err() == nil; {
		list := edits(c.Source)
		var candidates []*Case
		last := next
		for ; last < len(list) && len(candidates) < batch; last++ {
			if text, ok := list[last].apply(c.Source); ok {
				smaller := *c
				smaller.Source = text
				candidates = append(candidates, &smaller)
			}
		}
		if len(candidates) == 0 {
			break
		}
		found := slices.Index(fails(candidates), true)
		if found < 0 {
			next = last
			continue
		}
		c, progress = candidates[found], true
		next += found
	}
	if !progress {
		return nil
	}
	return c
}

// edit replaces part of the source text.
type edit struct {
	from, to int
	text     string
}

// apply makes the edit. ok is false if the result does not parse or is not smaller.
func (e edit) apply(source string) (text string, ok bool) {
	text = source[:e.from] + e.text + source[e.to:]
	text = imports(text)
	out, err := format.Source([]byte(text))
	if err != nil || len(out) >= len(source) {
		return "", false
	}
	return string(out), true
}

// imports adjusts the imports of a program to what it uses.
func imports(source string) string {
	from := strings.Index(source, "\nimport (")
	if from < 0 {
		return source
	}
	to := from + strings.Index(source[from:], "\n)\n") + 3
	rest := source[to:]
	var b strings.Builder
	for _, path := range [...]string{"math", "math/bits", "quern.dev/kernel"} {
		if strings.Contains(rest, path[strings.LastIndexByte(path, '/')+1:]+".") {
			fmt.Fprintf(&b, "\t%q\n", path)
		}
	}
	return source[:from] + "\nimport (\n" + b.String() + ")\n" + rest
}

// edits returns the possible deletions in a program, the largest first.
func edits(source string) []edit {
	set := token.NewFileSet()
	file, err := parser.ParseFile(set, "p.go", source, parser.ParseComments|parser.SkipObjectResolution)
	if err != nil {
		return nil
	}
	var list []edit
	offset := func(p token.Pos) int { return set.Position(p).Offset }
	text := func(n ast.Node) string { return source[offset(n.Pos()):offset(n.End())] }
	replace := func(n ast.Node, with string) {
		list = append(list, edit{offset(n.Pos()), offset(n.End()), with})
	}
	statements := func(body []ast.Stmt) {
		for i, s := range body {
			replace(s, "")
			if n := (len(body) - i) / 2; n > 1 {
				list = append(list, edit{offset(s.Pos()), offset(body[i+n-1].End()), ""})
			}
		}
	}
	for _, d := range file.Decls {
		if g, ok := d.(*ast.GenDecl); ok && g.Tok == token.IMPORT {
			continue
		}
		if f, ok := d.(*ast.FuncDecl); ok && f.Doc != nil {
			continue
		}
		replace(d, "")
	}
	ast.Inspect(file, func(n ast.Node) bool {
		switch n := n.(type) {
		case *ast.FuncDecl:
			// Keep the functions that make results defined.
			return helpers[strings.TrimSuffix(n.Name.Name, suffix)] == ""
		case *ast.BlockStmt:
			statements(n.List)
			replace(n, "{}")
		case *ast.CaseClause:
			statements(n.Body)
			replace(n, "")
		case *ast.IfStmt:
			replace(n, text(n.Body))
			if n.Else != nil {
				replace(n, text(n.Else))
				list = append(list, edit{offset(n.Body.End()), offset(n.Else.End()), ""})
			}
			if n.Init != nil {
				list = append(list, edit{offset(n.Init.Pos()), offset(n.Cond.Pos()), ""})
			}
		case *ast.ForStmt:
			replace(n, text(n.Body))
		case *ast.RangeStmt:
			replace(n, text(n.Body))
		case *ast.SwitchStmt:
			if len(n.Body.List) == 1 {
				replace(n, "{"+source[offset(n.Body.List[0].(*ast.CaseClause).Colon)+1:offset(n.Body.Rbrace)]+"}")
			}
		case *ast.LabeledStmt:
			replace(n, text(n.Stmt))
		case *ast.BinaryExpr:
			replace(n, text(n.X))
			replace(n, text(n.Y))
		case *ast.ParenExpr:
			replace(n, text(n.X))
			replace(n, "0")
		case *ast.UnaryExpr:
			replace(n, text(n.X))
		case *ast.IndexExpr:
			replace(n.Index, "0")
			replace(n, "0")
		case *ast.SelectorExpr:
			replace(n, "0")
		case *ast.CallExpr:
			for i, a := range n.Args {
				replace(n, text(a))
				if len(n.Args) > 1 && i > 0 {
					list = append(list, edit{offset(n.Args[i-1].End()), offset(a.End()), ""})
				}
			}
			replace(n, "0")
			replace(n, "false")
		case *ast.CompositeLit:
			replace(n, text(n.Type)+"{}")
			for _, e := range n.Elts {
				if kv, ok := e.(*ast.KeyValueExpr); ok {
					replace(kv, text(kv.Value))
				}
			}
		case *ast.Field:
			if len(n.Names) == 1 {
				list = append(list, edit{offset(n.Pos()), offset(n.End()), ""})
			}
		case *ast.BasicLit:
			if n.Kind != token.STRING {
				replace(n, "0")
				replace(n, "1")
			}
		}
		return true
	})
	slices.SortStableFunc(list, func(a, b edit) int { return cmp.Compare(b.to-b.from-len(b.text), a.to-a.from-len(a.text)) })
	return list
}

var digits = regexp.MustCompile(`\d+`)

// class returns a string that is equal for two failures if they may have the same cause.
func (m *Mismatch) class() string {
	device, _, _ := strings.Cut(m.Where, " ")
	for _, kind := range [...]string{", want no fault", "no fault, want", "data race", "uninitialised", "] = ", "faulty", "fault of its own", "does not end"} {
		if strings.Contains(m.What, kind) {
			return device + kind
		}
	}
	words := strings.Fields(digits.ReplaceAllString(m.What, ""))
	return device + strings.Join(words[:min(5, len(words))], " ")
}

// Reduce returns a smaller program that fails in the same way in this process.
func (ch *Checker) Reduce(ctx context.Context, m *Mismatch) *Mismatch {
	class := m.class()
	found := m
	Reduce(ctx, m.Case, 1, func(candidates []*Case) []bool {
		out := make([]bool, len(candidates))
		for i, c := range candidates {
			if other := ch.Check(c); other != nil && other.class() == class {
				out[i], found = true, other
				return out
			}
		}
		return out
	})
	return found
}

// Reduce returns a smaller program that fails in the same way as plain Go or on the cpu
// device. The checker must not find anything else wrong with the program, such as a data
// race.
func (n *Native) Reduce(ctx context.Context, ch *Checker, m *Mismatch) *Mismatch {
	const candidates = 24 // per binary
	class := m.class()
	found := m
	Reduce(ctx, m.Case, candidates, func(list []*Case) []bool {
		out := make([]bool, len(list))
		var fit []*Case
		var index []int
		for i, c := range list {
			if ch.Check(c) == nil {
				fit, index = append(fit, c), append(index, i)
			}
		}
		results, err := n.Check(ctx, fit)
		if err != nil {
			return out
		}
		for j, other := range results {
			i := index[j]
			if other != nil && other.class() == class {
				out[i], found = true, other
				return out
			}
		}
		return out
	})
	return found
}
