package codegen

import (
	"testing"

	"quern.dev/internal/testmodule"
)

// Ordinary launches run a 32-bit variant, without checks if the buffers are as large as
// the sizes say.
func TestLaunchesRunTheVariant(t *testing.T) {
	testmodule.NeedSource(t)
	kernels := map[string]*kernelSource{}
	for _, s := range sources(t) {
		for i := range s.kernels {
			kernels[s.kernels[i].IR.Name] = &s.kernels[i]
		}
	}
	const mega = 1 << 20
	tests := []struct {
		name   string
		kernel string
		args   []int64  // values of numbers, lengths of slices
		dims   [6]int64 // grid, block
		want   string
	}{
		{"a vector in a grid of its size", "add", []int64{100 * mega, 100 * mega, 100 * mega}, [6]int64{400 * 1024, 1, 1, 256, 1, 1}, "proven"},
		{"a vector in a small grid", "add", []int64{mega, mega, mega}, [6]int64{132, 1, 1, 1024, 1, 1}, "proven"},
		{"a short operand", "add", []int64{mega - 1, mega, mega}, [6]int64{132, 1, 1, 1024, 1, 1}, "narrow"},
		{"a vector beyond 32 bits", "add", []int64{3 << 30, 3 << 30, 3 << 30}, [6]int64{132, 1, 1, 1024, 1, 1}, "wide"},
		{"an empty vector", "add", []int64{0, 0, 0}, [6]int64{1, 1, 1, 256, 1, 1}, "proven"},

		{"a picture", "picture", []int64{3840, 2160, 3840 * 2160, 3840 * 2160}, [6]int64{120, 270, 1, 32, 8, 1}, "coarse"},
		{"a small picture", "picture", []int64{64, 64, 64 * 64, 64 * 64}, [6]int64{2, 8, 1, 32, 8, 1}, "proven"},
		{"a picture whose buffer is too short", "picture", []int64{3840, 2160, 3840*2160 - 1, 3840 * 2160}, [6]int64{120, 270, 1, 32, 8, 1}, "narrow"},
		{"a large picture", "picture", []int64{32768, 32768, 1 << 30, 1 << 30}, [6]int64{1024, 4096, 1, 32, 8, 1}, "coarse"},
		{"a picture beyond 32 bits", "picture", []int64{65536, 65536, 1 << 32, 1 << 32}, [6]int64{2048, 8192, 1, 32, 8, 1}, "wide"},
		{"a picture of negative width", "picture", []int64{-5, 10, 100, 100}, [6]int64{1, 1, 1, 16, 16, 1}, "wide"},

		{"rows by division", "rows", []int64{3840, 2160, 3840 * 2160, 3840 * 2160}, [6]int64{32400, 1, 1, 256, 1, 1}, "narrow"},
		{"a stencil", "stencil", []int64{3840, 2160, 3840 * 2160, 3840 * 2160}, [6]int64{120, 270, 1, 32, 8, 1}, "coarse"},
		{"clamped rows", "smooth", []int64{4000, 3000, 12e6, 12e6}, [6]int64{125, 375, 1, 32, 8, 1}, "coarse"},
		{"clamped rows of short buffers", "smooth", []int64{4000, 3000, 12e6 - 1, 12e6}, [6]int64{125, 375, 1, 32, 8, 1}, "narrow"},
		{"a clamped window", "window", []int64{4000, 3000, 12e6, 12e6}, [6]int64{125, 375, 1, 32, 8, 1}, "proven"},
		{"a clamped window of a small picture of odd size", "window", []int64{45, 19, 855, 855}, [6]int64{2, 3, 1, 32, 8, 1}, "proven"},
		{"a clamped window of a short buffer", "window", []int64{4000, 3000, 12e6 - 1, 12e6}, [6]int64{125, 375, 1, 32, 8, 1}, "narrow"},
		{"neighbors", "laplace", []int64{4000, 3000, 12e6, 12e6}, [6]int64{125, 375, 1, 32, 8, 1}, "coarse"},
		{"neighbors in a short buffer", "laplace", []int64{4000, 3000, 12e6 - 100, 12e6}, [6]int64{125, 375, 1, 32, 8, 1}, "narrow"},
		{"neighbors of a volume", "volume", []int64{300, 200, 100, 6e6, 6e6}, [6]int64{10, 50, 50, 32, 4, 2}, "proven"},
		{"neighbors of a short volume", "volume", []int64{300, 200, 100, 6e6 - 400, 6e6}, [6]int64{10, 50, 50, 32, 4, 2}, "narrow"},
		{"a flag", "erode", []int64{mega, 3, mega, mega}, [6]int64{4195, 1, 1, 256, 1, 1}, "proven"},
		{"a flag and a short buffer", "erode", []int64{mega, 3, mega, mega - 1}, [6]int64{4195, 1, 1, 256, 1, 1}, "narrow"},
		{"a flag that says nothing", "fickle", []int64{1000, 1000}, [6]int64{4, 1, 1, 256, 1, 1}, "narrow"},
		{"digits", "digits", []int64{1 << 20, 1 << 20}, [6]int64{4096, 1, 1, 64, 1, 1}, "proven"},
		{"digits of a short row", "digits", []int64{1 << 20, 1<<20 - 1}, [6]int64{4096, 1, 1, 64, 1, 1}, "narrow"},
		{"a sparse matrix", "product", []int64{1000, 1001, 9000, 9000, 500, 1000}, [6]int64{4, 1, 1, 256, 1, 1}, "proven"},
		{"a sparse matrix without its last row", "product", []int64{1000, 1000, 9000, 9000, 500, 1000}, [6]int64{4, 1, 1, 256, 1, 1}, "narrow"},
		{"a transposition", "transpose", []int64{8192, 8192, 8192 * 8192, 8192 * 8192}, [6]int64{256, 256, 1, 32, 8, 1}, "proven"},
		{"a product of matrices", "matmul", []int64{4096, 4096, 4096, mega * 16, mega * 16, mega * 16}, [6]int64{256, 256, 1, 16, 16, 1}, "proven"},
		{"a product of odd matrices", "matmul", []int64{1000, 77, 3, 3000, 231, 77000}, [6]int64{5, 63, 1, 16, 16, 1}, "proven"},
		{"a ring", "ring", []int64{1000, 3000, 1000}, [6]int64{4, 1, 1, 256, 1, 1}, "proven"},
		{"a ring that is too short", "ring", []int64{1000, 2999, 1000}, [6]int64{4, 1, 1, 256, 1, 1}, "narrow"},
		{"elements in a grid of their number", "scaleAdd", []int64{0, mega, mega}, [6]int64{4096, 1, 1, 256, 1, 1}, "coarse"},
		{"elements in a small grid", "scaleAdd", []int64{0, 1000, 1000}, [6]int64{4, 1, 1, 256, 1, 1}, "proven"},
		{"elements with a short operand", "scaleAdd", []int64{0, mega - 1, mega}, [6]int64{4096, 1, 1, 256, 1, 1}, "narrow"},
		{"a reduction", "reduce", []int64{100 * mega, 512}, [6]int64{512, 1, 1, 256, 1, 1}, "proven"},
		{"a reduction with too large a block", "reduce", []int64{100 * mega, 512}, [6]int64{512, 1, 1, 512, 1, 1}, "narrow"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			k := kernels[tt.kernel]
			if k == nil {
				t.Fatalf("there is no kernel %s", tt.kernel)
			}
			for _, v := range k.Variants {
				if v.Limits.Hold(tt.args, &tt.dims) {
					if v.Name != tt.want {
						t.Errorf("runs variant %s, want %s", v.Name, tt.want)
						for _, v := range k.Variants {
							t.Logf("%s needs %v", v.Name, v.Limits)
						}
					}
					return
				}
			}
			t.Error("no variant runs")
		})
	}
}
