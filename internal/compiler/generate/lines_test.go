package generate_test

import (
	"go/ast"
	"go/format"
	"go/parser"
	"go/token"
	"os"
	"path/filepath"
	"testing"

	"quern.dev/internal/compiler/generate"
)

// cmd/cover assigns a block to the file of its function, at the position given by line
// directives: two blocks from different files must not begin at the same position.
func TestBlocksFromDifferentFilesHaveDifferentColumns(t *testing.T) {
	features, err := os.ReadFile("testdata/features.txt")
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		name, archive, dir string
		files              int // minimum number of files that the code is from
	}{
		{"several files and an actor", covered, "kernels", 5},
		{"many features", string(features), ".", 2},
	} {
		t.Run(c.name, func(t *testing.T) {
			dir := generated(t, c.archive, 1)
			name := filepath.Join(dir, c.dir, generate.GoFile)
			text, err := os.ReadFile(name)
			if err != nil {
				t.Fatal(err)
			}
			if formatted, err := format.Source(text); err != nil || string(formatted) != string(text) {
				t.Errorf("the file is not formatted: %v", err)
			}
			fset := token.NewFileSet()
			f, err := parser.ParseFile(fset, name, text, parser.ParseComments)
			if err != nil {
				t.Fatal(err)
			}
			type place struct{ line, column int }
			owner, files := map[place]string{}, map[string]bool{}
			begin := func(pos token.Pos) {
				at := fset.Position(pos)
				p := place{at.Line, at.Column}
				if other, found := owner[p]; found && other != at.Filename {
					t.Errorf("a block begins at %v, which is also a position of %s", at, other)
				}
				owner[p] = at.Filename
			}
			statements := func(list []ast.Stmt) {
				for i, s := range list {
					files[fset.Position(s.Pos()).Filename] = true
					switch s.(type) {
					case *ast.BlockStmt, *ast.BranchStmt, *ast.ForStmt, *ast.IfStmt, *ast.LabeledStmt, *ast.RangeStmt, *ast.SwitchStmt:
						if i+1 < len(list) {
							begin(list[i+1].Pos())
						}
					}
				}
			}
			for _, d := range f.Decls {
				fd, ok := d.(*ast.FuncDecl)
				if !ok {
					continue
				}
				for _, pos := range []token.Pos{fd.Pos(), fd.Body.Rbrace} {
					if at, here := fset.Position(pos), fset.PositionFor(pos, false); at.Filename != name || at.Line != here.Line || at.Column != here.Column {
						t.Errorf("%s is at %v, want %v", fd.Name.Name, at, here)
					}
				}
				ast.Inspect(fd, func(n ast.Node) bool {
					switch n := n.(type) {
					case *ast.BlockStmt:
						begin(n.Lbrace)
						statements(n.List)
					case *ast.CaseClause:
						begin(n.Colon)
						statements(n.Body)
					}
					return true
				})
			}
			if len(files) < c.files {
				t.Errorf("code of %d files: %v", len(files), files)
			}
		})
	}
}
