package main

import (
	"testing"

	"quern.dev/gpu"
	"quern.dev/gputest"
)

func TestRunOnEveryDevice(t *testing.T) {
	gputest.Each(t, func(t *testing.T, dev *gpu.Device) {
		if err := run(t.Context(), dev); err != nil {
			t.Error(err)
		}
	})
}
