package main

import (
	"bytes"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"quern.dev/internal/testmodule"
)

const filters = `
-- filters/filters.go --
package filters

import (
	"quern.dev/gpu"
	"quern.dev/kernel"
)

//quern:kernel
func scale(t kernel.Thread, a float32, x []float32) {
	if i := t.Global(); i < len(x) {
		x[i] *= a
	}
}

//quern:kernel
func shift(t kernel.Thread, a float32, x []float32) {
	if i := t.Global(); i < len(x) {
		x[i] += a
	}
}

func Scale(s *gpu.Stream, x *gpu.Buffer[float32]) error {
	return LaunchScale(s, gpu.Linear(x.Len()), 2, x)
}
`

const faulty = `
-- faulty/faulty.go --
package faulty

import "quern.dev/kernel"

//quern:kernel
func first(t kernel.Thread, x []int32) {
	m := map[int32]int32{}
	x[0] = m[1]
}

//quern:kernel
func second(t kernel.Thread, x []int32) {
	if t.ThreadIdx.X < 3 {
		t.Sync()
	}
}
`

// enter writes a module and makes it the current directory.
func enter(t *testing.T, files string) string {
	t.Helper()
	dir := testmodule.New(t, files)
	t.Chdir(dir)
	return dir
}

// list returns the names of the files in a directory.
func list(t *testing.T, dir string) []string {
	t.Helper()
	entries, err := os.ReadDir(dir)
	if err != nil {
		t.Fatal(err)
	}
	var names []string
	for _, e := range entries {
		names = append(names, e.Name())
	}
	return names
}

// expect runs a command line and compares its exit code and output.
func expect(t *testing.T, code int, stdout, stderr string, args ...string) {
	t.Helper()
	gotCode, gotOut, gotErr := quern(t, args...)
	if gotCode != code {
		t.Errorf("quern %s: exit code %d, want %d", strings.Join(args, " "), gotCode, code)
	}
	if diff := cmp.Diff(stdout, gotOut); diff != "" {
		t.Errorf("quern %s: standard output: -want +got:\n%s", strings.Join(args, " "), diff)
	}
	if diff := cmp.Diff(stderr, gotErr); diff != "" {
		t.Errorf("quern %s: standard error: -want +got:\n%s", strings.Join(args, " "), diff)
	}
}

func TestGenWritesBothFilesOnce(t *testing.T) {
	dir := enter(t, filters)
	expect(t, 0, "filters/quern_gen.zip: 2 kernels\nfilters/quern_gen.go: 2 kernels\n", "", "gen", "./...")
	if diff := cmp.Diff([]string{"filters.go", "quern_gen.go", "quern_gen.zip"}, list(t, "filters")); diff != "" {
		t.Errorf("files: -want +got:\n%s", diff)
	}

	past := time.Now().Add(-time.Hour).Truncate(time.Second)
	names := []string{filepath.Join(dir, "filters", "quern_gen.go"), filepath.Join(dir, "filters", "quern_gen.zip")}
	for _, name := range names {
		if err := os.Chtimes(name, past, past); err != nil {
			t.Fatal(err)
		}
	}
	expect(t, 0, "", "", "gen", "./...")
	expect(t, 0, "1 package is up to date\n", "", "gen", "--check", "./...")
	for _, name := range names {
		info, err := os.Stat(name)
		if err != nil {
			t.Fatal(err)
		}
		if !info.ModTime().Equal(past) {
			t.Errorf("%s was written again", name)
		}
		if info.Mode().Perm() != 0o644 {
			t.Errorf("%s has mode %v", name, info.Mode())
		}
	}

	t.Chdir("filters")
	expect(t, 0, "", "", "gen")
}

func TestGenCheckReportsOutdatedFiles(t *testing.T) {
	enter(t, filters)
	expect(t, 1, "filters/quern_gen.zip is missing\nfilters/quern_gen.go is missing\n", "", "gen", "--check", "./filters")
	if diff := cmp.Diff([]string{"filters.go"}, list(t, "filters")); diff != "" {
		t.Errorf("files: -want +got:\n%s", diff)
	}

	expect(t, 0, "filters/quern_gen.zip: 2 kernels\nfilters/quern_gen.go: 2 kernels\n", "", "gen", "./filters")
	generated := filepath.Join("filters", "quern_gen.go")
	text, err := os.ReadFile(generated)
	if err != nil {
		t.Fatal(err)
	}
	damaged := append(text, "// edited by hand\n"...)
	if err := os.WriteFile(generated, damaged, 0o644); err != nil {
		t.Fatal(err)
	}
	expect(t, 1, "filters/quern_gen.go is out of date: quern_gen.go is from another source or another version of quern gen\n", "", "gen", "--check", "./filters")
	if got, err := os.ReadFile(generated); err != nil || string(got) != string(damaged) {
		t.Errorf("gen --check changed the file: %v", err)
	}
	expect(t, 0, "filters/quern_gen.go: 2 kernels\n", "", "gen", "./filters")
	if got, err := os.ReadFile(generated); err != nil || string(got) != string(text) {
		t.Errorf("gen did not restore the file: %v", err)
	}
}

