package gentest

import (
	"errors"
	"os/exec"
	"path/filepath"
	"testing"

	"quern.dev/internal/compiler/frontend"
	"quern.dev/internal/compiler/generate"
)

// UpToDate fails the test unless quern_gen.go and quern_gen.zip in the current
// directory, which is that of the package under test, are what quern gen would
// write now. It says which kernels have changed. It writes nothing, and takes
// about as long as quern gen.
//
// UpToDate skips the test where the package's source or the go command is not
// there: where the program with the tests was copied to another machine.
func UpToDate(t testing.TB) {
	t.Helper()
	if sources, _ := filepath.Glob("*.go"); len(sources) == 0 {
		t.Skip("the source of the package is not in the current directory")
	}
	if _, err := exec.LookPath("go"); err != nil {
		t.Skipf("kernels cannot be compiled: %v", err)
	}
	packages, err := frontend.Load(t.Context(), ".", ".")
	if err != nil {
		t.Fatal(err)
	}
	if len(packages) == 0 {
		t.Fatal("the package has no kernels")
	}
	for _, p := range packages {
		if why := outdated(p); why != nil {
			t.Errorf("package %s: %v", p.Path, why)
		}
	}
}

// outdated says why the generated files of a package are.
func outdated(p *frontend.Package) error {
	out, err := generate.Package(p)
	if err != nil {
		return err
	}
	written, err := generate.Read(p)
	if err != nil {
		return err
	}
	if len(out.Kernels) == 0 {
		return errors.New("the package has no kernels; run go tool quern gen, which removes " + generate.GoFile)
	}
	if change := written.Change(p, out); change != "" {
		return errors.New("its generated files are out of date: " + change + "; run go generate, or go tool quern gen")
	}
	return nil
}
