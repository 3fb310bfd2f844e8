//go:build !bootstrap

package main

import (
	"bytes"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// command runs a command line and returns the exit code and both outputs.
func command(t *testing.T, args ...string) (code int, out, messages string) {
	t.Helper()
	var stdout, stderr bytes.Buffer
	code = run(t.Context(), args, &stdout, &stderr)
	return code, stdout.String(), stderr.String()
}

func TestCommandLinesOfKernelsAreChecked(t *testing.T) {
	for _, c := range []struct {
		args []string
		code int
		want string
	}{
		{[]string{"advise"}, 2, "name a package and a kernel"},
		{[]string{"advise", ".", "x", "--size", "0"}, 2, "--size 0: want whole numbers from 1"},
		{[]string{"analyze", ".", "x", "--size", "1.5"}, 2, "--size 1.5"},
		{[]string{"validate", ".", "x", "--arg", "y"}, 2, "--arg y: want a parameter and an expression"},
		{[]string{"bench", "kernel", ".", "x", "--block", "-1"}, 2, "--block -1"},
		{[]string{"validate", ".", "x"}, 1, "has no generated code"},
		{[]string{"validate", "../../examples/saxpy", "x"}, 1, "has no kernel x; it has saxpy"},
		{[]string{"bench", "compare", "one"}, 2, "name two files"},
		{[]string{"bench", "compare", "missing", "missing"}, 1, "missing"},
		{[]string{"bench", "device", "--device", "sim"}, 1, "the times of a simulator mean nothing"},
		{[]string{"bench", "device", "--device", "tpu"}, 1, "tpu"},
	} {
		code, _, messages := command(t, c.args...)
		if code != c.code || !strings.Contains(messages, c.want) {
			t.Errorf("%q: code %d, want %d: %s", c.args, code, c.code, messages)
		}
	}
}

func TestAKernelOfAProgramIsValidated(t *testing.T) {
	if testing.Short() {
		t.Skip("compiles a program")
	}
	code, out, messages := command(t, "validate", "../../examples/saxpy", "saxpy", "--size", "300", "--device", "cpu")
	if code != 0 || !strings.Contains(out, "| 300 | random | 300 |") {
		t.Errorf("code %d: %s\n%s", code, messages, out)
	}
	if left, _ := filepath.Glob("../../examples/saxpy/quern_probe*"); len(left) > 0 {
		t.Errorf("%q remains", left)
	}
}

func TestFilesOfResultsAreCompared(t *testing.T) {
	dir := t.TempDir()
	var names []string
	for name, ns := range map[string]string{"old": "100", "new": "50"} {
		text := ""
		for i := range 6 {
			text += "BenchmarkX-8 1 " + ns + "." + string(rune('0'+i)) + " ns/op\n"
		}
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	names = []string{filepath.Join(dir, "old"), filepath.Join(dir, "new")}
	code, out, messages := command(t, "bench", "compare", names[0], names[1])
	if code != 0 || !strings.Contains(out, "| X | 100 ns | 50.2 ns | -49.88 % | 0.002 |") {
		t.Errorf("code %d: %s\n%s", code, messages, out)
	}
	if err := os.WriteFile(names[0], []byte("BenchmarkX 1 100 ns/op\nBenchmarkY 1 5 ns/op\nBenchmarkZ 1 5 ns/op\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	code, out, messages = command(t, "bench", "compare", names[0], names[1])
	if code != 0 || !strings.Contains(out, "| X | 100 ns | 50.2 ns | too few samples |") || messages != "quern: only in "+names[0]+": Y, Z\n" {
		t.Errorf("code %d: %s\n%s", code, messages, out)
	}
	if err := os.WriteFile(names[0], []byte("BenchmarkY 1 5 ns/op\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	if code, _, messages := command(t, "bench", "compare", names[0], names[1]); code != 1 || !strings.Contains(messages, "no benchmark in common") {
		t.Errorf("code %d: %s", code, messages)
	}
}
