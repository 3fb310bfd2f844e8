//go:build linux

package nvrtc

import (
	"os"
	"path/filepath"
	"testing"
)

// TestBuiltinsAreFoundNextToLibrary opens the library through a symbolic link. The
// dynamic linker searches for NVRTC's dependencies next to the link, where there are none.
func TestBuiltinsAreFoundNextToLibrary(t *testing.T) {
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
