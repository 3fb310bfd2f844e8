package driver

import "testing"

func TestResidentBlocksAndWhatLimitsThem(t *testing.T) {
	hopper := DefaultLimits()
	for _, test := range []struct {
		name                       string
		registers, threads, shared int
		blocks                     int
		limit                      string
	}{
		{"few registers", 32, 256, 0, 8, "threads"},
		{"small blocks", 16, 32, 0, 32, "blocks"},
		{"half the threads for 64 registers", 64, 256, 0, 4, "registers"},
		{"registers are given in units of 256 to a warp", 33, 256, 0, 6, "registers"},
		{"each quarter of a multiprocessor has its registers", 200, 64, 0, 4, "registers"},
		{"the largest number of registers", 255, 256, 0, 1, "registers"},
		{"more registers than there are", 255, 1024, 0, 0, "registers"},
		{"a part of a warp counts as one", 0, 33, 0, 32, "threads"},
		{"all shared memory of a block", 32, 128, MaxShared, 1, "shared memory"},
		{"shared memory with what the system takes", 32, 128, 113 << 10, 2, "shared memory"},
		{"shared memory for one less", 32, 128, 113<<10 + 1, 1, "shared memory"},
	} {
		blocks, limit := hopper.ResidentBlocks(test.registers, test.threads, test.shared)
		if blocks != test.blocks || limit != test.limit {
			t.Errorf("%s: %d blocks for %s, want %d for %s", test.name, blocks, limit, test.blocks, test.limit)
		}
	}
	unknown := Limits{}
	if blocks, limit := unknown.ResidentBlocks(255, 1024, 1<<20); blocks == 0 || limit != "" {
		t.Errorf("a device without known limits: %d blocks for %q", blocks, limit)
	}
}
