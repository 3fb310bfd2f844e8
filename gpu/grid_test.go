package gpu

import (
	"math"
	"testing"

	"quern.dev/gpu/compiled"
	"quern.dev/internal/driver"
)

func TestGridsPickBlocksFromTheKernel(t *testing.T) {
	dim := func(x, y, z int) Dim3 { return Dim3{X: x, Y: y, Z: z} }
	any := driver.Properties{MaxThreads: 1024}
	tests := []struct {
		name          string
		grid          Grid
		declared      Dim3
		props         driver.Properties
		blocks, block Dim3
		shared        int
	}{
		{"a line", Linear(1000), Dim3{}, any, dim(4, 1, 1), dim(256, 1, 1), 0},
		{"a line of whole blocks", Linear(512), Dim3{}, any, dim(2, 1, 1), dim(256, 1, 1), 0},
		{"a plane", Plane(33, 9), Dim3{}, any, dim(2, 2, 1), dim(32, 8, 1), 0},
		{"a volume", Volume(32, 4, 3), Dim3{}, any, dim(1, 1, 2), dim(32, 4, 2), 0},
		{"a declared block", Linear(100), dim(64, 0, 0), any, dim(2, 1, 1), dim(64, 1, 1), 0},
		{"a declared line in a plane", Plane(100, 3), dim(64, 0, 0), any, dim(2, 3, 1), dim(64, 1, 1), 0},
		{"a declared square", Plane(17, 16), dim(16, 16, 0), any, dim(2, 1, 1), dim(16, 16, 1), 0},
		{"a kernel with many registers", Linear(100), Dim3{}, driver.Properties{MaxThreads: 255}, dim(1, 1, 1), dim(128, 1, 1), 0},
		{"a plane for a kernel with many registers", Plane(64, 64), Dim3{}, driver.Properties{MaxThreads: 64}, dim(2, 32, 1), dim(32, 2, 1), 0},
		{"a volume for few threads", Volume(64, 2, 2), Dim3{}, driver.Properties{MaxThreads: 16}, dim(4, 2, 2), dim(16, 1, 1), 0},
		{"shared memory for five blocks", Linear(1000), Dim3{}, driver.Properties{MaxThreads: 1024}, dim(2, 1, 1), dim(512, 1, 1), 40 << 10},
		{"shared memory for one block", Plane(64, 64), Dim3{}, driver.Properties{MaxThreads: 1024}, dim(2, 2, 1), dim(32, 32, 1), 200 << 10},
		{"registers for twelve warps", Linear(1000), Dim3{}, driver.Properties{MaxThreads: 384, Registers: 168}, dim(8, 1, 1), dim(128, 1, 1), 0},
		{"registers for little more in small blocks", Linear(1000), Dim3{}, driver.Properties{MaxThreads: 1024, Registers: 40}, dim(4, 1, 1), dim(256, 1, 1), 0},
		{"stated blocks", Blocks(Dim3{X: 3}, Dim3{X: 5, Y: 7}), Dim3{}, any, dim(3, 1, 1), dim(5, 7, 1), 0},
		{"the largest line", Linear(1 << 38), Dim3{}, any, dim(1<<30, 1, 1), dim(256, 1, 1), 0},
	}
	for _, test := range tests {
		a := driver.DefaultLimits()
		sizes := chooseBlocks(test.declared, test.props, func(threads int) int {
			blocks, _ := a.ResidentBlocks(test.props.Registers, threads, test.shared)
			return blocks
		})
		blocks, block, err := resolve(test.grid, sizes, Dim3{})
		if err != nil || blocks != test.blocks || block != test.block {
			t.Errorf("%s: %v blocks of %v, error %v; want %v of %v", test.name, blocks, block, err, test.blocks, test.block)
		}
	}
}

// one is a device that holds one block of any size.
func one(int) int { return 1 }

func TestGridRefusesABlockOfMoreDimensions(t *testing.T) {
	sizes := chooseBlocks(Dim3{X: 16, Y: 16}, driver.Properties{MaxThreads: 1024}, one)
	_, _, err := resolve(Linear(100), sizes, Dim3{})
	if want := "grid Linear(100) has fewer dimensions than the kernel's block of 16x16x1; use gpu.Plane"; err == nil || err.Error() != want {
		t.Errorf("got %v, want %s", err, want)
	}
}

