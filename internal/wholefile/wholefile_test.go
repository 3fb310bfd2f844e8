package wholefile

import (
	"errors"
	"io"
	"os"
	"path/filepath"
	"testing"
)

func TestAFileIsReplacedAsAWhole(t *testing.T) {
	dir := t.TempDir()
	name := filepath.Join(dir, "a.txt")
	text := func(s string) func(io.Writer) error {
		return func(w io.Writer) error { _, err := io.WriteString(w, s); return err }
	}
	for _, want := range []string{"one", "two"} {
		if err := Write(name, text(want)); err != nil {
			t.Fatal(err)
		}
		if got, err := os.ReadFile(name); err != nil || string(got) != want {
			t.Errorf("%q, %v, want %q", got, err, want)
		}
	}
	broken := errors.New("broken")
	if err := Write(name, func(w io.Writer) error { return errors.Join(text("half")(w), broken) }); !errors.Is(err, broken) {
		t.Errorf("error %v", err)
	}
	if got, _ := os.ReadFile(name); string(got) != "two" {
		t.Errorf("after a failure the file has %q", got)
	}
	if list, _ := os.ReadDir(dir); len(list) != 1 {
		t.Errorf("%d files are left", len(list))
	}
	if err := Write(filepath.Join(dir, "missing", "a.txt"), text("")); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("a folder that is not there: %v", err)
	}
}
