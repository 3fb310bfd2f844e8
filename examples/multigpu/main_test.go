package main

import (
	"strings"
	"testing"

	"quern.dev/gpu"
)

func TestRunOnSeveralDevices(t *testing.T) {
	var devs []*gpu.Device
	for range 3 {
		d, err := gpu.Open(gpu.Config{Device: "cpu"})
		if err != nil {
			t.Fatal(err)
		}
		devs = append(devs, d)
	}
	var out strings.Builder
	if err := run(t.Context(), devs, 100, &out); err != nil {
		t.Fatal(err)
	}
	if got := out.String(); strings.Count(got, "\n") != 4 || !strings.Contains(got, "rows 66 to 99\n") {
		t.Errorf("printed %q", got)
	}
	if err := gpu.CloseAll(devs); err != nil {
		t.Error(err)
	}
}
