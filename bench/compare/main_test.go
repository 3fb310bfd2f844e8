package main

import (
	"bytes"
	"strings"
	"testing"

	"quern.dev/bench/results"
)

func TestTableKeepsBestFiguresAndMarksMissedGoals(t *testing.T) {
	table := newTable()
	table.add(results.File{Device: "NVIDIA X", Results: []results.Result{
		{Benchmark: "launch", Tool: "driver call", Value: 2, Unit: results.Duration},
		{Benchmark: "launch", Tool: "Quern", Value: 9, Unit: results.Duration},
		{Benchmark: "saxpy", Tool: "numba-cuda", Value: 3000, Unit: results.Bandwidth},
		{Benchmark: "saxpy", Tool: "CuPy", Unit: results.Bandwidth, Error: "not installed"},
	}})
	table.add(results.File{Device: "NVIDIA X", Results: []results.Result{
		{Benchmark: "launch", Tool: "Quern", Value: 2.2, Unit: results.Duration},
		{Benchmark: "saxpy", Tool: "Quern", Value: 2900, Unit: results.Bandwidth},
		{Benchmark: "saxpy", Tool: "Quern", Value: 100, Unit: results.Bandwidth},
	}})
	var out bytes.Buffer
	if err := table.print(&out); err != nil {
		t.Fatal(err)
	}
	text := out.String()
	for _, want := range []string{"NVIDIA X\n\n", "2.2 ", "2900", "1.100", "0.967", "failed: CuPy, saxpy: not installed"} {
		if !strings.Contains(text, want) {
			t.Errorf("the table lacks %q:\n%s", want, text)
		}
	}
	if strings.Count(text, "missed") != 1 {
		t.Errorf("want one missed goal:\n%s", text)
	}
}