func TestGenReplacesADamagedArchive(t *testing.T) {
	enter(t, filters)
	expect(t, 0, "filters/quern_gen.zip: 2 kernels\nfilters/quern_gen.go: 2 kernels\n", "", "gen", "./filters")
	name := filepath.Join("filters", "quern_gen.zip")
	text, err := os.ReadFile(name)
	if err != nil {
		t.Fatal(err)
	}
	for _, entry := range []string{"index2", "modules", "0.info", "0.ptx"} {
		damaged := bytes.Clone(text)
		damaged[bytes.Index(text, []byte(entry))+len(entry)+3] ^= 0x10 // the content follows the name
		if err := os.WriteFile(name, damaged, 0o644); err != nil {
			t.Fatal(err)
		}
		expect(t, 1, "filters/quern_gen.zip is out of date: quern_gen.zip is damaged\n", "", "gen", "--check", "./filters")
		expect(t, 0, "filters/quern_gen.zip: 2 kernels\n", "", "gen", "./filters")
		if got, err := os.ReadFile(name); err != nil || !bytes.Equal(got, text) {
			t.Errorf("a damaged byte of %s: gen did not restore the file: %v", entry, err)
		}
	}
}

func TestGenCheckNamesChangedKernels(t *testing.T) {
	enter(t, filters)
	expect(t, 0, "filters/quern_gen.zip: 2 kernels\nfilters/quern_gen.go: 2 kernels\n", "", "gen", "./filters")
	name := filepath.Join("filters", "filters.go")
	text, err := os.ReadFile(name)
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct{ old, new, why string }{
		{"x[i] *= a", "x[i] /= a", "kernel scale has changed"},
		{"func shift", "func move", "kernel move is new, kernel shift is gone"},
		{"import (", "import (\n", "kernels scale and shift have moved to other lines"},
	} {
		if err := os.WriteFile(name, []byte(strings.Replace(string(text), c.old, c.new, 1)), 0o644); err != nil {
			t.Fatal(err)
		}
		code, stdout, stderr := quern(t, "gen", "--check", "./filters")
		want := "filters/quern_gen.zip is out of date: " + c.why + "\nfilters/quern_gen.go is out of date: " + c.why + "\n"
		if code != 1 || stderr != "" || stdout != want {
			t.Errorf("%s: exit code %d, standard error %q\ngot  %swant %s", c.new, code, stderr, stdout, want)
		}
	}
}

const program = `
-- main.go --
package main

import (
	"context"
	"fmt"
	"log"

	"example.test/demo/filters"
	"quern.dev/gpu"
)

func main() {
	for _, device := range []string{"cpu", "sim"} {
		d, err := gpu.Open(gpu.Config{Device: device})
		if err != nil {
			log.Fatal(err)
		}
		s, x := d.DefaultStream(), []float32{1, 2, 3}
		b, err := gpu.Upload(s, x)
		if err != nil {
			log.Fatal(err)
		}
		if err := filters.Scale(s, b); err != nil {
			log.Fatal(err)
		}
		if err := gpu.Download(context.Background(), s, x, b); err != nil {
			log.Fatal(err)
		}
		fmt.Println(x)
	}
}
`

// Git for Windows checks out text files with CR LF by default.
func TestGeneratedFilesSurviveACheckoutWithCRLF(t *testing.T) {
	if _, err := exec.LookPath("git"); err != nil {
		t.Skip(err)
	}
	dir := enter(t, filters+program)
	expect(t, 0, "filters/quern_gen.zip: 2 kernels\nfilters/quern_gen.go: 2 kernels\n", "", "gen", "./...")
	clone := filepath.Join(t.TempDir(), "clone")
	for _, args := range [][]string{
		{"init", "-q"},
		{"add", "."},
		{"-c", "user.name=a", "-c", "user.email=a@example.test", "commit", "-q", "-m", "all"},
		{"-c", "core.autocrlf=true", "clone", "-q", dir, clone},
	} {
		if out, err := exec.CommandContext(t.Context(), "git", args...).CombinedOutput(); err != nil {
			t.Fatalf("git %v: %v\n%s", args, err, out)
		}
	}
	t.Chdir(clone)
	for _, name := range []string{"quern_gen.go", "filters.go"} {
		if text, err := os.ReadFile(filepath.Join("filters", name)); err != nil || !strings.Contains(string(text), "\r\n") {
			t.Fatalf("%s has no lines with CR LF: %v", name, err)
		}
	}
	expect(t, 0, "1 package is up to date\n", "", "gen", "--check", "./...")
	expect(t, 0, "", "", "gen", "./...")
	expect(t, 0, "2 kernels in 1 package: no problems\n", "", "vet", "./...")
	if out, err := exec.CommandContext(t.Context(), "go", "run", ".").CombinedOutput(); err != nil || string(out) != "[2 4 6]\n[2 4 6]\n" {
		t.Errorf("%v\n%s", err, out)
	}
}

