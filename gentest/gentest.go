package gentest

import (
	"errors"
	"os/exec"
	"path/filepath"
	"runtime/debug"
	"testing"

	"quern.dev/internal/compiler/frontend"
	"quern.dev/internal/compiler/generate"
)

// UpToDate fails the test unless quern_gen.go and quern_gen.zip in the current
// directory, that of the package under test, match what quern gen would write
// now. It reports which kernels have changed. It writes nothing and takes about
// as long as quern gen.
//
// UpToDate skips the test if the package's source or the go command is missing,
// for example when the test binary was copied to another machine.
func UpToDate(t testing.TB) {
	t.Helper()
	if sources, _ := filepath.Glob("*.go"); len(sources) == 0 {
		t.Skip("the package source is not in the current directory")
	}
	if _, err := exec.LookPath("go"); err != nil {
		t.Skipf("kernels cannot be compiled: %v", err)
	}
	defer debug.SetGCPercent(debug.SetGCPercent(400)) // what the compiler allocates soon becomes garbage
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

// outdated returns an error if the generated files of a package are out of date.
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
