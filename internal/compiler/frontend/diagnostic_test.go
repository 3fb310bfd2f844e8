package frontend

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"quern.dev/internal/testmodule"
)

// Each file of testdata/diagnostics contains kernels that cannot be compiled. The
// golden file beside it lists all errors, which the compiler reports at once.
func TestDiagnosticsNameWhatIsWrongAndWhatToWriteInstead(t *testing.T) {
	testmodule.NeedSource(t)
	files, err := filepath.Glob("testdata/diagnostics/*.go")
	if err != nil || len(files) == 0 {
		t.Fatal("no test files", err)
	}
	for _, file := range files {
		t.Run(strings.TrimSuffix(filepath.Base(file), ".go"), func(t *testing.T) {
			src, err := os.ReadFile(file)
			if err != nil {
				t.Fatal(err)
			}
			p, err := Text(t.Context(), filepath.Base(file), string(src))
			if err != nil {
				t.Fatal(err)
			}
			prog, err := p.Lower()
			if err == nil {
				t.Fatalf("Lower accepted %d kernels", len(prog.Kernels))
			}
			golden := strings.TrimSuffix(file, ".go") + ".golden"
			got := err.Error() + "\n"
			if *update {
				if err := os.WriteFile(golden, []byte(got), 0o644); err != nil {
					t.Fatal(err)
				}
			}
			want, err := os.ReadFile(golden)
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(string(want), got); diff != "" {
				t.Errorf("-want +got:\n%s", diff)
			}
		})
	}
}
