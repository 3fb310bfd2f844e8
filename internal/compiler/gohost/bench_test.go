package gohost_test

import (
	"fmt"
	"strings"
	"testing"
)

// BenchmarkAgainstGoByHand reports how much longer compiled kernels take than
// the same work in parallel Go written by hand.
func BenchmarkAgainstGoByHand(b *testing.B) {
	program := file(b, lower(b, "testdata/bench/kernels.go"))
	for b.Loop() {
		for _, line := range strings.Split(strings.TrimSpace(runProgram(b, "testdata/bench", program)), "\n") {
			var name string
			var compiled, byHand float64
			if _, err := fmt.Sscan(line, &name, &compiled, &byHand); err != nil {
				b.Fatalf("%v: %q", err, line)
			}
			b.ReportMetric(compiled/byHand, name+"-ratio")
			b.Logf("%-16s %12.0f ns compiled, %12.0f ns by hand", name, compiled, byHand)
		}
	}
}
