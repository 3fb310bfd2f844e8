// Package ptxvm parses PTX text and executes its kernels on the CPU. It is the engine
// of the sim device, which finds faults in kernels, and it runs kernels compiled at run
// time on the cpu device.
//
//	module, err := ptxvm.Parse(text)
//	memory := ptxvm.NewMemory()
//	x, err := memory.Alloc(4*n, "x")
//	err = memory.Write(x, input)
//	err = module.Launch(ctx, "saxpy", ptxvm.Config{
//		Grid:   [3]int{blocks, 1, 1},
//		Block:  [3]int{256, 1, 1},
//		Params: [][]byte{binary.LittleEndian.AppendUint64(nil, x)},
//		Memory: memory,
//		Checks: true,
//	})
//	var fault *ptxvm.Fault
//	if errors.As(err, &fault) {
//		fmt.Println(fault.Kind, fault.File, fault.Line)
//	}
//
// # Execution
//
// A machine runs the threads of one block in turn: a thread runs until it waits, exits,
// or jumps backward after using up its quantum of instructions. With Config.Checks,
// blocks run one after another; without, several machines run blocks concurrently.
// Except in clusters and cooperative launches, a block must not wait for a later block:
// it would never end. The blocks of a cluster, and all blocks of a cooperative launch,
// take turns.
//
// Floating-point arithmetic is IEEE 754 in all rounding directions, and fma is rounded
// once. The functions that the hardware approximates (.approx, .full) return the
// float64 result rounded once, and so differ from the hardware in the last bits.
// NaN results of arithmetic are canonical. Clocks count instructions. Registers are
// initially zero.
//
// With Config.Counter, the threads of a warp run in lockstep: of those that can run, the ones
// at the first instruction, so that they converge behind branches and loops as on a GPU. The
// counter gets, by source line, the instructions of warps, their active lanes, the sectors of
// global memory and the bank conflicts of shared memory that accesses cause.
//
// # Memory
//
// A Memory is the global address space of a device. Each allocation has its own 64 GiB
// range of addresses, so that stray pointers are detected. Addresses depend only on the
// order of allocations. Shared, local and parameter memory have separate windows of
// generic addresses. With NewDirectMemory, global addresses are plain host pointers
// instead.
//
// # Faults
//
// Every launch, with or without checks, reports misaligned accesses, accesses outside
// shared and local memory, an exhausted step budget, trap, and warp operations and
// barriers that can never complete. Unless the memory is direct, it also reports
// accesses outside the allocations of global memory. Config.Checks adds
//
//   - data races in shared and global memory. Two unordered accesses to the
//     same byte by different threads are a race if one is a write, even one
//     of the same value, and not both are atomic, volatile or otherwise
//     strong. shadow.go says what orders accesses. Some races are missed, but
//     every reported race is real;
//   - reads of bytes never written, by the host or a kernel, in global, shared
//     and local memory. The padding of a struct that is copied as a whole
//     counts as read;
//   - threads of a block that wait at the same barrier at different
//     instructions.
//
// The first fault, in the order of blocks and of instructions within a block, ends the
// launch. With checks, the same program always gives the same fault.
//
// A check in the kernel is ordinary code here: the thread writes a record and exits,
// and the launch continues. A later fault may be a consequence of the missing thread,
// so the caller of Launch should look for a record first. With checks, the record is
// then complete: a thread is not interrupted between a failed check and its exit.
//
// # Limitations
//
// Not supported are device functions (.func, call), textures other than two-dimensional
// ones sampled as float32 at floating-point coordinates, surfaces, tensor copies, wmma,
// wgmma and tcgen05 (mma.sync and ldmatrix are supported), the special registers of
// clusters (barrier.cluster and mapa are supported), the forms of vote and shfl without
// .sync, and 32-bit addresses. Parse rejects them with the line number; isa.go has the
// lists of instructions and registers. The host must be little-endian.
package ptxvm
