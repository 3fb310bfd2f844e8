package compiler_test

import (
	"flag"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"quern.dev/internal/compiler"
	"quern.dev/internal/compiler/frontend"
	"quern.dev/internal/testmodule"
)

var update = flag.Bool("update", false, "rewrite golden files")

func TestABarrierThatNotAllThreadsReachIsAnError(t *testing.T) {
	testmodule.NeedSource(t)
	checkDivergence(t, "testdata/diagnostics/divergence.go")
}

func TestAnOperationThatNotAllThreadsOfAWarpReachIsAnError(t *testing.T) {
	testmodule.NeedSource(t)
	checkDivergence(t, "testdata/diagnostics/warps.go")
}

func TestMatricesThatAWarpCannotReachOrLoadAreErrors(t *testing.T) {
	testmodule.NeedSource(t)
	checkDivergence(t, "testdata/diagnostics/matrices.go")
}

func TestClusterSharedOfOtherMemoryIsAnError(t *testing.T) {
	testmodule.NeedSource(t)
	checkDivergence(t, "testdata/diagnostics/clusters.go")
}

// checkDivergence compares the compiler's errors for the kernels of a file with the
// golden file beside it.
func checkDivergence(t *testing.T, file string) {
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
	var got strings.Builder
	for _, k := range prog.Kernels {
		if _, err := compiler.Compile(t.Context(), k); err != nil {
			got.WriteString(err.Error() + "\n")
		}
	}
	golden := strings.TrimSuffix(file, ".go") + ".golden"
	if *update {
		if err := os.WriteFile(golden, []byte(got.String()), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(golden)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(string(want), got.String()); diff != "" {
		t.Errorf("-want +got:\n%s", diff)
	}
}
