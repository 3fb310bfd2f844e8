package frontend

import (
	"errors"
	"go/token"
	"path/filepath"

	"quern.dev/internal/compiler/ir"
)

// Diagnose converts an error of a later stage to diagnostics. An error with a position
// gets the full file name.
func (p *Package) Diagnose(kernel string, err error) Diagnostics {
	var several interface{ Unwrap() []error }
	if errors.As(err, &several) {
		var out Diagnostics
		for _, e := range several.Unwrap() {
			out = append(out, p.Diagnose(kernel, e)...)
		}
		return out
	}
	var located interface {
		Position() ir.Pos
		Message() string
	}
	if errors.As(err, &located) {
		d := Diagnostic{Pos: p.position(located.Position()), Msg: located.Message()}
		d.Kernel, d.Handler = p.subject(kernel)
		return Diagnostics{d}
	}
	d := Diagnostic{Pos: token.Position{Filename: p.Path}, Msg: err.Error()}
	d.Kernel, d.Handler = p.subject(kernel)
	return Diagnostics{d}
}

// Position returns the position of something that the package declares.
func (p *Package) Position(pos token.Pos) token.Position { return p.world.position(pos) }

// position finds the file of a position in the IR, which contains only the base name.
func (p *Package) position(pos ir.Pos) token.Position {
	out := token.Position{Filename: pos.File, Line: pos.Line, Column: pos.Col}
	for _, f := range p.Files {
		if name := p.world.Fset.Position(f.Package).Filename; filepath.Base(name) == pos.File {
			out.Filename = name
		}
	}
	return out
}
