package ir

// ClusterAddress converts a pointer to shared memory to the address of the same
// variable in the cluster's block of a given rank.
var ClusterAddress = declare(IntrinsicOp{Name: "clusterAddress", Args: 2, Class: Pointers, Count: true})
