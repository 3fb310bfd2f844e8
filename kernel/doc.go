// Package kernel is all that a GPU kernel may import: the thread's place in
// the grid, barriers, shared memory, atomics and mathematics.
//
// # Kernels
//
// A kernel is a Go function without results whose first parameter is a
// [Thread], marked by a directive. It is run once for every thread of a grid of
// blocks:
//
//	// saxpy computes y = a*x + y.
//	//
//	//quern:kernel
//	func saxpy(t kernel.Thread, a float32, x, y []float32) {
//		if i := t.Global(); i < len(y) {
//			y[i] += a * x[i]
//		}
//	}
//
// The tool quern gen compiles it for GPUs and for all cores of the CPU, and
// writes a typed launcher, LaunchSaxpy. Options follow on the directive:
//
//	unchecked    no bounds checks
//	fastmath     float32 functions built directly on the hardware's
//	             approximations, without the bound of 2 ULP
//	block=256    the block that every launch must have; Linear, Plane and
//	             Volume use it, any other is an error; also in
//	             two or three dimensions, as block=16x16
//	minblocks=4  with block=: blocks that a multiprocessor is to hold at once,
//	             which bounds the registers of a thread
//	maxregs=64   the registers of a thread
//	cluster=2    blocks that form a cluster, on GPUs that have clusters
//	instantiate=float32,float64
//	             the types that a kernel with a type parameter is compiled for;
//	             with several parameters instantiate=float32:int16,float64:int32
//	specialise=radius:1,2,3
//	             the values of a parameter that get forms of the kernel in which
//	             it is a constant; may be repeated for other parameters
//
// A comment on the line before a loop says how it is unrolled: //quern:unroll,
// //quern:unroll 4 or //quern:nounroll.
//
// A kernel is also an ordinary Go function. Everything in this package is
// implemented in Go, so a kernel runs under a test and a debugger; [Each] runs
// it over a whole grid with real barriers.
//
// # The language
//
// Kernels are written in a subset of Go, with Go's meaning: integers wrap
// around, int and uint have 64 bits, a shift by more than the width gives 0
// (or -1), and division by zero, an index out of range and panic stop the
// thread and fail the launch. Products and sums may be fused, as the Go
// specification allows; an explicit conversion such as float32(x*y) prevents
// it.
//
// The subset has
//
//   - bool, all integer types, float32, float64, complex64, complex128,
//     [Float16], [BFloat16], vectors ([Vec2] and others), arrays, structs of
//     these, and defined types over them;
//   - slices of these as parameters, which can be indexed, sliced and ranged
//     over; pointers to their elements and to locals;
//   - if, for, range, switch, break and continue with labels, early return;
//   - constants, conversions, generics, and calls of Go functions and methods
//     whose source is in reach, and which are not recursive;
//   - functions as values, where it is known at compile time which function is
//     called: literals, also with captured variables, functions and methods, given
//     to a local variable once, passed to functions and returned from them;
//   - package math in float64, math/bits, and this package.
//
// A kernel can also read package-level variables that are not exported, are
// declared with constants and never assigned: their contents become part of the
// kernel. An exported variable can be assigned by any package, so a kernel cannot
// read it; those of the standard library are taken as constant.
//
// It has no maps, channels, goroutines, defer, interfaces, strings (but constants
// to index and to copy from, and for panic, [Assert] and [Printf]), recursion, and
// no append, make or new. Each of these is reported by the compiler at its place. docs/kernel-language.md
// shows every operation with an example.
//
// # Blocks, barriers and shared memory
//
// The threads of one block share memory, which [Shared] declares with a
// constant size. Its contents are undefined when a block starts. [Thread.Sync]
// is the barrier of the block: what the threads wrote before it, all of them see
// after it. All threads of the block must reach the same barriers; a barrier
// under a condition that differs between the threads of a block is a compile
// error.
//
// Between barriers the threads of a block, and at all times those of different
// blocks, run in no particular order. Two of them may touch the same memory at
// once only through the atomic functions. [LoadAcquire], [StoreRelease] and
// [Fence] order what threads do before and after.
//
// [Dynamic] is shared memory whose size the launch states. The lanes of a warp
// exchange values without memory: [Shuffle], [Ballot], [WarpReduceAdd] and
// others. [Thread.SyncGrid] is a barrier of the whole grid, [Thread.SyncCluster]
// one of a cluster of blocks. [AsyncCopy] and [BulkCopy] fill shared memory while
// the threads compute. [MMA] multiplies matrices on tensor cores.
//
// # Mathematics
//
// The functions are generic over float32 and float64 and take the special cases
// of package math. In float32 they are within 2 ULP of the exact result on
// every device unless the kernel is marked fastmath; Sqrt, FMA, Mod, Abs,
// Copysign, Min, Max and the rounding functions are exact. In float64 they are
// package math's, compiled from the standard library's Go source for GPUs and the
// simulator. Plain Go and the CPU device call package math itself, which on some
// processors has assembly for a few functions (on amd64 Exp and Log): these can
// differ in the last bit, and math.Log on amd64 is wrong below 2^-1022.
//
// # What it does not do
//
// The parameters of a kernel have at most 4352 bytes together, with 16 for a
// slice and 12 for the compiler's own. The variables of a thread that are kept in
// memory have at most 512 KiB, and a package-level variable 1 MiB.
package kernel
