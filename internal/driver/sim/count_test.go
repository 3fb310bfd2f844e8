package sim

import (
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

func TestADeviceThatCountsWritesAFile(t *testing.T) {
	file := filepath.Join(t.TempDir(), "counts.json")
	t.Setenv(CountVariable, file)
	d, err := Candidate(Options{}).Open()
	if err != nil {
		t.Fatal(err)
	}
	if o := d.(*device).options; o.Checks || o.Counter == nil {
		t.Errorf("options are %+v: want a counter and no checks", o)
	}
	if err := d.Close(); err != nil {
		t.Fatal(err)
	}
	text, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	var c Counts
	if err := json.Unmarshal(text, &c); err != nil {
		t.Errorf("%s: %v", text, err)
	}
}

func TestAFileForCountsThatCannotBeWritten(t *testing.T) {
	t.Setenv(CountVariable, filepath.Join(t.TempDir(), "missing", "counts.json"))
	if _, err := Candidate(Options{}).Open(); err == nil || !strings.Contains(err.Error(), CountVariable) {
		t.Errorf("error %v", err)
	}
}