func TestGenContinuesAfterErrors(t *testing.T) {
	enter(t, filters+faulty)
	expect(t, 1, "filters/quern_gen.zip: 2 kernels\nfilters/quern_gen.go: 2 kernels\n",
		`faulty/faulty.go:7:2: kernel first: maps are not supported in kernels; use a slice or array indexed by the key
faulty/faulty.go:8:9: kernel first: maps are not supported in kernels; use a slice or array indexed by the key
`, "gen", "./...")
	if diff := cmp.Diff([]string{"faulty.go"}, list(t, "faulty")); diff != "" {
		t.Errorf("files: -want +got:\n%s", diff)
	}
}

func TestGenWithoutKernelsSaysHowToMarkOne(t *testing.T) {
	enter(t, "\n-- plain.go --\npackage demo\n")
	expect(t, 0, "no kernels in this package: mark a function with //quern:kernel\n", "", "gen")
}

func TestGenKeepsTheOldFilesIfItCannotWrite(t *testing.T) {
	tests := []struct {
		name   string
		damage func(t *testing.T)
		want   string
	}{
		{
			name: "the directory is not writable",
			damage: func(t *testing.T) {
				if os.Geteuid() == 0 {
					t.Skip("the superuser can write everywhere: run it as another user")
				}
				if err := os.Chmod("filters", 0o555); err != nil {
					t.Fatal(err)
				}
				t.Cleanup(func() { os.Chmod("filters", 0o755) })
			},
			want: "quern: cannot write filters/quern_gen.zip: permission denied\n",
		},
		{
			name: "a directory has the name of the file",
			damage: func(t *testing.T) {
				if err := os.MkdirAll("filters/quern_gen.zip/inside", 0o755); err != nil {
					t.Fatal(err)
				}
			},
			want: "quern: read filters/quern_gen.zip: is a directory\n",
		},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			dir := enter(t, filters)
			tt.damage(t)
			before := list(t, "filters")
			code, stdout, stderr := quern(t, "gen", "./...")
			if code != 1 || stdout != "" {
				t.Errorf("exit code %d, standard output %q", code, stdout)
			}
			if diff := cmp.Diff(tt.want, strings.ReplaceAll(stderr, dir+"/", "")); diff != "" {
				t.Errorf("-want +got:\n%s", diff)
			}
			if diff := cmp.Diff(before, list(t, "filters")); diff != "" {
				t.Errorf("files: -want +got:\n%s", diff)
			}
		})
	}
}

func TestReplaceWritesAllFilesOrNone(t *testing.T) {
	t.Chdir(t.TempDir())
	if err := os.WriteFile("first", []byte("old"), 0o644); err != nil {
		t.Fatal(err)
	}
	err := replace([]file{{"first", []byte("new")}, {filepath.Join("missing", "second"), []byte("new")}})
	if want := "cannot write missing/second: no such file or directory"; err == nil || err.Error() != want {
		t.Errorf("error %v, want %s", err, want)
	}
	if text, err := os.ReadFile("first"); err != nil || string(text) != "old" {
		t.Errorf("the first file is %q, %v", text, err)
	}
	if diff := cmp.Diff([]string{"first"}, list(t, ".")); diff != "" {
		t.Errorf("files: -want +got:\n%s", diff)
	}
}

func TestVet(t *testing.T) {
	enter(t, filters+faulty+`
-- barrier/barrier.go --
package barrier

import "quern.dev/kernel"

//quern:kernel
func run(t kernel.Thread, x []int32) {
	if t.ThreadIdx.X < 3 {
		t.Sync()
	}
}
`)
	expect(t, 0, "2 kernels in 1 package: no problems\n", "", "vet", "./filters")
	if diff := cmp.Diff([]string{"filters.go"}, list(t, "filters")); diff != "" {
		t.Errorf("files: -want +got:\n%s", diff)
	}

	t.Chdir("faulty")
	expect(t, 1, "",
		`faulty.go:7:2: kernel first: maps are not supported in kernels; use a slice or array indexed by the key
faulty.go:8:9: kernel first: maps are not supported in kernels; use a slice or array indexed by the key
`, "vet")

	code, stdout, stderr := quern(t, "vet", "../barrier")
	if code != 1 || stdout != "" || !strings.HasPrefix(stderr, "../barrier/barrier.go:8:3: kernel run: ") {
		t.Errorf("exit code %d, standard output %q, standard error %q", code, stdout, stderr)
	}

	code, _, stderr = quern(t, "vet", "./nowhere")
	if code != 1 || !strings.Contains(stderr, "directory not found") {
		t.Errorf("exit code %d, standard error %q", code, stderr)
	}
}

func TestVetOutsideAModule(t *testing.T) {
	testmodule.NeedGo(t)
	t.Chdir(t.TempDir())
	t.Setenv("GO111MODULE", "on")
	code, _, stderr := quern(t, "vet")
	if code != 1 || !strings.Contains(stderr, "go.mod file not found") {
		t.Errorf("exit code %d, standard error %q", code, stderr)
	}
}
