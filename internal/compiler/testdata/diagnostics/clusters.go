package p

import "quern.dev/kernel"

//quern:kernel cluster=2 block=32
func global(t kernel.Thread, x []int32) {
	t.SyncCluster()
	if t.Lane() == 0 {
		*kernel.ClusterShared(t, &x[0], 1) = 2
	}
	t.SyncCluster()
}

//quern:kernel cluster=2 block=32
func local(t kernel.Thread, x []int32) {
	var own [4]int32
	t.SyncCluster()
	x[t.Lane()] = kernel.ClusterShared(t, &own, 1)[t.Lane()%4]
	t.SyncCluster()
}

//quern:kernel cluster=2 block=32
func parts(t kernel.Thread, x []int32) {
	tile, dynamic := kernel.Shared[[32]int32](t), kernel.Dynamic[int32](t)
	p := &tile[0]
	if len(x) > 3 {
		p = &tile[1]
	}
	t.SyncCluster()
	x[0] = *kernel.ClusterShared(t, p, 1) + *kernel.ClusterShared(t, &dynamic[1], 0)
	t.SyncCluster()
}
