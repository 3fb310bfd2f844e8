// Package rows computes with matrices whose rows are spread over several
// devices: products, and the sum, mean, smallest and largest of all elements.
//
//	devs, err := gpu.OpenAll(gpu.Config{})
//	a, err := gpu.Distribute(devs, m, k, hostA)
//	b, err := rows.Replicate(devs, hostB)
//	c, err := gpu.AllocDistributed[float32](devs, m, n)
//	err = rows.Matmul(ctx, c, a, b)
//	s, err := rows.Summarise(ctx, c)
//	err = c.Gather(ctx, hostC)
//
// Each device works on its own rows, on its default stream; what is combined in
// the end is a few numbers of each.
package rows

//go:generate go tool quern gen
