// Package ptxvm parses PTX text and executes its kernels on the CPU. It is the
// engine of the sim device, which finds faults in kernels, and runs kernels
// compiled at run time on the cpu device.
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
// A machine runs one block at a time and a thread of it until the thread
// waits, exits, or has had its quantum of instructions and jumps back; then it is
// the next thread's turn. Without Config.Checks several machines run blocks side by
// side. Blocks are independent of each other: a block that spins until a later
// one writes does not end.
//
// Floating arithmetic is IEEE 754 in all rounding directions, fma is rounded
// once. The functions that the hardware approximates (.approx, .full) give the
// value rounded once from float64, and so differ from the hardware in the last
// bits. NaN results of arithmetic are canonical. Clocks count instructions.
// Registers start as zero.
//
// # Memory
//
// A Memory is the global address space of a device. Each allocation has 64 GiB
// of addresses to itself, so that a stray pointer is seen to be one; addresses
// depend on nothing but the order of allocations. Shared, local and parameter
// memory have windows of generic addresses of their own. NewDirectMemory makes
// global addresses plain host pointers instead.
//
// # Faults
//
// Every launch, with checks or without, reports misaligned accesses, accesses
// outside the shared and local memory and, unless the memory is direct,
// outside the allocations of global memory, the exhausted step budget, trap,
// and warp operations and barriers whose threads never come together.
// Config.Checks adds
//
//   - data races in shared and global memory. Two unordered accesses to the
//     same byte by different threads are a race if one is a write, even one
//     of the same value, and not both are atomic, volatile or otherwise
//     strong. shadow.go says what orders accesses. Some races are missed, but
//     what is reported is one;
//   - reads of bytes never written, by the host or a kernel, in global, shared
//     and local memory. The padding of a struct that is copied as a whole
//     counts as read;
//   - threads of a block that wait at the same barrier at different
//     instructions.
//
// The first fault in the order of blocks, and of instructions within a block,
// ends the launch. With checks the same program gives the same fault every
// time.
//
// A check that a kernel makes itself is ordinary code here: the thread writes a
// record and exits, and the launch goes on. A fault that comes after it may follow
// from the absence of that thread, so that whoever launches the kernel looks for a
// record first. With checks it is complete by then: a thread is not interrupted
// between a check that fails and its end.
//
// # What is not here
//
// Device functions (.func, call), textures other than two-dimensional ones of float32,
// surfaces, tensor copies, wmma, wgmma and tcgen05 (mma.sync and ldmatrix are here), the
// special registers of clusters (their barrier, and mapa, are here), the
// forms of vote and shfl without .sync, 32-bit addresses. Parse rejects them with the line;
// isa.go has the list. The host is taken to be little-endian.
package ptxvm
