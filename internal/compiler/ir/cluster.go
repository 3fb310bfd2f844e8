package ir

// Reach is whose threads meet at a barrier.
type Reach uint8

// Reaches of a barrier.
const (
	OfBlock Reach = iota
	OfCluster
	OfGrid
)

func (r Reach) String() string { return [...]string{"block", "cluster", "grid"}[r] }

// GoName is the method of kernel.Thread that the barrier is written as.
func (r Reach) GoName() string { return [...]string{"Sync", "SyncCluster", "SyncGrid"}[r] }

// Blocks returns the number of blocks in a cluster: one in a kernel without.
func (o Options) Blocks() int {
	return max(o.Cluster[0], 1) * max(o.Cluster[1], 1) * max(o.Cluster[2], 1)
}
