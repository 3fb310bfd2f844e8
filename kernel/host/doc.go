// Package host is the run-time support that kernels compiled for the CPU stand
// on. Programs do not use it directly: the code that quern gen writes does, and
// the driver of the CPU device.
//
// A kernel is compiled to a [Func], which runs whole blocks one after another
// for as long as its [Run] hands them out:
//
//	func quernHostScale(r *host.Run) {
//		a, x := host.Value[float32](r, 0), host.Slice[float32](r, 1)
//		for r.Next() {
//			for r.ThreadIdx.X = 0; r.ThreadIdx.X < r.BlockDim.X; r.ThreadIdx.X++ {
//				if i := r.BlockIdx.X*r.BlockDim.X + r.ThreadIdx.X; i < len(x) {
//					x[i] *= a
//				}
//			}
//		}
//	}
//
// [Execute] runs a Func over a grid. The calling goroutine takes part, and is
// joined by persistent worker goroutines, up to one a core, that are shared by
// all launches of the process. Each worker draws chunks of blocks from a common
// ticket until none are left. A launch that looks small starts on the caller
// alone and calls the others in only if it takes long, so that a tiny grid
// costs less than waking a core.
//
// Memory that [Shared], [Dynamic] and [Scratch] return belongs to the worker
// and is used again by its later blocks and launches; its contents are
// undefined.
//
// A panic in a Func, from Go's own checks or from [Fail], ends the launch: the
// other workers stop after the block that they are in, and Execute returns a
// [Failure] that says where it was. So does an [Interrupt]: loops that may go on
// for long ask [Run.Halted] in each iteration.
//
// The package does not check launches: sizes and types of the arguments are the
// driver's business.
package host
