package main

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"quern.dev/internal/compiler/frontend"
	"quern.dev/internal/compiler/generate"
	"quern.dev/internal/testmodule"
)

const plain = `
-- filters/filters.go --
package filters
`

func TestGenRemovesFilesOfRemovedKernels(t *testing.T) {
	dir := enter(t, filters)
	if code, _, stderr := quern(t, "gen", "./..."); code != 0 {
		t.Fatal(stderr)
	}
	testmodule.Write(t, dir, plain)
	expect(t, 1, "filters/quern_gen.zip is out of date: the package has no kernels\nfilters/quern_gen.go is out of date: the package has no kernels\n", "", "gen", "--check", "./...")
	if diff := cmp.Diff([]string{"filters.go", "quern_gen.go", "quern_gen.zip"}, list(t, "filters")); diff != "" {
		t.Errorf("files: -want +got:\n%s", diff)
	}
	expect(t, 0, "0 kernels in 0 packages: no problems\n", "", "vet", "./...")
	expect(t, 0, "filters/quern_gen.zip: removed because the package has no kernels\nfilters/quern_gen.go: removed because the package has no kernels\n", "", "gen", "./...")
	if diff := cmp.Diff([]string{"filters.go"}, list(t, "filters")); diff != "" {
		t.Errorf("files: -want +got:\n%s", diff)
	}
	expect(t, 0, "no kernels in ./...: mark a function with //quern:kernel\n", "", "gen", "./...")
}

func TestGenDoesNotOverwriteOtherFiles(t *testing.T) {
	for _, tt := range []struct{ name, files, want string }{
		{"with kernels", filters, "quern: filters/quern_gen.go was not written by quern gen, which would overwrite it; rename it, or delete it\n"},
		{"without kernels", plain, "quern: filters/quern_gen.go was not written by quern gen, which would overwrite it; rename it, or delete it\n"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			const own = "package filters\n\n// by hand\n"
			enter(t, tt.files+"-- filters/quern_gen.go --\n"+own)
			expect(t, 1, "", tt.want, "gen", "./...")
			expect(t, 1, "", tt.want, "gen", "--check", "./...")
			if got, err := os.ReadFile(filepath.Join("filters", "quern_gen.go")); err != nil || string(got) != own {
				t.Errorf("the file is %q, %v", got, err)
			}
		})
	}
}

func TestKernelsInFilesWithBuildConstraints(t *testing.T) {
	const kernel = "package filters\n\nimport \"quern.dev/kernel\"\n\n//quern:kernel\nfunc fill(t kernel.Thread, x []int32) { x[t.Global()] = 1 }\n"
	const constraints = "kernel fill: kernels must be in files without build constraints, since their launchers are compiled on every platform; move this one\n"
	tests := []struct {
		name string
		file string
		text string
		want string
	}{
		{"a constraint that holds here", "some.go", "//go:build linux || windows || darwin\n\n" + kernel, "filters/some.go:8:6: " + constraints},
		{"a constraint on a version", "some.go", "// Package filters filters.\n\n//go:build go1.18\n\n" + kernel, "filters/some.go:10:6: " + constraints},
		{"a constraint that does not hold here", "some.go", "//go:build ignore\n\n" + kernel, "filters/some.go:8:6: " + constraints},
		{"a platform in the name", "some_linux.go", kernel, "filters/some_linux.go:6:6: " + constraints},
		{"another platform in the name", "some_plan9_arm.go", kernel, "filters/some_plan9_arm.go:6:6: " + constraints},
		{"a test", "some_test.go", kernel, "filters/some_test.go:6:6: kernel fill: kernels in some_test.go are not compiled: move them to a file that is not a test\n"},
		{"a test of another package", "some_test.go", strings.Replace(kernel, "filters", "filters_test", 1), "filters/some_test.go:6:6: kernel fill: kernels in some_test.go are not compiled: move them to a file that is not a test\n"},
		{"text of a test that only looks like a kernel", "some_test.go", "package filters\n\nconst source = `\n//quern:kernel\nfunc fill()\n`\n", ""},
		{"a constraint where there are no kernels", "some_linux.go", "package filters\n", ""},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			enter(t, plain+"-- filters/"+tt.file+" --\n"+tt.text)
			code, stdout := 1, ""
			if tt.want == "" {
				code, stdout = 0, "no kernels in ./...: mark a function with //quern:kernel\n"
			}
			expect(t, code, stdout, tt.want, "gen", "./...")
			if diff := cmp.Diff(2, len(list(t, "filters"))); diff != "" {
				t.Errorf("files: -want +got:\n%s", diff)
			}
		})
	}
}

func TestPatternsThatMatchNothingAreErrors(t *testing.T) {
	enter(t, filters+"-- empty/notes.txt --\n")
	expect(t, 1, "", "quern: no packages match ./empty/...\n", "gen", "./empty/...")
	expect(t, 1, "", "quern: no packages match ./empty/...\n", "vet", "./empty/...")
}

func TestAnErrorInOnePackageDoesNotStopOthers(t *testing.T) {
	dir := enter(t, filters)
	packages, err := frontend.Load(t.Context(), dir, "./filters")
	if err != nil {
		t.Fatal(err)
	}
	var stderr strings.Builder
	var done []string
	failed := compile(&stderr, append([]*frontend.Package{{Path: "example.test/broken"}}, packages...), func(p *frontend.Package, out *generate.Output) error {
		done = append(done, p.Path)
		return nil
	})
	if !failed || !strings.HasPrefix(stderr.String(), "quern: internal error in package example.test/broken: ") {
		t.Errorf("failed %t, standard error %q", failed, stderr.String())
	}
	if diff := cmp.Diff([]string{testmodule.Path + "/filters"}, done); diff != "" {
		t.Errorf("packages: -want +got:\n%s", diff)
	}
}
