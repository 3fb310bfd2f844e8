package driver

import "quern.dev/kernel"

// Architectures returns the limits of NVIDIA's architectures of compute capability 7.5 to
// 12.1 (CUDA C++ programming guide, "Compute Capabilities").
func Architectures() []Info {
	return []Info{
		architecture(7, 5, 1024, 16, 64, 64),
		architecture(8, 0, 2048, 32, 164, 163),
		architecture(8, 6, 1536, 16, 100, 99),
		architecture(8, 7, 1536, 16, 164, 163),
		architecture(8, 9, 1536, 24, 100, 99),
		architecture(9, 0, 2048, 32, 228, 227),
		architecture(10, 0, 2048, 32, 228, 227),
		architecture(10, 3, 2048, 32, 228, 227),
		architecture(11, 0, 1536, 24, 228, 227),
		architecture(12, 0, 1536, 24, 100, 99),
		architecture(12, 1, 1536, 24, 100, 99),
	}
}

// architecture describes a multiprocessor: its most resident threads and blocks, and its
// shared memory in KiB, of all blocks and of one.
func architecture(major, minor, threads, blocks, shared, perBlock int) Info {
	return Info{Major: major, Minor: minor, Limits: Limits{
		ThreadsPerBlock:            MaxThreadsPerBlock,
		Block:                      kernel.Dim3{X: MaxThreadsPerBlock, Y: MaxThreadsPerBlock, Z: MaxBlockZ},
		Grid:                       kernel.Dim3{X: MaxGridX, Y: MaxGridYZ, Z: MaxGridYZ},
		SharedPerBlock:             perBlock << 10,
		WarpSize:                   WarpSize,
		ThreadsPerMultiprocessor:   threads,
		BlocksPerMultiprocessor:    blocks,
		RegistersPerMultiprocessor: MaxRegisters,
		SharedPerMultiprocessor:    shared << 10,
	}}
}
