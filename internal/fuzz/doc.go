// Package fuzz searches for programs that the compiler gets wrong. It generates random
// kernels as Go source text, runs each with everything that can run it, and compares the
// results:
//
//   - the interpreter of package irtest, which runs the front end's IR: the
//     reference, which shares neither passes nor back ends with what it is
//     compared with;
//   - plain Go, with kernel.Each;
//   - the cpu device's generated Go;
//   - every variant of the PTX, on the simulator with all of its checks, and on
//     GPUs if there are any;
//   - metamorphic forms: the same kernel without some of the optimizer's passes,
//     and without bounds checks where it needs none.
//
// Generated programs terminate, have no data races and use no unspecified behavior, so
// there is only one correct result. (They do convert floats to integers that cannot hold
// them, which Go leaves unspecified and kernels define: in plain Go those conversions call
// kernel.ToInteger.) Some programs fail a check of an index, divisor, shift count or
// pointer in some threads. Every device must then report one of these threads.
//
// A third of the programs consist mainly of what the compiler runs in batches and joins
// into vector accesses: loops whose number of iterations depends on data and that gather
// elements at indices that they have read, and reads and writes of neighbouring elements
// and fields. The first line of a program says which slices hold indices. Where checks may
// fail, a few of these are wrong, and slices are shorter than the program assumes.
//
// Integers and floats must be equal bit for bit, except for the payloads of NaNs. Every
// product is rounded explicitly, which prevents fusing. Where a program lets products
// fuse, it also computes the sum of the magnitudes of the terms. The result may differ
// from the reference by 2^-20 of that sum in float32, and by 2^-48 in float64.
//
// A failing program is minimized: statements and parts of expressions are deleted as long
// as it fails in the same way. The result is kept in testdata.
//
//	c := fuzz.Generate(seed, fuzz.Options{})
//	fmt.Println(c.Source)
//	result := fuzz.Check(ctx, c)
package fuzz
