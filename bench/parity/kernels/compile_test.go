package kernels_test

import (
	"testing"

	"quern.dev/internal/compiler/frontend"
	"quern.dev/internal/compiler/generate"
)

// BenchmarkCompile compiles all kernels of the package from source text to PTX and Go,
// like quern gen. It type-checks the imports each time.
func BenchmarkCompile(b *testing.B) {
	kernels := 0
	for b.Loop() {
		packages, err := frontend.Load(b.Context(), "../..", "./parity/kernels", "./kernels")
		if err != nil {
			b.Fatal(err)
		}
		kernels = 0
		for _, p := range packages {
			out, err := generate.Package(p)
			if err != nil {
				b.Fatal(err)
			}
			kernels += len(out.Kernels)
		}
	}
	b.ReportMetric(float64(kernels), "kernels")
	b.ReportMetric(b.Elapsed().Seconds()/float64(b.N), "s/set")
}
