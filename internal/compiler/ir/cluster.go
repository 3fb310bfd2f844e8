package ir

// Reach is the set of threads that synchronize at a barrier.
type Reach uint8

// Values of Reach.
const (
	OfBlock Reach = iota
	OfCluster
	OfGrid
)

func (r Reach) String() string { return [...]string{"block", "cluster", "grid"}[r] }

// GoName returns the method of kernel.Thread for the barrier.
func (r Reach) GoName() string { return [...]string{"Sync", "SyncCluster", "SyncGrid"}[r] }

// Blocks returns the number of blocks per cluster: one in a kernel without clusters.
func (o Options) Blocks() int {
	return max(o.Cluster[0], 1) * max(o.Cluster[1], 1) * max(o.Cluster[2], 1)
}
