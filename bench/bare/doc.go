// Package bare calls NVIDIA's driver library directly, for comparison with the overhead of
// Quern. It works only on Linux.
package bare
