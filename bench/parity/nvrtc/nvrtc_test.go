//go:build linux

package nvrtc

import (
	"os"
	"path/filepath"
	"testing"
)

// The dynamic linker looks for what NVRTC needs beside the path that it was opened by,
// where there is nothing if that is a link.
func TestTheBuiltinsAreFoundBesideTheLibrary(t *testing.T) {
	path := os.Getenv("NVRTC")
	if path == "" {
		found, err := find()
		if err != nil {
			t.Fatal(err)
		}
		if len(found) == 0 {
			t.Skip("needs NVRTC: pip install nvidia-cuda-nvrtc in a virtual environment, or name the library in NVRTC")
		}
		path = found[0]
	}
	link := filepath.Join(t.TempDir(), filepath.Base(path))
	if err := os.Symlink(path, link); err != nil {
		t.Fatal(err)
	}
	c, err := Open(link)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := c.Compile("empty.cu", `extern "C" __global__ void empty() {}`, "sm_90"); err != nil {
		t.Error(err)
	}
}
