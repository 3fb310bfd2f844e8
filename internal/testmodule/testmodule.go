// Package testmodule creates Go modules in temporary directories for tests that
// run the go command.
//
//	dir := testmodule.New(t, `
//	-- filters/filters.go --
//	package filters
//	...
//	`)
//
// The module path is Path. A replace directive makes this repository available as
// quern.dev. No network is needed, but the dependencies of the repository must be
// in the module cache.
//
// Test binaries also run on machines without the source or without Go. Tests that
// need these call NeedSource, NeedGo, Root or New, and are skipped there.
package testmodule

import (
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"runtime"
	"strings"
	"testing"
)

// Path is the module path of every module that New creates.
const Path = "example.test/demo"

var separator = regexp.MustCompile(`(?m)^-- (\S+) --\n`)

// New writes the files of an archive into a new module and returns its directory.
// Each file follows a line "-- name --". New sets the go command's environment
// for the rest of the test, so the test cannot run in parallel with others.
func New(t testing.TB, archive string) string {
	t.Helper()
	t.Setenv("GOFLAGS", "-mod=mod")
	t.Setenv("GOPROXY", "off")
	t.Setenv("GOWORK", "off")

	root := Root(t)
	mod, err := os.ReadFile(filepath.Join(root, "go.mod"))
	if err != nil {
		t.Fatal(err)
	}
	text, _, _ := strings.Cut(string(mod), "\ntool ")
	text = strings.Replace(text, "module quern.dev", "module "+Path, 1)
	text += "\nrequire quern.dev v0.0.0\n\nreplace quern.dev => " + filepath.ToSlash(root) + "\n"
	sum, err := os.ReadFile(filepath.Join(root, "go.sum"))
	if err != nil {
		t.Fatal(err)
	}
	dir, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	write(t, filepath.Join(dir, "go.mod"), text)
	write(t, filepath.Join(dir, "go.sum"), string(sum))
	Write(t, dir, archive)
	return dir
}

// Write writes the files of an archive under a directory.
func Write(t testing.TB, dir, archive string) {
	t.Helper()
	heads := separator.FindAllStringSubmatchIndex(archive, -1)
	for i, h := range heads {
		end := len(archive)
		if i+1 < len(heads) {
			end = heads[i+1][0]
		}
		write(t, filepath.Join(dir, filepath.FromSlash(archive[h[2]:h[3]])), archive[h[1]:end])
	}
}

func write(t testing.TB, name, text string) {
	t.Helper()
	if err := os.MkdirAll(filepath.Dir(name), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(name, []byte(text), 0o644); err != nil {
		t.Fatal(err)
	}
}

// Root returns the root directory of this repository. It skips the test if the
// binary was built elsewhere or Go is not installed.
func Root(t testing.TB) string {
	t.Helper()
	_, file, _, _ := runtime.Caller(0)
	root := filepath.Dir(filepath.Dir(filepath.Dir(file)))
	if _, err := os.Stat(filepath.Join(root, "go.mod")); err != nil {
		t.Skipf("needs the repository source, which is not in %s", root)
	}
	NeedGo(t)
	return root
}

// NeedGo skips the test if Go is not installed. Tests need it for the go command
// or the source of the standard library.
func NeedGo(t testing.TB) {
	t.Helper()
	if _, err := exec.LookPath("go"); err != nil {
		t.Skip("needs Go: the go command is not on PATH")
	}
}

// NeedSource skips the test unless it runs in the directory of its package, with
// the files that the test reads.
func NeedSource(t testing.TB) {
	t.Helper()
	_, file, _, _ := runtime.Caller(1)
	name := filepath.Base(file)
	if _, err := os.Stat(name); err != nil {
		t.Skipf("needs the package source: %s is not in the working directory", name)
	}
}
