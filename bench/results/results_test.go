package results_test

import (
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"testing"

	"quern.dev/bench/results"
)

func TestFilesRoundTrip(t *testing.T) {
	name := filepath.Join(t.TempDir(), "run.json")
	want := results.File{Device: "d", Results: []results.Result{
		{Benchmark: "saxpy", Tool: "Quern", Value: 1.5, Unit: results.Bandwidth},
		{Benchmark: "saxpy", Tool: "CuPy", Unit: results.Bandwidth, Error: "absent"},
	}}
	if err := results.Write(name, want); err != nil {
		t.Fatal(err)
	}
	got, err := results.Read(name)
	if err != nil || !reflect.DeepEqual(got, want) {
		t.Errorf("read %+v, %v; want %+v", got, err, want)
	}
}

func TestReadNamesDamagedFile(t *testing.T) {
	name := filepath.Join(t.TempDir(), "run.json")
	if err := os.WriteFile(name, []byte("{"), 0o644); err != nil {
		t.Fatal(err)
	}
	if _, err := results.Read(name); err == nil || !strings.Contains(err.Error(), "run.json") {
		t.Errorf("got %v", err)
	}
}
