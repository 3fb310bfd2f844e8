// Package callsite finds the position from which a function was called, and the callers of
// that, in a few nanoseconds.
//
// [runtime.Callers] takes as long as the rest of an allocation from a pool
// (docs/benchmarks.md). Where Go keeps frame pointers, the return address of the
// calling function is next to its frame pointer, and reading it takes one load. The frame
// pointers of all callers form a list.
package callsite
