// Package opt transforms kernels between the front end and the back ends.
//
// PTX returns the forms of a kernel for the PTX back end, fastest first: coarse, proven
// and narrow are exact under conditions on the launch, wide is for every launch. Host
// returns the kernel for the Go back end, and Analyse finds the values that are uniform in
// a block.
//
//	variants, err := opt.PTX(k)
//
// Both run the passes of one table, which says what must come before each and why.
//
// The passes, in their order (written by a test from the table in pass.go):
//
// On the kernel, for PTX:
//
//   - inline: calls become the bodies of what they call;
//   - writes: finds the slices that the kernel may write, for compiled.Param.ReadOnly;
//   - copies: copies of slices become loops;
//   - unchecked: bounds checks go where the kernel asks for none;
//   - pointers: pointers and slices of arrays become the places they lead to;
//   - versions: a variable that is assigned anew becomes another one, in kernels with warp operations;
//   - uniform: a barrier that not all threads of a block reach together is an error;
//   - collectives: reductions, scans and matches of a warp become shuffles and votes;
//   - fold: computes constants, drops exact identities, copies and code without effect;
//   - unroll: counted loops whose copies index arrays by constants become these copies;
//   - scalarise: structs and arrays that constants index become scalar variables;
//   - late fold: fold once more;
//   - hoist: the bound of a loop is read once before it, where it is in memory that the loop does not change;
//   - trips: loops that run a few times at most become ifs;
//
// On each of the forms proven, narrow and wide:
//
//   - ranges: bounds-check elimination: proves checks, narrows int to 32 bits, and settles conditions (package ranges);
//   - forward: a value that is read once moves to where it is read;
//   - strength: divisions by constants become shifts and multiplications;
//   - fuse: multiplications and additions become one operation; fastmath takes its approximations;
//   - conversions: finds the floats that are known to fit the integer they are converted to;
//   - batch: a loop goes on by several iterations at a time, whose loads are in flight together;
//   - gather: the checks of a run of assignments come together before it;
//   - async sources: the launch promises the alignment of what asynchronous copies read;
//
// On a copy of the fastest form:
//
//   - coarse: a thread of a short kernel runs several of its threads;
//
// On each form that is left:
//
//   - constant tables: finds the tables that constant memory serves best;
//   - vectorise: accesses to neighbouring scalars become one of up to 16 bytes; the launch promises their alignment;
//
// On the kernel, for Go:
//
//   - needed calls: inlines functions that use the thread or may go on for long, and formulas;
//   - Go versions: as versions;
//   - copies at once: asynchronous and bulk copies become assignments and Go's copy;
//   - declared blocks: dimensions of a declared block become constants, where Go takes these;
//   - short loops: unrolls short loops of plain assignments, which the Go compiler does not do;
//   - split arrays: short arrays that constants index become variables;
//   - stride: the threads of a block go in step through loops that begin at a thread's own index;
//   - Go hoist: as hoist;
//   - dead stores: removes what nothing reads: vet tools see the text as the kernel's own;
//   - long loops: marks the loops in which a thread polls whether its launch was given up;
//   - Go conversions: as conversions;
//
// A pass keeps what a kernel computes and which thread stops where: integers
// wrap, floats round as Go rounds them, and of two faults the first stays the
// first, except that the operands of one statement may be evaluated in another
// order. A pass may rely on variables having values only where the source
// declares them: a variable that is assigned in one statement and read only in
// its scope (usage.once) keeps its value there.
//
// What back ends and ptxas do well is not done here: common subexpressions,
// loop-invariant code, scheduling and register allocation.
package opt
