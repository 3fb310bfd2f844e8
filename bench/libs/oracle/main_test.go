package main

import (
	"os/exec"
	"strings"
	"testing"
)

// All libraries agree with NumPy and SciPy on the CPU, and a wrong result is found.
func TestCPU(t *testing.T) {
	if out, err := exec.Command("python3", "-c", "import scipy").CombinedOutput(); err != nil {
		t.Skipf("python3 with SciPy is missing: %v: %s", err, out)
	}
	if err := compare(t.Context(), "cpu", "python3", 1, 1<<12, 1, false, nil); err != nil {
		t.Error(err)
	}
	defer func(s string) { script = s }(script)
	script = strings.Replace(script, "got, want = xp.asarray(got)", "got, want = 1 - xp.asarray(got)", 1)
	if err := compare(t.Context(), "cpu", "python3", 1, 1<<12, 1, false, nil); err == nil {
		t.Error("wrong results are not found")
	}
}
