package generate_test

import (
	"testing"

	"quern.dev/internal/compiler"
	"quern.dev/internal/compiler/frontend"
)

const small = `package p

import "quern.dev/kernel"

//quern:kernel
func saxpy(t kernel.Thread, a float32, x, y []float32) {
	if i := t.Global(); i < len(y) {
		y[i] += a * x[i]
	}
}
`

// BenchmarkText compiles a small kernel from source text to PTX. The packages that it
// imports were type-checked in an earlier run.
func BenchmarkText(b *testing.B) {
	if _, err := compiler.Text(b.Context(), "kernels.go", small, ""); err != nil {
		b.Fatal(err)
	}
	b.ReportAllocs()
	for b.Loop() {
		if _, err := compiler.Text(b.Context(), "kernels.go", small, ""); err != nil {
			b.Fatal(err)
		}
	}
	b.ReportMetric(b.Elapsed().Seconds()*1e3/float64(b.N), "ms/kernel")
}

// BenchmarkCompile compiles all conformance kernels from typed syntax to PTX.
func BenchmarkCompile(b *testing.B) {
	packages, err := frontend.Load(b.Context(), "../../conformance", ".")
	if err != nil {
		b.Fatal(err)
	}
	kernels := 0
	b.ReportAllocs()
	for b.Loop() {
		prog, err := packages[0].Lower()
		if err != nil {
			b.Fatal(err)
		}
		for _, k := range prog.Kernels {
			if _, err := compiler.Compile(b.Context(), k); err != nil {
				b.Fatal(err)
			}
		}
		kernels = len(prog.Kernels)
	}
	b.ReportMetric(b.Elapsed().Seconds()*1e3/float64(b.N*kernels), "ms/kernel")
}
