//go:build !bootstrap

package main

import (
	"context"

	"quern.dev/gpu"
	"quern.dev/internal/report"
	"quern.dev/internal/trace"
	"quern.dev/profile"
)

// measureMachine measures the limits of the first device of a recording whose times mean
// something. It returns nil if that is not possible; the report then compares with nothing.
func measureMachine(ctx context.Context, r *report.Recording) *report.Machine {
	for _, d := range r.Devices {
		if d.Backend == string(gpu.Sim) || !worked(r, d.Process) {
			continue
		}
		dev, err := gpu.Open(gpu.Config{Device: d.Process})
		if err != nil {
			return nil
		}
		defer dev.Close()
		m, err := profile.Measure(ctx, dev.DefaultStream())
		if err != nil {
			return nil
		}
		return &report.Machine{CopyBandwidth: m.CopyBandwidth, Flops32: m.Flops32}
	}
	return nil
}

// worked reports whether a kernel ran on a device.
func worked(r *report.Recording, process string) bool {
	for i := range r.Events {
		if e := &r.Events[i]; e.OnDevice && e.Kind <= trace.Graph && r.Tracks[e.Track].Process == process {
			return true
		}
	}
	return false
}
