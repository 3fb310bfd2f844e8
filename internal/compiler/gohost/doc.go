// Package gohost writes kernels as Go for the CPU device.
//
// For each kernel, Emit writes a function for package kernel/host:
//
//	func quernHostSaxpy(r *host.Run) {
//		a := host.Value[float32](r, 0)
//		x := host.Slice[float32](r, 1)
//		y := host.Slice[float32](r, 2)
//		dimX := r.BlockDim.X
//		...
//		for r.Next() {
//			blockX := r.BlockIdx.X
//			base := blockX * dimX
//			for threadZ := range dimZ {
//				for threadY := range dimY {
//					r.ThreadIdx.Y, r.ThreadIdx.Z = threadY, threadZ
//					quernRow1Saxpy(r, base, y, a, x, dimX)
//				}
//			}
//		}
//	}
//
//	func quernRow1Saxpy(r *host.Run, base int, y []float32, a float32, x []float32, dimX int) {
//		for threadX := range dimX {
//			r.ThreadIdx.X = threadX
//			i := base + threadX
//			if i < len(y) {
//				y[i] += a * x[i]
//			}
//		}
//	}
//
// The threads of a block are iterations of loops. The innermost, over a row of
// threads, is a function of its own, because the Go compiler keeps few variables
// in registers across a nest of loops. Values that are the same for all threads
// of a row, a block or the launch are computed outside it, and terms of sums are
// regrouped so that more of them are.
//
// A small loop whose threads use elements side by side, as here, gets a second
// form before it: the number of threads that pass the guard is computed once,
// and the slices are cut to it, so that no check is left in the loop.
//
// # Barriers
//
// A kernel with barriers is divided into regions at its barriers, each with a
// loop over the threads of its own (MCUDA: Stratton, Stone and Hwu, 2008; PoCL:
// Jääskeläinen et al., 2015). Control flow around a barrier is uniform, so the
// block goes through it once, outside those loops. Variables that live from one
// region to another are either the same for all threads, and exist once; or are
// computed from thread coordinates, and are computed again; or are kept for
// each thread in scratch memory. Where threads leave a construct one by one after
// its last barrier, a variable says which have.
//
// # Meaning
//
// The text is Go with the kernel's own meaning: wrap-around integers, checked
// indices, the same rounding, explicit conversions where fusing is forbidden.
// Nothing that Go would fold at compile time with another result, or reject, is
// printed as a constant. Functions that a kernel calls are called; only those
// that use the thread are part of the text. No two variables of a function have
// the same name, and none has that of something the text refers to.
//
// Line directives give run-time panics the position of the kernel's statement,
// relative to the file's directory. Statements that can stop a thread run with
// Run.ThreadIdx set. What follows the text in a file needs a line directive of
// its own if its position matters.
//
// # What it does not do
//
// The text can refer only to exported names of other packages, so that a
// function there which uses the thread must not use unexported ones. It finds no
// barriers that only some threads reach: package opt has rejected those.
package gohost
