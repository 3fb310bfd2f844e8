// Package rows computes with matrices whose rows are distributed over several
// devices: products, and the sum, mean, minimum and maximum of all elements.
//
//	devs, err := gpu.OpenAll(gpu.Config{})
//	a, err := gpu.Distribute(devs, m, k, hostA)
//	b, err := rows.Replicate(devs, hostB)
//	c, err := gpu.AllocDistributed[float32](devs, m, n)
//	err = rows.Matmul(ctx, c, a, b)
//	s, err := rows.Summarise(ctx, c)
//	err = c.Gather(ctx, hostC)
//
// Each device works on its own rows, on its default stream. Only a few numbers
// per device are combined at the end.
package rows

//go:generate go tool quern gen
