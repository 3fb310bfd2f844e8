package frontend

import (
	"go/ast"
	"go/token"
	"path/filepath"

	"quern.dev/internal/compiler/ir"
)

// Find returns the node at a position in the package's source for which match holds:
// the outermost expression or statement that begins there, or the operation whose
// operator is there. It returns nil if there is none, or if the position is not in the
// package.
func (p *Package) Find(at ir.Pos, match func(n ast.Node) bool) ast.Node {
	f, pos := p.place(at)
	if f == nil {
		return nil
	}
	var found ast.Node
	ast.Inspect(f, func(n ast.Node) bool {
		if n == nil || found != nil || pos < n.Pos() || n.End() <= pos {
			return false
		}
		begin := n.Pos()
		if b, ok := n.(*ast.BinaryExpr); ok {
			begin = b.OpPos
		}
		if begin == pos && match(n) {
			found = n
		}
		return true
	})
	return found
}

// Declared returns the position in the source of a kernel, or of the handler of the
// actor that it runs.
func (p *Package) Declared(k *ir.Kernel) ir.Pos {
	a := p.ActorOf(k.Name)
	if a == nil {
		return k.Func.Pos
	}
	at := p.Position(a.pos)
	return ir.Pos{File: filepath.Base(at.Filename), Line: at.Line, Col: at.Column}
}

// Assigned returns the name of the variable that the source assigns, or declares with,
// the expression at a position, or "".
func (p *Package) Assigned(at ir.Pos) string {
	f, pos := p.place(at)
	if f == nil {
		return ""
	}
	name := ""
	look := func(lhs func(i int) ast.Expr, rhs []ast.Expr, n int) {
		for i, e := range rhs {
			if id, ok := lhs(i).(*ast.Ident); ok && e.Pos() == pos && n == len(rhs) {
				name = id.Name
			}
		}
	}
	ast.Inspect(f, func(n ast.Node) bool {
		switch n := n.(type) {
		case *ast.AssignStmt:
			look(func(i int) ast.Expr { return n.Lhs[i] }, n.Rhs, len(n.Lhs))
		case *ast.ValueSpec:
			look(func(i int) ast.Expr { return n.Names[i] }, n.Values, len(n.Names))
		}
		return name == ""
	})
	return name
}

// place finds the file of the package and the position in it for a position in the IR.
func (p *Package) place(at ir.Pos) (*ast.File, token.Pos) {
	for _, f := range p.Files {
		file := p.world.Fset.File(f.Package)
		if file == nil || filepath.Base(file.Name()) != at.File || at.Line < 1 || file.LineCount() < at.Line {
			continue
		}
		return f, file.LineStart(at.Line) + token.Pos(max(at.Col, 1)-1)
	}
	return nil, token.NoPos
}
