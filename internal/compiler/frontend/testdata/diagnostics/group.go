package p

import "quern.dev/kernel"

//quern:kernel block=128
func tilesThatDoNotGoTogether(t kernel.Thread, x []float32) {
	a := kernel.Shared[[512][8]kernel.Float16](t)
	b := kernel.Shared[[512][8]kernel.BFloat16](t)
	c := kernel.Shared[[512][16]int8](t)
	var sum [8]kernel.Accumulator[float32]
	kernel.GroupMMA(t, &a[0], &b[0], sum[:])
	kernel.GroupMMA(t, &c[0], &c[0], sum[:])
	kernel.GroupWait(t, 0)
	x[0] = sum[0][0]
}

//quern:kernel block=64
func halfAGroup(t kernel.Thread, x []float32) {
	a := kernel.Shared[[512][8]kernel.Float16](t)
	var sum [8]kernel.Accumulator[float32]
	kernel.GroupMMA(t, &a[0], &a[0], sum[:])
	x[0] = sum[0][0]
}

//quern:kernel block=128
func otherSums(t kernel.Thread, n int, x []float32, sums []kernel.Accumulator[float32]) {
	a := kernel.Shared[[512][8]kernel.Float16](t)
	var sum [8]kernel.Accumulator[float32]
	var nine [9]kernel.Accumulator[float32]
	kernel.GroupMMA(t, &a[0], &a[0], sum[:4])
	kernel.GroupMMA(t, &a[0], &a[0], sums)
	kernel.GroupMMA(t, &a[0], &a[0], sums[:])
	kernel.GroupMMA(t, &a[0], &a[0], nine[:])
	kernel.GroupWait(t, n)
	x[0] = sum[0][0]
}
