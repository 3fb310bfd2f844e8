package overlay

import (
	"flag"
	"io/fs"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"quern.dev/internal/testmodule"
)

var whole = flag.Bool("whole", false, "also compile and test the packages below bench, as CI does")

// TestPackages runs the tests of the packages that do not compile without an
// overlay, in a separate go command. With -v it prints how long each package
// took.
func TestPackages(t *testing.T) {
	testmodule.NeedGo(t)
	root := testmodule.Root(t)
	name, err := Write(t.Context(), root)
	if err != nil {
		t.Fatal(err)
	}
	all, tested, err := Packages(root)
	if err != nil {
		t.Fatal(err)
	}
	readModule(t, root)
	run := func(args ...string) {
		t.Helper()
		cmd := exec.CommandContext(t.Context(), "go", args...)
		cmd.Dir = root
		out, err := cmd.CombinedOutput()
		if err != nil {
			t.Errorf("go %s: %v\n%s", strings.Join(args[:2], " "), err, out)
			return
		}
		t.Logf("%s", out)
	}
	if *whole {
		// Compiles all packages. Other than go build, go list does not link programs.
		run(append([]string{"list", "-export", "-f={{.ImportPath}}", "-overlay=" + name}, all...)...)
	} else {
		tested = slices.DeleteFunc(tested, func(path string) bool { return strings.HasPrefix(path, "./bench/") })
	}
	// CI runs all of vet on these packages.
	args := []string{"test", "-vet=off", "-overlay=" + name}
	if testing.Short() {
		args = append(args, "-short")
	}
	if race {
		args = append(args, "-race")
	}
	run(append(args, tested...)...)
}

// readModule reads every directory of the module. The go command tracks the files
// that a test reads, and reruns the test when they change; it does not track
// those read by the nested go command.
func readModule(t *testing.T, root string) {
	t.Helper()
	err := filepath.WalkDir(root, func(path string, d fs.DirEntry, err error) error {
		if err == nil && d.IsDir() && path != root && strings.HasPrefix(d.Name(), ".") {
			return filepath.SkipDir
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
}
