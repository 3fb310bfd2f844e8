// Package ir is the compiler's typed, structured intermediate representation.
//
// A Program holds kernels; a Kernel's Func has parameters, locals and a body of
// statements. Control flow stays a tree: If, Loop and Block nest, and Break and
// Continue name the enclosing node they leave; there are no basic blocks.
// Variables are mutable: nothing is in SSA form, because ptxas builds its own.
//
// Expressions are trees without side effects. Anything with a side effect is a
// statement: Assign, Call, Atomic, Barrier. An expression that indexes, divides or
// follows a pointer may stop the thread if the node's Check flag is set. The front end sets
// it on every such node (unless the kernel is unchecked), and passes clear it where the
// check is proven to pass.
//
// Values live in places: a variable, an element of a slice, a field or element
// of another place. A Place is not a value; Load reads it, Assign and Atomic
// change it, Addr makes a pointer to it.
//
// Types have Go's sizes and layout. Int and Uint are Go's int and uint, which are 64
// bits wide; the narrowing pass replaces them by Int32 where the result is exact.
//
// # Stages
//
// The front end produces functions that call each other. After inlining, a kernel calls
// nothing. After scalarisation, no expression or assignment is of array or struct type,
// and the remaining struct and array variables live in memory. Verify checks the
// invariants of each stage.
package ir
