package driver

import (
	"slices"
	"testing"
)

// TestOccupancyIsThatOfCUDA compares with results of NVIDIA's cuda_occupancy.h, version 13.0.
func TestOccupancyIsThatOfCUDA(t *testing.T) {
	list := Architectures()
	for _, c := range []struct {
		major, minor, registers, threads, shared int
		blocks                                   int
		limit                                    string
	}{
		{7, 5, 32, 448, 1000, 2, "threads"},
		{7, 5, 168, 128, 0, 3, "registers"},
		{7, 5, 96, 224, 61440, 1, "shared memory"},
		{7, 5, 16, 32, 0, 16, "blocks"},
		{8, 0, 24, 896, 8192, 2, "threads"},
		{8, 0, 96, 384, 0, 1, "registers"},
		{8, 0, 80, 352, 166912, 1, "shared memory"},
		{8, 0, 24, 32, 1000, 32, "blocks"},
		{8, 6, 32, 864, 20480, 1, "threads"},
		{8, 6, 48, 704, 20480, 1, "registers"},
		{8, 6, 24, 736, 61440, 1, "shared memory"},
		{8, 6, 24, 64, 1000, 16, "blocks"},
		{8, 7, 24, 256, 1000, 6, "threads"},
		{8, 7, 96, 320, 0, 2, "registers"},
		{8, 7, 32, 128, 166912, 1, "shared memory"},
		{8, 7, 40, 32, 0, 16, "blocks"},
		{8, 9, 32, 192, 1000, 8, "threads"},
		{8, 9, 64, 544, 1000, 1, "registers"},
		{8, 9, 64, 64, 101376, 1, "shared memory"},
		{8, 9, 33, 32, 1000, 24, "blocks"},
		{9, 0, 16, 288, 0, 7, "threads"},
		{9, 0, 255, 96, 20480, 2, "registers"},
		{9, 0, 24, 896, 166912, 1, "shared memory"},
		{9, 0, 33, 32, 0, 32, "blocks"},
		{10, 0, 16, 704, 49152, 2, "threads"},
		{10, 0, 48, 224, 1000, 5, "registers"},
		{10, 0, 255, 64, 166912, 1, "shared memory"},
		{10, 0, 33, 32, 0, 32, "blocks"},
		{10, 3, 16, 768, 8192, 2, "threads"},
		{10, 3, 33, 544, 61440, 2, "registers"},
		{10, 3, 24, 224, 33792, 6, "shared memory"},
		{10, 3, 40, 32, 1000, 32, "blocks"},
		{11, 0, 32, 224, 20480, 6, "threads"},
		{11, 0, 64, 352, 1000, 2, "registers"},
		{11, 0, 24, 320, 101376, 2, "shared memory"},
		{11, 0, 16, 32, 0, 24, "blocks"},
		{12, 0, 16, 160, 0, 9, "threads"},
		{12, 0, 65, 160, 8192, 5, "registers"},
		{12, 0, 200, 32, 33792, 2, "shared memory"},
		{12, 0, 33, 32, 0, 24, "blocks"},
		{12, 1, 16, 928, 8192, 1, "threads"},
		{12, 1, 65, 192, 0, 4, "registers"},
		{12, 1, 33, 160, 33792, 2, "shared memory"},
		{12, 1, 48, 32, 0, 24, "blocks"},
	} {
		at := slices.IndexFunc(list, func(i Info) bool { return i.Major == c.major && i.Minor == c.minor })
		if at < 0 {
			t.Errorf("%d.%d is missing", c.major, c.minor)
			continue
		}
		if blocks, limit := list[at].ResidentBlocks(c.registers, c.threads, c.shared); blocks != c.blocks || limit != c.limit {
			t.Errorf("%+v: %d blocks for %s", c, blocks, limit)
		}
	}
}
