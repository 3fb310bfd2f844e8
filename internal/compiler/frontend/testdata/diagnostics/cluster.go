package p

import "quern.dev/kernel"

//quern:kernel cluster=3x4
func tooLarge(t kernel.Thread) {}

//quern:kernel cluster=0
func empty(t kernel.Thread) {}

//quern:kernel cluster=1x1x1x2
func manyDimensions(t kernel.Thread) {}

//quern:kernel
func undeclared(t kernel.Thread, x []int32) {
	tile := kernel.Shared[[32]int32](t)
	t.SyncCluster()
	x[t.ClusterRank()] = kernel.ClusterShared(t, tile, 0)[0]
}

//quern:kernel cluster=2
func noSuchBlock(t kernel.Thread, x []int32) {
	tile := kernel.Shared[[32]int32](t)
	x[0] = kernel.ClusterShared(t, tile, 2)[0]
}
