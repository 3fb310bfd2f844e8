// Package opt transforms kernels between the front end and the back ends.
//
// PTX returns the forms of a kernel for the PTX back end, fastest first: coarse, proven
// and narrow are valid under launch conditions, wide for every launch. Host returns the
// kernel for the Go back end, and Analyse finds the values that are uniform in a block.
//
//	variants, err := opt.PTX(k)
//
// Both run the passes of one table, which states for each pass what must run before it
// and why.
//
// The passes, in their order (written by a test from the table in pass.go):
//
// On the kernel, for PTX:
//
//   - inline: calls are replaced by the bodies of the called functions;
//   - writes: finds the slices that the kernel may write, for compiled.Param.ReadOnly;
//   - copies: copies of slices become loops;
//   - unchecked: checks of bounds and of nil pointers are removed if the kernel opts out of them;
//   - pointers: pointers and slices of arrays are replaced by the places they refer to;
//   - nil checks: checks of pointers that are assigned on every path are removed;
//   - versions: a reassigned variable is renamed, in kernels with warp operations;
//   - uniform: a barrier that not all threads of a block reach together is an error;
//   - collectives: warp reductions, scans and matches become shuffles and votes;
//   - fold: folds constants, exact identities and copies, and removes dead code;
//   - early hoist: a division and a square root that a loop does not change are computed once before it;
//   - unroll: counted loops are unrolled if array indices, or conditions of long bodies, then become constants;
//   - late pointers: pointers once more;
//   - scalarise: structs, and arrays with constant indices, become scalar variables;
//   - late fold: fold once more;
//   - late nil checks: nil checks once more;
//   - results: a product of matrices writes its results to the variables that they are copied to;
//   - hoist: a loop bound in memory, a division and a square root that a loop does not change are computed once before it;
//   - trips: loops that run at most a few times become ifs;
//
// On each of the forms proven, narrow and wide:
//
//   - ranges: bounds-check elimination: proves checks, narrows int to 32 bits, and settles conditions (package ranges);
//   - forward: a value that is read once moves to its use;
//   - strength: divisions by constants become shifts and multiplications;
//   - fuse: multiplications and additions are fused; fastmath kernels use approximations;
//   - conversions: finds floats that are known to fit the integer type they are converted to;
//   - choose: an if that only decides between two values becomes a selection;
//   - batch: a loop runs several iterations at a time, with their loads in flight together;
//   - gather: the checks of a run of assignments move in front of it;
//   - stores: a value that the thread has written is not read again; a write that the next one replaces is removed;
//   - async sources: the alignment of the sources of asynchronous copies becomes a launch condition;
//
// On a copy of the fastest form:
//
//   - coarse: each thread of a short kernel runs several of the original threads;
//
// On each remaining form:
//
//   - constant tables: finds the tables to put into constant memory;
//   - vectorise: neighbouring scalar accesses become one access of up to 16 bytes; its alignment becomes a launch condition;
//   - fill: writes to shared memory move behind the reads of global memory that follow them, which are then in flight together;
//
// On the kernel, for Go:
//
//   - needed calls: inlines functions that use the thread or may run long, formulas, and functions of short arrays;
//   - Go versions: as versions;
//   - copies at once: asynchronous and bulk copies become assignments and Go's copy;
//   - declared blocks: dimensions of a declared block become constants where Go accepts them;
//   - short loops: unrolls short loops of plain assignments, which the Go compiler does not do, and hinted loops with barriers or calls;
//   - split arrays: short arrays of numbers or vectors with constant indices become variables;
//   - sets: comparisons of a variable with several constants become the test of a bit;
//   - stride: the threads of a block run loops in lockstep that start at the thread's own index;
//   - Go hoist: as hoist;
//   - lanes: the lanes of a warp run loops in lockstep that divide a range among them;
//   - Go copies: removes variables that only pass a value on, which makes the text shorter;
//   - dead stores: removes values that are never read: vet tools see the text as the kernel's own;
//   - long loops: marks the loops in which a thread polls for cancellation;
//   - Go conversions: as conversions;
//
// A pass preserves what a kernel computes and which thread stops where. Integers wrap,
// floats round as in Go, and the first of two faults stays the first; but the operands
// of one statement may be evaluated in a different order. A pass may rely on variables
// having values only within the scope of their declaration: a variable that is assigned
// in one statement and read only in its scope (usage.once) keeps its value there.
//
// Optimizations that back ends and ptxas do well are not done here: common
// subexpressions, loop-invariant code, scheduling and register allocation.
package opt
