// Package lint finds causes of slow kernels in the kernels' final form:
//
//	findings, err := lint.Check(p, k)
//	for _, f := range findings {
//		fmt.Println(f) // blur.go:12:9: kernel blur: uncoalesced: ...
//	}
//
// # How
//
// The package simulates one warp, whose threads run the kernel in lockstep. An integer
// is a number per lane plus terms that are the same for all lanes: the block's index,
// parameters and loop counters. For these only a divisor is known. This is exact for
// the index arithmetic in kernels, including remainders and swizzles. It gives the
// addresses that one access of the warp touches, relative to an unknown start. From
// these follow the sectors of an access to global memory and the banks of an access to
// shared memory.
//
// The warp is the second one of a block of the declared shape or, if none is declared,
// of the default shape of launches.
//
// # What it does not report
//
// Nothing is reported about unknown behaviour: addresses that depend on data, and
// data-dependent branches around little code. Also not reported are threads that leave
// at the end of the grid, tree reductions in which fewer lanes take part in each step,
// strided accesses that cover a whole range together, and tables that every block reads
// at the same places.
package lint
