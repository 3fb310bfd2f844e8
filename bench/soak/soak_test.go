package main

import (
	"strings"
	"testing"
	"time"
)

func TestSoak(t *testing.T) {
	const duration = 500 * time.Millisecond // CI runs the program for longer
	if err := soakAll(t.Context(), options{devices: "cpu,sim", duration: duration, goroutines: 8, streams: 4, seed: 1}); err != nil {
		t.Fatal(err)
	}
}

func TestInvalidOptionsAreErrors(t *testing.T) {
	for name, o := range map[string]options{
		"no goroutines": {devices: "cpu", goroutines: 0, streams: 1},
		"no streams":    {devices: "cpu", goroutines: 1, streams: 0},
		"no device":     {devices: "cuda:99", goroutines: 1, streams: 1},
	} {
		if err := soakAll(t.Context(), o); err == nil {
			t.Errorf("%s: no error", name)
		}
	}
}

func TestMemoryGrowthIsReported(t *testing.T) {
	const mb = 1 << 20
	steady := []sample{{pool: 100 * mb, heap: 50 * mb}, {pool: 200 * mb, heap: 40 * mb}, {pool: 190 * mb, heap: 60 * mb}, {pool: 210 * mb}}
	grown := []sample{{pool: 100 * mb}, {pool: 200 * mb}, {pool: 300 * mb}, {pool: 400 * mb}}
	if err := (&watch{samples: steady}).verdict(); err != nil {
		t.Errorf("steady memory: %v", err)
	}
	if err := (&watch{samples: grown}).verdict(); err == nil || !strings.Contains(err.Error(), "the pools grew from 209715200 to 419430400") {
		t.Errorf("memory that grows: %v", err)
	}
}
