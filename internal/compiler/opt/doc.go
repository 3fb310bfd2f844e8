// Package opt transforms kernels between the front end and the back ends.
//
// PTX runs a table of passes with stated ordering constraints and returns
// variants of a kernel: fast ones, exact under conditions on the launch, and one
// for every launch.
//
//	variants, err := opt.PTX(k)
//
// The passes are, in their order:
//
//   - inline: calls become the bodies of what they call;
//   - copies: copies of slices become loops;
//   - unchecked: bounds checks go where the kernel asks for none;
//   - pointers: pointers and slices of arrays become the places they lead to;
//   - uniform: a barrier that not all threads of a block reach together is an error;
//   - fold: constants, exact identities, copies, code without effect;
//   - unroll: counted loops whose copies index arrays by constants;
//   - scalarise: structs and constantly indexed arrays become scalar variables;
//   - trips: loops that run a few times at most become ifs;
//   - ranges: proves checks, narrows int to 32 bits, and drops what conditions
//     that are decided leave out;
//   - strength: divisions by constants become shifts and multiplications;
//   - fuse: multiplications and additions become one operation;
//   - gather: the checks of a run of assignments come together before it.
//
// Of the fastest variant of a short kernel coarse makes one more, whose threads
// run several of the kernel's.
//
// The Go back end uses Host, which inlines only what depends on the thread, unrolls
// short loops and removes stores that nothing reads, and Analyse, which finds the
// values that are uniform in a block.
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
