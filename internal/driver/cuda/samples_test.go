package cuda

import (
	"bytes"
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"quern.dev/internal/cupti"
	"quern.dev/internal/cupti/fakecupti"
	"quern.dev/internal/driver"
	"quern.dev/internal/driver/cuda/fakecuda"
	"quern.dev/internal/sampling"
)

func TestSamplesHaveTheNamesOfKernels(t *testing.T) {
	tools := &fakecupti.Library{Positions: map[string]fakecupti.Position{"empty+16": {Dir: "/tmp", File: "empty.go", Line: 5}}}
	t.Cleanup(sampling.SetLibrary(func() (cupti.Library, error) { return tools, nil }))
	file := filepath.Join(t.TempDir(), "samples.json")
	t.Setenv(sampling.Variable, file)
	lib := fakecuda.New(1)
	d, err := candidates(lib, nil)[0].Open()
	if err != nil {
		t.Fatal(err)
	}
	ptx := strings.Replace(emptyPTX, ".visible", ".file 1 \"empty.go\"\n.visible", 1)
	f, err := d.Load(&driver.Kernel{Name: "empty", PTX: ptx, Label: "example.com/pkg.Empty"})
	if err != nil {
		t.Fatal(err)
	}
	// The machine code of this driver is the text.
	tools.Sampled = []fakecupti.Sample{{Code: append([]byte(ptx), 0), Function: "empty", Offset: 16, Reasons: map[uint32]uint32{1: 7}}}
	if err := f.Close(); err != nil {
		t.Error(err)
	}
	if err := d.Close(); err != nil {
		t.Error(err)
	}
	text, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	var s sampling.Samples
	if err := json.NewDecoder(bytes.NewReader(text)).Decode(&s); err != nil {
		t.Fatal(err)
	}
	if len(s.Kernels) != 1 || s.Kernels[0].Name != "example.com/pkg.Empty" || len(s.Kernels[0].Lines) != 1 || s.Kernels[0].Lines[0].File != "empty.go" || s.Kernels[0].Lines[0].Line != 5 || s.Kernels[0].Lines[0].Reasons["long_scoreboard"] != 7 {
		t.Errorf("the file has %s", text)
	}
}

func TestADeviceThatCannotBeSampledIsNotOpened(t *testing.T) {
	t.Cleanup(sampling.SetLibrary(func() (cupti.Library, error) {
		return &fakecupti.Library{Fail: map[string]int{"cuptiPCSamplingEnable": 35}}, nil
	}))
	t.Setenv(sampling.Variable, filepath.Join(t.TempDir(), "samples.json"))
	if _, err := candidates(fakecuda.New(1), nil)[0].Open(); err == nil || !strings.Contains(err.Error(), "the driver allows profiling for administrators only") {
		t.Errorf("error %v", err)
	}
}
