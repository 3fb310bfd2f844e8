package frontend

import (
	"go/ast"
	"go/build"
	"go/build/constraint"
	"go/parser"
	"go/token"
	"os"
	"path/filepath"
)

// misplaced reports kernels in files that the generated file cannot refer to, because
// it is part of the package in every build.
func (l *listed) misplaced() (Diagnostics, error) {
	if l.Standard {
		return nil, nil
	}
	var out Diagnostics
	for _, group := range []struct {
		names []string
		check func(name string, f *ast.File) string // says what is wrong with a kernel in the file
	}{
		{l.GoFiles, l.constrained},
		{l.IgnoredGoFiles, l.constrained},
		{l.CgoFiles, func(string, *ast.File) string {
			return "kernels must be in files that do not import \"C\"; move this one"
		}},
		{append(append([]string{}, l.TestGoFiles...), l.XTestGoFiles...), func(name string, _ *ast.File) string {
			return "kernels in " + name + " are not compiled: move them to a file that is not a test"
		}},
	} {
		for _, name := range group.names {
			file := filepath.Join(l.Dir, name)
			text, err := os.ReadFile(file)
			if err != nil {
				return nil, err
			}
			if !mentioned.Match(text) {
				continue
			}
			fset := token.NewFileSet()
			f, err := parser.ParseFile(fset, file, text, parser.ParseComments|parser.SkipObjectResolution)
			if err != nil {
				continue // the go command reports it in any case
			}
			msg := group.check(name, f)
			if msg == "" {
				continue
			}
			for _, d := range f.Decls {
				fd, ok := d.(*ast.FuncDecl)
				if ok && len(directives(fd.Doc)) > 0 {
					_, handler := actorDirective(fd)
					out.add(Diagnostic{Pos: fset.Position(fd.Name.Pos()), Kernel: fd.Name.Name, Handler: handler, Msg: msg})
				}
			}
		}
	}
	return out, nil
}

// nowhere is no platform: platform-specific files do not match it.
var nowhere = build.Context{GOOS: "none", GOARCH: "none", Compiler: "gc"}

// constrained says what is wrong if a file has a build constraint, in its text or in
// its name.
func (l *listed) constrained(name string, f *ast.File) string {
	const msg = "kernels must be in files without build constraints, since their launchers are compiled on every platform; move this one"
	for _, group := range f.Comments {
		for _, c := range group.List {
			if c.Pos() < f.Package && constraint.IsGoBuild(c.Text) {
				return msg
			}
		}
	}
	if match, err := nowhere.MatchFile(l.Dir, name); err == nil && !match {
		return msg
	}
	return ""
}
