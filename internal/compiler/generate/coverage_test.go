package generate_test

import (
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// covered is a module with kernels of all kinds, in several files and packages. Its
// test runs them on the CPU device or, if the variable REFERENCE is set, with
// kernel.Each.
const covered = `
-- parts/parts.go --
package parts

import "quern.dev/kernel"

// Clamp is called by kernels, and so is At, which needs the thread.
func Clamp(x, most int32) int32 {
	if x > most {
		return most
	}
	return x
}

func At(t kernel.Thread, x []int32) int32 {
	if t.Global()%2 == 0 {
		return x[t.Global()]
	}
	if t.Global() > 1000 {
		return -1
	}
	return 0
}
-- kernels/a.go --
package kernels

import (
	"example.test/demo/parts"
	"quern.dev/kernel"
)

//quern:kernel
func simple(t kernel.Thread, x []int32) {
	i := t.Global()
	if i >= len(x) {
		return
	}
	switch {
	case i < 10:
		x[i]++
	case i > 100000:
		x[i]--
	default:
		x[i] = parts.Clamp(x[i], 5) + parts.At(t, x)
	}
}

func never(x int32) int32 { return x }

//quern:kernel
func unused(t kernel.Thread, x []int32) { x[t.Global()] = never(1) }

//quern:kernel instantiate=int32,int64
func added[T int32 | int64](t kernel.Thread, x []T) {
	for i := t.Global(); i < len(x); i += t.Stride() {
		x[i] = plus(x[i], 1)
	}
}

func plus[T int32 | int64](x, y T) T {
	if y == 0 {
		return x
	}
	return x + y
}
-- kernels/b.go --
package kernels

import "quern.dev/kernel"

//quern:kernel block=64
func reversed(t kernel.Thread, x []int32) {
	tile := kernel.Shared[[64]int32](t)
	tile[t.ThreadIdx.X] = x[t.Global()]
	t.Sync()
	if kernel.Any(t, t.ThreadIdx.X > 70) {
		tile[0] = 0
	}
	x[t.Global()] = mirrored(t, tile)
}

func mirrored(t kernel.Thread, tile *[64]int32) int32 {
	if t.BlockDim.X != 64 {
		return 0
	}
	return tile[63-t.ThreadIdx.X]
}

//quern:kernel
func fails(t kernel.Thread, x []int32) {
	v := x[t.Global()+1]
	x[t.Global()] = v
}
-- kernels/actor.go --
package kernels

import "quern.dev/kernel"

//quern:actor
func accumulate(t kernel.Thread, sum *int32, in *int32, out *int32) kernel.Action {
	if *in < 0 {
		return kernel.Stop
	}
	if t.ThreadIdx.X == 0 {
		*sum += *in
		*out = *sum
	}
	return kernel.Reply
}
-- kernels/kernels_test.go --
package kernels

import (
	"context"
	"os"
	"testing"

	"quern.dev/gpu"
	"quern.dev/kernel"
	"quern.dev/ring"
)

func Test(t *testing.T) {
	d, err := gpu.Open(gpu.Config{Device: "cpu"})
	if err != nil {
		t.Fatal(err)
	}
	s := d.DefaultStream()
	ctx := context.Background()
	x := make([]int32, 128)
	b, err := gpu.Upload(s, x)
	if err != nil {
		t.Fatal(err)
	}
	run := func(launch func() error, body func(t kernel.Thread)) {
		if os.Getenv("REFERENCE") != "" {
			kernel.Each(kernel.Dim3{X: 2}, kernel.Dim3{X: 64}, body)
			return
		}
		if err := launch(); err != nil {
			t.Error(err)
		}
	}
	g := gpu.Blocks(gpu.Dim3{X: 2}, gpu.Dim3{X: 64})
	run(func() error { return LaunchSimple(s, g, b) }, func(t kernel.Thread) { simple(t, x) })
	run(func() error { return LaunchAdded(s, g, b) }, func(t kernel.Thread) { added(t, x) })
	run(func() error { return LaunchReversed(s, g, b) }, func(t kernel.Thread) { reversed(t, x) })
	if os.Getenv("REFERENCE") != "" {
		return
	}
	if err := LaunchFails(s, gpu.Blocks(gpu.Dim3{X: 1}, gpu.Dim3{X: 200}), b); err != nil {
		t.Error(err)
	}
	if err := s.Synchronize(ctx); err == nil || err.Error() != "FAILURE" {
		t.Error(err)
	}
	rt, err := ring.New(d, ring.Config{})
	if err != nil {
		t.Fatal(err)
	}
	a, err := SpawnAccumulate(ctx, rt, ring.Options{Name: "sum"})
	if err != nil {
		t.Fatal(err)
	}
	if reply, err := a.Ask(ctx, 20); err != nil || reply != 20 {
		t.Error(reply, err)
	}
	if err := rt.Close(); err != nil {
		t.Error(err)
	}
}
`

const failure = "kernels/b.go:25: kernel fails: index 128 out of range [0,128) in block (0,0,0) thread (127,0,0)"

func TestCoverageIsThatOfTheKernelsOwnStatements(t *testing.T) {
	dir := generated(t, strings.Replace(covered, "FAILURE", failure, 1), 1)
	profile, program := filepath.Join(dir, "cover.out"), filepath.Join(dir, "kernels.test")
	lines := func(args ...string) map[string][]string { // blocks by file
		t.Helper()
		cmd := exec.CommandContext(t.Context(), program, append([]string{"-test.coverprofile=" + profile}, args...)...)
		cmd.Dir = filepath.Join(dir, "kernels")
		if out, err := cmd.CombinedOutput(); err != nil {
			t.Fatalf("%v\n%s", err, out)
		}
		text, err := os.ReadFile(profile)
		if err != nil {
			t.Fatal(err)
		}
		files := map[string][]string{}
		for line := range strings.Lines(string(text)) {
			if name, block, ok := strings.Cut(line, ".go:"); ok {
				name = name[strings.LastIndexByte(name, '/')+1:]
				files[name] = append(files[name], strings.TrimSpace(block))
			}
		}
		return files
	}
	for _, tt := range []struct{ build, run []string }{
		{build: []string{"-covermode=set"}},
		{build: []string{"-covermode=count"}, run: []string{"-test.cpu=1"}}, // counters are incremented without a lock
		{build: []string{"-covermode=atomic", "-coverpkg=./..."}},
	} {
		t.Run(tt.build[0], func(t *testing.T) {
			if out, err := goCommand(t, dir, slices.Concat([]string{"test", "-c", "-ldflags=-s -w", "-o", program}, tt.build, []string{"./kernels"})...); err != nil {
				t.Fatalf("%v\n%s", err, out)
			}
			t.Setenv("REFERENCE", "1")
			want := lines(tt.run...)
			t.Setenv("REFERENCE", "")
			got := lines(tt.run...)
			want["b"], got["b"] = want["b"][:6], got["b"][:6] // except the kernel that fails
			for _, name := range []string{"a", "b", "parts"} {
				if !slices.Equal(want[name], got[name]) {
					t.Errorf("%s.go:\ngot  %v\nwant %v", name, got[name], want[name])
				}
			}
			if tt.build[0] == "-covermode=set" && !slices.Equal(got["actor"], []string{"6.83,7.13 1 1", "7.13,9.3 1 0", "10.2,10.24 1 1", "10.24,13.3 2 1", "14.2,14.21 1 1"}) {
				t.Errorf("actor.go: %v", got["actor"])
			}
		})
	}
	// The last profile has the blocks of all packages.
	for _, tool := range []string{"-func=" + profile, "-html=" + profile} {
		if out, err := goCommand(t, dir, "tool", "cover", tool, "-o", filepath.Join(dir, "report")); err != nil {
			t.Errorf("cover %s: %v\n%s", tool, err, out)
		}
	}
}
