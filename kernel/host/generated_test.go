package host_test

import (
	"time"

	"quern.dev/kernel/host"
)

// spinFor20Microseconds is longer than a launch waits before it calls in other
// workers.
func spinFor20Microseconds() {
	for start := time.Now(); time.Since(start) < 20*time.Microsecond; {
	}
}

// generated fails at a place that a line directive gives.
func generated(r *host.Run) {
	var x []int
	for r.Next() {
//line filters.go:41
		x[r.BlockIdx.X] = 1
	}
}

// spin goes on until it is halted.
func spin(r *host.Run, begun func()) {
	for r.Next() {
		begun()
//line spin.go:7
		for {
			if r.Halted() {
				r.Halt()
			}
		}
	}
}
