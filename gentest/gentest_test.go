package gentest_test

import (
	"context"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"quern.dev/gentest"
	"quern.dev/internal/archive"
	"quern.dev/internal/testmodule"
)

func ExampleUpToDate() {
	// In a test file of a package with kernels:
	_ = func(t *testing.T) { gentest.UpToDate(t) }
}

const module = `
-- filters/filters.go --
package filters

import "quern.dev/kernel"

//go:generate go tool quern gen

//quern:kernel
func shift(t kernel.Thread, by, factor float32, x []float32) {
	if i := t.Global(); i < len(x) {
		x[i] = scaled(x[i], factor) + by
	}
}

//quern:kernel
func clear32(t kernel.Thread, x []float32) {
	if i := t.Global(); i < len(x) {
		x[i] = 0
	}
}
-- filters/scaled.go --
package filters

func scaled(x, factor float32) float32 { return x * factor }
-- filters/filters_test.go --
package filters

import (
	"testing"

	"quern.dev/gentest"
)

func TestGenerated(t *testing.T) { gentest.UpToDate(t) }
-- plain/plain.go --
package plain
-- plain/plain_test.go --
package plain

import (
	"testing"

	"quern.dev/gentest"
)

func TestGenerated(t *testing.T) { gentest.UpToDate(t) }
`

// goCommand runs the go command in a directory.
func goCommand(t *testing.T, dir string, args ...string) (string, error) {
	t.Helper()
	cmd := exec.CommandContext(context.Background(), "go", args...)
	cmd.Dir = dir
	out, err := cmd.CombinedOutput()
	return string(out), err
}

// changedModules replaces text in the modules of an archive.
func changedModules(t *testing.T, file, before, after string) string {
	t.Helper()
	a, err := archive.Open(file)
	if err != nil {
		t.Fatal(err)
	}
	modules, err := a.Modules()
	if err != nil {
		t.Fatal(err)
	}
	for i, m := range modules {
		modules[i].Text = strings.Replace(m.Text, before, after, 1)
	}
	kernels, err := a.Kernels()
	if err != nil {
		t.Fatal(err)
	}
	changed, err := archive.Write(kernels, modules)
	if err != nil {
		t.Fatal(err)
	}
	return string(changed)
}

// damaged changes a byte in the compressed content of an entry.
func damaged(file, entry string) string {
	at := strings.Index(file, entry) + len(entry) + 3
	return file[:at] + string([]byte{file[at] ^ 0x10}) + file[at+1:]
}

func TestUpToDateReportsChanges(t *testing.T) {
	dir := testmodule.New(t, module)
	quern := filepath.Join(t.TempDir(), "quern")
	if out, err := goCommand(t, testmodule.Root(t), "build", "-tags", "bootstrap", "-o", quern, "./cmd/quern"); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	gen := exec.CommandContext(t.Context(), quern, "gen", "./...")
	gen.Dir = dir
	if out, err := gen.CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	if out, err := goCommand(t, dir, "test", "-c", "-o", "filters/filters.test", "./filters"); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	const run = "; run go generate, or go tool quern gen\n"
	prefix := "package example.test/demo/filters: its generated files are out of date: "
	for _, tt := range []struct {
		name           string
		file, old, new string
		want           string // in the output; empty if the test passes
	}{
		{"nothing has", "filters.go", "", "", ""},
		{"lines end with CR LF", "quern_gen.go", "\n", "\r\n", ""},
		{"lines of kernels end with CR LF", "filters.go", "\n", "\r\n", ""},
		{"a body", "filters.go", ") + by", ") - by", prefix + "kernel shift has changed" + run},
		{"the order of parameters of one type", "filters.go", "by, factor", "factor, by", prefix + "kernel shift has changed" + run},
		{"a function that is called", "scaled.go", "x * factor", "x / factor", prefix + "kernel shift has changed" + run},
		{"a place", "filters.go", "//quern:kernel\nfunc clear32", "\n//quern:kernel\nfunc clear32", prefix + "kernel clear32 has moved to other lines" + run},
		{"a comment", "filters.go", "//quern:kernel\nfunc shift", "// shift moves.\n//quern:kernel\nfunc shift", prefix + "kernels clear32 and shift have moved to other lines" + run},
		{"the GPU code", "quern_gen.zip", "fma.rn", "fma.rz", prefix + "kernel shift has changed" + run},
		{"a byte of the archive", "quern_gen.zip", "", "", prefix + "quern_gen.zip is damaged" + run},
		{"the code for the CPU", "quern_gen.go", "x[i] = 0", "x[i] = 1", prefix + "quern_gen.go is from another source or another version of quern gen" + run},
		{"a kernel that is an error", "filters.go", "x[i] = 0", "println(x[i])", "filters.go:17:3: kernel clear32: println is not supported in kernels"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			name := filepath.Join(dir, "filters", tt.file)
			text, err := os.ReadFile(name)
			if err != nil {
				t.Fatal(err)
			}
			count := 1
			if tt.old == "\n" {
				count = -1
			}
			changed := strings.Replace(string(text), tt.old, tt.new, count)
			switch {
			case tt.file == archive.File && tt.old == "":
				changed = damaged(changed, "0.ptx")
			case tt.file == archive.File:
				changed = changedModules(t, string(text), tt.old, tt.new)
			}
			if err := os.WriteFile(name, []byte(changed), 0o644); err != nil {
				t.Fatal(err)
			}
			test := exec.CommandContext(t.Context(), "./filters.test") // it reads the files on disk
			test.Dir = filepath.Join(dir, "filters")
			output, err := test.CombinedOutput()
			out := string(output)
			if (err == nil) != (tt.want == "") || !strings.Contains(out, tt.want) {
				t.Errorf("want %q in\n%s", tt.want, out)
			}
			if err := os.WriteFile(name, text, 0o644); err != nil {
				t.Fatal(err)
			}
		})
	}
	if out, err := goCommand(t, dir, "test", "./plain"); err == nil || !strings.Contains(out, "the package has no kernels") {
		t.Errorf("%v\n%s", err, out)
	}
}

func TestUpToDateSkipsWithoutSource(t *testing.T) {
	t.Chdir(t.TempDir())
	skipped := t.Run("elsewhere", func(t *testing.T) {
		defer func() {
			if !t.Skipped() {
				t.Error("not skipped")
			}
		}()
		gentest.UpToDate(t)
	})
	if !skipped {
		t.Error("the test failed")
	}
}
