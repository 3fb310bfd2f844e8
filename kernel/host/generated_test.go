package host_test

import (
	"time"

	"quern.dev/kernel/host"
)

// spinFor20Microseconds runs for longer than a small launch waits before it adds
// workers.
func spinFor20Microseconds() {
	for start := time.Now(); time.Since(start) < 20*time.Microsecond; {
	}
}

// generated fails at a position set by a line directive.
func generated(r *host.Run) {
	var x []int
	for r.Next() {
//line filters.go:41
		x[r.BlockIdx.X] = 1
	}
}

// spin runs until it is halted.
func spin(r *host.Run, begun func()) {
	for r.Next() {
		begun()
//line spin.go:7
		for {
			r.CheckHalt()
		}
	}
}
