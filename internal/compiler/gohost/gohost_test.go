package gohost_test

import (
	"bytes"
	"encoding/json"
	"flag"
	"fmt"
	"go/format"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"quern.dev/internal/compiler/frontend"
	"quern.dev/internal/compiler/gohost"
	"quern.dev/internal/compiler/ir"
	"quern.dev/internal/testmodule"
)

var update = flag.Bool("update", false, "rewrite the golden files")

const kernelsFile = "testdata/run/kernels.go"

func lower(t testing.TB, file string) *ir.Program {
	t.Helper()
	src, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	p, err := frontend.Text(t.Context(), filepath.Base(file), string(src))
	if err != nil {
		t.Fatal(err)
	}
	prog, err := p.Lower()
	if err != nil {
		t.Fatal(err)
	}
	return prog
}

// file returns a Go file with the functions of all kernels of a program.
func file(t testing.TB, prog *ir.Program) []byte {
	t.Helper()
	imports := gohost.NewImports(prog.Package)
	var funcs bytes.Buffer
	for _, k := range prog.Kernels {
		text, err := gohost.Emit(k, imports)
		if err != nil {
			t.Fatal(err)
		}
		funcs.WriteString("\n" + text)
	}
	out := "package main\n\nimport (\n\t" + strings.Join(imports.Specs(), "\n\t") + "\n)\n" + funcs.String()
	formatted, err := format.Source([]byte(out))
	if err != nil {
		t.Fatalf("%v in\n%s", err, out)
	}
	return formatted
}

func TestGolden(t *testing.T) {
	testmodule.NeedSource(t)
	prog := lower(t, kernelsFile)
	for _, k := range prog.Kernels {
		t.Run(k.Name, func(t *testing.T) {
			text, err := gohost.Emit(k, gohost.NewImports(prog.Package))
			if err != nil {
				t.Fatal(err)
			}
			got, err := format.Source([]byte(text))
			if err != nil {
				t.Fatalf("%v in\n%s", err, text)
			}
			golden := filepath.Join("testdata", "golden", k.Name+".txt")
			if *update {
				if err := os.WriteFile(golden, got, 0o666); err != nil {
					t.Fatal(err)
				}
			}
			want, err := os.ReadFile(golden)
			if err != nil {
				t.Fatal(err)
			}
			if !bytes.Equal(got, want) {
				t.Errorf("got\n%s\nwant\n%s", got, want)
			}
		})
	}
}

func TestSelfAssignmentsKeepTheirChecks(t *testing.T) {
	p, err := frontend.Text(t.Context(), "kernels.go", `package p

import "quern.dev/kernel"

//quern:kernel
func add(t kernel.Thread, x [][3]int32, y []int32) {
	if i := t.Global(); i < len(x) {
		for k := range x[i] {
			y[0] += int32(k)
		}
	}
}
`)
	if err != nil {
		t.Fatal(err)
	}
	prog, err := p.Lower()
	if err != nil {
		t.Fatal(err)
	}
	if got := string(file(t, prog)); !strings.Contains(got, "_ = y[0]") || strings.Contains(got, "y[0] = y[0]") {
		t.Errorf("got\n%s", got)
	}
}

func TestEmitDoesNotChangeTheKernel(t *testing.T) {
	testmodule.NeedSource(t)
	for _, k := range lower(t, kernelsFile).Kernels {
		before := k.String()
		if _, err := gohost.Emit(k, gohost.NewImports("main")); err != nil {
			t.Fatal(err)
		}
		if k.String() != before {
			t.Errorf("%s is now\n%s\nwas\n%s", k.Name, k, before)
		}
	}
}

// TestCompiledKernelsDoWhatTheFunctionsDo runs every kernel of testdata/run on the CPU
// device and as a plain Go function.
func TestCompiledKernelsDoWhatTheFunctionsDo(t *testing.T) {
	testmodule.NeedSource(t)
	runProgram(t, "testdata/run", file(t, lower(t, kernelsFile)), "run")
}

// runProgram runs the files of a directory, together with a generated one, as a package
// of this module that exists only in an overlay. It returns the program's output.
func runProgram(t testing.TB, dir string, generated []byte, args ...string) string {
	t.Helper()
	command, err := exec.LookPath("go")
	if err != nil {
		t.Skip("there is no go command to compile the generated code with")
	}
	temp := t.TempDir()
	here, err := os.Getwd()
	if err != nil {
		t.Fatal(err)
	}
	virtual := filepath.Join(here, "generated")
	replace := map[string]string{}
	sources, err := filepath.Glob(filepath.Join(dir, "*.go"))
	if err != nil {
		t.Fatal(err)
	}
	for _, s := range sources {
		replace[filepath.Join(virtual, filepath.Base(s))] = filepath.Join(here, s)
	}
	gen := filepath.Join(temp, "quern_gen.go")
	replace[filepath.Join(virtual, "quern_gen.go")] = gen
	overlay, err := json.Marshal(map[string]any{"Replace": replace})
	if err != nil {
		t.Fatal(err)
	}
	for name, data := range map[string][]byte{gen: generated, filepath.Join(temp, "overlay.json"): overlay} {
		if err := os.WriteFile(name, data, 0o666); err != nil {
			t.Fatal(err)
		}
	}
	binary := filepath.Join(temp, "program")
	build := exec.Command(command, "build", "-overlay", filepath.Join(temp, "overlay.json"), "-o", binary, "./generated")
	build.Env = append(os.Environ(), "CGO_ENABLED=0")
	if out, err := build.CombinedOutput(); err != nil {
		t.Fatalf("go build: %v\n%s\n%s", err, out, numbered(generated))
	}
	out, err := exec.Command(binary, args...).CombinedOutput()
	if err != nil {
		t.Errorf("%v\n%s", err, out)
	}
	return string(out)
}

func numbered(text []byte) string {
	lines := strings.Split(string(text), "\n")
	for i := range lines {
		lines[i] = fmt.Sprintf("%4d %s", i+1, lines[i])
	}
	return strings.Join(lines, "\n")
}
