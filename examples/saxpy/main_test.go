package main

import (
	"testing"

	"quern.dev/gpu"
)

func TestRunOnEveryDevice(t *testing.T) {
	for _, info := range gpu.Devices() {
		t.Run(info.ID, func(t *testing.T) {
			if info.Err != nil {
				t.Skipf("%s is not usable: %v; quern doctor says what to do", info.ID, info.Err)
			}
			dev, err := gpu.Open(gpu.Config{Device: info.ID})
			if err != nil {
				t.Fatal(err)
			}
			if err := run(t.Context(), dev); err != nil {
				t.Error(err)
			}
			if err := dev.Close(); err != nil {
				t.Error(err)
			}
		})
	}
}
