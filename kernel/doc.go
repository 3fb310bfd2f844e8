// Package kernel is the API of GPU kernels: thread indices, barriers, shared
// memory, atomic operations and mathematics. It is the only Quern package that a
// kernel imports.
//
// # Kernels
//
// A kernel is a Go function without results whose first parameter is a [Thread],
// marked by a directive. It runs once for every thread of a grid of blocks:
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
// The quern gen tool compiles it for GPUs and for all CPU cores, and writes a
// typed launcher, LaunchSaxpy. Options follow the directive:
//
//	unchecked    no checks of bounds and nil pointers
//	also=unchecked
//	             compiles a second kernel without these checks, with its own
//	             launcher: LaunchSaxpyUnchecked
//	fastmath     float32 functions use the hardware's approximations directly,
//	             without the bound of 2 ULP
//	block=256    the block size that every launch must use; Linear, Plane and
//	             Volume use it, any other size is an error; two or three
//	             dimensions are written block=16x16
//	minblocks=4  with block=: the number of blocks that a multiprocessor should
//	             hold at once, which limits the registers per thread
//	maxregs=64   the maximum number of registers per thread
//	cluster=2    the number of blocks per cluster, on GPUs with clusters
//	only=gpu     the kernel is compiled for GPUs only, and cpu interprets it;
//	             only=cpu compiles it for the CPU only
//	instantiate=float32,float64
//	             the types for which a generic kernel is compiled; with several
//	             type parameters instantiate=float32:int16,float64:int32
//	specialise=radius:1,2,3
//	             values of a parameter for which the kernel gets a specialized
//	             form where the parameter is a constant; may be repeated for
//	             other parameters
//
// A comment on the line before a loop controls unrolling: //quern:unroll,
// //quern:unroll 4 or //quern:nounroll.
//
// A kernel is also an ordinary Go function. Everything in this package is
// implemented in Go, so a kernel runs in a test and in a debugger. [Each] runs it
// over a whole grid with real barriers.
//
// # The language
//
// Kernels are written in a subset of Go, with Go's semantics: integers wrap
// around, int and uint have 64 bits, and a shift by more than the width gives 0
// (or -1). Division by zero, an index out of range, a nil pointer and panic stop
// the thread and fail the launch. The compiler may fuse products and sums, as the Go
// specification allows; an explicit conversion such as float32(x*y) prevents it.
//
// The subset includes
//
//   - bool, all integer types, float32, float64, complex64, complex128,
//     [Float16], [BFloat16], [Float8E4M3], [Float8E5M2], vectors ([Vec2] and
//     others), arrays and structs of these, and defined types based on them;
//   - slices of these as parameters, with indexing, slicing and range; pointers
//     to their elements and to local variables;
//   - if, for, range, switch, break and continue with labels, and early return;
//   - constants, conversions, generics, and calls of non-recursive Go functions
//     and methods whose source is available;
//   - function values, if the function called is known at compile time: literals
//     (including closures), functions and methods that are assigned once to a
//     local variable, passed to functions or returned from them;
//   - package math in float64, package math/bits, and this package.
//
// A kernel can also read unexported package-level variables that are initialized
// with constants and never assigned; their contents are compiled into the kernel.
// A kernel cannot read exported variables, because any package can assign them.
// Exported variables of the standard library are treated as constants.
//
// The subset has no maps, channels, goroutines, defer, interfaces, recursion,
// append, make or new. Strings exist only as constants to index and copy from,
// and as arguments of panic, [Assert] and [Printf]. The compiler reports each
// unsupported construct with its position. docs/kernel-language.md shows every
// operation with an example.
//
// # Blocks, barriers and shared memory
//
// The threads of a block share memory, which [Shared] declares with a constant
// size. Its contents are undefined when a block starts. [Thread.Sync] is the
// barrier of the block: after it, all threads of the block see what any of them
// wrote before it. All threads of the block must reach the same barriers. A
// barrier under a condition that differs between the threads of a block is a
// compile error.
//
// Between barriers, the threads of a block run in no particular order; different
// blocks are never ordered. Two threads may access the same memory at the same
// time only through the atomic functions. [LoadAcquire], [StoreRelease] and
// [Fence] order the accesses before and after them.
//
// [Dynamic] is shared memory whose size is set at the launch. The lanes of a warp
// exchange values without memory: [Shuffle], [Ballot], [WarpReduceAdd] and
// others. [Thread.SyncGrid] is a barrier for the whole grid, and
// [Thread.SyncCluster] for a cluster of blocks. [AsyncCopy], [BulkCopy] and
// [BulkCopyTile] fill shared memory while the threads compute. [MMA] and [GroupMMA]
// multiply matrices on tensor cores.
//
// # Mathematics
//
// The functions are generic over float32 and float64 and handle special cases
// like package math. In float32, results are within 2 ULP of the exact result on
// every device unless the kernel is marked fastmath. Sqrt, FMA, Mod, Abs,
// Copysign, Min, Max and the rounding functions are exact. In float64 the
// functions are those of package math; for GPUs and the simulator they are
// compiled from the standard library's Go source. Plain Go and the CPU device
// call package math itself. It uses assembly for a few functions on some
// processors (Exp and Log on amd64), so the last bit of these can differ. On
// amd64, math.Log is wrong below 2^-1022.
//
// # Limits
//
// The parameters of a kernel take at most 4352 bytes together, including 16 bytes
// per slice and 12 bytes for the compiler's own use. The variables of a thread
// that are kept in memory take at most 512 KiB, and a package-level variable at
// most 1 MiB.
package kernel
