// Package suite describes the kernels of package parity as data: for each kernel, the
// arguments of a launch with random contents, the hand-written Go that computes the same,
// and how closely the results must agree.
//
//	for _, entry := range suite.All {
//		c := entry.New(suite.Small)
//		b, err := c.Bind(stream)
//		err = b.Launch(c.Kernel.Checked)
//		c.ByHand()
//		err = b.Compare(ctx)
//	}
package suite
