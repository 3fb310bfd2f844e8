package gohost_test

import (
	"fmt"
	"strings"
	"testing"

	"quern.dev/internal/compiler/gohost"
)

// BenchmarkAgainstGoByHand compares compiled kernels with parallel Go code written by
// hand for the same work.
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

func BenchmarkEmit(b *testing.B) {
	prog := lower(b, kernelsFile)
	b.ReportAllocs()
	for b.Loop() {
		for _, k := range prog.Kernels {
			if _, err := gohost.Emit(k, gohost.NewImports(prog.Package)); err != nil {
				b.Fatal(err)
			}
		}
	}
	b.ReportMetric(float64(b.Elapsed().Microseconds())/float64(b.N*len(prog.Kernels)), "µs/kernel")
}
