package frontend

import (
	"errors"
	"go/ast"
	"testing"
)

func TestAPanicWhileLoweringNamesTheKernel(t *testing.T) {
	const src = `package p

import "quern.dev/kernel"

//quern:kernel
func good(t kernel.Thread) {}

//quern:kernel
func bad(t kernel.Thread) {}
`
	tests := []struct {
		name   string
		damage func(bad *ast.FuncDecl, p *Package)
		kernel string
	}{
		{"in its body", func(bad *ast.FuncDecl, _ *Package) { bad.Body.List = []ast.Stmt{nil} }, "bad"},
		{"but not the one before it", func(bad *ast.FuncDecl, p *Package) { delete(p.Info.Defs, bad.Name); bad.Type = nil }, ""},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			p, err := Text(t.Context(), "kernels.go", src)
			if err != nil {
				t.Fatal(err)
			}
			decls := p.Files[0].Decls
			tt.damage(decls[len(decls)-1].(*ast.FuncDecl), p)
			_, err = p.Lower()
			var fault *Fault
			if !errors.As(err, &fault) || fault.Package != "main" || fault.Kernel != tt.kernel {
				t.Errorf("error %v", err)
			}
			if _, err := Text(t.Context(), "kernels.go", src); err != nil {
				t.Errorf("afterwards: %v", err)
			}
		})
	}
}
