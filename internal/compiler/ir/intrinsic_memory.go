package ir

// ClusterAddress is where another block of the cluster, of a rank, has what a pointer to
// shared memory points to.
var ClusterAddress = declare(IntrinsicOp{Name: "clusterAddress", Args: 2, Class: Pointers, Count: true})
