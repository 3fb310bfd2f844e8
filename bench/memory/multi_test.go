package main

import (
	"testing"

	"quern.dev/gpu"
)

// TestSeveralDevicesAreMeasured runs the measurements at small sizes without a GPU and
// checks their results.
func TestSeveralDevicesAreMeasured(t *testing.T) {
	var devs []*gpu.Device
	for range 4 {
		d, err := gpu.Open(gpu.Config{Device: "cpu"})
		if err != nil {
			t.Fatal(err)
		}
		devs = append(devs, d)
	}
	r := &run{ctx: t.Context(), dev: devs[0]}
	if err := scale(r, devs, 100, 64, 1000); err != nil {
		t.Error(err)
	}
	p, err := newPairs(devs, 1<<16)
	if err != nil {
		t.Fatal(err)
	}
	for _, pair := range [][][2]int{{{0, 1}}, {{0, 1}, {1, 2}, {2, 3}, {3, 0}}} {
		if speed, err := p.speed(t.Context(), pair); err != nil || speed <= 0 {
			t.Errorf("%v GB/s, error %v", speed, err)
		}
	}
	if err := p.close(); err != nil {
		t.Error(err)
	}
	if err := gpu.CloseAll(devs); err != nil {
		t.Error(err)
	}
}
