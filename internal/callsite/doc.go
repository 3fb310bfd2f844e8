// Package callsite tells where a function was called from, in a few nanoseconds.
//
// [runtime.Callers] takes as long as all else that taking memory from a pool does
// (docs/benchmarks.md). Where Go keeps frame pointers, the return address of the
// calling function stands beside its frame pointer and is one load.
package callsite
