package main

import (
	"testing"

	"quern.dev/bench/parity/suite"
	"quern.dev/gpu"
	"quern.dev/internal/driver/cuda"
	"quern.dev/internal/driver/cuda/fakecuda"
)

// BenchmarkSubmit measures the overhead of Quern over the driver call of a launch, with a
// driver that does nothing.
func BenchmarkSubmit(b *testing.B) {
	lib := fakecuda.New(1)
	defer cuda.Substitute(lib)()
	dev, err := gpu.Open(gpu.Config{Device: "cuda"})
	if err != nil {
		b.Fatal(err)
	}
	defer dev.Close()
	for _, entry := range suite.All {
		b.Run(entry.Name, func(b *testing.B) {
			c := entry.New(suite.Small)
			bound, err := c.Bind(dev.DefaultStream())
			if err != nil {
				b.Fatal(err)
			}
			defer bound.Close()
			if err := bound.Launch(c.Kernel.Checked); err != nil {
				b.Fatal(err)
			}
			lib.Idle = true
			defer func() { lib.Idle = false }()
			b.ReportAllocs()
			for b.Loop() {
				if err := bound.Launch(c.Kernel.Checked); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}
