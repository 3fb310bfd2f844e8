// Package fuzz looks for programs that the compiler gets wrong. It generates
// random kernels as Go source text, runs each on everything that can run it, and
// compares the results:
//
//   - the interpreter of package irtest, on the IR as the front end makes it: the
//     reference, which shares neither passes nor back ends with what it is
//     compared with;
//   - plain Go, with kernel.Each;
//   - the cpu device's generated Go;
//   - every variant of the PTX on the simulator with all of its checks, and on
//     GPUs where there are any;
//   - metamorphic forms: the same kernel without some of the optimiser's passes,
//     and without bounds checks where it needs none.
//
// Generated programs end, have no data races and use no unspecified behaviour,
// so that there is one right answer. (They convert floats that integers do not hold,
// which Go leaves open and kernels do not: in plain Go those conversions are calls of
// kernel.ToInteger.) Some fail a check in some threads, by index,
// divisor or shift count: then every device has to report one of these threads.
//
// Integers and floats compare bit for bit, but for the payloads of NaNs: every
// product is rounded explicitly, which forbids fusing. Where a program lets
// products fuse, each result stands beside the sum of the magnitudes of its terms,
// and may differ from the reference by 2^-20 of that in float32, 2^-48 in float64.
//
// A program that fails is minimised by deleting statements and parts of
// expressions while it still fails in the same way, and kept in testdata.
//
//	c := fuzz.Generate(seed, fuzz.Options{})
//	fmt.Println(c.Source)
//	result := fuzz.Check(ctx, c)
package fuzz
