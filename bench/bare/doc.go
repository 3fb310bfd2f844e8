// Package bare calls NVIDIA's driver library with nothing in between, for
// comparisons with what Quern adds to it. It exists on Linux only.
package bare