func TestGridsHaveWholeClusters(t *testing.T) {
	const huge = math.MaxInt - 1
	for _, test := range []struct {
		name          string
		grid          Grid
		block         Dim3
		cluster, want Dim3
		err           string
	}{
		{"a line that needs half a cluster", Linear(100), Dim3{X: 32}, Dim3{X: 8}, Dim3{X: 8, Y: 1, Z: 1}, ""},
		{"a line of whole clusters", Linear(128), Dim3{X: 32}, Dim3{X: 2}, Dim3{X: 4, Y: 1, Z: 1}, ""},
		{"a plane", Plane(33, 5), Dim3{X: 32, Y: 2}, Dim3{X: 2, Y: 2}, Dim3{X: 2, Y: 4, Z: 1}, ""},
		{"stated blocks stay", Blocks(Dim3{X: 3}, Dim3{X: 32}), Dim3{X: 32}, Dim3{X: 2}, Dim3{X: 3, Y: 1, Z: 1}, ""},
		{"more blocks than numbers", Linear(huge), Dim3{X: 1}, Dim3{X: 4}, Dim3{X: huge, Y: 1, Z: 1}, ""},
		{"clusters of more dimensions", Linear(100), Dim3{X: 32}, Dim3{X: 1, Y: 2}, Dim3{}, "grid Linear(100) has fewer dimensions than the kernel's clusters of 1x2x1; use gpu.Plane"},
	} {
		sizes := chooseBlocks(test.block, driver.Properties{MaxThreads: 1024}, one)
		blocks, _, err := resolve(test.grid, sizes, test.cluster)
		switch {
		case test.err != "":
			if err == nil || err.Error() != test.err {
				t.Errorf("%s: got %v, want %s", test.name, err, test.err)
			}
		case err != nil || blocks != test.want:
			t.Errorf("%s: %v blocks, error %v; want %v", test.name, blocks, err, test.want)
		}
	}
}

func TestBlocksBeyondTheDeviceAreNamedWithTheirExtents(t *testing.T) {
	attributes := driver.DefaultLimits()
	props := driver.Properties{MaxThreads: 512, Registers: 128}
	one := Dim3{X: 1, Y: 1, Z: 1}
	for _, test := range []struct {
		name   string
		block  Dim3
		shared int
		want   string
	}{
		{"a long block", Dim3{X: 1 << 31, Y: 1, Z: 1}, 0, "block 2147483648x1x1 is too large, the device allows 1024x1024x64"},
		{"a block whose threads overflow", Dim3{X: 1 << 32, Y: 1 << 32, Z: 1}, 0, "block 4294967296x4294967296x1 is too large, the device allows 1024x1024x64"},
		{"a block of too many threads", Dim3{X: 64, Y: 32, Z: 1}, 0, "block 64x32x1 has 2048 threads, the device allows 1024"},
		{"a block of too many registers", Dim3{X: 1024, Y: 1, Z: 1}, 0, "block 1024x1x1 has 1024 threads, the kernel's 128 registers per thread allow 512"},
		{"shared memory that overflows", one, math.MaxInt, "9223372036854775807 bytes of dynamic and 1024 bytes of static shared memory, the device allows 232448 in all"},
		{"negative shared memory", one, -1, "negative size of dynamic shared memory: -1 bytes"},
	} {
		g := Blocks(one, test.block).Shared(test.shared)
		if err := checkSize(g, one, test.block, 1024, &props, &attributes); err == nil || err.Error() != test.want {
			t.Errorf("%s: got %v, want %s", test.name, err, test.want)
		}
	}
}

func TestABlockOfMoreDimensionsThanTheGrid(t *testing.T) {
	d := must[*Device](t)(Open(Config{Device: "cpu"}))
	s := d.DefaultStream()
	x := upload(t, s, ramp(8)...)
	for _, c := range []struct {
		grid Grid
		want string
	}{
		{Linear(64).Block(Dim3{X: 32, Y: 33}), "gpu: launch saxpy: grid Linear(64).Block(32x33x1) has fewer dimensions than its block; use gpu.Plane"},
		{Plane(64, 2).Block(Dim3{X: 8, Y: 4, Z: 2}), "gpu: launch saxpy: grid Plane(64, 2).Block(8x4x2) has fewer dimensions than its block; use gpu.Volume"},
	} {
		if err := launchSaxpy(NewKernel(saxpyInfo), s, c.grid, 1, 8, x, x); err == nil || err.Error() != c.want {
			t.Errorf("got  %v\nwant %s", err, c.want)
		}
	}
	closeAll(t, x, d)
}

// resolve resolves a grid for a kernel with these block sizes and clusters.
func resolve(g Grid, sizes blockSizes, cluster Dim3) (blocks, block Dim3, err error) {
	v := &variant{sizes: sizes, info: &kernelInfo{Kernel: compiled.Kernel{Cluster: cluster}}}
	return v.resolve(g)
}
