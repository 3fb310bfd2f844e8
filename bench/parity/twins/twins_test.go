package twins_test

import (
	"os"
	"strings"
	"testing"

	"quern.dev/bench/parity/nvrtc"
	"quern.dev/bench/parity/suite"
	"quern.dev/bench/parity/twins"
)

func TestEveryKernelHasATwin(t *testing.T) {
	for _, entry := range suite.All {
		if _, _, err := twins.Source(entry.Name); err != nil {
			t.Error(err)
		}
	}
	if _, _, err := twins.Source("missing"); err == nil {
		t.Error("Source finds a kernel that does not exist")
	}
}

func TestTwinsCompile(t *testing.T) {
	c, err := nvrtc.Open(os.Getenv("NVRTC"))
	if err != nil {
		t.Skipf("needs NVRTC: pip install nvidia-cuda-nvrtc in a virtual environment, or name the library in NVRTC: %s", strings.ReplaceAll(err.Error(), "\n", "; "))
	}
	done := map[string]bool{} // files
	for _, entry := range suite.All {
		file, text, err := twins.Source(entry.Name)
		if err != nil {
			t.Fatal(err)
		}
		if done[file] {
			continue
		}
		done[file] = true
		if _, err := c.Compile(file, text, "sm_90"); err != nil {
			t.Error(err)
		}
	}
}
