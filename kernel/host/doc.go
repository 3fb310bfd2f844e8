// Package host is the runtime of kernels compiled for the CPU. Programs do not
// use it directly; the code that quern gen writes and the driver of the CPU
// device do.
//
// A kernel is compiled to a [Func], which runs whole blocks one after another as
// long as its [Run] supplies them:
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
// [Execute] runs a Func over a grid. The calling goroutine takes part, together
// with a worker pool that all launches of the process share, with up to one
// worker per core. Each worker draws chunks of blocks from a common ticket
// counter until none are left. A small launch starts on the caller alone and adds
// workers only if it takes long, so that a tiny grid does not pay for waking a
// core.
//
// The memory that [Shared], [Dynamic] and [Scratch] return belongs to the worker.
// Its later blocks and launches reuse it; its contents are undefined.
//
// A panic in a Func, from Go's own checks or from [Fail], ends the launch: the
// other workers stop after their current block, and Execute returns a [Failure]
// with the position. An [Interrupt] ends a launch in the same way: loops that may
// run for long call [Run.CheckHalt] in each iteration.
//
// The package does not validate launches: the driver checks sizes and types of
// the arguments.
package host
