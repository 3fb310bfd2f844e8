package culib

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"quern.dev/internal/engine"
)

func TestFilesThatAreNoLibrary(t *testing.T) {
	dir := t.TempDir()
	if err := os.WriteFile(filepath.Join(dir, "libcufft.so.11"), []byte("text"), 0o666); err != nil {
		t.Fatal(err)
	}
	t.Setenv(Variable, dir)
	t.Setenv("LD_LIBRARY_PATH", "")
	_, path, err := openFile(engine.FFT, 12)
	if err == nil {
		t.Skipf("cuFFT is installed: %s", path)
	}
	if text := err.Error(); !strings.Contains(text, "libcufft.so.11 was not found") {
		t.Error(text)
	}
	if _, _, err := openFile(engine.FFT, 11); err == nil || !strings.Contains(err.Error(), "supports CUDA 11 only") {
		t.Error(err)
	}
}
