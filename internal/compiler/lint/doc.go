// Package lint finds what makes kernels slow, from their final form:
//
//	findings, err := lint.Check(p, k)
//	for _, f := range findings {
//		fmt.Println(f) // blur.go:12:9: kernel blur: uncoalesced: ...
//	}
//
// # How
//
// The threads of one warp go through the kernel at once. An integer is a number
// for each of the 32 lanes plus parts that are the same for all: the block's
// index, parameters, loop counters, of which only a divisor is known. That is
// exact for the index arithmetic that kernels do, remainders and swizzles
// included, and gives the addresses that one access of the warp touches, up to
// where the whole pattern begins. From these follow the sectors of an access to
// global memory, and the banks of one to shared memory.
//
// The warp is the second one of a block of the declared shape; without a
// declaration, of the shape that launches choose by default.
//
// # What it does not report
//
// Nothing is said of what is not known: addresses that depend on data, branches
// on data around little code. Threads that leave at the end of the grid, trees in
// which fewer lanes take part from step to step, accesses that together cover
// what each of them strides over, and tables that every block reads at the same
// places are not findings.
package lint
