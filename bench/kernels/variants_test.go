package kernels

import (
	"testing"

	"quern.dev/internal/compiler"
	"quern.dev/internal/compiler/frontend"
	"quern.dev/internal/compiler/generate"
	"quern.dev/internal/testmodule"
)

// TestBenchmarkLaunchesNeedNoBoundsChecks checks that the arguments of the benchmarks'
// launches prove all indices in range, so that no bounds checks are needed.
func TestBenchmarkLaunchesNeedNoBoundsChecks(t *testing.T) {
	testmodule.NeedSource(t)
	packages, err := frontend.Load(t.Context(), ".", ".")
	if err != nil {
		t.Fatal(err)
	}
	out, err := generate.Package(packages[0])
	if err != nil {
		t.Fatal(err)
	}
	const n, w, h = 4096, 8192, 8192
	for _, c := range []struct {
		kernel string
		args   []int64 // values and lengths
		bare   int     // a slice whose length the kernel does not check
		dims   [6]int64
	}{
		{"saxpy", []int64{0, 1 << 28, 1 << 28}, 1, [6]int64{1 << 20, 1, 1, 256, 1, 1}},
		{"tileMatmul", []int64{n, n, n, n * n, n * n, n * n}, 5, [6]int64{n / 16, n / 16, 1, 16, 16, 1}},
		{"registerMatmul", []int64{n, n, n, n * n, n * n, n * n}, 5, [6]int64{n / 128, n / 128, 1, 16, 16, 1}},
		{"blurRows", []int64{0, w, h, w * h, w * h}, 4, [6]int64{w / 256, h, 1, 256, 1, 1}},
		{"blurColumns", []int64{0, w, h, w * h, w * h}, 4, [6]int64{w / 32, h / ColumnTileHeight, 1, 32, 8, 1}},
	} {
		t.Run(c.kernel, func(t *testing.T) {
			v := variant(t, out.Kernels, c.kernel)
			if !v.Limits.Hold(c.args, &c.dims) {
				t.Errorf("the launch %v %v does not meet the limits\n%s", c.args, c.dims, v.Limits)
			}
			if len(v.Sites) > 0 {
				t.Errorf("%d checks are left", len(v.Sites))
			}
			// Shortening the slice that has no guard by one element must fail.
			c.args[c.bare]--
			if v.Limits.Hold(c.args, &c.dims) {
				t.Error("a launch with a slice that is too short meets the limits")
			}
		})
	}
}

// variant returns the proven variant of a kernel.
func variant(t *testing.T, kernels []*compiler.Kernel, name string) compiler.Variant {
	for _, k := range kernels {
		if k.IR.Name != name {
			continue
		}
		for _, v := range k.Variants {
			if v.Name == "proven" {
				return v
			}
		}
	}
	t.Fatalf("kernel %s has no proven variant", name)
	return compiler.Variant{}
}
