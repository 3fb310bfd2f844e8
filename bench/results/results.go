// Package results defines the JSON files in which the benchmarks pass their figures to the
// program that compares them, one file per run.
package results

import (
	"encoding/json"
	"fmt"
	"os"
)

// File holds the results of one run.
type File struct {
	Device  string   `json:"device"`
	Results []Result `json:"results"`
}

// Result is one figure.
type Result struct {
	Benchmark string  `json:"benchmark"`       // "saxpy"
	Tool      string  `json:"tool"`            // "Quern"
	Value     float64 `json:"value"`           // median of the run
	Unit      string  `json:"unit"`            // of Value: "GB/s", "TFLOP/s", "us"
	Error     string  `json:"error,omitempty"` // why there is no value
}

// The units.
const (
	Bandwidth = "GB/s"    // minimum to move: each input read once, each output written once
	Rate      = "TFLOP/s" // a multiply-add counts as two
	Duration  = "us"
	Count     = "allocs"
)

// LowerIsBetter reports whether smaller values of the unit are better.
func LowerIsBetter(unit string) bool { return unit == Duration || unit == Count }

// Read reads a file.
func Read(name string) (File, error) {
	var f File
	data, err := os.ReadFile(name)
	if err != nil {
		return f, err
	}
	if err := json.Unmarshal(data, &f); err != nil {
		return f, fmt.Errorf("%s: %w", name, err)
	}
	return f, nil
}

// Write writes a file.
func Write(name string, f File) error {
	data, err := json.MarshalIndent(f, "", "\t")
	if err != nil {
		return err
	}
	return os.WriteFile(name, append(data, '\n'), 0o644)
}
