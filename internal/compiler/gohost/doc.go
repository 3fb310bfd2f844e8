// Package gohost generates Go code that runs kernels on the CPU device.
//
// For each kernel, Emit generates a function for package kernel/host:
//
//	func quernHostSaxpy(r *host.Run) {
//		a, x, y := host.Value[float32](r, 0), host.Slice[float32](r, 1), host.Slice[float32](r, 2)
//		dimX := r.BlockDim.X
//		for width := r.NextRow(1024); width > 0; width = r.NextRow(1024) {
//			blockX := r.BlockIdx.X
//			base := blockX * dimX
//			for rowIdx := 0; r.Row(rowIdx); rowIdx++ {
//				quernRow1Saxpy(r, base, y, a, x, width)
//			}
//		}
//	}
//
//	func quernRow1Saxpy(r *host.Run, base int, y []float32, a float32, x []float32, width int) {
//		... // the fast form, see below
//		for threadX := range width {
//			r.ThreadIdx.X = threadX
//			i := base + threadX
//			if i < len(y) {
//				y[i] += a * x[i]
//			}
//		}
//	}
//
// The threads of a block are loop iterations: of loops over its rows, unless the kernel declares a
// block of one row, and of the loop over the threads of a row. The innermost loop, over a row of
// threads, is a separate function, because the Go compiler keeps few variables in
// registers across nested loops. Values that are the same for all threads of a row, a
// block or the launch are computed outside that function, and terms of sums are
// regrouped so that more values qualify.
//
// What a whole warp does in a few instructions is not in a function: the statements of a
// single lane, and clearing a variable of all lanes.
//
// If the rows are short and do little work, the function runs all rows of the block, so
// that a call is made per region and not per row. Rows in which no thread passes the
// region's conditions on its Y coordinate are left out (rowrange.go).
//
// If the threads of a block share nothing, and the X coordinates occur only in
// BlockIdx.X*BlockDim.X + ThreadIdx.X, a row continues through several blocks, as here
// (wide.go).
//
// # The fast form
//
// A region whose threads use adjacent elements, as here, gets a fast form before the
// loop (fast.go). Conditions that all effects of the region depend on become a range of
// the row: the first thread that passes them, and the number of threads. The slices are
// cut to that range, so that the loop contains no checks. An element that all threads of
// the row use is read before the loop, if the loop does not write memory that it may be
// in (fixed.go). Indices such as max(x-1, 0) are x-1 for the threads for which that makes
// no difference; the few others run in the ordinary loop. What the fast form takes for
// granted is tested before it, once for all rows where it is the same for them. A region
// that only copies or clears elements does so for whole rows, and short rows of declared
// length are copied as arrays. Loops over rows of declared length, or over the lanes of full
// warps, run four threads in an iteration if their work is small (unroll.go), or each of
// their statements for four threads if a thread's operations form a long chain. If the test
// fails, the ordinary loop runs and reports an index out of range where the kernel has it. A region
// that does much work for each such access has no fast form.
//
// # Threads side by side
//
// If each thread of a row runs a short loop with the same number of iterations, such as
// the product of its own row of a matrix with a vector, four threads run together, and
// each statement of the loop is printed four times (abreast.go). A thread's operations
// keep their order and therefore their rounding, but those of different threads do not
// wait for each other. The parts of slices that the loops read are cut before the loops.
// If one does not exist, the ordinary loop runs from there, and reports the fault.
//
// # Loops in lockstep
//
// If the row runs a counting loop in which its threads access adjacent elements, the
// loop moves around the loop over the row (rows.go). Variables that live longer than an
// iteration are then in scratch memory. Four iterations run as one, so that they are
// loaded and stored less often (opt.Jam). A condition that a range of the row passes
// becomes a loop of its own.
//
// # Elements that lanes divide
//
// If the lanes of full warps divide a range of elements, by steps of the size of a warp, and
// only assign variables, a warp runs four steps at a time in lockstep while they are full.
// The rest of the range is one loop over its elements, in which element%32 is the lane
// (flat.go). An index that such a loop must check is checked before the statement that uses
// it, and only an index out of range stores the number of the thread.
//
// # Barriers
//
// A kernel with barriers is split into regions at its barriers, each with its own loop
// over the threads (MCUDA: Stratton, Stone and Hwu, 2008; PoCL: Jääskeläinen et al.,
// 2015). Control flow around a barrier is uniform, so the block executes it once,
// outside those loops. A variable that is live across regions is handled in one of
// three ways: if it is the same for all threads, it exists once; if it is computed from
// thread coordinates and from variables of the block that do not change meanwhile
// (stable.go), it is recomputed; otherwise each thread's value is kept in scratch
// memory. A flag that a range of each row passes is recomputed too if it only decides what
// runs: copies keep what it depends on (snapshot.go). If threads leave a construct individually after its last barrier, a variable
// records which have left.
//
// # Meaning
//
// The generated Go has the kernel's semantics: wrap-around integers, checked indices,
// the same rounding, explicit conversions where fusing is forbidden. Anything that Go
// would reject, or fold at compile time with a different result, is not printed as a
// constant. Functions that a kernel calls stay calls, except those that package opt
// inlines: functions that use the thread or may run long, and formulas. No two variables
// of a function have the same name, and no variable hides a name that the text refers
// to.
//
// Line directives give run-time panics the position of the kernel's statement, relative
// to the file's directory. Statements that can stop a thread run with Run.ThreadIdx
// set. Code after the generated text in a file needs its own line directive if its
// position matters.
//
// # What it does not do
//
// The text can refer only to exported names of other packages, so a function there that
// uses the thread must not use unexported names. Emit does not look for barriers that
// only some threads reach: package opt has rejected them.
package gohost
